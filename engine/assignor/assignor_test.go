package assignor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/kafka"
)

// parseGroup reads the short form of the tests: topics "t0:3 t1:2", members "m0 m1{t0} m2/z", where
// {…} lists the subscribed topics (all if left out) and /z is the instance id. What a member owned stands
// after = as "m0=t0:0,1;t1:2", and the generation of that after @ (1 if left out).
func parseGroup(t testing.TB, topics, members string) Group {
	t.Helper()
	var group Group
	var all []string
	for _, field := range strings.Fields(topics) {
		name, count, _ := strings.Cut(field, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		group.Topics = append(group.Topics, Topic{Name: name, PartitionCount: int32(n)})
		all = append(all, name)
	}
	for _, field := range strings.Fields(members) {
		member := Member{Topics: all, Generation: -1}
		field, owned, hasOwned := strings.Cut(field, "=")
		if hasOwned {
			member.Owned, member.Generation = parseOwned(t, owned)
		}
		head, list, hasList := strings.Cut(strings.TrimSuffix(field, "}"), "{")
		if hasList {
			member.Topics = strings.Split(list, ",")
		}
		id, instanceID, _ := strings.Cut(head, "/")
		member.ID, member.InstanceID = kafka.MemberID(id), kafka.GroupInstanceID(instanceID)
		group.Members = append(group.Members, member)
	}
	if err := group.Check(); err != nil {
		t.Fatal(err)
	}
	return group
}

func parseOwned(t testing.TB, text string) ([]TopicPartitions, kafka.GenerationID) {
	t.Helper()
	text, at, _ := strings.Cut(text, "@")
	generation, err := strconv.Atoi(at)
	if err != nil {
		generation = 1
	}
	var all []TopicPartitions
	for _, field := range strings.Split(text, ";") {
		topic, list, _ := strings.Cut(field, ":")
		owned := TopicPartitions{Topic: topic}
		for _, number := range strings.Split(list, ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			owned.Partitions = append(owned.Partitions, kafka.Partition(n))
		}
		all = append(all, owned)
	}
	return all, kafka.GenerationID(generation)
}

// format writes an assignment as "m0=t0:0,1 t1:0; m1=t0:2; m2=", with "; withheld t0:3" if there is any.
func format(a Assignment) string {
	var members []string
	for _, member := range a.Members {
		members = append(members, string(member.Member)+"="+formatTopics(member.Topics))
	}
	if len(a.Withheld) > 0 {
		members = append(members, "withheld "+formatTopics(a.Withheld))
	}
	return strings.Join(members, "; ")
}

func formatTopics(list []TopicPartitions) string {
	var topics []string
	for _, owned := range list {
		var partitions []string
		for _, partition := range owned.Partitions {
			partitions = append(partitions, strconv.Itoa(int(partition)))
		}
		topics = append(topics, owned.Topic+":"+strings.Join(partitions, ","))
	}
	return strings.Join(topics, " ")
}

func byName(t testing.TB, name string) Assignor {
	t.Helper()
	a, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		got, want []string
	}{
		{Names(), []string{"cooperative-sticky", "range", "roundrobin", "server-range", "sticky", "uniform"}},
		{ClientNames(), []string{"cooperative-sticky", "range", "roundrobin", "sticky"}},
		{ServerNames(), []string{"server-range", "uniform"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, test := range []struct {
		by         func(string) (Assignor, error)
		name, want string
	}{
		{ByName, "rang", `assignor "rang" is unknown: allowed are cooperative-sticky, range, roundrobin, server-range, sticky, uniform`},
		{ClientByName, "rang", `assignor "rang" is unknown: allowed are cooperative-sticky, range, roundrobin, sticky`},
		{ClientByName, "uniform", `assignor "uniform" is the broker’s: allowed are cooperative-sticky, range, roundrobin, sticky`},
		{ServerByName, "range", `assignor "range" is a client’s: allowed are server-range, uniform`},
	} {
		if _, err := test.by(test.name); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	for _, name := range Names() {
		if a := byName(t, name); a.Name != name || a.Rule == "" || a.Server != slices.Contains(ServerNames(), name) {
			t.Errorf("%s: name or rule is missing, or it is the other side's", name)
		}
	}
}

// The numbered rows of §6.3, as Kafka 4.2.0 assigns them.
func TestWorkedExamples(t *testing.T) {
	for _, test := range []struct {
		row             string
		topics, members string
		rng, roundRobin string
	}{
		{"#1", "t0:3", "m0 m1", "m0=t0:0,1; m1=t0:2", "m0=t0:0,2; m1=t0:1"},
		{"#2", "t0:3 t1:3", "m0 m1", "m0=t0:0,1 t1:0,1; m1=t0:2 t1:2", "m0=t0:0,2 t1:1; m1=t0:1 t1:0,2"},
		{"#3", "t0:3 t1:3 t2:3 t3:3", "m0 m1",
			"m0=t0:0,1 t1:0,1 t2:0,1 t3:0,1; m1=t0:2 t1:2 t2:2 t3:2",
			"m0=t0:0,2 t1:1 t2:0,2 t3:1; m1=t0:1 t1:0,2 t2:1 t3:0,2"},
		{"#4", "t0:2", "m0 m1 m2", "m0=t0:0; m1=t0:1; m2=", "m0=t0:0; m1=t0:1; m2="},
		{"#5", "t0:10", "m0 m1 m2",
			"m0=t0:0,1,2,3; m1=t0:4,5,6; m2=t0:7,8,9",
			"m0=t0:0,3,6,9; m1=t0:1,4,7; m2=t0:2,5,8"},
		{"#6", "t0:4 t1:3", "m0{t0} m1 m2",
			"m0=t0:0,1; m1=t0:2 t1:0,1; m2=t0:3 t1:2",
			"m0=t0:0,3; m1=t0:1 t1:0,2; m2=t0:2 t1:1"},
		{"#7", "t0:5", "m0/z m1/a m2",
			"m0=t0:2,3; m1=t0:0,1; m2=t0:4",
			"m0=t0:1,4; m1=t0:0,3; m2=t0:2"},
		{"#8", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2",
			"m0=t0:0; m1=t1:0; m2=t1:1 t2:0,1,2",
			"m0=t0:0; m1=t1:0; m2=t1:1 t2:0,1,2"},
	} {
		group := parseGroup(t, test.topics, test.members)
		if got := format(byName(t, "range").Assign(group)); got != test.rng {
			t.Errorf("%s range:\n got %s\nwant %s", test.row, got, test.rng)
		}
		if got := format(byName(t, "roundrobin").Assign(group)); got != test.roundRobin {
			t.Errorf("%s roundrobin:\n got %s\nwant %s", test.row, got, test.roundRobin)
		}
	}
}

// counts returns how many partitions each member has, in the order of member ids.
func counts(a Assignment) []int {
	var all []int
	for _, member := range a.Members {
		n := 0
		for _, owned := range member.Topics {
			n += len(owned.Partitions)
		}
		all = append(all, n)
	}
	return all
}

// The group cases that show what an assignor does.
func TestGroupCases(t *testing.T) {
	topics := func(prefix string, number, partitions int) string {
		var text strings.Builder
		for i := range number {
			fmt.Fprintf(&text, "%s%d:%d ", prefix, i, partitions)
		}
		return text.String()
	}
	for _, test := range []struct {
		name, assignor, topics, members string
		want                            []int
	}{
		{"GRP-01 3 partitions, 5 members", "range", "t:3", "c1 c2 c3 c4 c5", []int{1, 1, 1, 0, 0}},
		{"GRP-01 3 partitions, 5 members", "roundrobin", "t:3", "c1 c2 c3 c4 c5", []int{1, 1, 1, 0, 0}},
		{"GRP-02 ten topics of one partition", "range", topics("t", 10, 1), "c1 c2 c3 c4", []int{10, 0, 0, 0}},
		{"GRP-02 ten topics of one partition", "roundrobin", topics("t", 10, 1), "c1 c2 c3 c4", []int{3, 3, 2, 2}},
		{"GRP-01 3 partitions, 5 members; walked c3 c4 c5 c1 c2", "uniform", "t:3", "c1 c2 c3 c4 c5", []int{1, 1, 0, 0, 1}},
		{"GRP-02 ten topics of one partition", "server-range", topics("t", 10, 1), "c1 c2 c3 c4", []int{10, 0, 0, 0}},
		{"GRP-02 ten topics of one partition; walked c3 c4 c1 c2", "uniform", topics("t", 10, 1), "c1 c2 c3 c4", []int{3, 3, 2, 2}},
		{"GRP-04 ten topics of three partitions", "range", topics("t", 10, 3), "c1 c2", []int{20, 10}},
		{"GRP-04 ten topics of three partitions", "roundrobin", topics("t", 10, 3), "c1 c2", []int{15, 15}},
		{"GRP-04 two topics of six, four members", "range", topics("t", 2, 6), "c1 c2 c3 c4", []int{4, 4, 2, 2}},
		{"GRP-06 unequal subscriptions", "roundrobin", "t0:1 t1:2 t2:3", "C0{t0} C1{t0,t1} C2", []int{1, 1, 4}},
		{"GRP-02 ten topics of one partition", "sticky", topics("t", 10, 1), "c1 c2 c3 c4", []int{3, 3, 2, 2}},
		{"GRP-02 ten topics of one partition", "cooperative-sticky", topics("t", 10, 1), "c1 c2 c3 c4", []int{3, 3, 2, 2}},
		{"GRP-04 two topics of six, four members", "cooperative-sticky", topics("t", 2, 6), "c1 c2 c3 c4", []int{3, 3, 3, 3}},
	} {
		got := counts(byName(t, test.assignor).Assign(parseGroup(t, test.topics, test.members)))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", test.name, test.assignor, diff)
		}
	}

	got := format(byName(t, "roundrobin").Assign(parseGroup(t, topics("t", 10, 1), "c1 c2 c3 c4")))
	want := "c1=t0:0 t4:0 t8:0; c2=t1:0 t5:0 t9:0; c3=t2:0 t6:0; c4=t3:0 t7:0"
	if got != want {
		t.Errorf("GRP-02 roundrobin:\n got %s\nwant %s", got, want)
	}
}

// What a group.json may hold beside the point is ignored, never an error.
func TestWhatIsIgnored(t *testing.T) {
	clean := parseGroup(t, "orders:4", "m0 m1")
	noisy := clean
	noisy.Topics = append(slices.Clone(clean.Topics), Topic{Name: "nobody-reads", PartitionCount: 3}, Topic{Name: "no-partitions"})
	noisy.Members = []Member{
		{ID: "m1", Topics: []string{"missing", "orders", "no-partitions", "orders"}, Owned: []TopicPartitions{
			{Topic: "missing", Partitions: []kafka.Partition{0}},
			{Topic: "orders", Partitions: []kafka.Partition{99}},
			{Topic: "nobody-reads", Partitions: []kafka.Partition{1}},
		}},
		{ID: "m0", Topics: []string{"orders", "orders"}},
	}
	for _, name := range Names() {
		want, got := format(byName(t, name).Assign(clean)), format(byName(t, name).Assign(noisy))
		if name == "uniform" { // m1 subscribes to topics that do not exist, so subscriptions differ
			want = "m0=orders:0,2; m1=orders:1,3"
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// The names are those of Kafka's supportedProtocols.
func TestSupportedProtocols(t *testing.T) {
	for _, name := range Names() {
		want := []RebalanceProtocol{"EAGER"}
		switch name {
		case "cooperative-sticky":
			want = []RebalanceProtocol{"COOPERATIVE", "EAGER"}
		case "uniform", "server-range":
			want = nil // the broker's have no rebalance protocol
		}
		if diff := cmp.Diff(want, byName(t, name).SupportedProtocols()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEmptyGroups(t *testing.T) {
	for _, name := range Names() {
		a := byName(t, name)
		for _, test := range []struct{ topics, members, want string }{
			{"", "", ""},
			{"t0:3", "", ""},
			{"", "m0 m1", "m0=; m1="},
			{"t0:0", "m0", "m0="},
		} {
			if got := format(a.Assign(parseGroup(t, test.topics, test.members))); got != test.want {
				t.Errorf("%s of %q, %q: got %q, want %q", name, test.topics, test.members, got, test.want)
			}
		}
	}
}

func TestCheckNamesWhatAndWhere(t *testing.T) {
	members := func(n int) []Member {
		all := make([]Member, n)
		for i := range all {
			all[i].ID = kafka.MemberID(strconv.Itoa(i))
		}
		return all
	}
	for _, test := range []struct {
		name  string
		group Group
		want  string // empty: allowed
	}{
		{"nothing", Group{}, ""},
		{"10,000 members", Group{Members: members(10_000)}, ""},
		{"10,001 members", Group{Members: members(10_001)}, "members: 10001 are given, allowed are at most 10000"},
		{"1,000,000 partitions", Group{Topics: []Topic{{"a", 999_999}, {"b", 1}}}, ""},
		{"1,000,001 partitions", Group{Topics: []Topic{{"a", 999_999}, {"b", 2}}}, "topics: 1000001 partitions in all, allowed are at most 1000000"},
		{"negative count", Group{Topics: []Topic{{"a", -1}}}, "topics: a has -1 partitions, allowed are 0 to 1000000"},
		{"topic twice", Group{Topics: []Topic{{"a", 1}, {"a", 1}}}, `topics: "a" is given twice`},
		{"249 characters", Group{Topics: []Topic{{strings.Repeat("a", 249), 1}}}, ""},
		{"every kind of character", Group{Topics: []Topic{{"aZ09._-", 1}}}, ""},
		{"empty id", Group{Members: []Member{{ID: "a"}, {}}}, "members[1]: the id is empty"},
		{"id twice", Group{Members: []Member{{ID: "a"}, {ID: "b"}, {ID: "a"}}}, `members[2]: the id "a" is already that of members[0]`},
		{"instance id twice", Group{Members: []Member{{ID: "a", InstanceID: "i"}, {ID: "b", InstanceID: "i"}}}, `members[1]: the instance id "i" is already that of members[0]`},
	} {
		got := ""
		if err := test.group.Check(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	for _, name := range []string{"", ".", "..", "a b", "a/b", "ä", strings.Repeat("a", 250)} {
		err := Group{Topics: []Topic{{name, 1}}}.Check()
		if err == nil || !strings.Contains(err.Error(), "is no topic name, allowed are") {
			t.Errorf("topic name %q: got %v", name, err)
		}
	}
}

func TestWhy(t *testing.T) {
	for _, test := range []struct {
		assignor, topics, members string
		partition                 kafka.TopicPartition
		want                      string
	}{
		{"range", "t0:4", "m0 m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"Partitions 0–1 of t0 go to m0, subscriber 1 of 3: 4 / 3 = 1 remainder 1, so the first gets 2 and each other 1."},
		{"range", "t0:4", "m0 m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 2},
			"Partition 2 of t0 goes to m1, subscriber 2 of 3: 4 / 3 = 1 remainder 1, so the first gets 2 and each other 1."},
		{"range", "t0:5", "m0/z m1/a m2", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"Partitions 0–1 of t0 go to m1, subscriber 1 of 3: 5 / 3 = 1 remainder 2, so the first 2 get 2 and each other 1."},
		{"range", "t0:6", "m0 m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 5},
			"Partitions 4–5 of t0 go to m2, subscriber 3 of 3: 6 / 3 = 2, so each gets 2."},
		{"range", "t0:1 t1:2", "m0{t0} m1", kafka.TopicPartition{Topic: "t1", Partition: 0},
			"Partitions 0–1 of t1 go to m1, the only subscriber."},
		{"roundrobin", "t0:4 t1:3", "m0{t0} m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"t0-0 is partition 1 of 7 in order; the turn starts with m0."},
		{"roundrobin", "t0:4 t1:3", "m0{t0} m1 m2", kafka.TopicPartition{Topic: "t1", Partition: 0},
			"t1-0 is partition 5 of 7 in order; after m0 it is the turn of m1."},
		{"roundrobin", "t0:4 t1:3", "m0{t0} m1 m2", kafka.TopicPartition{Topic: "t1", Partition: 2},
			"t1-2 is partition 7 of 7 in order; after m2 it is the turn of m1; m0 is passed over, it does not subscribe to t1."},
		{"roundrobin", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2", kafka.TopicPartition{Topic: "t2", Partition: 1},
			"t2-1 is partition 5 of 6 in order; after m2 it is the turn of m2; 2 members are passed over, they do not subscribe to t2."},
		{"roundrobin", "t0:1", "m0{} m1", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"t0-0 is partition 1 of 1 in order; the turn starts with m1; m0 is passed over, it does not subscribe to t0."},
		{"sticky", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"t0-0 stays with m0, which owned it: m0 keeps 2 of the 3 that it owned; 6 / 3 = 2, so each gets 2."},
		{"sticky", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", kafka.TopicPartition{Topic: "t0", Partition: 2},
			"t0-2 moves from m0 to m2: m0 keeps 2 of the 3 that it owned; 6 / 3 = 2, so each gets 2."},
		{"cooperative-sticky", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", kafka.TopicPartition{Topic: "t0", Partition: 2},
			"t0-2 moves from m0 to m2: m0 keeps 2 of the 3 that it owned; 6 / 3 = 2, so each gets 2. It is withheld in this round: m0 has to give it up first."},
		{"sticky", "t0:7", "m0=t0:0,3,6 m2=t0:2,5", kafka.TopicPartition{Topic: "t0", Partition: 3},
			"t0-3 stays with m0, which owned it."},
		{"sticky", "t0:7", "m0=t0:0,3,6 m2=t0:2,5", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"Nobody owned t0-1; it goes to m2, whose turn it is of those with less than 3: 7 / 2 = 3 remainder 1, so one gets 4 and each other 3."},
		{"sticky", "t0:7", "m0=t0:0,3,6 m2=t0:2,5", kafka.TopicPartition{Topic: "t0", Partition: 4},
			"Nobody owned t0-4; it goes to m0, whose turn it is of those that may have 4: 7 / 2 = 3 remainder 1, so one gets 4 and each other 3."},
		{"sticky", "t0:5", "m0 m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 4},
			"Nobody owned t0-4; it goes to m1, whose turn it is of those that may have 2: 5 / 3 = 1 remainder 2, so 2 get 2 and each other 1."},
		{"cooperative-sticky", "t0:5", "m0=t0:0,1 m1=t0:1,2", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"m0 and m1 claim t0-1 in one generation, so it counts as nobody’s; it goes to m0, whose turn it is of those with less than 2: " +
				"5 / 2 = 2 remainder 1, so one gets 3 and each other 2. It is withheld in this round: m0 and m1 have to give it up first."},
		{"sticky", "t0:3", "m0=t0:0@1 m1=t0:0@1 m2=t0:0@2", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"m0, m1 and m2 claim t0-0, two of them in one generation, so it counts as nobody’s; it goes to m0, whose turn it is of those with less than 1: 3 / 3 = 1, so each gets 1."},
		{"sticky", "t0:4", "m0=t0:0,1@7 m1=t0:1,2@6 m2", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"t0-1 stays with m0, which owned it in generation 7, later than m1."},
		{"cooperative-sticky", "t0:2 t1:2", "m0{t0}=t0:0;t1:0,1 m1{t1}", kafka.TopicPartition{Topic: "t1", Partition: 1},
			"m0 owned t1-1 and no longer subscribes to the topic; it goes to m1, the only subscriber. It is withheld in this round: m0 has to give it up first."},
		{"sticky", "t0:6 t1:1", "m0{t0}=t0:0,1,2,3,4,5 m1", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"t0-1 moves from m0 to m1 for balance: m0 had 5, m1 had 2."},
		{"sticky", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2", kafka.TopicPartition{Topic: "t1", Partition: 1},
			"Nobody owned t1-1; it goes to m1, which had the fewest of 2 subscribers then, 1."},
		{"server-range", "t0:4", "m0 m1 m2", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"Partitions 0–1 of t0 go to m0, subscriber 1 of 3: 4 / 3 = 1 remainder 1, so the first gets 2 and each other 1."},
		{"uniform", "t0:3", "m0 m1", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"No target had t0-0; it goes to m0, whose turn in the broker’s order it was and which lacked 1 of its 1: 3 / 2 = 1 remainder 1, so one gets 2 and each other 1."},
		{"uniform", "t0:3", "m0 m1", kafka.TopicPartition{Topic: "t0", Partition: 2},
			"No target had t0-2; it goes to m1, whose turn in the broker’s order it was and which lacked 2 of its 2: 3 / 2 = 1 remainder 1, so one gets 2 and each other 1; " +
				"as one of the last in that order m1 gets one more."},
		{"uniform", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", kafka.TopicPartition{Topic: "t0", Partition: 0},
			"t0-0 stays with m0, whose target had it: m0 keeps 2 of 3; 6 / 3 = 2, so each gets 2."},
		{"uniform", "t0:6", "m0=t0:0,1,2 m1=t0:3,4,5 m2", kafka.TopicPartition{Topic: "t0", Partition: 2},
			"t0-2 moves from m0 to m2: m0 keeps 2 of 3; 6 / 3 = 2, so each gets 2."},
		{"uniform", "t0:3", "m0=t0:0,1 m1=t0:2", kafka.TopicPartition{Topic: "t0", Partition: 1},
			"t0-1 stays with m0, whose target had it."},
		{"uniform", "t0:6 t1:1", "m0{t0}=t0:0,1,2,3,4,5 m1", kafka.TopicPartition{Topic: "t0", Partition: 5},
			"t0-5 moves from m0 to m1 for balance: m0 had 6, m1 had 1."},
		{"uniform", "t0:1 t1:2 t2:3", "m0{t0} m1{t0,t1} m2", kafka.TopicPartition{Topic: "t1", Partition: 1},
			"No target had t1-1; it goes to m1, which had the fewest of 2 subscribers then, 1."},
		{"uniform", "t0:2 t1:2", "m0{t0}=t0:0;t1:0,1 m1{t1}", kafka.TopicPartition{Topic: "t1", Partition: 1},
			"The target of m0 had t1-1, whose topic it no longer subscribes to; it goes to m1, the only subscriber."},
		{"range", "t0:1 t1:1", "m0{t0}", kafka.TopicPartition{Topic: "t1", Partition: 0},
			"t1-0 has no owner: no member subscribes to t1, or the topic does not exist."},
		{"range", "t0:3", "m0", kafka.TopicPartition{Topic: "t0", Partition: 3},
			"t0-3 does not exist: t0 has the partitions 0 to 2."},
	} {
		group := parseGroup(t, test.topics, test.members)
		a := byName(t, test.assignor)
		if got := a.Why(group, a.Assign(group), test.partition); got != test.want {
			t.Errorf("%s %s:\n got %s\nwant %s", test.assignor, test.partition, got, test.want)
		}
	}
}
