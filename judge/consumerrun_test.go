//go:build judge

package judge

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

// scriptTopics are the topics that there are sooner or later. The ids rise with the names, from 2 on.
var scriptTopics = []string{"logs", "orders", "paybacks", "payments"}

func scriptTopicID(name string) (id [16]byte) {
	id[15] = byte(slices.Index(scriptTopics, name) + 2)
	return id
}

const (
	consumerWorlds = 1500
)

// consumerWorld is a coordinator with groups of both protocols.
type consumerWorld struct {
	groupWorld
	image    metadata.Image
	seen     map[string]bool // member ids
	upgrades int             // of groups with members
	downs    int
}

// TestConsumers: GroupCoordinatorShard answers, writes and keeps in memory what engine/group does, over drawn scripts of
// clients of the consumer protocol and of the classic one in the same groups, of topics that are made and grow, restarts,
// failing writes and time that passes.
//
// Both draw the same member ids. Kafka's assignors are run as from a table of members in which no two share a slot, and are
// told whether subscriptions are equal: what the history of Kafka's tables and counts decides, as the Simplified lines of
// engine/assignor and engine/group say, is not compared. For the same reason no two clients ask for different assignors.
//
// Where a group is to become a classic one and a member has no target assignment yet, Kafka's coordinator fails, for want
// of a check for null; the rest of such a world is not compared.
func TestConsumers(t *testing.T) {
	rnd := draws(t)
	var questions, want []string
	upgrades, downs := 0, 0
	for range consumerWorlds {
		w, settings := newConsumerWorld(&rnd, len(questions))
		questions, want = append(questions, "world "+settings), append(want, "ok")
		for range groupSteps {
			question, answer := w.step(&rnd)
			questions, want = append(questions, question), append(want, answer)
		}
		for e := range w.j.All() {
			if b, ok := e.Body.(journal.GroupConverted); ok && b.Members > 0 {
				if b.To == string(group.Consumer) {
					upgrades++
				} else {
					downs++
				}
			}
		}
	}
	seen := map[string]int{}
	world, failed := 0, map[int]int{}
	for i, got := range answers(t, compiledProgram(t, "ConsumerCoordinator", "ConsumerTexts", "OffsetTexts", "Arrivals", "Cluster"), questions) {
		if strings.HasPrefix(questions[i], "world") {
			world = i
		}
		if got == "fails" {
			if failed[world]++; failed[world] > 1 {
				continue
			}
			t.Logf("Kafka fails at step %d of %d: %s", i-world, groupSteps, questions[i])
			continue
		}
		if got != want[i] {
			t.Fatalf("step %d of the script:\n%s\nbefore %s\nKafka  %s\nloglab %s", i-world, strings.Join(questions[world:i+1], "\n"), want[i-1], got, want[i])
		}
		for _, answer := range strings.Split(strings.SplitN(got, " | ", 2)[0], "; ") {
			if words := strings.Fields(answer); len(words) > 2 {
				seen[words[1]+" "+words[2]]++
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d × %s", seen[kind], kind)
	}
	if len(failed) > consumerWorlds/20 {
		t.Errorf("Kafka fails in %d of %d worlds", len(failed), consumerWorlds)
	}
	t.Logf("%d online upgrades, %d online downgrades", upgrades, downs)
}

func newConsumerWorld(rnd *prng.Rand, first int) (*consumerWorld, string) {
	config := group.DefaultConfig()
	config.Start = groupStart
	config.MaxSize, config.InitialRebalanceDelay = 2+rnd.IntN(4), kafka.Millis(1+rnd.IntN(3000))
	minutes := 1 + rnd.IntN(4)
	config.OffsetsRetention, config.RetentionCheckInterval = kafka.Millis(minutes)*60_000, kafka.Millis(10_000+rnd.IntN(80_000))
	config.ConsumerMaxSize = 2 + rnd.IntN(5)
	config.ConsumerSessionTimeout, config.ConsumerHeartbeatInterval = kafka.Millis(20_000+rnd.IntN(40_000)), kafka.Millis(1000+rnd.IntN(4000))
	config.MigrationPolicy = []group.MigrationPolicy{group.Bidirectional, group.Bidirectional, group.Bidirectional, group.UpgradeOnly, group.DowngradeOnly, group.NoMigration}[rnd.IntN(6)]
	config.RegexRefreshInterval = kafka.Millis(10_000 + rnd.IntN(60_000))
	if rnd.IntN(2) == 0 {
		slices.Reverse(config.Assignors)
	}
	w := &consumerWorld{seen: map[string]bool{}}
	w.groupWorld = groupWorld{c: group.New(&config, rnd.Split(fmt.Sprint(first))), numbers: map[*simnet.Message]int{}, exact: true}
	for i := range 6 {
		rack := ""
		if i > 1 {
			rack = fmt.Sprint("r", i)
		}
		w.image.Brokers = append(w.image.Brokers, metadata.Broker{ID: kafka.BrokerID(i), Rack: rack})
	}
	w.c.Publish(&w.image)
	w.c.Load(0, func(func(coordinator.Logged) bool) {}, 0, &w.j)
	groups, assignor := []string{"g", "g", "h"}, []string{"uniform", "range"}[rnd.IntN(2)]
	for i := range 6 {
		w.clients = append(w.clients, newMixedClient(rnd, i, groups[rnd.IntN(3)], assignor, &w.image))
	}
	return w, fmt.Sprintf("group.max.size=%d group.initial.rebalance.delay.ms=%d offsets.retention.minutes=%d offsets.retention.check.interval.ms=%d group.consumer.max.size=%d "+
		"group.consumer.session.timeout.ms=%d group.consumer.heartbeat.interval.ms=%d group.consumer.migration.policy=%s group.consumer.regex.refresh.interval.ms=%d group.consumer.assignors=%s",
		config.MaxSize, config.InitialRebalanceDelay, minutes, config.RetentionCheckInterval, config.ConsumerMaxSize, config.ConsumerSessionTimeout, config.ConsumerHeartbeatInterval,
		config.MigrationPolicy, config.RegexRefreshInterval, strings.Join(config.Assignors, ","))
}

// step lets time pass, sends one drawn request or publishes topics, and gives the line of the script with what came of it.
func (w *consumerWorld) step(rnd *prng.Rand) (question, answer string) {
	w.answers, w.written = map[int]string{}, nil
	until := w.now
	switch rnd.IntN(12) {
	case 0, 1, 2, 3:
		until += kafka.Millis(rnd.IntN(2000))
	case 4, 5:
		until += kafka.Millis(rnd.IntN(8000))
	case 6:
		if rnd.IntN(6) == 0 {
			until += kafka.Millis(rnd.IntN(100_000))
		}
	}
	w.passTo(until)
	failing, words := "-", ""
	w.requests++
	if len(w.image.Topics) == 0 || rnd.IntN(40) == 0 {
		words = w.drawTopics(rnd)
	} else {
		if rnd.IntN(25) == 0 {
			failing = w.failWrite(rnd)
		}
		if rnd.IntN(20) == 0 {
			words = w.endTransaction(rnd)
		} else {
			c := w.clients[rnd.IntN(len(w.clients))]
			var request kmsg.Request
			request, words = w.drawMixed(rnd, c)
			w.ask(c, request)
		}
		w.fail = nil
	}
	all, state := w.answered(), w.state()
	return fmt.Sprintf("%d %s %s %s", until, failing, w.drawnID(all+" "+state), words), all + " | " + strings.Join(w.written, "; ") + " | " + state + " | " + w.offsets()
}

// A member id that a coordinator makes has a UUID behind a dash, or is one in base64.
var (
	longID  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	shortID = regexp.MustCompile(`\b[A-Za-z0-9_][A-Za-z0-9_-]{21}(?:[^A-Za-z0-9_-]|$)`)
)

// drawnID gives the UUID of the member id that is new in a text, "-" if none is.
func (w *consumerWorld) drawnID(text string) string {
	id := "-"
	for _, found := range longID.FindAllString(text, -1) {
		if !w.seen[found] {
			w.seen[found] = true
			id = strings.ReplaceAll(found, "-", "")
		}
	}
	for _, found := range shortID.FindAllString(text, -1) {
		found = found[:22]
		bytes, err := base64.RawURLEncoding.DecodeString(found)
		if err != nil || len(bytes) != 16 || bytes[6]>>4 != 4 || bytes[8]>>6 != 2 || w.seen[found] {
			continue
		}
		w.seen[found] = true
		id = hex.EncodeToString(bytes)
	}
	return id
}

// drawTopics makes a topic, or adds partitions to one.
func (w *consumerWorld) drawTopics(rnd *prng.Rand) string {
	w.image.Topics = slices.Clone(w.image.Topics)
	name := scriptTopics[rnd.IntN(len(scriptTopics))]
	i := slices.IndexFunc(w.image.Topics, func(t metadata.Topic) bool { return t.Name == name })
	if i < 0 {
		i = len(w.image.Topics)
		w.image.Topics = append(w.image.Topics, metadata.Topic{Name: name, ID: scriptTopicID(name)})
	}
	count := min(len(w.image.Topics[i].Partitions)+1+rnd.IntN(3), 9)
	if count > len(w.image.Topics[i].Partitions) {
		partitions := make([]metadata.Partition, count)
		for p := range partitions {
			partitions[p].Replicas = []kafka.BrokerID{kafka.BrokerID(p % 6), kafka.BrokerID((p + 1) % 6), kafka.BrokerID((p + 2) % 6)}
		}
		w.image.Topics[i].Partitions = partitions
	}
	slices.SortFunc(w.image.Topics, func(a, b metadata.Topic) int { return strings.Compare(a.Name, b.Name) })
	w.image.Offset += kafka.Offset(1 + rnd.IntN(10))
	image := w.image
	w.c.Publish(&image)
	words := fmt.Sprintf("topics %d", image.Offset)
	for _, t := range image.Topics {
		words += fmt.Sprintf(" %s:%d:%d", t.Name, t.ID[15], len(t.Partitions))
	}
	return words
}

// consumerState is what the judge says of a group of the consumer protocol.
func consumerState(g group.GroupView) string {
	members := []string{}
	for _, m := range g.Members {
		session := "-"
		if m.Classic {
			session = fmt.Sprint(m.SessionTimeout)
		}
		members = append(members, fmt.Sprintf("%s:%s:%d:%s:%s:%d:%d:%s:%s:%s:%s:%s:%s:%s:%s", m.ID, orDash(string(m.InstanceID)), m.RebalanceTimeout, orDash(m.Regex), session, m.Epoch, m.PreviousEpoch,
			m.State, numberedPartitions(m.Assignment), numberedPartitions(m.Revoking), numberedPartitions(m.Target), timeText(m.SessionEnds), timeText(m.RevokeEnds), timeText(m.JoinEnds), timeText(m.SyncEnds)))
	}
	return fmt.Sprintf("%s consumer %s %d %d [%s]", g.ID, g.State, g.Epoch, g.AssignmentEpoch, strings.Join(members, ", "))
}

// numberedPartitions lists partitions with the numbers of their topics.
func numberedPartitions(list []kafka.TopicPartition) string {
	var topics []group.AssignedTopic
	for _, tp := range list {
		if n := len(topics); n == 0 || topics[n-1].TopicID != scriptTopicID(tp.Topic) {
			topics = append(topics, group.AssignedTopic{TopicID: scriptTopicID(tp.Topic)})
		}
		last := &topics[len(topics)-1]
		last.Partitions = append(last.Partitions, int32(tp.Partition))
	}
	return assignedText(topics)
}

func assignedText(list []group.AssignedTopic) string {
	var words []string
	for _, t := range list {
		words = append(words, fmt.Sprintf("%d/%s", t.TopicID[15], strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Partitions), " ", ","), "[]")))
	}
	if words == nil {
		return "[]"
	}
	return strings.Join(words, ";")
}

// scriptRecordText is what the judge says of a record of the consumer protocol.
func scriptRecordText(value group.Value) string {
	text := consumerRecordText(value)
	switch v := value.(type) {
	case group.TargetMemberRecord:
		return strings.SplitAfter(text, ")")[0] + " " + assignedText(v.Partitions)
	case group.CurrentAssignmentRecord:
		code := map[group.MemberState]int{group.MemberStable: 0, group.UnrevokedPartitions: 1, group.UnreleasedPartitions: 2}[v.State]
		return fmt.Sprintf("%s %d %d %d %s %s", strings.SplitAfter(text, ")")[0], v.Epoch, v.PreviousEpoch, code, assignedText(v.Assigned), assignedText(v.Revoking))
	}
	return text
}

// describedText is what the judge says of a group that ConsumerGroupDescribe describes.
func describedText(g kmsg.ConsumerGroupDescribeResponseGroup) string {
	members := []string{}
	assigned := func(a kmsg.Assignment) string {
		var list []group.AssignedTopic
		for _, t := range a.TopicPartitions {
			list = append(list, group.AssignedTopic{TopicID: t.TopicID, Partitions: t.Partitions})
		}
		return assignedText(list)
	}
	for _, m := range g.Members {
		members = append(members, fmt.Sprintf("%s/%s/%s/%d/%s/%s/%s/%s/%s/%d", m.MemberID, orDash(textOf(m.InstanceID)), orDash(textOf(m.RackID)), m.MemberEpoch, m.ClientID,
			listed(m.SubscribedTopics), orDash(textOf(m.SubscribedTopicRegex)), assigned(m.Assignment), assigned(m.TargetAssignment), m.MemberType))
	}
	slices.Sort(members)
	return fmt.Sprintf("%s %s %d %d %s [%s]", codeText(g.ErrorCode), orDash(g.State), g.Epoch, g.AssignmentEpoch, orDash(g.AssignorName), strings.Join(members, ", "))
}
