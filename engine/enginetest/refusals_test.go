package enginetest

import (
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/journal"
)

// What cannot be done to a node or a link is refused with the reason, and nothing is changed.
func TestFaultsThatCannotApply(t *testing.T) {
	for _, tc := range []struct{ before, command, says string }{
		{"", "kill b9", "there is no node b9"},
		{"", "kill controller", "the controller stays"},
		{"kill b1", "kill b1", "b1 does not run"},
		{"kill b1", "pause b1", "b1 does not run"},
		{"kill b1", "shut-down b1", "b1 does not run"},
		{"kill b1", "power-loss b1", "b1 does not run"},
		{"shut-down b1", "shut-down b1", "b1 is shutting down already"},
		{"pause b1", "shut-down b1", "b1 is paused"},
		{"", "power-loss p0", "p0 is not a broker"},
		{"", "wipe c0", "c0 is not a broker"},
		{"", "slow-disk p0 100ms", "p0 is not a broker"},
		{"", "start b1", "b1 runs already"},
		{"", "start x", "there is no broker or client x"},
		{"", "start controller", "there is no broker or client controller"},
		{"kill p0", "produce p0 k", "p0 does not run"},
		{"kill p0", "kill p0", "p0 does not run"},
		{"", "cut b1 b7", "there is no node b7"},
		{"", "drop-next x b1", "there is no node x"},
		{"", "heal b1 x", "there is no node x"},
		{"", "resume b1", "b1 is not paused"},
	} {
		spec := orders(1, 1)
		spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(3), 3
		c := start(t, spec)
		refused(t, c, tc.before, tc.command, tc.says)
	}
}

// refused gives a command, after another one if there is one, and wants it refused with words of the reason.
func refused(t *testing.T, c *engine.Cluster, before, command, says string) {
	t.Helper()
	if before != "" {
		give(t, c, before)
	}
	give(t, c, command)
	last, _ := c.Journal().At(uint64(c.Journal().Len()))
	rejected, ok := last.Body.(journal.CommandRejected)
	if !ok || !strings.Contains(rejected.Why, says) {
		t.Errorf("%s after %q: %s, want it refused with %q", command, before, last.Line(), says)
	}
}

// What only the controller can know is refused by it, in Kafka's words.
func TestWhatTheControllerRefuses(t *testing.T) {
	for command, says := range map[string]string{
		"elect-preferred orders 0":                  "ELECTION_NOT_NEEDED",
		"elect-unclean orders 0":                    "ELECTION_NOT_NEEDED",
		"elect-preferred orders 5":                  "UNKNOWN_TOPIC_OR_PARTITION",
		"elect-preferred payments 0":                "UNKNOWN_TOPIC_OR_PARTITION",
		"alter-config orders min.insync.replicas x": "INVALID_CONFIG",
		"add-partitions orders to 1":                "INVALID_PARTITIONS",
	} {
		spec := orders(1, 1)
		spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(3), 3
		c := start(t, spec)
		give(t, c, command)
		tick(t, c, 4)
		found := ""
		for e := range c.Journal().All() {
			if r, ok := e.Body.(journal.RequestRefused); ok && e.Tick > 0 {
				found = r.Error
			}
		}
		if found != says {
			t.Errorf("%s: refused with %q, want %q", command, found, says)
		}
	}
}

func TestSpecsThatCannotRun(t *testing.T) {
	for says, change := range map[string]func(*engine.Spec){
		"brokers: 10; a run may have at most 9": func(s *engine.Spec) { s.Cluster.Brokers = 10 },
		"0 brokers; at least 1 is needed":       func(s *engine.Spec) { s.Cluster.Brokers = 0 },
		"replication factor 4 with 3 brokers":   func(s *engine.Spec) { s.Topic.ReplicationFactor = 4 },
		"cannot start under these settings":     func(s *engine.Spec) { s.Cluster.SessionTimeout = 8 },
		"needs acks = all": func(s *engine.Spec) {
			s.Producers[0].Config.EnableIdempotence, s.Producers[0].Config.Acks = engine.IdempotenceOn, 1
		},
	} {
		spec := orders(1, 1)
		spec.Cluster, spec.Topic.ReplicationFactor = engine.DefaultCluster(3), 3
		change(spec)
		if _, err := engine.New(spec, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want it to say %q", err, says)
		}
	}
	// min.insync.replicas above the replication factor is no mistake: the smaller of the two holds.
	spec := orders(1, 1)
	spec.Topic.MinInsyncReplicas = 2
	c := start(t, spec)
	give(t, c, "produce p0 k")
	tick(t, c, 10)
	if p := c.View().Partitions[0]; p.MinISR != 1 || p.Log.HighWatermark != 1 {
		t.Errorf("effective minimum %d, high watermark %d, want 1 and 1", p.MinISR, p.Log.HighWatermark)
	}
}
