//go:build judge

package judge

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loglab/engine/assignor"
	"loglab/engine/kafka"
	"loglab/engine/prng"
)

const groupsAnAssignor = 5000

// groupJSON is a group as "loglab assign" reads it.
type groupJSON struct {
	Assignor string           `json:"assignor"`
	Topics   map[string]int32 `json:"topics"`
	Members  []memberJSON     `json:"members"`
}

// memberJSON is one member. What it owned goes with its generation: none of both if it has never been
// assigned anything.
type memberJSON struct {
	ID                     kafka.MemberID               `json:"id"`
	InstanceID             kafka.GroupInstanceID        `json:"instance_id,omitempty"`
	Topics                 []string                     `json:"topics"`
	Joined                 bool                         `json:"joined,omitempty"`
	Owned                  map[string][]kafka.Partition `json:"owned,omitempty"`
	Generation             kafka.GenerationID           `json:"generation,omitempty"`
	SubscriptionGeneration kafka.GenerationID           `json:"subscription_generation,omitempty"`
}

// answerJSON is what Kafka makes of a group.
type answerJSON struct {
	Assignment partitionsOf                 `json:"assignment"`
	Error      string                       `json:"error"`
	EmptyFirst bool                         `json:"empty_first"` // it met a member without topics first
	Protocols  []assignor.RebalanceProtocol `json:"protocols"`
}

// drawGroup draws up to 8 topics and 1 to 12 members with any subscriptions, also to topics that do not exist.
// In half of the groups some members are static; their instance ids sort in another order than their
// member ids.
func drawGroup(rnd *prng.Rand) assignor.Group {
	var group assignor.Group
	for i := range rnd.IntN(9) {
		name := []string{"orders", "Orders", "a.b", "a-b", "a_b", "t10", "t9", "z"}[i]
		group.Topics = append(group.Topics, assignor.Topic{Name: name, PartitionCount: int32(rnd.IntN(20))})
	}
	static := rnd.IntN(2) == 0
	for i := range 1 + rnd.IntN(12) {
		id := []string{"consumer-%d", "Consumer-%d", "c%d", "%d-9f3a"}[rnd.IntN(4)]
		member := assignor.Member{ID: kafka.MemberID(fmt.Sprintf(id, i)), Generation: -1}
		if static && rnd.IntN(2) == 0 {
			member.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("i%d", i*7%13))
		}
		everything := rnd.IntN(2) == 0
		for _, topic := range group.Topics {
			if everything || rnd.IntN(2) == 0 {
				member.Topics = append(member.Topics, topic.Name)
			}
		}
		if rnd.IntN(10) == 0 {
			member.Topics = append(member.Topics, "gone")
		}
		shuffle(rnd, member.Topics)
		group.Members = append(group.Members, member)
	}
	shuffle(rnd, group.Topics)
	shuffle(rnd, group.Members)
	return group
}

func shuffle[T any](rnd *prng.Rand, items []T) {
	for i := len(items) - 1; i > 0; i-- {
		j := rnd.IntN(i + 1)
		items[i], items[j] = items[j], items[i]
	}
}

// question writes the group as one line of JSON.
func question(name string, group assignor.Group) string {
	j := groupJSON{Assignor: name, Topics: map[string]int32{}, Members: []memberJSON{}}
	for _, topic := range group.Topics {
		j.Topics[topic.Name] = topic.PartitionCount
	}
	for _, m := range group.Members {
		member := memberJSON{ID: m.ID, InstanceID: m.InstanceID, Topics: m.Topics}
		member.Joined = m.Generation >= 0
		member.Generation, member.SubscriptionGeneration = m.Generation, m.SubscriptionGeneration
		if m.SubscriptionGeneration == 0 {
			member.SubscriptionGeneration = m.Generation
		}
		for _, owned := range m.Owned {
			if member.Owned == nil {
				member.Owned = map[string][]kafka.Partition{}
			}
			member.Owned[owned.Topic] = owned.Partitions
		}
		j.Members = append(j.Members, member)
	}
	line, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	return string(line)
}

// partitionsOf is an assignment as Kafka's answer has it: member, topic, partitions.
type partitionsOf map[kafka.MemberID]map[string][]kafka.Partition

func assignedBy(a assignor.Assignor, group assignor.Group) partitionsOf {
	assigned := partitionsOf{}
	for _, member := range a.Assign(group).Members {
		assigned[member.Member] = map[string][]kafka.Partition{}
		for _, owned := range member.Topics {
			assigned[member.Member][owned.Topic] = owned.Partitions
		}
	}
	return assigned
}

func readAnswer(t *testing.T, line string) answerJSON {
	t.Helper()
	var answer answerJSON
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return answer
}

// Kafka's RangeAssignor and RoundRobinAssignor give every group the same assignment.
func TestAssignors(t *testing.T) {
	for _, name := range []string{"range", "roundrobin"} {
		t.Run(name, func(t *testing.T) {
			ours, err := assignor.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			rnd := draws(t)
			var groups []assignor.Group
			var questions []string
			static := 0
			for range groupsAnAssignor {
				group := drawGroup(&rnd)
				groups, questions = append(groups, group), append(questions, question(name, group))
				for _, m := range group.Members {
					if m.InstanceID != "" {
						static++
					}
				}
			}
			for i, answer := range answers(t, kafkaProgram(t, "Assignors"), questions) {
				theirs := readAnswer(t, answer)
				if diff := cmp.Diff(theirs.Assignment, assignedBy(ours, groups[i])); diff != "" {
					t.Fatalf("seed %d, group %d: %s\n(-Kafka +ours):\n%s", *seed, i, questions[i], diff)
				}
			}
			t.Logf("%d groups with %d static members", len(groups), static)
		})
	}
}
