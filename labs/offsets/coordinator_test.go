package offsets

import "testing"

// With one replica of __consumer_offsets a group whose coordinator is down has none; with three another broker is.
func TestReplicasOfOffsets(t *testing.T) {
	const run = "seed=2&brokers=3&second=running&commit=after-batch&do=6:kill+b3&t=20"
	for query, want := range map[string][2]string{"offsets-replicas=1&" + run: {"", "b1"}, run: {"b2", "b1"}} {
		l, _ := frame(t, query)
		for i, g := range l.View.Groups {
			if string(g.Coordinator) != want[i] {
				t.Errorf("%s: the coordinator of %s is %q, want %q", query, g.ID, g.Coordinator, want[i])
			}
		}
	}
}
