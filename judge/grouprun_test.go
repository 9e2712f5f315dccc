//go:build judge

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/group"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/simnet"
)

const (
	groupWorlds = 1500
	groupSteps  = 120
	groupStart  = 1_700_000_000_000
)

// groupWorld is a coordinator whose writes are replicated at once, and a script of what it was asked.
type groupWorld struct {
	c        *group.Coordinator
	j        journal.Journal
	now      kafka.Millis
	fail     *kerr.Error
	requests int
	numbers  map[*simnet.Message]int
	ids      map[string]string // names of member ids
	counts   map[string]int
	answers  map[int]string
	written  []string
	clients  []*groupClient
	exact    bool // member ids are the same in both, and told as they are
}

// groupClient is what a client knows.
type groupClient struct {
	node       kafka.NodeID
	group      string
	instance   string
	member     string
	generation int32
	session    int32
	rebalance  int32
	protocols  []string
	topics     []string
	members    []string // that it divides partitions among; nil: it does not lead
	told       bool     // of a generation, and has not sent SyncGroup yet
	owned      []kmsg.ConsumerMemberMetadataOwnedPartition
	modern     *modernClient // what it knows as a client of the consumer protocol; nil: the judge has none
}

// TestGroups: GroupCoordinatorShard answers, writes and keeps in memory what engine/group does, over drawn scripts of
// joins, syncs, heartbeats, commits in transactions and in none, ends of transactions, restarts, failing writes and time
// that passes.
func TestGroups(t *testing.T) {
	rnd := draws(t)
	var questions, want []string
	for range groupWorlds {
		first := len(questions)
		config := group.DefaultConfig()
		config.Start = groupStart
		config.MaxSize, config.InitialRebalanceDelay = 3+rnd.IntN(4), kafka.Millis(1+rnd.IntN(5000))
		minutes := 1 + rnd.IntN(4)
		config.OffsetsRetention, config.RetentionCheckInterval = kafka.Millis(minutes)*60_000, kafka.Millis(10_000+rnd.IntN(80_000))
		w := &groupWorld{c: group.New(&config, rnd.Split(fmt.Sprint(first))), numbers: map[*simnet.Message]int{}, ids: map[string]string{}, counts: map[string]int{}}
		w.c.Load(0, func(func(coordinator.Logged) bool) {}, 0, &w.j)
		questions = append(questions, fmt.Sprintf("world %d %d %d %d", config.MaxSize, config.InitialRebalanceDelay, minutes, config.RetentionCheckInterval))
		want = append(want, "ok")
		w.drawClients(&rnd)
		for range groupSteps {
			question, answer := w.step(&rnd)
			questions, want = append(questions, question), append(want, answer)
		}
	}
	seen := map[string]int{}
	got := answers(t, compiledProgram(t, "GroupCoordinator", "OffsetTexts"), questions)
	world := 0
	for i := range got {
		if strings.HasPrefix(questions[i], "world") {
			world = i
		}
		if got[i] != want[i] {
			t.Fatalf("step %d of the script:\n%s\nKafka  %s\nloglab %s", i-world, strings.Join(questions[world:i+1], "\n"), got[i], want[i])
		}
		for _, answer := range strings.Split(strings.SplitN(got[i], " | ", 2)[0], "; ") {
			if words := strings.Fields(answer); len(words) > 2 {
				seen[words[1]+" "+words[2]]++
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d × %s", seen[kind], kind)
	}
}

func (w *groupWorld) drawClients(rnd *prng.Rand) {
	for i := range 6 {
		c := &groupClient{
			node: kafka.NodeID(fmt.Sprint("c", i)), group: []string{"g", "g", "h"}[rnd.IntN(3)], generation: -1,
			session: int32(6000 + rnd.IntN(30_000)), rebalance: int32(3000 + rnd.IntN(40_000)), topics: []string{"orders"},
			protocols: [][]string{{"range"}, {"range", "sticky"}, {"sticky", "range"}, {"cooperative-sticky", "range", "sticky"}, {"roundrobin", "sticky", "range"}}[rnd.IntN(5)],
		}
		if rnd.IntN(5) == 0 {
			c.session = 5999 // too short, and others
		}
		if rnd.IntN(2) == 0 {
			c.instance = fmt.Sprint("i", rnd.IntN(5))
		}
		w.clients = append(w.clients, c)
	}
}

// step lets time pass, sends one drawn request, and gives the line of the script with what came of it.
func (w *groupWorld) step(rnd *prng.Rand) (question, answer string) {
	w.answers, w.written = map[int]string{}, nil
	until := w.now
	switch rnd.IntN(10) {
	case 0, 1, 2, 3:
		until += kafka.Millis(rnd.IntN(3000))
	case 4, 5:
		until += kafka.Millis(rnd.IntN(12_000))
	case 6:
		if rnd.IntN(4) == 0 {
			until += kafka.Millis(rnd.IntN(100_000))
		}
	}
	w.passTo(until)
	w.fail = nil
	failing := "-"
	if rnd.IntN(25) == 0 {
		failing = w.failWrite(rnd)
	}
	words := ""
	w.requests++
	if rnd.IntN(20) == 0 {
		words = w.endTransaction(rnd)
	} else {
		c := w.clients[rnd.IntN(len(w.clients))]
		var request kmsg.Request
		request, words = w.draw(rnd, c)
		w.ask(c, request)
	}
	w.fail = nil
	state := w.state()
	return fmt.Sprintf("%d %s %s", until, failing, words), w.answered() + " | " + strings.Join(w.written, "; ") + " | " + state + " | " + w.offsets()
}

// ask sends a client's request, the last one that was counted.
func (w *groupWorld) ask(c *groupClient, request kmsg.Request) {
	m := &simnet.Message{From: c.node, To: "b1", Request: request}
	w.numbers[m] = w.requests
	w.perform(w.c.Receive(w.now, m, 0, &w.j))
}

// passTo lets time pass, with all timers that are due meanwhile.
func (w *groupWorld) passTo(until kafka.Millis) {
	for {
		due, ok := w.c.NextDue()
		if !ok || due > until {
			break
		}
		w.now = due
		w.perform(w.c.Tick(w.now, &w.j))
	}
	w.now = until
}

// failWrite lets the writes of the next request fail, and gives Kafka's name of the error.
func (w *groupWorld) failWrite(rnd *prng.Rand) string {
	w.fail = []*kerr.Error{kerr.NotEnoughReplicas, kerr.MessageTooLarge, kerr.NotLeaderForPartition}[rnd.IntN(3)]
	return strings.Replace(w.fail.Message, "NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER", 1)
}

// answered gives the answers of a step in the order of their requests.
func (w *groupWorld) answered() string {
	texts := make([]string, 0, len(w.answers))
	for _, n := range slices.Sorted(maps.Keys(w.answers)) {
		texts = append(texts, w.answers[n])
	}
	return strings.Join(texts, "; ")
}

// perform does what the coordinator wants done.
func (w *groupWorld) perform(e coordinator.Effects) {
	for _, write := range e.Writes {
		if w.fail != nil {
			continue
		}
		var texts []string
		for _, r := range write.Records {
			text := w.recordText(r)
			if write.Transaction != nil {
				text += fmt.Sprintf(" in %d", write.Transaction.ID)
			}
			texts = append(texts, text)
		}
		if m := write.Marker; m != nil {
			texts = append(texts, fmt.Sprintf("%s %d", m.Type, m.ProducerID))
		}
		slices.Sort(texts) // Kafka's come in the order of its hash tables
		w.written = append(w.written, texts...)
	}
	for _, a := range e.Answers {
		w.answers[w.numbers[a.Request]] = fmt.Sprintf("%d %s", w.numbers[a.Request], w.answerText(a))
	}
	for _, write := range e.Writes {
		w.perform(w.c.Written(w.now, write.ID, w.fail, 0, &w.j))
	}
}

// name names a member id, at first sight by a count.
func (w *groupWorld) name(id string) string {
	if w.exact || len(id) < 37 || id[len(id)-37] != '-' {
		return orDash(id)
	}
	if w.ids[id] == "" {
		base := id[:len(id)-37]
		w.counts[base]++
		w.ids[id] = fmt.Sprintf("%s#%d", base, w.counts[base])
	}
	return w.ids[id]
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func hexOrDash(bytes []byte) string { return orDash(fmt.Sprintf("%x", bytes)) }

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// codeText is Kafka's name of a code.
func codeText(code int16) string {
	if code == 0 {
		return "NONE"
	}
	return strings.Replace(kerr.ErrorForCode(code).(*kerr.Error).Message, "NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER", 1)
}

// timeText is when a timer fires; 0: it does not run.
func timeText(t kafka.Millis) string {
	if t == 0 {
		return "-"
	}
	return fmt.Sprint(t)
}

// state is what the judge says of the groups.
func (w *groupWorld) state() string {
	var all []string
	for _, g := range w.c.View() {
		if g.Type == group.Consumer {
			all = append(all, consumerState(g))
			continue
		}
		members, owes, pending := []string{}, []string{}, []string{}
		for _, m := range g.Members {
			flags := ""
			for _, f := range []struct {
				on     bool
				letter string
			}{{m.WaitsInJoin, "J"}, {m.WaitsInSync, "S"}, {m.New, "N"}} {
				if f.on {
					flags += f.letter
				}
			}
			name := w.name(string(m.ID))
			members = append(members, fmt.Sprintf("%s:%s:%s:%s:%d:%d", name, orDash(string(m.InstanceID)), flags, timeText(m.SessionEnds), m.SessionTimeout, m.RebalanceTimeout))
			if m.OwesSync {
				owes = append(owes, name)
			}
		}
		for _, p := range g.Pending {
			pending = append(pending, fmt.Sprintf("%s@%s", w.name(string(p.ID)), timeText(p.Expires)))
		}
		slices.Sort(owes)
		slices.Sort(pending)
		all = append(all, fmt.Sprintf("%s %s %d %d %s %s %s [%s] [%s] %d [%s] join=%s sync=%s", g.ID, g.State, g.Since-groupStart, g.Generation, orDash(g.ProtocolType),
			orDash(g.Protocol), w.name(string(g.Leader)), strings.Join(members, ", "), strings.Join(pending, ", "), len(pending), strings.Join(owes, ", "), timeText(g.JoinEnds), timeText(g.SyncEnds)))
	}
	return strings.Join(all, "; ")
}

// offsets is what the judge says of the offsets.
func (w *groupWorld) offsets() string {
	var all []string
	for _, g := range w.c.View() {
		for _, o := range g.Offsets {
			all = append(all, fmt.Sprintf("%s %s: %d", g.ID, o.TopicPartition, o.Offset))
		}
		for _, o := range g.PendingOffsets {
			all = append(all, fmt.Sprintf("%s %s pending in %d: %d", g.ID, o.TopicPartition, o.ProducerID, o.Offset))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// recordText is what the judge says of a record.
func (w *groupWorld) recordText(r coordinator.Record) string {
	key, err := group.DecodeKey(r.Key)
	if err != nil {
		return err.Error()
	}
	value, err := group.DecodeValue(key, r.Value)
	if err != nil {
		return err.Error()
	}
	switch v := value.(type) {
	case group.OffsetCommitRecord:
		return fmt.Sprintf("offset %s %s %d %d %d %s %d", v.Group, v.TopicPartition.Topic, v.TopicPartition.Partition, v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp-groupStart)
	case group.GroupMetadataRecord:
		members := []string{}
		for _, m := range v.Members {
			members = append(members, fmt.Sprintf("%s,%s,%s,%d,%d,%s,%s", w.name(string(m.ID)), orDash(string(m.InstanceID)), m.ClientID, m.RebalanceTimeout, m.SessionTimeout,
				hexOrDash(m.Subscription), hexOrDash(m.Assignment)))
		}
		if w.exact {
			slices.Sort(members) // a group that has just changed its protocol has them in the order of a hash table
		}
		return fmt.Sprintf("group %s %s %d %s %s %d [%s]", v.Group, orDash(v.ProtocolType), v.Generation, orDash(v.Protocol), w.name(string(v.Leader)), v.StateTimestamp-groupStart, strings.Join(members, ", "))
	}
	switch key.Type {
	case group.TypeGroupMetadata:
		return fmt.Sprintf("group %s gone", key.Group)
	case group.TypeOffsetCommit:
		return fmt.Sprintf("offset %s %s %d gone", key.Group, key.TopicPartition.Topic, key.TopicPartition.Partition)
	}
	return scriptRecordText(value)
}
