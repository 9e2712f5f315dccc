package enginetest

import (
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/kafka"
)

// What a member or a group cannot do is refused with the reason, and nothing is changed.
func TestOrdersThatCannotApply(t *testing.T) {
	for _, tc := range []struct{ before, command, says string }{
		{"", "crash b1", "there is no member b1 of a group with a coordinator"},
		{"", "crash c-9", "there is no member c-9 of a group with a coordinator"},
		{"crash c-1", "crash c-1", "c-1 does not run"},
		{"crash c-1", "crash c-1 before commit", "c-1 does not run"},
		{"crash c-1", "leave c-1", "c-1 does not run"},
		{"pause c-1", "leave c-1", "c-1 is paused"},
		{"", "start c-1", "c-1 runs already"},
		{"leave c-1", "leave c-1", "c-1 is closing"},
		{"", "commit c-1", "c-1 has processed nothing that it has not committed"},
		{"", "process c-1", "the application of c-1 processes by itself"},
		{"", "seek c-1 t-1 @0", "c-1 does not own t-1"},
		{"", "seek c-1 x-0 @0", "c-1 does not own x-0"},
		{"", "reset x to earliest", `there is no group "x" with a coordinator`},
		{"", "replay x from earliest", `there is no group "x" with a coordinator`},
		{"replay c from earliest", "reset c to latest", "a reset of group c is under way"},
	} {
		c := start(t, grouped(2, 2, "range"))
		refused(t, c, tc.before, tc.command, tc.says)
	}
}

// A consumer that stands still can crash.
func TestPausedMemberCrashes(t *testing.T) {
	c := start(t, grouped(1, 1, "range"))
	give(t, c, "pause c-1", "crash c-1")
	if m := memberOf(t, c, "c-1"); m.Alive || m.Paused {
		t.Errorf("alive %t, paused %t", m.Alive, m.Paused)
	}
}

// A spec whose groups could not be is refused by name.
func TestGroupsThatCannotBe(t *testing.T) {
	for says, change := range map[string]func(*engine.Spec){
		"a group needs an id of its own":                              func(s *engine.Spec) { s.Groups[0].ID = "" },
		`group.id = "c" in group d`:                                   func(s *engine.Spec) { s.Groups[0].ID = "d" },
		"max.poll.records = 0":                                        func(s *engine.Spec) { s.Groups[0].Members[0].Config.MaxPollRecords = 0 },
		"heartbeat.interval.ms = 45000 must be below session.timeout": func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.HeartbeatInterval = 45_000 },
		`assignor "rang" is unknown`:                                  func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.Assignors = []string{"rang"} },
		`assignor "uniform" is the broker’s: allowed are cooperative-sticky, range, roundrobin, sticky`: func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.Assignors = []string{"range", "uniform"} },
		"partition.assignment.strategy is empty":                                                        func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.Assignors = nil },
		`auto.offset.reset = "middle"`:                                                                  func(s *engine.Spec) { s.Groups[0].Members[0].Config.AutoOffsetReset = "middle" },
		`"PT1X" is no duration`:                                                                         func(s *engine.Spec) { s.Groups[0].Members[0].Config.AutoOffsetReset = "by_duration:PT1X" },
		"the dead-letter topic has no name":                                                             func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.App.OnFailure = engine.DeadLetter },
		"a sink with a capacity needs a window":                                                         func(s *engine.Spec) { s.Groups[0].Sink.Capacity = 3 },
		"members: 65":                                                                                   func(s *engine.Spec) { addGroup(s, "d", engine.MaxMembers) },
		"topic u: 0 partitions":                                                                         func(s *engine.Spec) { addTopic(s, "u", 0) },
	} {
		spec := grouped(1, 1, "range")
		change(spec)
		if _, err := engine.New(spec, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// Settings that do not go with a protocol are refused by name.
func TestSettingsOfTheOtherProtocol(t *testing.T) {
	for says, change := range map[string]func(*engine.Spec){
		"group.remote.assignor cannot be set when group.protocol=classic":          func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.RemoteAssignor = "uniform" },
		`group.protocol = "share"`:                                                 func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.Protocol = "share" },
		"session.timeout.ms cannot be set when group.protocol=consumer":            func(s *engine.Spec) { consumerMember(s).SessionTimeout = 45_000 },
		"heartbeat.interval.ms cannot be set when group.protocol=consumer":         func(s *engine.Spec) { consumerMember(s).HeartbeatInterval = 3000 },
		"partition.assignment.strategy cannot be set when group.protocol=consumer": func(s *engine.Spec) { consumerMember(s).Assignors = []string{"range"} },
		"a client of group.protocol=consumer sends its heartbeats":                 func(s *engine.Spec) { consumerMember(s).HeartbeatInLoop = true },
		"max.poll.interval.ms = 0":                                                 func(s *engine.Spec) { consumerMember(s).MaxPollInterval = 0 },
		"it can only do one":                                                       func(s *engine.Spec) { s.Groups[0].Members[0].Config.Group.Pattern = "x.*" },
		"the pattern \"x(\" of topics":                                             func(s *engine.Spec) { consumerMember(s).Pattern, s.Groups[0].Members[0].Config.Topics = "x(", nil },
		`assignor "sticky" is a client’s: allowed are server-range, uniform`:       func(s *engine.Spec) { consumerMember(s).RemoteAssignor = "sticky" },
		`assignor "range" is a client’s`:                                           func(s *engine.Spec) { consumerMember(s).RemoteAssignor = "range" },
	} {
		spec := grouped(1, 1, "range")
		change(spec)
		if _, err := engine.New(spec, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// consumerMember makes the first member one of the consumer protocol, and gives its settings.
func consumerMember(s *engine.Spec) *engine.GroupConfig {
	g := &s.Groups[0].Members[0].Config.Group
	*g = engine.DefaultConsumerGroupConfig(s.Groups[0].ID)
	return g
}

// A clone of a run with groups goes on as the run does, byte for byte.
func TestClonesOfGroupsGoOnAlike(t *testing.T) {
	spec := grouped(3, 3, "cooperative-sticky")
	filled(spec, 0, 20)
	spec.Groups[0].Sink = engine.SinkConfig{Kind: engine.SinkOffsets, Capacity: 2, Window: 1000}
	everyMember(spec, func(m *engine.ConsumerConfig) {
		m.MaxPollRecords, m.Group.SessionTimeout, m.Group.HeartbeatInterval = 4, 6000, 2000
		m.Group.App = engine.AppConfig{Work: 300, Commit: engine.CommitBatch}
	})
	c := start(t, spec)
	commands := map[int]string{2: "crash c-1 before commit", 5: "pause c-2", 9: "start c-1", 14: "resume c-2", 16: "replay c from earliest"}
	goOnAlike(t, c, 40, commands)
	if g := group(t, c, "c"); g.Sink.Processed != 20 || g.Sink.Doubled != 0 || g.Offsets[0].Committed != kafka.Offset(20) {
		t.Errorf("processed %d, doubled %d, %+v", g.Sink.Processed, g.Sink.Doubled, g.Offsets[0])
	}
}

// goOnAlike runs a cluster under commands by tick, and in each tick a clone of it, which has the same journal after it.
func goOnAlike(t *testing.T, c *engine.Cluster, ticks int, commands map[int]string) {
	t.Helper()
	for tick := range ticks {
		clone := c.Clone()
		for _, one := range []*engine.Cluster{c, clone} {
			if text, ok := commands[tick]; ok {
				give(t, one, text)
			}
			if err := one.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		a, b := c.Journal(), clone.Journal()
		if a.Len() != b.Len() {
			t.Fatalf("tick %d: %d events and %d", tick, a.Len(), b.Len())
		}
		for e := range a.All() {
			if other, _ := b.At(e.Seq); other.Line() != e.Line() {
				t.Fatalf("tick %d: %s\n%s", tick, e.Line(), other.Line())
			}
		}
	}
}
