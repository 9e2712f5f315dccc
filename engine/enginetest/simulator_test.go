package enginetest

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loglab/engine"
	"loglab/engine/broker"
	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

var (
	seedFlag    = flag.Uint64("seed", 0, "the one seed that TestSimulator runs; 0: several")
	journalFlag = flag.Bool("journal", false, "print the whole journal of -seed")
	seedsFlag   = flag.Int("seeds", 0, "how many new seeds TestSimulator runs; 0: the fixed ones and a few new ones")
	firstFlag   = flag.Uint64("first", 0, "the first of -seeds; 0: one that the clock gives")
)

// The seeds of a usual run of the tests: those from 1 on, and some that nobody has seen before.
const fixedSeeds, newSeeds = 100, 10

// mostFailures is after how many seeds that fail no more are run.
const mostFailures = 50

// TestSimulator runs clusters that are drawn from seeds, with faults drawn from them too, under the invariants. Then it
// heals everything, and all has to come together again.
func TestSimulator(t *testing.T) {
	if *seedFlag != 0 {
		s := drawSimulation(*seedFlag)
		t.Logf("%s", s)
		failure := s.play()
		if *journalFlag && s.cluster != nil {
			for e := range s.cluster.Journal().All() {
				fmt.Println(e.Line())
			}
		}
		if failure != "" {
			t.Error(failure)
		}
		return
	}
	var seeds []uint64
	first := *firstFlag
	if first == 0 {
		first = uint64(time.Now().UnixMilli())
	}
	count := *seedsFlag
	if count == 0 {
		count = newSeeds
		for seed := range uint64(fixedSeeds) {
			seeds = append(seeds, seed+1)
		}
	}
	for i := range uint64(count) {
		seeds = append(seeds, first+i)
	}
	t.Logf("new seeds: %d to %d", first, first+uint64(count)-1)
	reached := simulateAll(t, seeds)
	if *seedsFlag > 0 || t.Failed() {
		return
	}
	for _, kind := range mustHappen() {
		if !reached[kind] {
			t.Errorf("no %s in any run: the simulator does not reach it", kind)
		}
	}
}

// mustHappen lists kinds of events without which the fixed seeds would show little.
func mustHappen() []string {
	return []string{
		"BrokerFenced", "BrokerUnfenced", "LeaderElected", "LeaderLost", "LogTruncated", "ISRProposed", "ISRCommitted", "AlterPartitionRefused", "ControlledShutdownBegun", "BrokerStopped",
		"PowerLost", "DiskWiped", "ProcessKilled", "ProduceTimedOut", "ProduceRefused", "DuplicateRecognised", "BatchRetried", "BatchExpired", "ProducerEpochBumped", "ProducerMemoryLost",
		"JoinPhaseEnded", "MemberRemoved", "GroupEmpty", "StaticMemberReplaced", "CommitFailed", "MembershipLost", "PartitionsLost", "PartitionsRevoked", "OffsetsReset", "ResetRefused", "ConsumerCrashed",
		"ConsumerClosed", "CoordinatorLost", "GroupsLoaded", "DeadLetterSent", "SinkFull", "PollIntervalExceeded", "CoordinatorResigned",
		"JoinHeartbeatSent", "MemberEpochMoved", "TargetLearned", "AssignmentAcknowledged", "LeaveHeartbeatSent", "StaticMemberAway", "StaticMemberReturned", "ConsumerFailed",
		"ConsumerMemberJoined", "GroupEpochBumped", "TargetAssigned", "MemberReconciled", "PatternResolved", "GroupConverted",
		"LogTruncationDetected", "PositionValidated", "PreferredReplicaChosen", "MessageHeld", "MessageLost", "RegistrationFailed", "ReplicaFetchFailed", "PartitionsAdded", "ConfigChanged",
		"TransactionCompleted", "TransactionTimedOut", "TransactionFenced", "TransactionsLoaded", "TransactionCoordinatorResigned", "TransactionWriteFailed", "TransactionRequestRefused", "TransactionVerificationFailed",
		"MarkerRefused", "MarkerRetried", "ProducerTransactionFailed", "ProducerEnded", "UnsentRecordsDropped", "TransactionCoordinatorLost",
		"SegmentsDeleted", "SegmentsKept", "FilesRemoved", "LogCleaned", "LogNotCleaned", "LogStartOffsetMoved", "ClockSet",
	}
}

// simulateAll runs seeds on all cores. It gives the kinds of events that happened.
func simulateAll(t *testing.T, seeds []uint64) map[string]bool {
	kinds := make([]map[string]bool, runtime.NumCPU())
	var next, ticks, stuck, failed, written, outputs atomic.Int64
	var wg sync.WaitGroup
	for core := range kinds {
		kinds[core] = map[string]bool{}
		wg.Go(func() {
			for failed.Load() < mostFailures {
				i := int(next.Add(1)) - 1
				if i >= len(seeds) {
					return
				}
				s := drawSimulation(seeds[i])
				if failure := s.play(); failure != "" {
					failed.Add(1)
					t.Error(failure)
				}
				ticks.Add(int64(s.played))
				if s.cluster != nil {
					for e := range s.cluster.Journal().All() {
						kinds[core][e.Body.Kind()] = true
					}
				}
				if s.excuse != "" {
					stuck.Add(1)
				}
				if s.outputs > 0 {
					written.Add(1)
					outputs.Add(int64(s.outputs))
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds, %d ticks; %d ended with a partition that cannot have a leader, a follower that cannot follow, or a transaction that has lost its end", min(int(next.Load()), len(seeds)), ticks.Load(), stuck.Load())
	t.Logf("%d ended with one committed output for each of the %d records that their applications had read", written.Load(), outputs.Load())
	for _, more := range kinds[1:] {
		maps.Copy(kinds[0], more)
	}
	return kinds[0]
}

// play runs a simulation and says what went wrong, with all that is needed to see it again; "" is nothing.
func (s *simulation) play() (failure string) {
	defer func() {
		if r := recover(); r != nil {
			failure = s.report(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	c, err := engine.New(s.spec, s.seed)
	if err != nil {
		return s.report(err.Error())
	}
	s.cluster = c
	if what := s.run(); what != "" {
		return s.report(what)
	}
	return ""
}

// report says what went wrong.
func (s *simulation) report(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", what, s)
	if s.cluster != nil {
		const shown = 40
		last := slices.Collect(s.cluster.Journal().Backward())
		for i := min(shown, len(last)) - 1; i >= 0; i-- {
			b.WriteString("  " + last[i].Line() + "\n")
		}
	}
	fmt.Fprintf(&b, "again: go test ./engine/enginetest -run TestSimulator -seed=%d", s.seed)
	return b.String()
}

// run plays the phase with faults, heals, and waits until all has come together.
func (s *simulation) run() (wrong string) {
	if wrong = s.check(); wrong != "" {
		return wrong
	}
	for at := 0; at <= s.ticks; at++ {
		if at > 0 {
			if wrong = s.tick(); wrong != "" {
				return wrong
			}
		}
		s.spring(at)
		for _, text := range s.commands[at] {
			if wrong = s.give(text); wrong != "" {
				return wrong
			}
		}
	}
	if wrong = s.heal(); wrong != "" {
		return wrong
	}
	s.healed = s.cluster.View().Now
	const most, mostInAll kafka.Millis = 300_000, 1_800_000
	pending, done := "", 0
	for waited, all := kafka.Millis(0), kafka.Millis(0); waited < most && all < mostInAll; waited, all = waited+s.spec.TickMillis, all+s.spec.TickMillis {
		if wrong = s.tick(); wrong != "" {
			return wrong
		}
		v := s.cluster.View()
		if pending = s.pending(v); pending == "" {
			twice, _ := s.checkOutputs(v)
			return s.compareAtEnd() + s.checkIdempotence() + twice
		}
		if now := processed(v); now > done { // slow applications need their time, as long as they come forward
			waited, done = 0, now
		}
	}
	if s.excuse = cmp.Or(s.failedFollower(), s.memberWithoutSession()); s.excuse != "" {
		return ""
	}
	return fmt.Sprintf("%d s after everything was healed, or a record was processed: %s", most/1000, pending)
}

// failedFollower names a follower that has failed, and so fetches no more, as Kafka's do: "" if there is none.
func (s *simulation) failedFollower() string {
	failed := map[kafka.NodeID]map[kafka.TopicPartition]string{}
	for e := range s.cluster.Journal().All() {
		switch body := e.Body.(type) {
		case journal.FollowingBegun:
			delete(failed[e.Node], body.TopicPartition)
		case journal.ReplicaFetchFailed:
			if body.Error != storage.UnexpectedAppendOffset {
				continue
			}
			if failed[e.Node] == nil {
				failed[e.Node] = map[kafka.TopicPartition]string{}
			}
			failed[e.Node][body.TopicPartition] = fmt.Sprintf("%s cannot follow %s: %s", e.Node, body.TopicPartition, body.Error)
		}
	}
	for _, p := range s.cluster.View().Partitions {
		for _, r := range p.Replicas {
			if why := failed[s.cluster.View().Brokers[r.Broker-1].Node][p.TopicPartition]; why != "" {
				return why
			}
		}
	}
	return ""
}

// tick lets a tick pass and looks at the invariants.
func (s *simulation) tick() string {
	s.played++
	if err := s.cluster.Tick(); err != nil {
		return err.Error()
	}
	return s.check()
}

// give carries out a command and looks at the invariants.
func (s *simulation) give(text string) string {
	cmd, err := command.Parse(text)
	if err != nil {
		return err.Error()
	}
	if err := s.cluster.Apply(cmd); err != nil {
		return err.Error()
	}
	return s.check()
}

func (s *simulation) check() string {
	var b strings.Builder
	s.violations = s.cluster.Check(&s.checker)
	for _, v := range s.violations {
		b.WriteString(v.String() + "\n")
	}
	return b.String()
}

// heal undoes every fault and lets the applications hand in nothing more.
func (s *simulation) heal() string {
	v := s.cluster.View()
	nodes := []kafka.NodeID{"controller", "admin"}
	var texts []string
	if v.Controller.Paused {
		texts = append(texts, "resume controller")
	}
	for _, b := range v.Brokers {
		nodes = append(nodes, b.Node)
		if b.Paused {
			texts = append(texts, "resume "+string(b.Node))
		}
		if b.State == broker.Down || b.State == broker.PowerOff {
			texts = append(texts, "start "+string(b.Node))
		}
		texts = append(texts, "slow-disk "+string(b.Node)+" 0ms")
	}
	for _, p := range v.Producers {
		nodes = append(nodes, p.ID)
		texts = append(texts, "resume "+string(p.ID), "start "+string(p.ID), "stop-sending "+string(p.ID))
	}
	for _, g := range v.Groups {
		for _, m := range g.Members {
			nodes = append(nodes, kafka.NodeID(m.ID))
			texts = append(texts, "resume "+string(m.ID), "start "+string(m.ID))
		}
	}
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			texts = append(texts, fmt.Sprintf("heal %s %s", a, b))
		}
	}
	for _, text := range texts { // what was not faulty is a rejected command
		if wrong := s.give(text); wrong != "" {
			return wrong
		}
	}
	return ""
}

// pending says what has not come together yet. A broker that is still shutting down is started again once it has.
func (s *simulation) pending(v engine.View) string {
	var why []string
	s.excuse = ""
	for _, b := range v.Brokers {
		if b.State == broker.Down {
			if wrong := s.give("start " + string(b.Node)); wrong != "" {
				return wrong
			}
		}
		if b.State != broker.Running || b.Fenced {
			why = append(why, fmt.Sprintf("%s is %s, fenced: %t", b.Node, b.State, b.Fenced))
		}
	}
	for _, p := range v.Partitions {
		if p.Leader < 0 && len(p.ISR)+len(p.ELR)+len(p.LastKnownELR) == 0 && !s.uncleanAllowed(v) {
			s.excuse = fmt.Sprintf("%s: no replica may lead", p.TopicPartition)
			continue
		}
		if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
			why = append(why, fmt.Sprintf("%s has leader %d, ISR %d, ELR %d, last %d", p.TopicPartition, p.Leader, p.ISR, p.ELR, p.LastKnownELR))
			continue
		}
		for _, r := range p.Replicas {
			if !r.Online || r.HighWatermark != r.LogEndOffset {
				why = append(why, fmt.Sprintf("%s on broker %d: online %t, high watermark %d, log end offset %d", p.TopicPartition, r.Broker, r.Online, r.HighWatermark, r.LogEndOffset))
			}
		}
	}
	if s.excuse == "" {
		why = append(why, s.pendingTransactions(v)...)
	}
	if s.excuse == "" {
		why = append(why, s.pendingGroups(v)...)
		for _, m := range v.Groups[0].Members {
			for _, a := range m.Assignment {
				if a.Lag != 0 {
					why = append(why, fmt.Sprintf("%s is at %d of %s, lag %d", m.ID, a.Position, a.TopicPartition, a.Lag))
				}
			}
		}
	}
	if len(why) > 0 {
		return strings.Join(why, "; ")
	}
	if _, missing := s.checkOutputs(v); missing != "" {
		return missing
	}
	// A producer whose last transaction does not come to an end cannot begin the next, and what it has for it waits.
	if l := s.cluster.Ledger(); l.Waiting > 0 && (s.excuse == "" || len(s.transactional()) == 0) {
		return fmt.Sprintf("%d records wait", l.Waiting)
	}
	return ""
}

// uncleanAllowed says whether an election may be unclean now.
func (s *simulation) uncleanAllowed(v engine.View) bool {
	if value, ok := v.Controller.Image.TopicSetting("orders", "unclean.leader.election.enable"); ok {
		return value == "true"
	}
	return s.spec.Cluster.UncleanElection
}

// isGone says whether a record lies below its log's start, or where the cleaner has been: what stands elsewhere only looks
// like it, as one that deletes the same key does, of a moment to which the producer's clock was set back.
func (s *simulation) isGone(e engine.LedgerEntry) bool {
	for _, p := range s.cluster.View().Partitions {
		if p.TopicPartition == e.TopicPartition {
			return e.Offset >= 0 && e.Offset < max(p.Log.LogStartOffset, s.cleanedTo()[p.TopicPartition])
		}
	}
	return false
}

// cleanedTo gives how far any replica of each partition was cleaned, exclusive.
func (s *simulation) cleanedTo() map[kafka.TopicPartition]kafka.Offset {
	cleaned := map[kafka.TopicPartition]kafka.Offset{}
	for e := range s.cluster.Journal().All() {
		if body, ok := e.Body.(journal.LogCleaned); ok {
			cleaned[body.TopicPartition] = max(cleaned[body.TopicPartition], body.Checkpoint)
		}
	}
	return cleaned
}

// compareAtEnd compares the logs of all replicas once all have everything: to the byte, from where the last of them begins
// on and above what any of them has ever cleaned; below that by the last value of each key. Keys are left out where a
// tombstone may be gone before a replica that was away has seen it, and where a later record that had replaced one was
// lost, as in Kafka.
func (s *simulation) compareAtEnd() string {
	cleanedTo := s.cleanedTo()
	withKeys := s.spec.Topic.Config.DeleteRetentionMillis >= 86_400_000 && !s.lostData()
	for _, p := range s.cluster.View().Partitions {
		start, cleaned := kafka.Offset(0), cleanedTo[p.TopicPartition]
		for _, r := range p.Replicas {
			start = max(start, r.LogStartOffset)
		}
		var first, firstKeys string
		for i, r := range p.Replicas {
			if r.Replica == nil {
				continue
			}
			bytes, keys := contentFrom(r.Replica.Segments, start, max(start, cleaned))
			if !withKeys {
				keys = ""
			}
			if i == 0 {
				first, firstKeys = bytes, keys
			} else if p.Leader >= 0 && (first != bytes || firstKeys != keys) {
				return fmt.Sprintf("%s: in the end the logs of brokers %d and %d differ, from offset %d on or in the last value of a key: %s; %s",
					p.TopicPartition, p.Replicas[0].Broker, r.Broker, max(start, cleaned), firstKeys, keys)
			}
		}
	}
	return ""
}

// contentFrom gives the batches from an offset on, and the last value of each key from another one on, without keys that
// are deleted. What transactions wrote that were aborted, or are open for good, does not count: who cleans may have taken it.
func contentFrom(segments []storage.Segment, start, from kafka.Offset) (batches, keys string) {
	var list []record.Batch
	for _, segment := range segments {
		for data := segment.Bytes; len(data) > 0; {
			b, err := record.Parse(data)
			if err != nil {
				return err.Error(), ""
			}
			if b.LastOffset() >= from {
				batches += string(b.Bytes())
			}
			list = append(list, b)
			data = data[b.Size():]
		}
	}
	last, commits := map[string]string{}, map[kafka.ProducerID]bool{}
	for _, b := range slices.Backward(list) {
		switch records, err := b.Records(); {
		case err != nil:
			return err.Error(), ""
		case b.Attributes.Control() && len(records) > 0:
			control, err := record.DecodeControl(records[0])
			commits[b.ProducerID] = err == nil && control.Type == record.Commit
		case b.Attributes.Control(), b.Attributes.Transactional() && !commits[b.ProducerID]:
		default:
			for _, r := range slices.Backward(records) {
				if _, later := last[string(r.Key)]; r.Offset >= start && !later {
					last[string(r.Key)] = ""
					if r.Value != nil {
						last[string(r.Key)] = fmt.Sprintf("%q=%d:%s ", r.Key, r.Offset, r.Value)
					}
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		keys += last[key]
	}
	return batches, keys
}

// lostData says whether a disk lost data, or a leader was elected that may lack some.
func (s *simulation) lostData() bool {
	for e := range s.cluster.Journal().All() {
		switch body := e.Body.(type) {
		case journal.PowerLost, journal.DiskWiped:
			return true
		case journal.ProcessKilled:
			if body.Wiped {
				return true
			}
		case journal.LeaderElected:
			if !body.Clean {
				return true
			}
		}
	}
	return false
}

// checkIdempotence looks at the records of idempotent producers: each stands once, and in order. That is not promised where
// a producer had to give a batch up and begin a new epoch, and where records were lost.
func (s *simulation) checkIdempotence() string {
	if s.lostData() {
		return ""
	}
	bumped := map[kafka.NodeID]bool{}
	for e := range s.cluster.Journal().All() {
		if _, ok := e.Body.(journal.ProducerEpochBumped); ok {
			bumped[e.Node] = true
		}
	}
	report := s.cluster.Ledger()
	for i, p := range s.spec.Producers {
		config, err := p.Config.Resolve()
		node := kafka.NodeID(fmt.Sprintf("p%d", i))
		if err != nil || config.EnableIdempotence != engine.IdempotenceOn || bumped[node] {
			continue
		}
		for _, e := range slices.Concat(report.Duplicated, report.Reordered) {
			if e.Producer == node && !s.isGone(e) {
				return fmt.Sprintf("%s is idempotent, and its record %d stands in %s at %d, or behind a later one", node, e.Record, e.TopicPartition, e.Offsets)
			}
		}
	}
	return ""
}
