package rebalance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/labtest"
)

// What the page says at addresses where more than one thing goes on.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		query       string
		says, lacks []string
	}{
		{ // the coordinator has all of its members at the target, and billing-04 is not told yet
			query: "protocol=consumer&do=2:start+billing-04&t=18",
			lacks: []string{"idle", "uneven"},
		},
		{
			query: "do=2:start+billing-04&do=40:add-partitions+orders+to+12&t=45",
			says:  []string{"1 partition moved, 1 had to.", "6 of 6 partitions stood still", "5 of these partitions were handed back", "Each for 6 ticks, 3 s."},
		},
		{
			query: "do=5:kill+b1&t=10",
			says:  []string{"Nobody reads 6 of 6 partitions now: 6 whose owner has nobody to read from.", "b1 does not run."},
			lacks: []string{"Every partition is read", "next timer"},
		},
		{
			query: "do=5:pause+b1&t=20",
			says:  []string{"Nobody reads 6 of 6 partitions now", "b1 stands still."},
			lacks: []string{"next timer"},
		},
		{
			query: "do=5:cut+billing-01+b1&t=12",
			says:  []string{"Nobody reads 2 of 6 partitions now: 2 whose owner has nobody to read from.", "Nothing passes between billing-01 and b1, and the group has not noticed. Its session ends in tick 14"},
		},
		{
			query: "do=5:cut+billing-01+b1&t=22",
			says:  []string{"Nobody reads 2 of 6 partitions now", "billing-01 is no member any more and does not know it: nothing passes between it and b1."},
		},
		{
			query: "do=2:start+billing-04&do=13:kill+b1&do=20:start+b1&t=25",
			says:  []string{"The group has no coordinator.", "The last rebalance: ticks 8 to 13. It began because billing-04 joined. It came to no end, as the coordinator ended"},
			lacks: []string{"handed back", "goes on since"},
		},
		{
			query: "do=2:start+billing-04&do=13:kill+b1&do=20:start+b1&t=40",
			says:  []string{"A rebalance goes on since tick 39.", "stood still so far"},
		},
		{
			query: "protocol=consumer&do=4:crash+billing-02&do=8:start+billing-02&t=30",
			says: []string{
				"1 partition moves, 1 had to.", "billing-02’s earlier process is not heard of and stays in epoch 3",
				"billing-02 was started again, and the group still counts its earlier process as a member. Its session ends in tick 86", "The coordinator keeps orders-3, orders-4 for it meanwhile.",
			},
		},
		{query: "do=2:leave+billing-01&t=6", says: []string{"billing-01 has left and ends."}, lacks: []string{"does not know"}},
		{query: "members=2&poll-interval=6000&slow=1&slow-work=4000&poll-records=2&t=17", says: []string{"billing-01 has left by itself. It has 3 partitions until its application polls"}, lacks: []string{"does not know"}},
		{
			query: "do=3:pause+billing-01&do=30:resume+billing-01&t=34",
			says:  []string{"6 partitions, read by 2 members.", "billing-01 is no member any more and knows it.", "billing-01 and billing-02 have the same partitions, as they believe: orders-0, orders-1."},
			lacks: []string{"does not know"},
		},
		{query: "do=3:pause+billing-01&do=30:resume+billing-01&t=31", says: []string{"billing-01 is no member any more and does not know it."}},
		{
			query: "static=on&protocol=consumer&poll-interval=4000&slow=1&slow-work=20000&t=30",
			says:  []string{"a static member says by member epoch −2 that it is away, and is removed when its session ends, in tick 96, unless it polls before."},
			lacks: []string{"does not know"},
		},
		{query: "static=on&poll-interval=4000&slow=1&slow-work=20000&t=15", says: []string{"is removed when its session ends, in tick 2"}},
		{query: "protocol=consumer&do=2:leave+billing-01&t=10", says: []string{"It began because billing-01 left."}, lacks: []string{"or was removed"}},
		{
			query: "topics=2&subscribe=o,p&t=1",
			says:  []string{"range divides each topic by itself among those that subscribe to it, and billing-03 and billing-01 subscribe to different topics."},
		},
		{
			query: "topics=4&partitions=3&members=2&protocol=consumer&assignor=server-range&t=3",
			says:  []string{"server-range divides each topic by itself, and what is left over goes to the first members"},
		},
		{query: "protocol=consumer&do=2:add-partitions+orders+to+9&t=3", lacks: []string{"If "}},
		{query: "members=1&do=2:leave+billing-01&t=3", lacks: []string{"If "}},
		{query: "members=1&t=5", says: []string{"If billing-01 crashed now, 6 partitions would stay without a reader: "}},
		{query: "members=0&t=5", says: []string{"If billing-01 joined now, "}},
		{query: "static=on&do=4:leave+billing-02&do=8:start+billing-02&t=12", says: []string{"2 whose new owner has no position yet"}, lacks: []string{"gone"}},
		{
			query: "protocol=consumer&static=on&do=4:leave+billing-02&t=12",
			says:  []string{"2 whose owner has said that it will be back", "billing-02 is away. It left with member epoch −2"},
			lacks: []string{"gone", "not noticed"},
		},
		{query: "static=clash&do=2:start+billing-16&t=12", says: []string{"Every partition is read. 6 partitions, read by 3 members."}},
		{query: "do=2:start+billing-04&t=8", says: []string{"No partition has stood still so far."}, lacks: []string{"learn of a rebalance"}},
		{query: "do=2:start+billing-04&t=12", says: []string{"The answers to JoinGroup are on their way"}, lacks: []string{"wait for it in SyncGroup"}},
		{query: "members=0&do=2:start+billing-01&do=2:start+billing-02&t=14", says: []string{"2 of 2 joined; as the group was empty, it waits for more until tick", "and longer if any come"}, lacks: []string{"at the latest", "without those"}},
		{
			query: "protocol=consumer&do=2:start+billing-04&do=9:crash+billing-01&t=40",
			says:  []string{"1 of 6 partitions stood still, for 12 ticks in all. The longest was orders-1: 12 ticks, 6 s. 12 records were written"},
		},
		{query: "do=2:add-partitions+orders+to+3&t=6", says: []string{"A request was refused in tick 5. The CreatePartitions request was answered with INVALID_PARTITIONS"}},
		{query: "do=2:add-partitions+orders+to+9&t=31", says: []string{"orders has 9 partitions since tick 4, and had 6."}},
		{query: "do=18:leave+billing-01&do=18:leave+billing-01&t=18", says: []string{"The next timer, in tick 19: billing-02, billing-03 send a heartbeat"}},
		{query: "members=8&t=1", says: []string{"billing-01, billing-02, billing-03, billing-04 and 4 more send a heartbeat"}},
		{query: "members=16&partitions=64&do=1:crash+billing-16&t=60", says: []string{"If billing-16 joined now: try it."}},
		{query: "members=5&partitions=1&do=2:crash+billing-01&t=4", lacks: []string{"1 partition stay "}},
	} {
		_, p := frame(t, c.query)
		labtest.CheckText(t, c.query, labtest.Reading(p), c.says, c.lacks)
	}
}

// What the inspector says of members and partitions.
func TestInspectorFacts(t *testing.T) {
	for query, words := range map[string]string{
		"do=2:start+billing-04&t=8&at=node:billing-04":                                                               "if the join phase lasts so long: a new member has 5 minutes in it",
		"protocol=consumer&do=4:crash+billing-02&do=8:start+billing-02&t=30&at=group:billing":                        "billing-02’s earlier process",
		"do=2:start+billing-04&do=40:add-partitions+orders+to+12&t=45&at=group:billing":                              "the division is of 6 partitions of orders: those that were known then",
		"static=clash&do=2:start+billing-16&t=6&at=tick:6":                                                           "it has the member id billing-01-",
		"do=5:kill+b1&t=10&at=partition:orders-0":                                                                    "billing-01 has it and has nobody to read from",
		"protocol=consumer&static=on&do=4:leave+billing-02&t=12&at=partition:orders-3":                               "billing-02 has it, is away and will be back",
		"do=2:add-partitions+orders+to+3&t=6&at=tick:5":                                                              "INVALID_PARTITIONS",
		"static=on&do=4:leave+billing-02&do=8:start+billing-02&t=12&at=partition:orders-2":                           "billing-02 has it and no position in it yet",
		"protocol=consumer&do=2:leave+billing-01&do=7:start+billing-01&do=20:leave+billing-02&t=60&at=group:billing": "Target",
	} {
		l, _ := frame(t, query)
		in := l.inspectAt()
		if in == nil {
			t.Errorf("%s: nothing is shown", query)
			continue
		}
		var b strings.Builder
		for _, f := range in.Facts {
			b.WriteString(f.Name + " " + f.Value + "\n")
		}
		for _, table := range in.Tables {
			b.WriteString(strings.Join(table.Head, " ") + "\n")
			for _, row := range table.Rows {
				for _, items := range row.Items {
					for _, item := range items {
						b.WriteString(item.Text + " ")
					}
				}
				b.WriteString("\n")
			}
		}
		if text := b.String(); !strings.Contains(text, words) {
			t.Errorf("%s: lacks %q:\n%s", query, words, text)
		}
	}
}

// An application that has ended is not told to leave, and none of it is asked for a rebalance.
func TestActionsOfFailedMember(t *testing.T) {
	_, p := frame(t, "static=clash&do=2:start+billing-16&t=12")
	var ids []string
	for _, g := range p.Actions.Groups {
		for _, link := range g.Links {
			ids = append(ids, link.ID+" "+link.Text)
		}
	}
	text := strings.Join(ids, "\n")
	for _, words := range []string{"billing-02 forces a rebalance", "do-crash-billing-01"} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is lacking in\n%s", words, text)
		}
	}
	if strings.Contains(text, "do-leave-billing-01") {
		t.Errorf("billing-01 has ended and is to leave:\n%s", text)
	}
}

// The causes of an event name members as the page does, not by the ids that they gave themselves.
func TestCausesNameMembers(t *testing.T) {
	const query = "protocol=consumer&do=5:start+billing-03&t=20"
	member, bumped := kafka.MemberID(""), uint64(0)
	for e := range labtest.Replay(t, Lab(), query).Cluster.Journal().Backward() {
		switch b := e.Body.(type) {
		case journal.ConsumerMemberJoined:
			member = cmp.Or(member, b.Member)
		case journal.GroupEpochBumped:
			bumped = max(bumped, e.Seq)
		}
	}
	p, err := labs.NewRuns(1<<28).Page(context.Background(), labtest.Replay(t, Lab(), fmt.Sprintf("%s&why=%d", query, bumped)).Address)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Inspector.Chain) < 3 {
		t.Fatalf("%d causes", len(p.Inspector.Chain))
	}
	if text := p.Inspector.Chain[0].Text; !strings.Contains(text, "billing-03 joined") || strings.Contains(text, string(member)) {
		t.Errorf("member %s; the event is told as %q", member, text)
	}
}
