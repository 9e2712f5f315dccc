//go:build judge

package judge

import (
	"fmt"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/partitioner"
	"loglab/engine/prng"
)

// What Kafka draws from ThreadLocalRandom is set to what ours drew, "3/8,0/3": 3 of 8 numbers, then 0 of 3.
// If it needs more draws, or fewer, it answers "other draws".
const noDraws = "-"

// drawn gives what was drawn from a stream of n numbers between two of its states.
func drawn(before, after prng.Rand, n int) string {
	var pairs []string
	for before != after {
		pairs = append(pairs, fmt.Sprintf("%d/%d", before.IntN(n), n))
		if len(pairs) > 1000 {
			panic("the stream does not reach its later state")
		}
	}
	if pairs == nil {
		return noDraws
	}
	return strings.Join(pairs, ",")
}

// commas writes numbers as a judge reads them.
func commas[N ~int | ~int32](numbers []N) string {
	if len(numbers) == 0 {
		return "-"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
}

// drawCandidates draws a topic's partitions with a leader: all of them in half of the draws.
func drawCandidates(rnd *prng.Rand, count int) partitioner.Candidates {
	candidates := partitioner.Candidates{PartitionCount: int32(count)}
	all := rnd.IntN(2) == 0
	for p := range count {
		if all || rnd.IntN(3) > 0 {
			candidates.WithLeader = append(candidates.WithLeader, kafka.Partition(p))
		}
	}
	return candidates
}

func choices(c partitioner.Candidates) int {
	if len(c.WithLeader) > 0 {
		return len(c.WithLeader)
	}
	return int(c.PartitionCount)
}

// dialogue is what a judge is asked, with our answers.
type dialogue struct{ questions, ours []string }

func (d *dialogue) ask(answer any, format string, args ...any) {
	d.questions, d.ours = append(d.questions, fmt.Sprintf(format, args...)), append(d.ours, fmt.Sprint(answer))
}

// compare holds our answers against the judge's and shows the steps before the first that differs.
func (d *dialogue) compare(t *testing.T, judged []string) {
	t.Helper()
	for i, answer := range judged {
		if answer != d.ours[i] {
			var steps strings.Builder
			for j := max(0, i-20); j <= i; j++ {
				fmt.Fprintf(&steps, "%s → %s\n", d.questions[j], judged[j])
			}
			t.Fatalf("seed %d, step %d: ours %q, Kafka %q, after\n%s", *seed, i, d.ours[i], answer, steps.String())
		}
	}
}

// Kafka's BuiltInPartitioner, given the same queue lengths, bytes and random numbers, is at the same
// partition after every step.
func TestStickyDraws(t *testing.T) {
	const topics, steps = 400, 100
	rnd := draws(t)
	ours := rnd.Split("ours")
	var d dialogue
	weighted, forced := 0, 0
	for range topics {
		count, batchSize := 1+rnd.IntN(8), 1+rnd.IntN(1000)
		sticky := partitioner.NewSticky(int32(batchSize))
		candidates := drawCandidates(&rnd, count)
		d.ask("ok", "partitioner %d", batchSize)
		d.ask("ok", "leaders %d %s", count, commas(candidates.WithLeader))
		for range steps {
			switch rnd.IntN(8) {
			case 0:
				candidates = drawCandidates(&rnd, count)
				d.ask("ok", "leaders %d %s", count, commas(candidates.WithLeader))
			case 1, 2, 3:
				var lengths []int // nil: some partition has had no record
				for range count * min(1, rnd.IntN(5)) {
					lengths = append(lengths, rnd.IntN(1+rnd.IntN(5)))
				}
				sticky.UpdateLoad(lengths, candidates)
				d.ask("ok", "load %s", commas(lengths))
			default:
				bytes, incomplete := rnd.IntN(batchSize+50), rnd.IntN(2) == 0
				n := drawnFrom(sticky, ours, candidates)
				before := ours
				at := sticky.Partition(&ours, candidates)
				d.ask(at, "partition %s", drawn(before, ours, n))
				before = ours
				change, switched := sticky.Appended(bytes, incomplete, &ours, candidates)
				d.ask(sticky.Partition(&ours, candidates), "appended %d %t %s", bytes, incomplete, drawn(before, ours, n))
				if switched && change.Load != nil {
					weighted++
				}
				if change.Forced {
					forced++
				}
			}
		}
	}
	d.compare(t, answers(t, producerProgram(t, "Sticky", kafkaJars(t, "kafka-4.2.0", "kafka.xml")), d.questions))
	t.Logf("%d steps, %d switches by weights, %d forced", len(d.questions), weighted, forced)
}

// drawnFrom gives of how many numbers the next draw would be: the sum of the weights, if there are any.
func drawnFrom(probe partitioner.Sticky, rnd prng.Rand, candidates partitioner.Candidates) int {
	probe.Partition(&rnd, candidates)
	change, _ := probe.Appended(1<<30, false, &rnd, candidates)
	if change.Load == nil {
		return choices(candidates)
	}
	sum := 0
	for _, weight := range change.Load.Weights {
		sum += weight
	}
	return sum
}

// Kafka 3.2's DefaultPartitioner, told of the same new batches, is at the same partition after every step.
func TestSticky480Draws(t *testing.T) {
	const topics, steps = 400, 100
	rnd := draws(t)
	ours := rnd.Split("ours")
	var d dialogue
	moved := 0
	for range topics {
		count := 1 + rnd.IntN(8)
		var sticky partitioner.Sticky480
		candidates := drawCandidates(&rnd, count)
		d.ask("ok", "partitioner")
		d.ask("ok", "leaders %d %s", count, commas(candidates.WithLeader))
		for range steps {
			before := ours
			switch rnd.IntN(8) {
			case 0:
				candidates = drawCandidates(&rnd, count)
				d.ask("ok", "leaders %d %s", count, commas(candidates.WithLeader))
			case 1, 2, 3:
				at := sticky.Partition(&ours, candidates)
				d.ask(at, "partition %s", drawn(before, ours, choices(candidates)))
			default:
				in := kafka.Partition(rnd.IntN(count))
				if _, ok := sticky.NewBatch(in, &ours, candidates); ok {
					moved++
				}
				d.ask("ok", "newbatch %d %s", in, drawn(before, ours, choices(candidates)))
				d.ask(sticky.Partition(&ours, candidates), "partition %s", noDraws)
			}
		}
	}
	d.compare(t, answers(t, producerProgram(t, "Sticky480", kafkaJars(t, "kafka-clients-3.2.3", "kafka-clients.xml")), d.questions))
	t.Logf("%d steps, %d moves", len(d.questions), moved)
}
