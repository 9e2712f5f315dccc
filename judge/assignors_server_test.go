//go:build judge

package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"loglab/engine/assignor"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

// serverQuestion is one round of a group of the consumer protocol, with the line that asks for its next target.
type serverQuestion struct {
	group assignor.Group
	line  string
}

// serverMemberJSON is a member with what the coordinator knows of its coming.
type serverMemberJSON struct {
	memberJSON
	Joins    bool           `json:"joins,omitempty"`    // it is not in the coordinator's table yet
	Replaces kafka.MemberID `json:"replaces,omitempty"` // the static member whose target it takes over
}

// serverAnswerJSON is what Kafka makes of a round.
type serverAnswerJSON struct {
	Roomy      partitionsOf `json:"roomy"`      // from a table of members in which hardly two share a slot
	Assignment partitionsOf `json:"assignment"` // as the coordinator, from its own tables
	Error      string       `json:"error"`
}

// drawServerRounds draws a group and up to six rounds of its life: in each the members take over the target of
// the round before, and then members, topics and subscriptions change, and a static member may come back under
// another id. Some groups have long topics, so that the order of a hash set of partitions counts.
func drawServerRounds(rnd *prng.Rand, rule assignor.Assignor, equal bool) []serverQuestion {
	group := drawGroup(rnd)
	switch rnd.IntN(12) {
	case 0:
		addMembers(rnd, &group, 20+rnd.IntN(60))
	case 1:
		addMembers(rnd, &group, 5)
	}
	if rnd.IntN(100) == 0 {
		addMembers(rnd, &group, 300)
	}
	if rnd.IntN(3) == 0 {
		for i := range group.Topics {
			group.Topics[i].PartitionCount *= int32(1 + rnd.IntN(12))
		}
	}
	if equal {
		subscribeAll(&group)
	}
	var rounds []serverQuestion
	for i := range 1 + rnd.IntN(6) {
		joining, replaced := kafka.MemberID(""), kafka.MemberID("")
		if i > 0 {
			change(rnd, &group, equal)
			joining, replaced = comeBack(rnd, &group, i)
		}
		sortClaims(&group)
		shuffle(rnd, group.Members)
		for i := range group.Members {
			group.Members[i].Joining = group.Members[i].ID == joining
		}
		asked := group
		asked.Topics, asked.Members = slices.Clone(group.Topics), slices.Clone(group.Members)
		rounds = append(rounds, serverQuestion{asked, serverLine(rule.Name, asked, i == 0, joining, replaced)})
		adopt(&group, rule.Assign(group), 1, func() bool { return false })
	}
	return rounds
}

// comeBack names a member whose heartbeat starts the assignment. A static one may come back under a new id, in
// place of another, which is named too.
func comeBack(rnd *prng.Rand, group *assignor.Group, round int) (joining, replaced kafka.MemberID) {
	member := &group.Members[rnd.IntN(len(group.Members))]
	if member.InstanceID != "" && rnd.IntN(2) == 0 {
		replaced = member.ID
		member.ID = kafka.MemberID(fmt.Sprintf("back-%d-%x", round, rnd.IntN(1<<20)))
		return member.ID, replaced
	}
	if len(member.Owned) == 0 {
		joining = member.ID
	}
	return joining, ""
}

func serverLine(name string, group assignor.Group, newGroup bool, joining, replaced kafka.MemberID) string {
	var j groupJSON
	if err := json.Unmarshal([]byte(question(name, group)), &j); err != nil {
		panic(err)
	}
	members := make([]serverMemberJSON, len(j.Members))
	for i, m := range j.Members {
		members[i] = serverMemberJSON{memberJSON: m}
		if m.ID == joining {
			members[i].Joins, members[i].Replaces = true, replaced
		}
	}
	line, err := json.Marshal(map[string]any{"assignor": name, "new_group": newGroup, "topics": j.Topics, "members": members})
	if err != nil {
		panic(err)
	}
	return string(line)
}

// Kafka's UniformAssignor and RangeAssignor of the broker, run by its TargetAssignmentBuilder, give every group
// the same target if the coordinator's table of members has room and targets were written in the order of their
// partitions. How often it is another where that is not so, which the Simplified lines of engine/assignor say, is
// counted.
func TestAssignServer(t *testing.T) {
	for _, name := range assignor.ServerNames() {
		for _, equal := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/equal=%t", name, equal), func(t *testing.T) {
				compareServer(t, name, equal)
			})
		}
	}
}

func compareServer(t *testing.T, name string, equal bool) {
	rule, err := assignor.ServerByName(name)
	if err != nil {
		t.Fatal(err)
	}
	rnd := draws(t)
	var rounds []serverQuestion
	var lines []string
	groups := 0
	for ; len(rounds) < groupsAnAssignor; groups++ {
		rounds = append(rounds, drawServerRounds(&rnd, rule, equal)...)
	}
	owning, static := 0, 0
	for _, round := range rounds {
		lines = append(lines, round.line)
		if slices.ContainsFunc(round.group.Members, func(m assignor.Member) bool { return len(m.Owned) > 0 }) {
			owning++
		}
		if slices.ContainsFunc(round.group.Members, func(m assignor.Member) bool { return m.InstanceID != "" }) {
			static++
		}
	}
	other := 0
	for i, line := range answers(t, kafkaProgram(t, "ServerAssignors"), lines) {
		var theirs serverAnswerJSON
		if err := json.Unmarshal([]byte(line), &theirs); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		diff := gocmp.Diff(theirs.Roomy, assignedBy(rule, rounds[i].group))
		if diff != "" || theirs.Error != "" {
			t.Fatalf("seed %d, round %d: %s\n%s\n(-Kafka +ours):\n%s", *seed, i, lines[i], theirs.Error, diff)
		}
		if gocmp.Diff(theirs.Assignment, theirs.Roomy) != "" {
			other++
		}
	}
	t.Logf("%d rounds of %d groups, %d with targets, %d with static members: all equal; %d are others from a table that grew, with its targets of the rounds before",
		len(rounds), groups, owning, static, other)
}
