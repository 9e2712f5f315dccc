package partitions

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// past is what the journal says of one partition's log so far.
type past struct {
	begun int          // times that its log was begun: once, or again after its broker lost it
	read  kafka.Offset // up to which the group has read the log that is there now, whichever process it was
	again bool         // a reader began again before that
	led   bool         // its broker takes itself for the leader
}

// findPast reads the journal for what was written and read, and who leads.
func (l *layout) findPast() {
	l.past = make([]past, l.partitions())
	delivered := map[uint64]bool{} // requests to write; only looked up
	for e := range l.Cluster.Journal().All() {
		switch b := e.Body.(type) {
		case journal.BatchAppended:
			if b.TopicPartition.Topic != topic {
				continue
			}
			p := &l.past[b.TopicPartition.Partition]
			if b.BaseOffset == 0 {
				p.begun, p.read = p.begun+1, 0
			}
		case journal.LeadershipTaken:
			if b.TopicPartition.Topic == topic {
				l.past[b.TopicPartition.Partition].led = true
			}
		case journal.LeaderlessLearned:
			if b.TopicPartition.Topic == topic {
				l.past[b.TopicPartition.Partition].led = false
			}
		case journal.ProcessKilled, journal.BrokerStopped, journal.PowerLost:
			if e.Node == l.View.Brokers[0].Node {
				for i := range l.past {
					l.past[i].led = false
				}
			}
		case journal.BatchRetried:
			l.rewritten = true
		case journal.MessageDelivered:
			if b.API == "Produce" && !b.Response {
				l.rewritten = l.rewritten || delivered[b.Message]
				delivered[b.Message] = true
			}
		case journal.ProducerMemoryLost:
			l.dropped += b.Records
		case journal.RecordsRead:
			p := &l.past[b.TopicPartition.Partition]
			p.again = p.again || b.From < p.read
			p.read = max(p.read, b.To)
		}
	}
}

// written says whether any record was ever written.
func (l *layout) written() bool {
	for _, p := range l.past {
		if p.begun > 0 {
			return true
		}
	}
	return false
}

// readAgain says whether a reader has begun again at records that the group had read.
func (l *layout) readAgain() bool {
	for _, p := range l.past {
		if p.again {
			return true
		}
	}
	return false
}

// read counts the records in the log that the group has read.
func (l *layout) read() (n int64) {
	for i, p := range l.View.Partitions {
		n += int64(max(min(l.past[i].read, p.Log.LogEndOffset)-p.Log.LogStartOffset, 0))
	}
	return n
}

// reaches says whether messages pass both ways between a node and the broker, and the broker works.
func (l *layout) reaches(node kafka.NodeID) bool {
	b := l.View.Brokers[0]
	return !l.IsCut(node, b.Node) && !l.IsCut(b.Node, node) && l.serves()
}

// serves says whether the broker answers clients: it runs, does not stand still, and takes
// itself for the leader.
func (l *layout) serves() bool {
	b := l.View.Brokers[0]
	return b.Up() && !b.Paused && l.past[0].led
}
