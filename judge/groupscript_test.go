//go:build judge

package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
	"loglab/engine/storage"
)

func (c *groupClient) subscription() []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics, m.OwnedPartitions = 1, c.topics, c.owned
	return m.AppendTo(nil)
}

// draw draws a request of a client, and gives the words of the script for it.
func (w *groupWorld) draw(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	roll := rnd.IntN(100)
	if c.told && rnd.IntN(3) > 0 {
		roll = 40 // a client goes on to SyncGroup, mostly
	}
	switch {
	case roll < 34:
		return w.drawJoin(rnd, c)
	case roll < 52:
		return w.drawSync(rnd, c)
	case roll < 66:
		q := kmsg.NewPtrHeartbeatRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 4, c.group, c.member, orNil(c.instance), c.generation+w.slip(rnd)
		return q, fmt.Sprintf("beat %s %s %s %s %d", c.node, q.Group, w.name(q.MemberID), orDash(c.instance), q.Generation)
	case roll < 82:
		return w.drawCommit(rnd, c)
	case roll < 86:
		return w.drawLeave(rnd, c)
	case roll < 90:
		q := kmsg.NewPtrOffsetFetchRequest()
		q.Version = 9
		asked := kmsg.NewOffsetFetchRequestGroup()
		asked.Group, asked.Topics = c.group, []kmsg.OffsetFetchRequestGroupTopic{{Topic: []string{"orders", "payments"}[rnd.IntN(2)], Partitions: []int32{int32(rnd.IntN(2))}}}
		q.Groups, q.RequireStable = []kmsg.OffsetFetchRequestGroup{asked}, rnd.IntN(2) == 0
		return q, fmt.Sprintf("fetch %s %s %s %d %t", c.node, c.group, asked.Topics[0].Topic, asked.Topics[0].Partitions[0], q.RequireStable)
	case roll < 94:
		q := kmsg.NewPtrDescribeGroupsRequest()
		q.Version, q.Groups = 6, []string{c.group}
		return q, fmt.Sprintf("describe %s %s", c.node, c.group)
	case roll < 96:
		q := kmsg.NewPtrDeleteGroupsRequest()
		q.Version, q.Groups = 2, []string{c.group}
		return q, fmt.Sprintf("delete %s %s", c.node, c.group)
	}
	q := kmsg.NewPtrOffsetDeleteRequest()
	p := int32(rnd.IntN(2))
	q.Group = c.group
	q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: []string{"orders", "payments"}[rnd.IntN(2)], Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: p}}}}
	return q, fmt.Sprintf("deloffset %s %s %s %d", c.node, c.group, q.Topics[0].Topic, p)
}

// slip is by how much a generation is wrong, mostly not at all.
func (w *groupWorld) slip(rnd *prng.Rand) int32 {
	if rnd.IntN(10) > 0 {
		return 0
	}
	return int32(rnd.IntN(3) - 1)
}

func (w *groupWorld) drawJoin(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	switch rnd.IntN(12) {
	case 0: // restarted
		c.member, c.members, c.generation = "", nil, -1
	case 1:
		c.topics = [][]string{{"orders"}, {"orders", "payments"}}[rnd.IntN(2)]
	case 2:
		shuffle(rnd, c.protocols)
	case 3:
		if rnd.IntN(4) == 0 {
			c.protocols = []string{[]string{"custom", "range"}[rnd.IntN(2)]}
		}
		c.session, c.rebalance = int32(6000+rnd.IntN(30_000)), int32(3000+rnd.IntN(40_000))
	}
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version = []int16{9, 9, 9, 8, 3}[rnd.IntN(5)]
	if c.instance != "" {
		q.Version = max(q.Version, 8)
	}
	q.Group, q.MemberID, q.InstanceID, q.ProtocolType, q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = c.group, c.member, orNil(c.instance), "consumer", max(c.session, 6000), c.rebalance
	words := fmt.Sprintf("join %s %s %s %s %d %d %d", c.node, q.Group, w.name(q.MemberID), orDash(c.instance), q.Version, q.SessionTimeoutMillis, q.RebalanceTimeoutMillis)
	for _, name := range c.protocols {
		p := kmsg.JoinGroupRequestProtocol{Name: name, Metadata: c.subscription()}
		q.Protocols = append(q.Protocols, p)
		words += fmt.Sprintf(" %s=%x", name, p.Metadata)
	}
	return q, words
}

func (w *groupWorld) drawSync(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	c.told = false
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 5, c.group, c.member, orNil(c.instance), c.generation+w.slip(rnd)
	q.ProtocolType = orNil([]string{"", "consumer", "consumer", "connect"}[rnd.IntN(4)])
	q.Protocol = orNil([]string{"", "", "", "range"}[rnd.IntN(4)])
	words := fmt.Sprintf("sync %s %s %s %s %d %s %s", c.node, q.Group, w.name(q.MemberID), orDash(c.instance), q.Generation, orDash(textOf(q.ProtocolType)), orDash(textOf(q.Protocol)))
	for i, m := range c.members {
		if rnd.IntN(8) == 0 {
			continue // left out
		}
		bytes := []byte{0, byte(i), byte(c.generation)}
		if c.modern != nil {
			bytes = c.modern.divide(rnd, i)
		}
		q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m, MemberAssignment: bytes})
		words += fmt.Sprintf(" %s=%s", w.name(m), hexOrDash(bytes))
	}
	return q, words
}

func (w *groupWorld) drawCommit(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	if rnd.IntN(3) == 0 {
		return w.drawTransactionalCommit(rnd, c)
	}
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = []int16{9, 8}[rnd.IntN(2)], c.group, c.member, orNil(c.instance), c.generation+w.slip(rnd)
	if rnd.IntN(6) == 0 {
		q.MemberID, q.InstanceID, q.Generation = "", nil, -1
	}
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	metadata := "m"
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = int32(rnd.IntN(2)), int64(rnd.IntN(1000)), -1, &metadata
	q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: []string{"orders", "payments"}[rnd.IntN(2)], Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
	return q, fmt.Sprintf("commit %s %s %s %s %d %d %s %d %d", c.node, q.Group, w.name(q.MemberID), orDash(textOf(q.InstanceID)), q.Generation, q.Version, q.Topics[0].Topic, p.Partition, p.Offset)
}

// drawTransactionalCommit draws a commit in the transaction of one of three producers.
func (w *groupWorld) drawTransactionalCommit(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	q := kmsg.NewPtrTxnOffsetCommitRequest()
	q.Version, q.ProducerID, q.Group, q.MemberID, q.InstanceID, q.Generation = 5, int64(rnd.IntN(3)), c.group, c.member, orNil(c.instance), c.generation+w.slip(rnd)
	switch rnd.IntN(6) {
	case 0, 1:
		q.MemberID, q.InstanceID, q.Generation = "", nil, -1
	case 2:
		q.InstanceID = nil
	}
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	metadata := "m"
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = int32(rnd.IntN(2)), int64(rnd.IntN(1000)), -1, &metadata
	q.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: []string{"orders", "payments"}[rnd.IntN(2)], Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{p}}}
	return q, fmt.Sprintf("txncommit %s %s %s %s %d %d %s %d %d", c.node, q.Group, w.name(q.MemberID), orDash(textOf(q.InstanceID)), q.Generation, q.ProducerID, q.Topics[0].Topic, p.Partition, p.Offset)
}

// endTransaction ends the transaction of one of the producers, which may have none, and gives the words of the script.
func (w *groupWorld) endTransaction(rnd *prng.Rand) string {
	m := storage.TransactionMarker{EndTxnMarker: record.EndTxnMarker{Type: []record.ControlType{record.Commit, record.Abort}[rnd.IntN(2)]}, ProducerID: kafka.ProducerID(rnd.IntN(3)), ProducerEpoch: 1, TransactionVersion: 2}
	w.perform(w.c.EndTransaction(w.now, m, 0, &w.j))
	return fmt.Sprintf("endtxn %d %s", m.ProducerID, m.Type)
}

func (w *groupWorld) drawLeave(rnd *prng.Rand, c *groupClient) (kmsg.Request, string) {
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Version, q.Group = 5, c.group
	words := fmt.Sprintf("leave %s %s", c.node, c.group)
	add := func(member, instance string) {
		if member == "" && instance == "" {
			member = "nobody"
		}
		q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: member, InstanceID: orNil(instance)})
		words += fmt.Sprintf(" %s/%s", w.name(member), orDash(instance))
	}
	switch rnd.IntN(3) {
	case 0:
		add("", c.instance)
	case 1:
		other := w.clients[rnd.IntN(len(w.clients))]
		add(other.member, other.instance)
	}
	add(c.member, c.instance)
	return q, words
}

// answerText is what the judge says of an answer. The client takes note of it.
func (w *groupWorld) answerText(a coordinator.Answer) string {
	c := w.clients[slices.IndexFunc(w.clients, func(c *groupClient) bool { return c.node == a.Request.From })]
	switch r := a.Response.(type) {
	case *kmsg.JoinGroupResponse:
		members := []string{}
		c.members = nil
		for _, m := range r.Members {
			members = append(members, fmt.Sprintf("%s/%s=%s", w.name(m.MemberID), orDash(textOf(m.InstanceID)), hexOrDash(m.ProtocolMetadata)))
			c.members = append(c.members, m.MemberID)
		}
		switch r.ErrorCode {
		case 0:
			c.member, c.generation, c.told = r.MemberID, r.Generation, true
		case kerr.MemberIDRequired.Code:
			c.member = r.MemberID
		case kerr.UnknownMemberID.Code:
			c.member = ""
		}
		return fmt.Sprintf("join %s %d %s %s %s %s %t [%s]", codeText(r.ErrorCode), r.Generation, orDash(textOf(r.ProtocolType)), orDash(textOf(r.Protocol)), w.name(r.LeaderID),
			w.name(r.MemberID), r.SkipAssignment, strings.Join(members, ", "))
	case *kmsg.SyncGroupResponse:
		c.synced(r)
		return fmt.Sprintf("sync %s %s %s %s", codeText(r.ErrorCode), orDash(textOf(r.ProtocolType)), orDash(textOf(r.Protocol)), hexOrDash(r.MemberAssignment))
	case *kmsg.HeartbeatResponse:
		return "beat " + codeText(r.ErrorCode)
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return w.consumerBeatText(c, r)
	case *kmsg.ConsumerGroupDescribeResponse:
		return "cdescribe " + describedText(r.Groups[0])
	case *kmsg.LeaveGroupResponse:
		text := "leave " + codeText(r.ErrorCode)
		for _, m := range r.Members {
			text += fmt.Sprintf(" %s/%s=%s", w.name(m.MemberID), orDash(textOf(m.InstanceID)), codeText(m.ErrorCode))
		}
		return text
	case *kmsg.OffsetCommitResponse:
		return "commit " + codeText(r.Topics[0].Partitions[0].ErrorCode)
	case *kmsg.TxnOffsetCommitResponse:
		return "txncommit " + codeText(r.Topics[0].Partitions[0].ErrorCode)
	case *kmsg.OffsetFetchResponse:
		if code := r.Groups[0].ErrorCode; code != 0 {
			return "fetch " + codeText(code)
		}
		p := r.Groups[0].Topics[0].Partitions[0]
		return fmt.Sprintf("fetch %s %d %d %s", codeText(p.ErrorCode), p.Offset, p.LeaderEpoch, orDash(textOf(p.Metadata)))
	case *kmsg.DescribeGroupsResponse:
		g := r.Groups[0]
		members := []string{}
		for _, m := range g.Members {
			members = append(members, fmt.Sprintf("%s/%s/%s/%s/%s", w.name(m.MemberID), orDash(textOf(m.InstanceID)), m.ClientID, hexOrDash(m.ProtocolMetadata), hexOrDash(m.MemberAssignment)))
		}
		return fmt.Sprintf("describe %s %s %s %s [%s]", codeText(g.ErrorCode), g.State, orDash(g.ProtocolType), orDash(g.Protocol), strings.Join(members, ", "))
	case *kmsg.DeleteGroupsResponse:
		return "delete " + codeText(r.Groups[0].ErrorCode)
	case *kmsg.OffsetDeleteResponse:
		if r.ErrorCode != 0 {
			return "deloffset " + codeText(r.ErrorCode)
		}
		return "deloffset NONE " + codeText(r.Topics[0].Partitions[0].ErrorCode)
	}
	return fmt.Sprintf("%T", a.Response)
}
