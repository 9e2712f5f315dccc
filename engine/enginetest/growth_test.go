package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// users are the six keys of PART-05.
func users() []string { return []string{"user-1", "user-2", "user-3", "user-4", "user-5", "user-6"} }

// growing makes a topic of partitions that six users' events go to, all of one version a tick, and that
// three consumers read. The clients ask for metadata again after 100 ms.
func growing(partitions int) *engine.Spec {
	spec := orders(partitions, 3)
	spec.Producers[0].Config.MetadataMaxAge, spec.Group.Config.MetadataMaxAge = 100, 100
	spec.Producers[0].Workload = engine.Workload{Entities: users(), Rate: 6, Every: 10}
	return spec
}

// standing gives, for each of the six users, the partition of its event of one version.
func standing(t *testing.T, c *engine.Cluster, version int) []int {
	t.Helper()
	found := map[string]int{}
	for _, e := range events(c) {
		b, ok := e.Body.(journal.RecordPartitioned)
		if !ok {
			continue
		}
		found[fmt.Sprint(b.Key, " ", count(events(c)[:e.Seq], b.Key))] = int(b.TopicPartition.Partition)
	}
	var list []int
	for _, user := range users() {
		at, ok := found[fmt.Sprint(user, " ", version)]
		if !ok {
			t.Fatalf("%s has no event %d", user, version)
		}
		list = append(list, at)
	}
	return list
}

// count gives how many records of a key were handed in.
func count(list []journal.Event, key string) int {
	n := 0
	for _, e := range list {
		if b, ok := e.Body.(journal.RecordPartitioned); ok && b.Key == key {
			n++
		}
	}
	return n
}

// PART-05, whole: events of six users, the topic grows, events again. Old records stay, new ones of moved
// keys go elsewhere, and a reader that is behind in the old partition meets the new event first.
func TestPART05(t *testing.T) {
	for to, want := range map[int]struct {
		after []int
		moved int
	}{4: {[]int{0, 0, 3, 3, 2, 1}, 6}, 6: {[]int{2, 2, 5, 1, 4, 5}, 3}} {
		t.Run(fmt.Sprintf("3 to %d", to), func(t *testing.T) {
			spec := growing(3)
			spec.Producers[0].Workload.Rate = 0
			c := start(t, spec)
			send := func(n int) {
				for _, user := range users() {
					give(t, c, "produce p0 "+user)
				}
				tick(t, c, n)
			}
			send(4)
			before := contentsOfAll(t, c)
			give(t, c, fmt.Sprintf("add-partitions orders to %d", to))
			tick(t, c, 20) // the clients learn of it
			send(6)
			if got := standing(t, c, 1); !slices.Equal(got, []int{2, 2, 2, 1, 1, 2}) {
				t.Errorf("event 1 of user-1..user-6 went to %v", got)
			}
			got := standing(t, c, 2)
			if !slices.Equal(got, want.after) {
				t.Errorf("event 2 of user-1..user-6 went to %v, want %v", got, want.after)
			}
			moved := 0
			for i, p := range got {
				if p != []int{2, 2, 2, 1, 1, 2}[i] {
					moved++
				}
			}
			if moved != want.moved {
				t.Errorf("%d keys moved, want %d", moved, want.moved)
			}
			after := contentsOfAll(t, c)
			for i := range before { // no record is moved by Kafka
				if !slices.Equal(before[i], after[i][:len(before[i])]) {
					t.Errorf("partition %d held %v, now it begins with %v", i, before[i], after[i][:len(before[i])])
				}
			}
		})
	}
}

// contentsOfAll decodes all partitions.
func contentsOfAll(t *testing.T, c *engine.Cluster) [][]string {
	t.Helper()
	var list [][]string
	for i := range c.View().Partitions {
		list = append(list, contents(t, c, i))
	}
	return list
}

// PART-05, the order: with readers that are slower than the producer, events of moved keys are seen new
// before old; a key that stayed has none.
func TestPART05Order(t *testing.T) {
	c := behind(t, growing(3))
	late := map[string]pair{}
	for _, l := range c.View().Destination.FirstLate {
		late[l.Entity] = pair{l.Event.Version, l.Newer.Version}
		if l.Event.At == l.Newer.At {
			t.Errorf("%s was overtaken within %s", l.Entity, l.Event.At)
		}
		if l.Newer.Tick > l.Event.Tick {
			t.Errorf("%s: the newer event was seen in tick %d, after %d", l.Entity, l.Newer.Tick, l.Event.Tick)
		}
	}
	if len(late) == 0 {
		t.Fatal("no event was overtaken")
	}
	for _, user := range []string{"user-1", "user-2", "user-4"} { // they stay where they are from 3 to 6
		if l, ok := late[user]; ok {
			t.Errorf("%s stayed, but its event %d was seen after its event %d", user, l.event, l.newer)
		}
	}
}

type pair struct{ event, newer int }

// behind lets readers fall behind, adds partitions from 3 to 6 and lets the rest be read.
func behind(t *testing.T, spec *engine.Spec) *engine.Cluster {
	t.Helper()
	spec.Group.Config.Work, spec.Group.Config.MaxPollRecords = 10, 1 // one record a tick; six come
	c := start(t, spec)
	tick(t, c, 10)
	give(t, c, "add-partitions orders to 6")
	tick(t, c, 30)
	give(t, c, "stop-sending p0")
	tick(t, c, 200)
	if lag := c.View().Groups[0].Lag; lag != 0 {
		t.Fatalf("%d records are not read", lag)
	}
	return c
}

// The first remedy: stop sending until the readers are at the end, add partitions, and start again when
// the producer knows of them.
func TestDrainingKeepsOrder(t *testing.T) {
	spec := growing(3)
	spec.Group.Config.Work, spec.Group.Config.MaxPollRecords = 10, 1
	c := start(t, spec)
	tick(t, c, 10)
	give(t, c, "stop-sending p0")
	for c.View().Groups[0].Lag > 0 {
		tick(t, c, 1)
	}
	tick(t, c, 5)
	give(t, c, "add-partitions orders to 6")
	tick(t, c, 20)
	if known := c.View().Producers[0].Known; known != 6 {
		t.Fatalf("the producer knows of %d partitions", known)
	}
	give(t, c, "start-sending p0")
	tick(t, c, 30)
	give(t, c, "stop-sending p0")
	tick(t, c, 200)
	d := c.View().Destination
	if d.Late != 0 || d.Processed != 6*40 {
		t.Errorf("%d of %d events were seen late, want 0 of %d", d.Late, d.Processed, 6*40)
	}
}

// The second remedy: the destination refuses what is older than what it has.
func TestVersionCheckRefusesWhatIsLate(t *testing.T) {
	without := behind(t, growing(3)).View().Destination
	spec := growing(3)
	spec.Group.CheckVersions = true
	c := behind(t, spec)
	with := c.View().Destination
	if without.Refused != 0 || with.Refused == 0 || with.Refused != without.Late {
		t.Errorf("refused %d without and %d with the check, want 0 and %d", without.Refused, with.Refused, without.Late)
	}
	newest := map[string]int{}
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.EventSeenLate); ok {
			if !b.Refused || b.Version >= b.Newer {
				t.Errorf("%s", b.Text())
			}
			newest[b.Entity] = max(newest[b.Entity], b.Newer)
		}
	}
	if len(newest) != len(with.FirstLate) {
		t.Errorf("events tell of %d entities, the view of %d", len(newest), len(with.FirstLate))
	}
}

// A producer that does not know of the new partitions goes on with the old ones; so does its group.
func TestClientsLearnOfPartitionsByMetadata(t *testing.T) {
	spec := growing(3)
	spec.Producers[0].Config.MetadataMaxAge = 1000
	c := start(t, spec)
	give(t, c, "add-partitions orders to 6")
	tick(t, c, 60)
	if got := standing(t, c, 50); !slices.Equal(got, []int{2, 2, 2, 1, 1, 2}) {
		t.Errorf("before its next Metadata request the producer sends to %v", got)
	}
	if divided := c.View().Groups[0].Divided; divided != 6 {
		t.Errorf("the group divides %d partitions, want 6", divided)
	}
	tick(t, c, 60)
	if got := standing(t, c, 115); !slices.Equal(got, []int{2, 2, 5, 1, 4, 5}) {
		t.Errorf("after it to %v", got)
	}
	if lag := c.View().Groups[0].Lag; lag > 20 {
		t.Errorf("the group is %d records behind: new partitions are not read", lag)
	}
}

// Every refusal of the protocol is told, and nothing changes.
func TestPartitionsAreOnlyAdded(t *testing.T) {
	for text, want := range map[string]string{
		"add-partitions orders to 3":   "CreatePartitions INVALID_PARTITIONS: Topic already has 3 partition(s).",
		"add-partitions orders to 2":   "CreatePartitions INVALID_PARTITIONS: The topic orders currently has 3 partition(s); 2 would not be an increase.",
		"add-partitions payments to 4": "CreatePartitions UNKNOWN_TOPIC_OR_PARTITION",
		"add-partitions orders to 65":  "add-partitions orders to 65: 65 partitions; a topic may have at most 64 here",
	} {
		c := start(t, growing(3))
		give(t, c, text)
		tick(t, c, 4)
		found := ""
		for _, e := range events(c) {
			switch b := e.Body.(type) {
			case journal.RequestRefused, journal.CommandRejected:
				found = b.Text()
			}
		}
		if found != want || len(c.View().Partitions) != 3 {
			t.Errorf("%s: %q with %d partitions, want %q with 3", text, found, len(c.View().Partitions), want)
		}
	}
}

// A record that names its partition goes there, whatever its key; one that the producer does not know is
// refused.
func TestANamedPartitionNeedsNoPartitioner(t *testing.T) {
	spec := growing(3)
	spec.Producers[0].Workload.Rate = 0
	c := start(t, spec)
	give(t, c, "produce-to p0 0 user-1 v", "produce-to p0 1 - v", "produce-to p0 3 user-1 v")
	tick(t, c, 4)
	if got := counts(c); !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("records a partition: %v, want 1, 1, 0", got)
	}
	last := ""
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.CommandRejected); ok {
			last = b.Why
		}
	}
	if last != "p0 knows 3 partitions of orders; partition 3 is not one of them" {
		t.Errorf("refused with %q", last)
	}
}

// PART-09: six records without keys by round robin over three partitions, each read by its own consumer.
// Order holds within a partition and not across: event 4 is processed before event 2.
func TestPART09(t *testing.T) {
	spec := orders(3, 3)
	spec.Producers[0].Config.Keyless = "round-robin"
	spec.Producers[0].Config.Linger = 0
	c := start(t, spec)
	give(t, c, "pause c1", "pause c2")
	for range 6 {
		give(t, c, "produce p0")
	}
	tick(t, c, 5)
	for partition, want := range [][]string{{"0:event 1", "1:event 4"}, {"0:event 2", "1:event 5"}, {"0:event 3", "1:event 6"}} {
		if diff := cmp.Diff(want, contents(t, c, partition)); diff != "" {
			t.Errorf("partition %d (-want +got):\n%s", partition, diff)
		}
	}
	give(t, c, "resume c2")
	tick(t, c, 3)
	give(t, c, "resume c1")
	tick(t, c, 3)
	var order []int // versions as they were processed
	next := map[kafka.Partition]int{0: 1, 1: 2, 2: 3}
	for _, e := range events(c) {
		if b, ok := e.Body.(journal.RecordsRead); ok {
			for range b.Records {
				order = append(order, next[b.TopicPartition.Partition])
				next[b.TopicPartition.Partition] += 3
			}
		}
	}
	if !slices.Equal(order, []int{1, 4, 3, 6, 2, 5}) {
		t.Errorf("processed in the order %v, want 1 4 3 6 2 5", order)
	}
	d := c.View().Destination
	if d.Processed != 6 || d.Late != 3 || len(d.FirstLate) != 1 {
		t.Fatalf("%d processed, %d late, want 6 and 3: events 3, 2 and 5", d.Processed, d.Late)
	}
	if l := d.FirstLate[0]; l.Event.Version != 3 || l.Newer.Version != 4 {
		t.Errorf("event %d was seen after event %d, want 3 after 4", l.Event.Version, l.Newer.Version)
	}
}
