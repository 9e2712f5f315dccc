package capacity

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// Section is the results about one thing.
type Section struct {
	ID, Title string
	Results   []Result
}

// Result is what one formula gives.
type Result struct {
	Name    string
	Values  []Value
	Formula string // with the numbers in it
	Assumes string // what has to be so for it to be right
	Source  string // where a number that is none of the input comes from; empty: there is none
	Warning string // what the input makes a problem; empty: nothing
}

// Value is one number with its unit, and what it is of.
type Value struct{ Of, Text string }

// Of what a value is.
const (
	inAll     = "in all"
	perBroker = "per broker"
)

// load is an input with what follows from it at once. Flows are in bytes a second, compressed.
type load struct {
	Input
	record        float64 // bytes of a record in the log
	average, peak float64 // flow from producers
	peakRate      float64 // records a second
}

func (in Input) load() load {
	l := load{Input: in, record: float64(in.Size) * float64(in.Compressed) / 100}
	l.average = float64(in.Rate) * l.record
	l.peakRate = float64(in.Rate) * float64(in.Peak) / 100
	l.peak = l.peakRate * l.record
	return l
}

// Results are all results of an input.
func (in Input) Results() []Section {
	l := in.load()
	return []Section{
		{"writes", "What is written", []Result{l.written()}},
		{"storage", "Storage", []Result{l.least(), l.waiting(), l.indexes(), l.most()}},
		{"network", "Network at the peak", []Result{l.networkIn(), l.networkOut()}},
		{"partitions", "Partitions", []Result{l.perPartition(), l.replicas()}},
		{"consumers", "Consumers", []Result{l.needed(), l.catchUp(), l.catchUpNetwork()}},
		{"memory", "Memory for the page cache", []Result{l.tail(), l.backlogInMemory()}},
	}
}

// both gives a number in all and per broker.
func (l load) both(n float64, write func(float64) string) []Value {
	return []Value{{inAll, write(n)}, {perBroker, write(n / float64(l.Brokers))}}
}

func (l load) written() Result {
	return Result{
		Name: "From producers",
		Values: []Value{
			{"on average", bytesPerSecond(l.average)}, {"at the peak", bytesPerSecond(l.peak)}, {"records at the peak", perSecond(l.peakRate)},
		},
		Formula: fmt.Sprintf("records/s × size × compressed: %s × %s B × %d %% = %s; at the peak %d %% of it",
			perSecond(float64(l.Rate)), kafka.Thousands(l.Size), l.Compressed, bytesPerSecond(l.average), l.Peak),
		Assumes: "Producers compress, and brokers keep the batches as they come (compression.type = producer). A batch has a header of 61 bytes and a record at least 7 bytes beside key and value; with large batches they hardly count, and they are left out.",
	}
}

// leastBytes is what records that are younger than the retention take, in all replicas.
func (l load) leastBytes() float64 {
	return l.average * float64(l.Retention*3600) * float64(l.Replicas)
}

func (l load) least() Result {
	return Result{
		Name:   "Records within retention: the lower bound",
		Values: l.both(l.leastBytes(), bytes),
		Formula: fmt.Sprintf("bytes/s × retention × replication factor: %s × %s s × %d = %s",
			bytesPerSecond(l.average), kafka.Thousands(l.Retention*3600), l.Replicas, bytes(l.leastBytes())),
		Assumes: "The average holds over the whole retention, replicas are spread evenly, retention.bytes is not set and the topics are not compacted.",
	}
}

// Of the broker, in seconds: log.retention.check.interval.ms and file.delete.delay.ms.
const (
	checkInterval = 300
	deleteDelay   = 60
)

// segment is how large the segments of one partition become.
func (l load) segment() float64 {
	config := storage.DefaultConfig()
	return min(float64(config.SegmentBytes), l.average/float64(l.Partitions)*float64(config.SegmentMillis)/1000)
}

// waitingBytes is what is older than the retention and still there, at most, in all replicas.
func (l load) waitingBytes() float64 {
	return float64(l.Replicas) * (float64(l.Partitions)*l.segment() + (checkInterval+deleteDelay)*l.average)
}

func (l load) waiting() Result {
	return Result{
		Name:   "Older records that are still there, at most",
		Values: l.both(l.waitingBytes(), bytes),
		Formula: fmt.Sprintf("replication factor × (partitions × segment + bytes/s × (5 min + 60 s)): %d × (%s × %s + %s × %d s) = %s",
			l.Replicas, kafka.Thousands(l.Partitions), bytes(l.segment()), bytesPerSecond(l.average), checkInterval+deleteDelay, bytes(l.waitingBytes())),
		Assumes: "A segment goes as a whole, when its newest record is older than retention.ms; until then its older ones stay. A segment is rolled at segment.bytes or after segment.ms, whichever comes first; retention is checked every 5 min, and the files go 60 s later.",
		Source:  "Kafka 4.2: segment.bytes 1,073,741,824, segment.ms 168 h, log.retention.check.interval.ms 300,000, file.delete.delay.ms 60,000",
	}
}

// indexEntries is what an entry of .index and one of .timeindex take.
const indexEntries = 8 + 12

// indexBytes is what the indexes take, at most, in all replicas.
func (l load) indexBytes() float64 {
	return (l.leastBytes() + l.waitingBytes()) * indexEntries / float64(storage.DefaultConfig().IndexIntervalBytes)
}

func (l load) indexes() Result {
	return Result{
		Name:    "Indexes, at most",
		Values:  l.both(l.indexBytes(), bytes),
		Formula: fmt.Sprintf("(8 B + 12 B) for each %s B of log, 0.49 %%: %s", kafka.Thousands(int64(storage.DefaultConfig().IndexIntervalBytes)), bytes(l.indexBytes())),
		Assumes: "An entry of .index and one of .timeindex are written when more than index.interval.bytes have come since the last. There is at most one a batch, so with batches of 16 KiB it is a quarter of that. The two files of an active segment are made with 10 MiB each and shrunk when it is rolled; most file systems give room only to what is written.",
		Source:  "Kafka 4.2: index.interval.bytes 4,096, segment.index.bytes 10,485,760",
	}
}

func (l load) most() Result {
	sum := l.leastBytes() + l.waitingBytes() + l.indexBytes()
	return Result{
		Name:    "Together, at most",
		Values:  l.both(sum, bytes),
		Formula: fmt.Sprintf("%s + %s + %s = %s", bytes(l.leastBytes()), bytes(l.waitingBytes()), bytes(l.indexBytes()), bytes(sum)),
		Assumes: "Nothing is added for growth, for partitions that are moved to other brokers, or for a broker whose share the others take. A full disk stops a broker, so leave room.",
	}
}

func (l load) networkIn() Result {
	in := l.peak * float64(l.Replicas)
	return Result{
		Name:   "Into brokers",
		Values: append(l.both(in, bytesPerSecond), Value{perBroker + ", in bits", bitsPerSecond(in / float64(l.Brokers))}),
		Formula: fmt.Sprintf("peak × replication factor: %s × %d = %s; from producers once, and from leaders to their followers %s",
			bytesPerSecond(l.peak), l.Replicas, bytesPerSecond(in), times(l.Replicas-1)),
		Assumes: "Leaders and followers are spread evenly. Headers of requests, of TCP and of TLS are left out.",
	}
}

func (l load) networkOut() Result {
	out := l.peak * float64(l.Replicas-1+l.Groups)
	return Result{
		Name:   "Out of brokers",
		Values: append(l.both(out, bytesPerSecond), Value{perBroker + ", in bits", bitsPerSecond(out / float64(l.Brokers))}),
		Formula: fmt.Sprintf("peak × (replication factor − 1 + groups): %s × (%d − 1 + %s) = %s",
			bytesPerSecond(l.peak), l.Replicas, kafka.Thousands(l.Groups), bytesPerSecond(out)),
		Assumes: "Each group reads every record once, at the rate at which it is written. A group that catches up, a replica that is moved and a broker that comes back need more.",
	}
}

// times counts: "once", "2 times".
func times(n int64) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return kafka.Thousands(n) + " times"
}

func (l load) perPartition() Result {
	return Result{
		Name:    "Of one partition at the peak",
		Values:  []Value{{"records", perSecond(l.peakRate / float64(l.Partitions))}, {"bytes", bytesPerSecond(l.peak / float64(l.Partitions))}},
		Formula: fmt.Sprintf("peak / partitions: %s / %s, %s / %s", perSecond(l.peakRate), kafka.Thousands(l.Partitions), bytesPerSecond(l.peak), kafka.Thousands(l.Partitions)),
		Assumes: "Keys are spread evenly. All records of a key are in one partition, so a key that is written often gives its partition, and the consumer of it, more than this.",
	}
}

// Partitions of a broker that Amazon MSK recommends at most, for its small and its large brokers.
const (
	fewReplicas  = 1000
	manyReplicas = 4000
)

func (l load) replicas() Result {
	n := ceil(l.Partitions*l.Replicas, l.Brokers)
	r := Result{
		Name:    "Replicas on a broker",
		Values:  []Value{{perBroker, kafka.Thousands(n) + plural(n, " replica")}},
		Formula: fmt.Sprintf("partitions × replication factor / brokers: %s × %d / %s, rounded up", kafka.Thousands(l.Partitions), l.Replicas, kafka.Thousands(l.Brokers)),
		Assumes: "Kafka 4.2 itself has no limit for a broker. Each replica costs open files, memory and a share of every fetch between brokers, and a broker's start and end take longer. The known recommendation is of a provider: 1,000 replicas on a small broker to 4,000 on a large one, leaders and followers.",
		Source:  "Amazon MSK, Best practices for Standard brokers, number of partitions per broker",
	}
	switch {
	case n > manyReplicas:
		r.Warning = fmt.Sprintf("%s is above 4,000: measure before relying on it, or add brokers.", kafka.Thousands(n))
	case n > fewReplicas:
		r.Warning = fmt.Sprintf("%s is above 1,000: too many for a small broker.", kafka.Thousands(n))
	}
	return r
}

// plural ends a noun of a count.
func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (l load) tail() Result {
	const seconds = 30
	n := l.peak * float64(l.Replicas) * seconds
	return Result{
		Name:    "For reads at the tail",
		Values:  l.both(n, bytes),
		Formula: fmt.Sprintf("peak into brokers × 30 s: %s × %d × %d s = %s", bytesPerSecond(l.peak), l.Replicas, seconds, bytes(n)),
		Assumes: "Followers and consumers are at most 30 s behind, so what they read is still in memory and no disk is read. The broker's heap comes on top.",
		Source:  "Kafka documentation, Operations, Hardware and OS: write throughput × 30 s",
	}
}

func (l load) backlogInMemory() Result {
	n := l.average * float64(l.Replicas) * float64(l.Downtime*60)
	return Result{
		Name:   "To hold the downtime too",
		Values: l.both(n, bytes),
		Formula: fmt.Sprintf("average into brokers × downtime: %s × %d × %s s = %s",
			bytesPerSecond(l.average), l.Replicas, kafka.Thousands(l.Downtime*60), bytes(n)),
		Assumes: "With less, a group that comes back reads from disk, and pushes out of memory what the others read. The page cache drops what was used longest ago; how the system does it in detail is left out.",
	}
}
