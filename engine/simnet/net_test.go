package simnet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

func request() kmsg.Request {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 13
	return r
}

// deliverAll gives "from>to#id@time" in the order of delivery.
func deliverAll(n *Net) []string {
	var got []string
	for {
		due, ok := n.NextDue()
		if !ok {
			return got
		}
		m, _, _ := n.Deliver(due)
		got = append(got, string(m.From)+">"+string(m.To)+"#"+string('0'+rune(m.ID))+"@"+string('0'+rune(m.DueAt)))
	}
}

func TestOrderOfDelivery(t *testing.T) {
	n := New(3, []kafka.NodeID{"b1", "c0", "p0"})
	n.Send(2, "p0", Send{To: "b1", Request: request()}) // 1, due 5
	n.Send(1, "c0", Send{To: "b1", Request: request()}) // 2, due 4: time first
	n.Send(2, "b1", Send{To: "p0", Request: request()}) // 3, due 5: link b1>p0 stands before c0>b1 and p0>b1
	n.Send(2, "c0", Send{To: "b1", Request: request()}) // 4
	n.Send(2, "p0", Send{To: "b1", Request: request()}) // 5: same link as 1, later in sequence
	clone := n.Clone()
	want := []string{"c0>b1#2@4", "b1>p0#3@5", "c0>b1#4@5", "p0>b1#1@5", "p0>b1#5@5"}
	if diff := cmp.Diff(want, deliverAll(&n)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, deliverAll(&clone)); diff != "" {
		t.Errorf("clone (-want +got):\n%s", diff)
	}
}

func TestNothingArrivesEarly(t *testing.T) {
	n := New(0, []kafka.NodeID{"b1", "c0"}) // at least 1 ms
	n.Send(7, "c0", Send{To: "b1", Request: request()})
	if m, _, ok := n.Deliver(7); ok {
		t.Errorf("message %d was delivered in the millisecond it was sent", m.ID)
	}
	if _, _, ok := n.Deliver(8); !ok {
		t.Error("nothing delivered after 1 ms")
	}
}

func TestMessageNamesItsAPI(t *testing.T) {
	r := request()
	m := Message{Request: r}
	if m.API() != "Metadata" || m.Version() != 13 || m.IsResponse() {
		t.Errorf("got %s v%d response=%v", m.API(), m.Version(), m.IsResponse())
	}
	m = Message{Response: r.ResponseKind()}
	if m.API() != "Metadata" || m.Version() != 13 || !m.IsResponse() {
		t.Errorf("got %s v%d response=%v", m.API(), m.Version(), m.IsResponse())
	}
}
