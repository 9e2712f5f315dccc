//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// drawConsumerRecord draws a record of a group of the consumer protocol.
func drawConsumerRecord(rnd *prng.Rand) group.Value {
	id, member := drawText(rnd), kafka.MemberID(drawText(rnd))
	if rnd.IntN(3) == 0 {
		key := group.Key{Group: id}
		switch key.Type = int16(3 + rnd.IntN(7)); key.Type {
		case group.TypeConsumerGroupMemberMetadata, group.TypeTargetAssignmentMember, group.TypeCurrentMemberAssignment:
			key.Member = member
		case 9:
			key.Type, key.Regex = group.TypeRegularExpression, drawText(rnd)
		}
		return group.Tombstone{Key: key}
	}
	switch rnd.IntN(6) {
	case 0:
		return group.ConsumerGroupRecord{Group: id, Epoch: kafka.GroupEpoch(rnd.IntN(1 << 30)), MetadataHash: []uint64{0, rnd.Uint64()}[rnd.IntN(2)]}
	case 1:
		return group.TargetEpochRecord{Group: id, Epoch: kafka.GroupEpoch(rnd.IntN(1 << 30))}
	case 2:
		return group.TargetMemberRecord{Group: id, Member: member, Partitions: drawAssigned(rnd)}
	case 3:
		return group.CurrentAssignmentRecord{
			Group: id, Member: member, Epoch: kafka.MemberEpoch(rnd.IntN(1<<30) - 2), PreviousEpoch: kafka.MemberEpoch(rnd.IntN(1<<30) - 1),
			State: drawState(rnd), Assigned: drawAssigned(rnd), Revoking: drawAssigned(rnd),
		}
	case 4:
		return group.RegularExpressionRecord{Group: id, Regex: drawText(rnd), Topics: drawTexts(rnd), Version: int64(rnd.Uint64() >> 1), Timestamp: kafka.Timestamp(rnd.Uint64() >> 1)}
	}
	r := group.ConsumerMemberRecord{
		Group: id, Member: member, InstanceID: kafka.GroupInstanceID(drawText(rnd)), Rack: drawText(rnd), ClientID: drawText(rnd), ClientHost: "/" + drawText(rnd),
		Topics: drawTexts(rnd), Regex: drawText(rnd), RebalanceTimeout: kafka.Millis(rnd.IntN(1 << 30)), ServerAssignor: drawText(rnd),
	}
	if rnd.IntN(2) == 0 {
		r.Classic = &group.ClassicMemberRecord{SessionTimeout: kafka.Millis(rnd.IntN(1 << 30))}
		for range rnd.IntN(3) {
			r.Classic.Protocols = append(r.Classic.Protocols, group.ClassicProtocol{Name: drawText(rnd), Metadata: []byte(drawText(rnd))})
		}
	}
	return r
}

func drawState(rnd *prng.Rand) group.MemberState {
	return []group.MemberState{group.MemberStable, group.UnrevokedPartitions, group.UnreleasedPartitions}[rnd.IntN(3)]
}

func drawTexts(rnd *prng.Rand) (list []string) {
	for range rnd.IntN(4) {
		list = append(list, drawText(rnd))
	}
	return list
}

func drawAssigned(rnd *prng.Rand) (list []group.AssignedTopic) {
	for range rnd.IntN(4) {
		t := group.AssignedTopic{TopicID: drawUUID(rnd)}
		for range rnd.IntN(4) {
			t.Partitions = append(t.Partitions, int32(rnd.IntN(1<<20)))
		}
		list = append(list, t)
	}
	return list
}

// quoted is a string as Kafka's generated messages write it.
func quoted[S ~string](text S) string { return "'" + string(text) + "'" }

func quotedOrNull[S ~string](text S) string {
	if text == "" {
		return "null"
	}
	return quoted(text)
}

// listed is a list of strings; there Kafka writes no quotes.
func listed(list []string) string {
	return "[" + strings.Join(list, ", ") + "]"
}

func javaBytes(bytes []byte) string {
	words := make([]string, len(bytes))
	for i, b := range bytes {
		words[i] = fmt.Sprint(int8(b))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func javaAssigned(kind string, list []group.AssignedTopic) string {
	var words []string
	for _, t := range list {
		words = append(words, fmt.Sprintf("%s(topicId=%s, partitions=%s)", kind, uuidText(t.TopicID), strings.ReplaceAll(fmt.Sprint(t.Partitions), " ", ", ")))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// consumerRecordText is what Kafka's generated messages say of a record of the consumer protocol.
func consumerRecordText(value group.Value) string {
	ofGroup := func(name, id string) string { return fmt.Sprintf("%sKey(groupId=%s)", name, quoted(id)) }
	ofMember := func(name, id string, member kafka.MemberID) string {
		return fmt.Sprintf("%sKey(groupId=%s, memberId=%s)", name, quoted(id), quoted(member))
	}
	ofPattern := func(id, regex string) string {
		return fmt.Sprintf("ConsumerGroupRegularExpressionKey(groupId=%s, regularExpression=%s)", quoted(id), quoted(regex))
	}
	const (
		metadata     = "ConsumerGroupMetadata"
		memberOf     = "ConsumerGroupMemberMetadata"
		targetEpoch  = "ConsumerGroupTargetAssignmentMetadata"
		targetMember = "ConsumerGroupTargetAssignmentMember"
		current      = "ConsumerGroupCurrentMemberAssignment"
	)
	switch v := value.(type) {
	case group.Tombstone:
		text := ""
		switch k := v.Key; k.Type {
		case group.TypeConsumerGroupMetadata:
			text = ofGroup(metadata, k.Group)
		case group.TypeConsumerGroupPartitionMetadata:
			text = ofGroup("ConsumerGroupPartitionMetadata", k.Group)
		case group.TypeConsumerGroupMemberMetadata:
			text = ofMember(memberOf, k.Group, k.Member)
		case group.TypeTargetAssignmentMetadata:
			text = ofGroup(targetEpoch, k.Group)
		case group.TypeTargetAssignmentMember:
			text = ofMember(targetMember, k.Group, k.Member)
		case group.TypeCurrentMemberAssignment:
			text = ofMember(current, k.Group, k.Member)
		case group.TypeRegularExpression:
			text = ofPattern(k.Group, k.Regex)
		}
		return text + " gone"
	case group.ConsumerGroupRecord:
		return fmt.Sprintf("%s v0 %sValue(epoch=%d, metadataHash=%d)", ofGroup(metadata, v.Group), metadata, v.Epoch, int64(v.MetadataHash))
	case group.TargetEpochRecord:
		return fmt.Sprintf("%s v0 %sValue(assignmentEpoch=%d)", ofGroup(targetEpoch, v.Group), targetEpoch, v.Epoch)
	case group.TargetMemberRecord:
		return fmt.Sprintf("%s v0 %sValue(topicPartitions=%s)", ofMember(targetMember, v.Group, v.Member), targetMember, javaAssigned("TopicPartition", v.Partitions))
	case group.CurrentAssignmentRecord:
		code := map[group.MemberState]int{group.MemberStable: 0, group.UnrevokedPartitions: 1, group.UnreleasedPartitions: 2}[v.State]
		return fmt.Sprintf("%s v0 %sValue(memberEpoch=%d, previousMemberEpoch=%d, state=%d, assignedPartitions=%s, partitionsPendingRevocation=%s)", ofMember(current, v.Group, v.Member), current,
			v.Epoch, v.PreviousEpoch, code, javaAssigned("TopicPartitions", v.Assigned), javaAssigned("TopicPartitions", v.Revoking))
	case group.RegularExpressionRecord:
		return fmt.Sprintf("%s v0 ConsumerGroupRegularExpressionValue(topics=%s, version=%d, timestamp=%d)", ofPattern(v.Group, v.Regex), listed(v.Topics), v.Version, v.Timestamp)
	}
	v := value.(group.ConsumerMemberRecord)
	classic := "null"
	if v.Classic != nil {
		var protocols []string
		for _, p := range v.Classic.Protocols {
			protocols = append(protocols, fmt.Sprintf("ClassicProtocol(name=%s, metadata=%s)", quoted(p.Name), javaBytes(p.Metadata)))
		}
		classic = fmt.Sprintf("ClassicMemberMetadata(sessionTimeoutMs=%d, supportedProtocols=[%s])", v.Classic.SessionTimeout, strings.Join(protocols, ", "))
	}
	return fmt.Sprintf("%s v0 %sValue(instanceId=%s, rackId=%s, clientId=%s, clientHost=%s, subscribedTopicNames=%s, subscribedTopicRegex=%s, rebalanceTimeoutMs=%d, serverAssignor=%s, classicMemberMetadata=%s)",
		ofMember(memberOf, v.Group, v.Member), memberOf, quotedOrNull(v.InstanceID), quotedOrNull(v.Rack), quoted(v.ClientID), quoted(v.ClientHost), listed(v.Topics),
		quoted(v.Regex), v.RebalanceTimeout, quotedOrNull(v.ServerAssignor), classic)
}

// GroupCoordinatorRecordSerde reads the records of the consumer protocol as they are meant and writes the same bytes;
// and we read those.
func TestConsumerRecords(t *testing.T) {
	t.Logf("records by type %v", compareRecords(t, drawConsumerRecord, consumerRecordText))
}

// The hash of the topics that a group subscribes to, as the coordinator writes it into the group's record, is that of
// Utils.computeGroupHash and computeTopicHash.
func TestConsumerMetadataHash(t *testing.T) {
	rnd := draws(t)
	var questions, want []string
	for range 2000 {
		image, line := drawRackedTopics(&rnd)
		questions = append(questions, "hash"+line)
		want = append(want, fmt.Sprint(int64(hashWritten(t, image))))
	}
	for i, got := range answers(t, kafkaProgram(t, "GroupRecords"), questions) {
		if got != want[i] {
			t.Fatalf("%s\nKafka  %s\nloglab %s", questions[i], got, want[i])
		}
	}
}

// drawRackedTopics draws a cluster with some topics, and the words that ask for their hash.
func drawRackedTopics(rnd *prng.Rand) (*metadata.Image, string) {
	image := &metadata.Image{}
	for i := range 6 {
		rack := []string{"", "a", "b", "zürich", "日本", "😀", "\uff5e"}[rnd.IntN(7)]
		image.Brokers = append(image.Brokers, metadata.Broker{ID: kafka.BrokerID(i + 1), Rack: rack})
	}
	line := ""
	for i := range 1 + rnd.IntN(4) {
		topic := metadata.Topic{Name: fmt.Sprintf("t%d.%s", i, strings.Repeat("x", rnd.IntN(200))), ID: drawUUID(rnd)}
		var racks []string
		for range 1 + rnd.IntN(12) {
			p := metadata.Partition{}
			var names []string
			for range rnd.IntN(4) {
				b := image.Brokers[rnd.IntN(len(image.Brokers))]
				p.Replicas = append(p.Replicas, b.ID)
				if b.Rack != "" {
					names = append(names, hex.EncodeToString([]byte(b.Rack)))
				}
			}
			topic.Partitions = append(topic.Partitions, p)
			racks = append(racks, strings.Join(names, ","))
		}
		image.Topics = append(image.Topics, topic)
		line += fmt.Sprintf(" %s:%x:%s", topic.Name, topic.ID, strings.Join(racks, ";"))
	}
	return image, line
}

// hashWritten is the hash in the record of a group whose member subscribes to all topics.
func hashWritten(t *testing.T, image *metadata.Image) uint64 {
	config := group.DefaultConfig()
	c := group.New(&config, prng.New(1).Split("group"))
	c.Publish(image)
	q := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.RebalanceTimeoutMillis, q.Topics = 1, "g", "m", 1000, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, topic := range image.Topics {
		q.SubscribedTopicNames = append(q.SubscribedTopicNames, topic.Name)
	}
	var j journal.Journal
	for _, w := range c.Receive(0, &simnet.Message{From: "c1", Request: q}, 0, &j).Writes {
		for _, r := range w.Records {
			if key, err := group.DecodeKey(r.Key); err == nil && key.Type == group.TypeConsumerGroupMetadata {
				value, err := group.DecodeValue(key, r.Value)
				if err != nil {
					t.Fatal(err)
				}
				return value.(group.ConsumerGroupRecord).MetadataHash
			}
		}
	}
	t.Fatal("the coordinator wrote no record of the group")
	return 0
}
