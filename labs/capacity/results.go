package capacity

import (
	"fmt"
	"math"
	"strconv"

	"loglab/engine/kafka"
	"loglab/labs"
)

// Result is one number that follows, or why there is none.
type Result struct {
	Name    string
	Value   string // with its unit
	Formula string // in words and numbers
	Note    string // what it leaves out, or means; empty: nothing
	Warn    bool   // it cannot go on like this
}

// Kafka's defaults, which bound the segment that is still written.
const (
	segmentBytes   = 1 << 30 // log.segment.bytes
	segmentSeconds = 604_800 // log.roll.hours = 168
)

// tailSeconds is how far behind the end readers may be who are to be served from memory.
const tailSeconds = 60

// peak is how many records a second are written in the busiest moment.
func (in Inputs) peak() int { return in.Rate * in.Peak }

// written is how many bytes a second are handed in at a rate of records.
func (in Inputs) written(rate int) float64 { return float64(rate) * float64(in.Size) }

// Results gives all of them in the order of the page.
func (in Inputs) Results() []Result {
	return []Result{
		in.writtenToTopic(), in.storage(), in.segments(), in.storageOfBroker(), in.networkIn(), in.networkOut(), in.memory(),
		in.ofPartition(), in.replicas(), in.consumersNeeded(), in.catchUp(),
	}
}

func (in Inputs) writtenToTopic() Result {
	return Result{
		Name: "Written to the topic", Value: fmt.Sprintf("%s on average, %s at the peak", bytesASecond(in.written(in.Rate)), bytesASecond(in.written(in.peak()))),
		Formula: fmt.Sprintf("%s records/s × %s B, and × %d", kafka.Thousands(in.Rate), kafka.Thousands(in.Size), in.Peak),
	}
}

// stored is what the log holds at least, all replicas together.
func (in Inputs) stored() float64 {
	return in.written(in.Rate) * float64(in.Retention) * 3600 * float64(in.Replicas)
}

func (in Inputs) storage() Result {
	return Result{
		Name: "Storage, at least", Value: amount(in.stored(), "B"),
		Formula: fmt.Sprintf("%s × %s s × %s", bytesASecond(in.written(in.Rate)), kafka.Thousands(in.Retention*3600), kafka.Count(in.Replicas, "replica")),
		Note:    "A lower bound: indexes come on top, and files wait a minute (file.delete.delay.ms) before they are gone.",
	}
}

// segments is what stands in segments that are not closed yet, or wait for their youngest record: up to one a replica.
func (in Inputs) segments() Result {
	one := math.Min(segmentBytes, in.written(in.Rate)/float64(in.Partitions)*segmentSeconds)
	return Result{
		Name: "And up to", Value: amount(one*float64(in.Partitions)*float64(in.Replicas), "B") + " more",
		Formula: fmt.Sprintf("%s × %s: what comes to a partition in a segment, which is at most 1 GiB or 7 days", kafka.Count(in.Partitions*in.Replicas, "replica"), amount(one, "B")),
		Note:    "Retention deletes whole segments, and one stays until its youngest record is old enough.",
	}
}

func (in Inputs) storageOfBroker() Result {
	return Result{
		Name: "Storage of a broker, at least", Value: amount(in.stored()/float64(in.Brokers), "B"),
		Formula: fmt.Sprintf("%s / %s", amount(in.stored(), "B"), kafka.Count(in.Brokers, "broker")),
		Note:    "With replicas spread evenly. A broker that is down leaves its part of the work, not of the storage, to the others.",
	}
}

func (in Inputs) networkIn() Result {
	return Result{
		Name: "Network in of a broker, at the peak", Value: bytesASecond(in.written(in.peak()) * float64(in.Replicas) / float64(in.Brokers)),
		Formula: fmt.Sprintf("%s × %d / %s: one copy from producers, the others by replication", bytesASecond(in.written(in.peak())), in.Replicas, kafka.Count(in.Brokers, "broker")),
	}
}

func (in Inputs) networkOut() Result {
	return Result{
		Name: "Network out of a broker, at the peak", Value: bytesASecond(in.written(in.peak()) * float64(in.Replicas-1+in.Groups) / float64(in.Brokers)),
		Formula: fmt.Sprintf("%s × (%d − 1 + %s) / %s", bytesASecond(in.written(in.peak())), in.Replicas, kafka.Count(in.Groups, "group"), kafka.Count(in.Brokers, "broker")),
		Note:    "While all groups keep up. One that catches up reads as fast as it can, on top of this.",
	}
}

func (in Inputs) memory() Result {
	return Result{
		Name: "Page cache of a broker for the tail", Value: amount(in.written(in.peak())*float64(in.Replicas)*tailSeconds/float64(in.Brokers), "B"),
		Formula: fmt.Sprintf("what it writes in %d s at the peak", tailSeconds),
		Note:    "Readers who are no further behind are served from memory. Others make the disk work, and push the tail out of the cache.",
	}
}

func (in Inputs) ofPartition() Result {
	each := float64(in.peak()) / float64(in.Partitions)
	return Result{
		Name: "A partition, at the peak", Value: fmt.Sprintf("%s, %s", amount(each, "records/s"), bytesASecond(each*float64(in.Size))),
		Formula: fmt.Sprintf("%s records/s / %s", kafka.Thousands(in.peak()), kafka.Count(in.Partitions, "partition")),
		Note:    "If keys are spread evenly. A hot key fills its partition alone.",
	}
}

func (in Inputs) replicas() Result {
	all := in.Partitions * in.Replicas
	return Result{
		Name: "Replicas of a broker", Value: kafka.Thousands(ceil(all, in.Brokers)),
		Formula: fmt.Sprintf("%s × %d / %s", kafka.Count(in.Partitions, "partition"), in.Replicas, kafka.Count(in.Brokers, "broker")),
		Note:    "Kafka 4.2 has no limit in its code. Each costs files, memory and time at a failover: measure with yours.",
	}
}

func (in Inputs) consumersNeeded() Result {
	need := ceil(in.peak(), in.Speed)
	r := Result{
		Name: "Consumers that keep up at the peak", Value: kafka.Thousands(need), Formula: fmt.Sprintf("%s records/s / %s records/s, rounded up", kafka.Thousands(in.peak()), kafka.Thousands(in.Speed)),
	}
	switch {
	case need > in.Partitions:
		r.Warn, r.Note = true, fmt.Sprintf("More than the %s: the rest would be idle. More partitions are needed, or less work a record.", kafka.Count(in.Partitions, "partition"))
	case need > in.Consumers:
		r.Note = fmt.Sprintf("More than the %s: at the peak lag grows, and shrinks when it is over.", kafka.Count(in.Consumers, "consumer"))
	}
	return r
}

// catchUp says how long a group takes after it was away.
func (in Inputs) catchUp() Result {
	working := min(in.Consumers, in.Partitions)
	speed, backlog := working*in.Speed, in.Rate*in.Away*60
	r := Result{Name: "To catch up after that time away"}
	speeds := fmt.Sprintf("%s × %s records/s", kafka.Count(working, "consumer"), kafka.Thousands(in.Speed))
	if working < in.Consumers {
		r.Note = fmt.Sprintf("%d of %s are idle: there are %s. ", in.Consumers-working, kafka.Count(in.Consumers, "consumer"), kafka.Count(in.Partitions, "partition"))
	}
	if in.Away >= in.Retention*60 {
		r.Warn = true
		r.Note += "Retention has deleted records by then that the group has not read. "
	}
	if speed <= in.Rate {
		r.Value, r.Warn = "never", true
		r.Formula = fmt.Sprintf("%s = %s records/s, and %s come", speeds, kafka.Thousands(speed), kafka.Thousands(in.Rate))
		return r
	}
	seconds := ceil(backlog, speed-in.Rate)
	r.Value = labs.Span(kafka.Millis(seconds) * 1000)
	r.Formula = fmt.Sprintf("%s records / (%s − %s records/s)", kafka.Thousands(backlog), speeds, kafka.Thousands(in.Rate))
	r.Note += "At the average rate, with every consumer working and the brokers able to send as fast."
	return r
}

func ceil(a, b int) int { return (a + b - 1) / b }

func bytesASecond(n float64) string { return amount(n, "B/s") }

// amount writes a number with three digits and the prefix of a power of a thousand: "1.21 TB". Records have no prefix.
func amount(n float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E", "Z"}
	at := 0
	if unit != "records/s" {
		for n >= 999.5 && at+1 < len(prefixes) {
			n, at = n/1000, at+1
		}
	}
	digits := 0
	switch {
	case n >= 999.5:
		return kafka.Thousands(int64(math.Round(n))) + " " + unit
	case n < 9.995 && n != math.Trunc(n):
		digits = 2
	case n < 99.95 && n != math.Trunc(n):
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " " + prefixes[at] + unit
}
