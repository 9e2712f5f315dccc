package simnet

import (
	"fmt"
	"strings"
	"testing"

	"loglab/engine/kafka"
)

// fates delivers all that is under way and gives "id:fate" for each.
func fates(n *Net) string {
	names := [...]string{"arrived", "doubled", "held", "dropped", "stale"}
	var got []string
	for {
		due, ok := n.NextDue()
		if !ok {
			return strings.Join(got, " ")
		}
		m, fate, _ := n.Deliver(due)
		got = append(got, fmt.Sprintf("%d:%s", m.ID, names[fate]))
	}
}

func want(t *testing.T, n *Net, want string) {
	t.Helper()
	if got := fates(n); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// pair is a client p0 and a server b1, 10 ms apart.
func pair() Net { return New(10, []kafka.NodeID{"b1", "p0"}) }

func ask(n *Net, now kafka.Millis) *Message {
	return n.Send(now, "p0", Send{To: "b1", Request: request()})
}

func reply(n *Net, now kafka.Millis, m *Message) *Message {
	return n.Send(now, "b1", Send{To: "p0", Response: m.Request.ResponseKind(), Connection: m.Connection})
}

func TestCutHoldsAndHealSendsAgain(t *testing.T) {
	n := pair()
	ask(&n, 0)
	n.SetFaults(0, "p0", "b1", Faults{Cut: true})
	ask(&n, 5)
	want(t, &n, "1:held 2:held")
	n.SetFaults(100, "p0", "b1", Faults{})
	if due, _ := n.NextDue(); due != 110 {
		t.Errorf("due at %d, want one latency after 100", due)
	}
	want(t, &n, "1:arrived 2:arrived")
}

func TestClosedByTheClient(t *testing.T) {
	n := pair()
	first := ask(&n, 0)
	n.SetFaults(0, "b1", "p0", Faults{Cut: true})
	reply(&n, 10, first)
	want(t, &n, "1:arrived 2:held")
	n.CloseOwn("p0", "b1")
	n.SetFaults(100, "b1", "p0", Faults{})
	want(t, &n, "")
	reply(&n, 200, first) // the server knows no better
	second := ask(&n, 200)
	want(t, &n, "3:stale 4:arrived")
	reply(&n, 300, second)
	want(t, &n, "5:arrived")
}

func TestDropTakesTheConnection(t *testing.T) {
	n := pair()
	n.SetFaults(0, "p0", "b1", Faults{Drop: 1})
	ask(&n, 0)
	ask(&n, 0)
	want(t, &n, "1:dropped 2:stale")
	ask(&n, 20)
	want(t, &n, "3:arrived")
}

func TestDouble(t *testing.T) {
	n := pair()
	n.SetFaults(0, "p0", "b1", Faults{Double: 1})
	ask(&n, 0)
	ask(&n, 0)
	want(t, &n, "1:doubled 2:arrived")
}

func TestDelayKeepsTheOrder(t *testing.T) {
	n := pair()
	n.SetFaults(0, "p0", "b1", Faults{Delay: 90})
	ask(&n, 0)
	n.SetFaults(0, "p0", "b1", Faults{})
	if m := ask(&n, 0); m.DueAt != 100 {
		t.Errorf("the second message arrives at %d, want 100: behind the first", m.DueAt)
	}
}

// A process dies: what it had sent arrives, then the news; what is sent to it is lost.
func TestKilledServer(t *testing.T) {
	n := pair()
	m := ask(&n, 0)
	want(t, &n, "1:arrived")
	reply(&n, 10, m)
	ask(&n, 10)
	if news := n.Die(10, "b1", true); len(news) != 1 || !news[0].IsReset() {
		t.Fatalf("news: %v", news)
	}
	want(t, &n, "2:arrived 4:arrived 3:stale")
	ask(&n, 30)
	want(t, &n, "5:arrived") // on a new connection: it is for the engine to see that nobody listens
}

// Power fails: nobody is told until the machine is back.
func TestPowerLoss(t *testing.T) {
	n := pair()
	ask(&n, 0)
	want(t, &n, "1:arrived")
	if news := n.Die(10, "b1", false); news != nil {
		t.Fatalf("news: %v", news)
	}
	ask(&n, 20)
	want(t, &n, "2:stale")
	if news := n.Revive(100, "b1"); len(news) != 1 {
		t.Fatalf("news: %v", news)
	}
	want(t, &n, "3:arrived")
	ask(&n, 120)
	want(t, &n, "4:arrived")
}

func TestRefused(t *testing.T) {
	n := pair()
	m := ask(&n, 0)
	n.Deliver(10)
	n.Refuse(10, m)
	want(t, &n, "2:arrived")
	ask(&n, 30)
	want(t, &n, "3:arrived")
}

// What is on its way when a cut is healed does not overtake what the cut had held.
func TestHealKeepsTheOrder(t *testing.T) {
	n := pair()
	n.SetFaults(0, "p0", "b1", Faults{Cut: true})
	ask(&n, 0)
	want(t, &n, "1:held")
	ask(&n, 95)
	n.SetFaults(100, "p0", "b1", Faults{})
	if m := ask(&n, 100); m.DueAt != 110 {
		t.Errorf("a message sent after the heal arrives at %d, want 110", m.DueAt)
	}
	want(t, &n, "1:arrived 2:arrived 3:arrived")
}

// A machine without power sends nothing again: what a cut link holds of it is gone.
func TestHeldMessagesGoWithThePower(t *testing.T) {
	n := pair()
	n.SetFaults(0, "p0", "b1", Faults{Cut: true})
	ask(&n, 0)
	want(t, &n, "1:held")
	n.Die(20, "p0", false)
	if gone := n.Forget("p0"); len(gone) != 1 || gone[0].ID != 1 {
		t.Errorf("%d messages are forgotten, want message 1", len(gone))
	}
	n.SetFaults(100, "p0", "b1", Faults{})
	want(t, &n, "")
}
