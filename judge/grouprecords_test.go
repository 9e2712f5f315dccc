//go:build judge

package judge

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

const groupRecords = 20_000

// drawGroupRecord draws a record of __consumer_offsets.
func drawGroupRecord(rnd *prng.Rand) group.Value {
	id := drawText(rnd)
	tp := kafka.TopicPartition{Topic: drawText(rnd), Partition: kafka.Partition(rnd.IntN(1 << 20))}
	switch rnd.IntN(5) {
	case 0:
		return group.Tombstone{Key: group.Key{Type: group.TypeOffsetCommit, Group: id, TopicPartition: tp}}
	case 1:
		return group.Tombstone{Key: group.Key{Type: group.TypeGroupMetadata, Group: id}}
	case 2, 3:
		r := group.OffsetCommitRecord{
			Version: 4, Group: id, TopicPartition: tp, Offset: kafka.Offset(rnd.Uint64() >> 1), LeaderEpoch: kafka.LeaderEpoch(rnd.IntN(1000) - 1),
			Metadata: drawText(rnd), CommitTimestamp: kafka.Timestamp(rnd.Uint64() >> 1), ExpireTimestamp: kafka.NoTimestamp,
		}
		switch rnd.IntN(4) {
		case 0:
			r.TopicID = drawUUID(rnd)
		case 1:
			r.Version, r.LeaderEpoch, r.ExpireTimestamp = 1, kafka.NoLeaderEpoch, kafka.Timestamp(rnd.IntN(1<<40))
		}
		return r
	}
	r := group.GroupMetadataRecord{
		Version: 3, Group: id, ProtocolType: []string{"", "consumer"}[rnd.IntN(2)], Generation: kafka.GenerationID(rnd.IntN(1 << 30)),
		Protocol: drawText(rnd), Leader: kafka.MemberID(drawText(rnd)), StateTimestamp: kafka.Timestamp(rnd.IntN(1<<40)) - 1,
	}
	for i := range rnd.IntN(4) {
		r.Members = append(r.Members, group.MemberRecord{
			ID: kafka.MemberID(fmt.Sprintf("%s-%d", drawText(rnd), i)), InstanceID: kafka.GroupInstanceID(drawText(rnd)), ClientID: drawText(rnd),
			ClientHost: "/" + drawText(rnd), RebalanceTimeout: kafka.Millis(rnd.IntN(1 << 30)), SessionTimeout: kafka.Millis(rnd.IntN(1 << 30)),
			Subscription: []byte(drawText(rnd)), Assignment: []byte(drawText(rnd)),
		})
	}
	return r
}

// orNullText is how Java writes a string that may be null.
func orNullText[S ~string](text S) string {
	if text == "" {
		return "null"
	}
	return string(text)
}

// groupRecordText is what the judge says of a record.
func groupRecordText(value group.Value) string {
	switch v := value.(type) {
	case group.Tombstone:
		if v.Key.Type == group.TypeGroupMetadata {
			return fmt.Sprintf("group %s gone", v.Key.Group)
		}
		return fmt.Sprintf("offset %s %s %d gone", v.Key.Group, v.Key.TopicPartition.Topic, v.Key.TopicPartition.Partition)
	case group.OffsetCommitRecord:
		return fmt.Sprintf("offset %s %s %d v%d %d %d [%s] %d %d %x", v.Group, v.TopicPartition.Topic, v.TopicPartition.Partition, v.Version, v.Offset,
			v.LeaderEpoch, v.Metadata, v.CommitTimestamp, v.ExpireTimestamp, v.TopicID)
	}
	v := value.(group.GroupMetadataRecord)
	var members []string
	for _, m := range v.Members {
		members = append(members, fmt.Sprintf("%s,%s,%s,%s,%d,%d,%x,%x", m.ID, orNullText(m.InstanceID), m.ClientID, m.ClientHost,
			m.RebalanceTimeout, m.SessionTimeout, m.Subscription, m.Assignment))
	}
	return fmt.Sprintf("group %s v%d %s %d %s %s %d [%s]", v.Group, v.Version, v.ProtocolType, v.Generation, orNullText(v.Protocol),
		orNullText(v.Leader), v.StateTimestamp, strings.Join(members, " "))
}

// GroupCoordinatorRecordSerde reads our records as they are meant and writes the same bytes; and we read those.
func TestGroupRecords(t *testing.T) {
	t.Logf("records by type %v", compareRecords(t, drawGroupRecord, groupRecordText))
}

// compareRecords draws records and holds them against Kafka's, and says how many of each type there were.
func compareRecords(t *testing.T, draw func(*prng.Rand) group.Value, text func(group.Value) string) map[int16]int {
	t.Helper()
	rnd := draws(t)
	var questions, want []string
	var records []coordinator.Record
	kinds := map[int16]int{}
	for range groupRecords {
		value := draw(&rnd)
		r := value.Encode()
		line := hex.EncodeToString(r.Key) + " " + hexOrDash(r.Value)
		questions = append(questions, line)
		want = append(want, text(value)+" | "+line)
		records = append(records, r)
	}
	for i, got := range answers(t, kafkaProgram(t, "GroupRecords"), questions) {
		if got != want[i] {
			t.Fatalf("record %d:\nKafka  %s\nloglab %s", i, got, want[i])
		}
		key, err := group.DecodeKey(records[i].Key)
		if err != nil {
			t.Fatal(err)
		}
		kinds[key.Type]++
		value, err := group.DecodeValue(key, records[i].Value)
		if err != nil || text(value) != strings.SplitN(got, " | ", 2)[0] {
			t.Fatalf("record %d: %v\nKafka  %s\nloglab %s", i, err, got, text(value))
		}
	}
	return kinds
}

// Utils.abs of String.hashCode names the partition of a group.
func TestGroupPartitions(t *testing.T) {
	rnd := draws(t)
	var questions []string
	ids := []string{"polygenelubricants", "my-group", "g", "日本", "😀 group"}
	for range 5000 {
		letters := make([]rune, 1+rnd.IntN(12))
		for i := range letters {
			letters[i] = []rune("aZ09-_.éß日😀")[rnd.IntN(11)]
		}
		ids = append(ids, string(letters))
	}
	for _, id := range ids {
		questions = append(questions, "partition "+id)
	}
	for i, got := range answers(t, kafkaProgram(t, "GroupRecords"), questions) {
		if want := fmt.Sprint(coordinator.PartitionFor(ids[i], 50)); got != want {
			t.Errorf("%q: Kafka %s, loglab %s", ids[i], got, want)
		}
	}
}
