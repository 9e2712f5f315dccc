package client

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/simnet"
)

// assigned is one partition that a consumer reads.
//
// Source: SubscriptionState.TopicPartitionState.
type assigned struct {
	tp         kafka.TopicPartition
	position   kafka.Offset      // next to hand to the application; -1 until the leader has said where to begin
	epoch      kafka.LeaderEpoch // of the record before it; -1: not known
	leader     leader            // whose log holds the position, as far as was checked
	validating bool              // the position is to be compared with a new leader's log
	given      kafka.Offset      // the position that was given up; -1: none
	revoking   bool              // it is about to be given up: nothing is asked for, and nothing that came is returned
	looked     bool              // of a member: the coordinator was asked what is committed
	asking     bool              // ListOffsets or OffsetForLeaderEpoch is under way for it
	waits      bool              // for metadata, after an error
	retryAt    kafka.Millis      // nothing is asked for before
	read       int               // records handed over so far
	skipped    []SkippedView     // of the last response that brought something; never written once made
	stopped    bool              // an error ended the reading

	preferred      kafka.NodeID // the replica that the leader has named; empty: none
	preferredUntil kafka.Millis
}

func newAssigned(tp kafka.TopicPartition) assigned {
	return assigned{tp: tp, position: kafka.NoOffset, given: kafka.NoOffset, epoch: kafka.NoLeaderEpoch, leader: leader{epoch: kafka.NoLeaderEpoch}, retryAt: math.MinInt64}
}

// asked is a request about partitions that has no answer yet.
type asked struct {
	to          kafka.NodeID
	correlation int32
	partitions  []askedPartition // never written once made
}

// askedPartition is what was asked about one partition.
type askedPartition struct {
	tp     kafka.TopicPartition
	offset kafka.Offset
	leader leader
}

// takeAsked takes what a response answers off the list.
func (c *Consumer) takeAsked(m *simnet.Message) []askedPartition {
	at := slices.IndexFunc(c.asked, func(a asked) bool { return a.to == m.From && a.correlation == m.Correlation })
	if at < 0 {
		return nil
	}
	partitions := c.asked[at].partitions
	c.asked = slices.Delete(c.asked, at, at+1)
	return partitions
}

// of gives what was asked about a partition; ok is false when nothing was.
func of(partitions []askedPartition, tp kafka.TopicPartition) (askedPartition, bool) {
	at := slices.IndexFunc(partitions, func(a askedPartition) bool { return a.tp == tp })
	if at < 0 {
		return askedPartition{}, false
	}
	return partitions[at], true
}

// leaderChanged makes the position be checked if the leader or its epoch is another than the one it was checked
// against.
//
// Source: SubscriptionState.maybeValidatePositionForCurrentLeader.
func (c *Consumer) leaderChanged(a *assigned) {
	now := c.metadata.leaderOf(a.tp)
	if a.position == kafka.NoOffset || now.node == "" || now == a.leader {
		return
	}
	a.validating = a.epoch >= 0 && a.leader.node != ""
	a.leader, a.preferred, a.retryAt = now, "", math.MinInt64
}

// need is what a partition is to be asked about.
type need uint8

const (
	needNothing need = iota
	needOffset       // ListOffsets
	needEpoch        // OffsetForLeaderEpoch
	needRecords      // Fetch
)

// needs says what a partition needs next, whom to ask, and from when on. Fetches are not asked of a broker of
// which something is buffered.
//
// Source: AbstractFetch.prepareFetchRequests, OffsetFetcherUtils.
//
// Simplified: after an error that makes the consumer ask for metadata, the partition is not fetched until the
// answer is there. Kafka's consumer goes on asking the broker that it knows.
func (c *Consumer) needs(a *assigned) (what need, whom kafka.NodeID, at kafka.Millis) {
	l := c.metadata.leaderOf(a.tp)
	if a.stopped || a.asking || a.waits || a.revoking || l.node == "" {
		return needNothing, "", 0
	}
	from := kafka.Millis(math.MinInt64)
	switch {
	case a.position == kafka.NoOffset && (c.config.AutoOffsetReset == resetNone || c.member != nil && !a.looked):
		return needNothing, "", 0
	case a.position == kafka.NoOffset:
		what, whom = needOffset, l.node
	case a.validating:
		what, whom = needEpoch, l.node
	default:
		what, whom = needRecords, c.readsFrom(a)
		if c.connections.count(whom, kmsg.Fetch) > 0 || c.holdsOf(whom) {
			return needNothing, "", 0
		}
		if c.member != nil {
			if from = c.member.app.pollAt; c.full() {
				return needNothing, "", 0
			}
		}
	}
	return what, whom, max(a.retryAt, c.connections.openAt(whom), from)
}

// readsFrom gives the broker that a partition is fetched from: the preferred replica or the leader.
//
// Source: AbstractFetch.selectReadReplica.
func (c *Consumer) readsFrom(a *assigned) kafka.NodeID {
	if a.preferred != "" {
		return a.preferred
	}
	return c.metadata.leaderOf(a.tp).node
}

// holdsOf says whether records are buffered of a partition that is fetched from a broker.
func (c *Consumer) holdsOf(node kafka.NodeID) bool {
	return slices.ContainsFunc(c.buffered, func(f fetched) bool {
		a := c.find(f.tp)
		return a != nil && c.readsFrom(a) == node
	})
}

// nextAsk is when something is to be asked for, as far as that is a question of time.
func (c *Consumer) nextAsk() (due kafka.Millis, ok bool) {
	for i := range c.partitions {
		if what, _, at := c.needs(&c.partitions[i]); what != needNothing && (!ok || at < due) {
			due, ok = at, true
		}
	}
	return due, ok
}

// ask sends the requests that are wanted: positions where there are none, checks of positions, and records. One
// fetch is under way at a time to each broker; a partition that is new waits for that.
func (c *Consumer) ask(now kafka.Millis) []simnet.Send {
	if !c.metadata.known || len(c.partitions) == 0 {
		return nil
	}
	for i := range c.partitions {
		a := &c.partitions[i]
		if a.preferred != "" && (now >= a.preferredUntil || !slices.Contains(c.metadata.nodes(), a.preferred)) {
			a.preferred = ""
		}
		if c.metadata.leaderOf(a.tp).node == "" {
			c.metadata.request()
		}
	}
	var sends []simnet.Send
	nodes := c.metadata.nodes()
	for _, what := range []need{needOffset, needEpoch, needRecords} {
		for _, node := range nodes {
			wanted := c.wanting(now, what, node)
			if len(wanted) == 0 {
				continue
			}
			request := c.request(now, what, wanted)
			send := c.connections.send(now, node, request, c.last)
			list := asked{to: node, correlation: send.Correlation}
			for _, a := range wanted {
				a.asking = what != needRecords
				list.partitions = append(list.partitions, askedPartition{a.tp, a.position, a.leader})
			}
			c.asked = append(c.asked, list)
			sends = append(sends, send)
		}
	}
	return sends
}

// wanting gives the partitions that a broker is to be asked about now, in the order of the request.
func (c *Consumer) wanting(now kafka.Millis, what need, node kafka.NodeID) (list []*assigned) {
	consider := func(a *assigned) {
		if needed, whom, at := c.needs(a); needed == what && whom == node && at <= now {
			list = append(list, a)
		}
	}
	if what == needRecords {
		for _, p := range c.order {
			consider(c.find(p))
		}
		return list
	}
	for i := range c.partitions {
		consider(&c.partitions[i])
	}
	return list
}

func (c *Consumer) request(now kafka.Millis, what need, list []*assigned) kmsg.Request {
	switch what {
	case needOffset:
		return c.listOffsetsRequest(now, list)
	case needEpoch:
		return c.epochRequest(list)
	}
	return c.fetchRequest(list)
}

// takeOffsets sets positions from the leader's answer.
//
// Source: OffsetFetcherUtils.onSuccessfulResponseForResettingPositions.
func (c *Consumer) takeOffsets(now kafka.Millis, about []askedPartition, response *kmsg.ListOffsetsResponse, cause uint64, j *journal.Journal) {
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(result.Partition)}
			a := c.find(tp)
			_, was := of(about, tp)
			if a == nil || !was { // not its own any more
				continue
			}
			a.asking = false
			if a.position != kafka.NoOffset {
				continue
			}
			if result.ErrorCode != 0 {
				c.failed(now, a, result.ErrorCode, cause, j)
				continue
			}
			if result.Offset < 0 { // no record is that young: by_duration
				a.retryAt = now + c.config.RequestTimeout
				continue
			}
			a.position, a.epoch, a.leader = kafka.Offset(result.Offset), kafka.LeaderEpoch(result.LeaderEpoch), c.metadata.leaderOf(a.tp)
			c.last = j.Append(c.node, cause, journal.PositionReset{TopicPartition: a.tp, To: a.position, Policy: c.config.AutoOffsetReset, From: a.given})
			a.given = kafka.NoOffset
		}
	}
}

// takeEpochs compares positions with the leader's log: where the epoch of the last record read ends before the
// position, records that were read are gone.
//
// Source: SubscriptionState.maybeCompleteValidation (KIP-320).
func (c *Consumer) takeEpochs(now kafka.Millis, about []askedPartition, response *kmsg.OffsetForLeaderEpochResponse, cause uint64, j *journal.Journal) {
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			tp := kafka.TopicPartition{Topic: topic.Topic, Partition: kafka.Partition(result.Partition)}
			a := c.find(tp)
			was, any := of(about, tp)
			if a == nil || !any {
				continue
			}
			a.asking = false
			switch {
			case !a.validating || a.position != was.offset || a.leader != was.leader: // asked for in vain
			case result.ErrorCode != 0:
				c.failed(now, a, result.ErrorCode, cause, j)
			default:
				c.compare(a, kafka.LeaderEpoch(result.LeaderEpoch), kafka.Offset(result.EndOffset), cause, j)
			}
		}
	}
}

// compare takes the largest epoch of the leader's log that is not above the position's, and its end offset.
func (c *Consumer) compare(a *assigned, epoch kafka.LeaderEpoch, end kafka.Offset, cause uint64, j *journal.Journal) {
	a.validating = false
	known := epoch >= 0 && end >= 0
	if known && end >= a.position {
		c.last = j.Append(c.node, cause, journal.PositionValidated{TopicPartition: a.tp, Position: a.position, Epoch: a.epoch, EndOffset: end})
		return
	}
	event := journal.LogTruncationDetected{
		TopicPartition: a.tp, Position: a.position, Epoch: a.epoch, DivergingEpoch: kafka.NoLeaderEpoch, EndOffset: kafka.NoOffset, Policy: c.config.AutoOffsetReset,
	}
	if known {
		event.DivergingEpoch, event.EndOffset = epoch, end
	}
	c.last = j.Append(c.node, cause, event)
	switch {
	case c.config.AutoOffsetReset == resetNone:
		c.pollFails(a, "LogTruncationException", j)
	case known:
		a.position, a.epoch = end, epoch
	default:
		a.given, a.position = a.position, kafka.NoOffset
	}
	c.drop(a)
}

// drop forgets what is buffered of a partition whose position has moved.
func (c *Consumer) drop(a *assigned) {
	c.buffered = slices.DeleteFunc(c.buffered, func(f fetched) bool { return f.tp == a.tp })
}

// outOfRange handles a position that the log does not hold. A preferred replica may lag behind: then the leader
// is asked.
//
// Source: FetchCollector.handleInitializeErrors.
func (c *Consumer) outOfRange(a *assigned, cause uint64, j *journal.Journal) {
	c.last = j.Append(c.node, cause, journal.FetchFailed{TopicPartition: a.tp, Position: a.position, Error: errorName(kerr.OffsetOutOfRange.Code)})
	switch {
	case a.preferred != "":
		a.preferred = ""
	case c.config.AutoOffsetReset == resetNone:
		c.pollFails(a, "OffsetOutOfRangeException", j)
	default:
		a.given, a.position = a.position, kafka.NoOffset
	}
}
