package capacity

import (
	"fmt"

	"loglab/engine/kafka"
)

// peakHundredfold is a hundred times the records a second at the peak, so that it is whole.
func (l load) peakHundredfold() int64 { return l.Rate * l.Peak }

// needed is how many consumers keep up.
func (l load) needed() Result {
	average, peak := ceil(l.Rate, l.Speed), ceil(l.peakHundredfold(), 100*l.Speed)
	r := Result{
		Name: "Consumers that a group needs",
		Values: []Value{
			{"for the average", kafka.Thousands(average) + plural(average, " consumer")}, {"for the peak", kafka.Thousands(peak) + plural(peak, " consumer")},
		},
		Formula: fmt.Sprintf("records/s / consumer speed: %s / %s and %s / %s, rounded up",
			perSecond(float64(l.Rate)), perSecond(float64(l.Speed)), perSecond(l.peakRate), perSecond(float64(l.Speed))),
		Assumes: "A partition is read by one consumer of a group. Keys are spread evenly, and so are partitions over consumers.",
	}
	switch useful := min(l.Consumers, l.Partitions); {
	case average > l.Partitions:
		r.Warning = fmt.Sprintf("%s can work at once, one a partition: not even the average is read. More partitions are needed, or faster consumers.", consumers(l.Partitions))
	case average > useful:
		r.Warning = fmt.Sprintf("A group has %s: it falls behind, ever further.", consumers(l.Consumers))
	case peak > l.Partitions:
		r.Warning = fmt.Sprintf("%s can work at once, one a partition: at the peak the group falls behind. More partitions are needed, or faster consumers.", consumers(l.Partitions))
	case peak > useful:
		r.Warning = fmt.Sprintf("A group has %s: at the peak it falls behind.", consumers(l.Consumers))
	case l.Consumers > l.Partitions:
		r.Warning = fmt.Sprintf("A group has %s and the topics %s: %s idle.", consumers(l.Consumers),
			kafka.Thousands(l.Partitions)+plural(l.Partitions, " partition"), idle(l.Consumers-l.Partitions))
	}
	return r
}

func consumers(n int64) string { return kafka.Thousands(n) + plural(n, " consumer") }

func idle(n int64) string {
	if n == 1 {
		return "1 is"
	}
	return kafka.Thousands(n) + " are"
}

// groupSpeed is how many records a second a group processes; more consumers than partitions add nothing.
func (l load) groupSpeed() int64 { return min(l.Consumers, l.Partitions) * l.Speed }

// backlog is how many records are written during the downtime.
func (l load) backlog() int64 { return l.Rate * l.Downtime * 60 }

const never = "never"

// catchUpTime is how long a group takes while records come at a rate, in hundredths a second.
func (l load) catchUpTime(hundredfold int64) string {
	gain := 100*l.groupSpeed() - hundredfold
	if gain <= 0 {
		return never
	}
	return duration(ceil(100*l.backlog(), gain))
}

func (l load) catchUp() Result {
	average := l.catchUpTime(100 * l.Rate)
	r := Result{
		Name: "Time to catch up after the downtime",
		Values: []Value{
			{"while the average comes", average}, {"while the peak comes", l.catchUpTime(l.peakHundredfold())},
			{"backlog in records", kafka.Thousands(l.backlog()) + " records"}, {"backlog in bytes", bytes(float64(l.backlog()) * l.record)},
		},
		Formula: fmt.Sprintf("backlog / (group's speed − records/s): %s × %s s / (%s × %s − %s)",
			perSecond(float64(l.Rate)), kafka.Thousands(l.Downtime*60), consumers(min(l.Consumers, l.Partitions)), perSecond(float64(l.Speed)), perSecond(float64(l.Rate))),
		Assumes: "The downtime had the average rate. All consumers come back at once, and the backlog is spread evenly over partitions. The speed is the same for old records, though they may have to be read from disk.",
	}
	switch {
	case l.Downtime > l.Retention*60:
		r.Warning = "The downtime is longer than the retention: the oldest records can be deleted before the group comes back, and then it never reads them."
	case average == never:
		r.Warning = fmt.Sprintf("The group processes %s at most and %s come: the backlog only grows, until retention deletes what was not read.", perSecond(float64(l.groupSpeed())), perSecond(float64(l.Rate)))
	}
	return r
}

func (l load) catchUpNetwork() Result {
	more := max(0, float64(l.groupSpeed()-l.Rate)) * l.record
	return Result{
		Name:   "Out of brokers, in addition, while one group catches up",
		Values: l.both(more, bytesPerSecond),
		Formula: fmt.Sprintf("(group's speed − records/s) × size × compressed: (%s − %s) × %s",
			perSecond(float64(l.groupSpeed())), perSecond(float64(l.Rate)), bytes(l.record)),
		Assumes: "It is beyond the average that the group reads at other times. A quota for its client keeps it from taking what live traffic needs.",
	}
}
