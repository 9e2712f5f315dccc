//go:build judge

package judge

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/controller"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
)

// object is one object of JSON.
type object map[string]any

// ask writes a question as one line of JSON.
func ask(question object) string {
	line, err := json.Marshal(question)
	if err != nil {
		panic(err)
	}
	return string(line)
}

// drawIDs draws up to 5 broker ids, each once.
func drawIDs(rnd *prng.Rand) []kafka.BrokerID {
	all := []kafka.BrokerID{1, 2, 3, 4, 5}
	shuffle(rnd, all)
	return all[:rnd.IntN(6)]
}

// maybeIDs draws ids or nil.
func maybeIDs(rnd *prng.Rand) []kafka.BrokerID {
	if rnd.IntN(2) == 0 {
		return nil
	}
	return drawIDs(rnd)
}

func drawUUID(rnd *prng.Rand) (uuid [16]byte) {
	for i := range uuid {
		uuid[i] = byte(rnd.IntN(256))
	}
	return uuid
}

func drawUUIDs(rnd *prng.Rand) [][16]byte {
	uuids := make([][16]byte, rnd.IntN(3))
	for i := range uuids {
		uuids[i] = drawUUID(rnd)
	}
	return uuids
}

func drawText(rnd *prng.Rand) string {
	return []string{"", "orders", "a-b", "min.insync.replicas", "über", strings.Repeat("long", 60)}[rnd.IntN(6)]
}

func uuidText(uuid [16]byte) string { return base64.RawURLEncoding.EncodeToString(uuid[:]) }

func uuidTexts(uuids [][16]byte) []string {
	texts := make([]string, len(uuids))
	for i, uuid := range uuids {
		texts[i] = uuidText(uuid)
	}
	return texts
}

func int32s(rnd *prng.Rand) int32 { return int32(rnd.Uint32()) }

// drawRecord draws a record of any kind, with Kafka's JSON for it.
func drawRecord(rnd *prng.Rand) (metadata.Record, object) {
	switch rnd.IntN(11) {
	case 0:
		return drawRegisterBroker(rnd)
	case 1:
		m := metadata.UnregisterBrokerRecord{BrokerID: kafka.BrokerID(int32s(rnd)), BrokerEpoch: int64(rnd.Uint64())}
		return m, object{"brokerId": m.BrokerID, "brokerEpoch": m.BrokerEpoch}
	case 2:
		m := metadata.TopicRecord{Name: drawText(rnd), TopicID: drawUUID(rnd)}
		return m, object{"name": m.Name, "topicId": uuidText(m.TopicID)}
	case 3:
		return drawPartition(rnd)
	case 4:
		m := metadata.ConfigRecord{ResourceType: metadata.ResourceType(rnd.IntN(9)), ResourceName: drawText(rnd), Name: drawText(rnd)}
		if rnd.IntN(3) > 0 {
			value := drawText(rnd)
			m.Value = &value
		}
		return m, object{"resourceType": m.ResourceType, "resourceName": m.ResourceName, "name": m.Name, "value": m.Value}
	case 5, 6:
		return drawPartitionChange(rnd)
	case 7:
		m := metadata.FeatureLevelRecord{Name: drawText(rnd), FeatureLevel: int16(rnd.IntN(40))}
		return m, object{"name": m.Name, "featureLevel": m.FeatureLevel}
	case 8:
		m := metadata.ProducerIDsRecord{BrokerID: kafka.BrokerID(int32s(rnd)), BrokerEpoch: int64(rnd.Uint64()), NextProducerID: kafka.ProducerID(rnd.Uint64())}
		return m, object{"brokerId": m.BrokerID, "brokerEpoch": m.BrokerEpoch, "nextProducerId": m.NextProducerID}
	case 9:
		return drawRegistrationChange(rnd)
	}
	if rnd.IntN(2) == 0 {
		return metadata.NoOpRecord{}, object{}
	}
	m := metadata.ClearELRRecord{TopicName: drawText(rnd)}
	return m, object{"topicName": m.TopicName}
}

func drawRegisterBroker(rnd *prng.Rand) (metadata.Record, object) {
	m := metadata.RegisterBrokerRecord{
		BrokerID: kafka.BrokerID(int32s(rnd)), IncarnationID: drawUUID(rnd), BrokerEpoch: int64(rnd.Uint64()),
		Rack: drawText(rnd), Fenced: rnd.IntN(2) == 0, InControlledShutdown: rnd.IntN(2) == 0,
	}
	endPoints, features := []object{}, []object{}
	for i := range rnd.IntN(3) {
		e := metadata.EndPoint{Name: fmt.Sprint("L", i), Host: drawText(rnd), Port: uint16(rnd.IntN(1 << 16)), SecurityProtocol: int16(rnd.IntN(4))}
		m.EndPoints = append(m.EndPoints, e)
		endPoints = append(endPoints, object{"name": e.Name, "host": e.Host, "port": e.Port, "securityProtocol": e.SecurityProtocol})
	}
	for i := range rnd.IntN(3) {
		f := metadata.SupportedFeature{Name: fmt.Sprint("f", i), MaxSupportedVersion: int16(rnd.IntN(40))}
		m.Features = append(m.Features, f)
		features = append(features, object{"name": f.Name, "minSupportedVersion": f.MinSupportedVersion, "maxSupportedVersion": f.MaxSupportedVersion})
	}
	var rack any
	if m.Rack != "" {
		rack = m.Rack
	}
	f := object{
		"brokerId": m.BrokerID, "isMigratingZkBroker": false, "incarnationId": uuidText(m.IncarnationID), "brokerEpoch": m.BrokerEpoch,
		"endPoints": endPoints, "features": features, "rack": rack, "fenced": m.Fenced, "inControlledShutdown": m.InControlledShutdown,
	}
	if dirs := drawUUIDs(rnd); len(dirs) > 0 {
		m.LogDirs, f["logDirs"] = dirs, uuidTexts(dirs)
	}
	return m, f
}

func drawRegistrationChange(rnd *prng.Rand) (metadata.Record, object) {
	m := metadata.BrokerRegistrationChangeRecord{
		BrokerID: kafka.BrokerID(int32s(rnd)), BrokerEpoch: int64(rnd.Uint64()), Fenced: metadata.Fencing(rnd.IntN(3) - 1), InControlledShutdown: rnd.IntN(2) == 0,
	}
	f := object{"brokerId": m.BrokerID, "brokerEpoch": m.BrokerEpoch}
	if m.Fenced != 0 {
		f["fenced"] = m.Fenced
	}
	if m.InControlledShutdown {
		f["inControlledShutdown"] = 1
	}
	if dirs := drawUUIDs(rnd); len(dirs) > 0 {
		m.LogDirs, f["logDirs"] = dirs, uuidTexts(dirs)
	}
	return m, f
}

func drawPartition(rnd *prng.Rand) (metadata.Record, object) {
	m := metadata.PartitionRecord{
		PartitionID: kafka.Partition(int32s(rnd)), TopicID: drawUUID(rnd), Replicas: drawIDs(rnd), ISR: drawIDs(rnd), RemovingReplicas: drawIDs(rnd),
		AddingReplicas: drawIDs(rnd), Leader: kafka.BrokerID(int32s(rnd)), LeaderRecoveryState: metadata.LeaderRecoveryState(rnd.IntN(2)),
		LeaderEpoch: kafka.LeaderEpoch(int32s(rnd)), PartitionEpoch: int32s(rnd), Directories: drawUUIDs(rnd),
		EligibleLeaderReplicas: maybeIDs(rnd), LastKnownELR: maybeIDs(rnd),
	}
	f := object{
		"partitionId": m.PartitionID, "topicId": uuidText(m.TopicID), "replicas": m.Replicas, "isr": m.ISR, "removingReplicas": m.RemovingReplicas,
		"addingReplicas": m.AddingReplicas, "leader": m.Leader, "leaderEpoch": m.LeaderEpoch, "partitionEpoch": m.PartitionEpoch, "directories": uuidTexts(m.Directories),
	}
	if m.LeaderRecoveryState != 0 {
		f["leaderRecoveryState"] = m.LeaderRecoveryState
	}
	setIDs(f, "eligibleLeaderReplicas", m.EligibleLeaderReplicas)
	setIDs(f, "lastKnownElr", m.LastKnownELR)
	return m, f
}

func setIDs(f object, name string, ids []kafka.BrokerID) {
	if ids != nil {
		f[name] = ids
	}
}

func drawPartitionChange(rnd *prng.Rand) (metadata.Record, object) {
	m := metadata.NewPartitionChange(drawUUID(rnd), kafka.Partition(int32s(rnd)))
	f := object{"partitionId": m.PartitionID, "topicId": uuidText(m.TopicID)}
	m.ISR, m.Replicas, m.RemovingReplicas, m.AddingReplicas = maybeIDs(rnd), maybeIDs(rnd), maybeIDs(rnd), maybeIDs(rnd)
	m.EligibleLeaderReplicas, m.LastKnownELR = maybeIDs(rnd), maybeIDs(rnd)
	for name, ids := range map[string][]kafka.BrokerID{
		"isr": m.ISR, "replicas": m.Replicas, "removingReplicas": m.RemovingReplicas, "addingReplicas": m.AddingReplicas,
		"eligibleLeaderReplicas": m.EligibleLeaderReplicas, "lastKnownElr": m.LastKnownELR,
	} {
		setIDs(f, name, ids)
	}
	if rnd.IntN(2) == 0 {
		m.Leader = kafka.BrokerID(rnd.IntN(4) - 1)
		f["leader"] = m.Leader
	}
	if rnd.IntN(2) == 0 {
		m.LeaderRecoveryState = metadata.LeaderRecoveryState(rnd.IntN(2))
		f["leaderRecoveryState"] = m.LeaderRecoveryState
	}
	if rnd.IntN(2) == 0 {
		m.Directories = drawUUIDs(rnd)
		f["directories"] = uuidTexts(m.Directories)
	}
	return m, f
}

// MetadataRecordSerde writes the same bytes for a record, reads ours and writes them again, and what it writes
// decodes to the record.
func TestMetadataRecords(t *testing.T) {
	rnd := draws(t)
	const count = 5000
	var records []metadata.Record
	var questions []string
	for range count {
		r, f := drawRecord(&rnd)
		records = append(records, r)
		questions = append(questions, ask(object{"record": f, "key": r.APIKey(), "version": r.Version()}),
			ask(object{"bytes": hex.EncodeToString(metadata.Append(nil, r))}))
	}
	lines := answers(t, kafkaProgram(t, "Metadata"), questions)
	for i, r := range records {
		ours := hex.EncodeToString(metadata.Append(nil, r))
		if lines[2*i] != ours || lines[2*i+1] != ours {
			t.Fatalf("seed %d, record %d: %T %+v\nours  %s\nKafka %s\nagain %s", *seed, i, r, r, ours, lines[2*i], lines[2*i+1])
		}
		theirs, err := hex.DecodeString(lines[2*i])
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := metadata.Decode(theirs)
		if diff := cmp.Diff(r, decoded); err != nil || diff != "" {
			t.Fatalf("seed %d, record %d: %v (-drawn +decoded):\n%s", *seed, i, err, diff)
		}
	}
	t.Logf("%d records", count)
}

// without draws a list of ids none of which is in taken.
func without(rnd *prng.Rand, from, taken []kafka.BrokerID) []kafka.BrokerID {
	list := []kafka.BrokerID{}
	for _, id := range from {
		if !slices.Contains(taken, id) && rnd.IntN(2) == 0 {
			list = append(list, id)
		}
	}
	return list
}

// drawChange draws a partition's state, who is alive and what is to become of its ISR.
func drawChange(rnd *prng.Rand) (*controller.PartitionChange, object) {
	replicas := drawIDs(rnd)
	for len(replicas) == 0 {
		replicas = drawIDs(rnd)
	}
	isr := without(rnd, replicas, nil)
	elr := without(rnd, replicas, isr)
	slices.Sort(elr)
	lastKnown := []kafka.BrokerID{}
	if rnd.IntN(3) == 0 {
		lastKnown = []kafka.BrokerID{replicas[rnd.IntN(len(replicas))]}
	}
	leader := metadata.NoLeader
	if len(isr) > 0 && rnd.IntN(4) > 0 {
		leader = isr[rnd.IntN(len(isr))]
	}
	alive := without(rnd, []kafka.BrokerID{1, 2, 3, 4, 5}, nil)
	target, unclean := isr, metadata.NoLeader
	switch rnd.IntN(4) {
	case 0:
		target = without(rnd, replicas, nil)
	case 1:
		target = without(rnd, isr, nil)
	case 2:
		unclean = replicas[rnd.IntN(len(replicas))]
		target = slices.DeleteFunc(slices.Clone(isr), func(id kafka.BrokerID) bool { return id == unclean })
	}
	p := metadata.Partition{
		Replicas: replicas, ISR: isr, ELR: elr, LastKnownELR: lastKnown, Leader: leader, LeaderEpoch: kafka.LeaderEpoch(rnd.IntN(9)),
		PartitionEpoch: int32(rnd.IntN(99)), Recovering: rnd.IntN(3) == 0,
	}
	c := &controller.PartitionChange{
		TopicID: [16]byte{7: 1, 15: 2}, Index: 3, Partition: p, Acceptable: func(id kafka.BrokerID) bool { return slices.Contains(alive, id) },
		MinISR: 1 + rnd.IntN(3), ELR: rnd.IntN(3) > 0, Election: controller.Election(rnd.IntN(3)), ISR: target, Unclean: unclean, Recovered: rnd.IntN(3) == 0,
	}
	recovering := 0
	if p.Recovering {
		recovering = 1
	}
	return c, object{
		"replicas": replicas, "isr": isr, "elr": elr, "lastKnownElr": lastKnown, "leader": leader, "leaderEpoch": p.LeaderEpoch, "partitionEpoch": p.PartitionEpoch,
		"recovering": recovering, "alive": alive, "minIsr": c.MinISR, "elrEnabled": c.ELR, "targetIsr": target, "unclean": unclean, "recovered": c.Recovered,
		"election": []string{"ONLINE", "PREFERRED", "UNCLEAN"}[c.Election],
	}
}

// PartitionChangeBuilder makes the same record: the same leader, ISR and ELR.
func TestPartitionChanges(t *testing.T) {
	rnd := draws(t)
	const count = 20000
	var changes []*controller.PartitionChange
	var questions []string
	for range count {
		c, f := drawChange(&rnd)
		changes, questions = append(changes, c), append(questions, ask(object{"change": f}))
	}
	elections, none := 0, 0
	for i, theirs := range answers(t, kafkaProgram(t, "Metadata"), questions) {
		record, how, ok := changes[i].Build()
		ours := ""
		if ok {
			ours = hex.EncodeToString(metadata.Append(nil, record))
		}
		if ours != theirs {
			decoded := "nothing"
			if b, err := hex.DecodeString(theirs); err == nil && theirs != "" {
				r, _ := metadata.Decode(b)
				decoded = fmt.Sprintf("%+v", r)
			}
			t.Fatalf("seed %d, change %d: %s\nours  %t %+v (%s)\nKafka %s", *seed, i, questions[i], ok, record, how.Why, decoded)
		}
		switch {
		case !ok:
			none++
		case record.Leader >= 0:
			elections++
		}
	}
	t.Logf("%d changes: %d elections, %d of nothing", count, elections, none)
}

// StripedReplicaPlacer places the same replicas from the same draws, or refuses in the same words.
func TestPlacement(t *testing.T) {
	rnd := draws(t)
	const count = 3000
	var ours, questions []string
	refusals := 0
	for range count {
		drawn, partitions, factor := rnd.IntN(1000), 1+rnd.IntN(12), rnd.IntN(6)
		racks := rnd.IntN(4)
		var brokers []controller.UsableBroker
		list := []object{}
		for id := range rnd.IntN(8) {
			b := controller.UsableBroker{ID: kafka.BrokerID(id), Fenced: rnd.IntN(4) == 0}
			if racks > 0 && rnd.IntN(8) > 0 {
				b.Rack = fmt.Sprint("r", rnd.IntN(racks))
			}
			brokers, list = append(brokers, b), append(list, object{"id": id, "rack": b.Rack, "fenced": b.Fenced})
		}
		questions = append(questions, ask(object{"place": object{"drawn": drawn, "partitions": partitions, "factor": factor, "brokers": list}}))
		replicas, refused := controller.PlaceReplicas(partitions, factor, brokers, func(n int) int { return (drawn*31 + n*17) % n })
		if refused != nil {
			refusals++
			ours = append(ours, refused.Message)
			continue
		}
		ours = append(ours, strings.ReplaceAll(fmt.Sprint(replicas), " ", ","))
	}
	for i, theirs := range answers(t, kafkaProgram(t, "Metadata"), questions) {
		if theirs != ours[i] {
			t.Fatalf("seed %d, topic %d: %s\nours  %s\nKafka %s", *seed, i, questions[i], ours[i], theirs)
		}
	}
	t.Logf("%d topics, %d refused", count, refusals)
}
