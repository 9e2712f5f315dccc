package replication

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
)

// fork is a copy of the run in which a broker has failed, the producer's application has stopped, and what the broker had
// sent has arrived, or has come too late. The leader has not been fenced yet.
type fork struct {
	*engine.Cluster
	view engine.View
}

// forkMost is how many ticks a fork goes on at most.
const forkMost = 300

// fork lets a broker fail in a copy of the run, or nobody. A broker that has been started again before its session was over
// counts as down, as its new process is not heard before that.
func (l *layout) fork(p engine.PartitionView, id kafka.BrokerID, how failure) fork {
	f := fork{Cluster: l.Cluster.Clone()}
	_ = f.Apply(command.StopSending{Producer: producer}) // which is refused where it has stopped already
	until := l.View.Now + forkMost*tickMillis
	for _, b := range l.View.Brokers {
		switch {
		case b.ID == id && how == losesPower:
			_ = f.Apply(command.PowerLoss{Node: b.Node})
		case b.ID == id, l.registers(b):
			_ = f.Apply(command.Kill{Node: b.Node})
		}
		if b.ID == p.Leader && b.Session && (b.ID == id || !l.heard(b)) {
			until = min(until, b.LastHeartbeat+l.sessionTimeout()-tickMillis) // then it is fenced
		}
	}
	f.run(min(l.arrival(p.Leader), until))
	f.view = f.View()
	for f.stopping() && f.view.Now < until && f.run(f.view.Now+tickMillis) {
		f.view = f.View()
	}
	return f
}

// arrival gives when all that a broker has sent has arrived and is written, on a slow disk too.
func (l *layout) arrival(id kafka.BrokerID) kafka.Millis {
	at, slowest := l.View.Now, kafka.Millis(0)
	for _, b := range l.View.Brokers {
		slowest = max(slowest, b.DiskDelay)
		for _, m := range l.View.UnderWay {
			if b.ID == id && m.From == b.Node && !m.Held {
				at = max(at, m.DueAt+1)
			}
		}
	}
	writes := kafka.Millis(1 + len(l.View.Partitions)) // one under way, and one for each log
	return at + writes*slowest
}

// run lets time pass up to a moment; false: the run is at its bounds.
func (f fork) run(until kafka.Millis) bool {
	for _, now := f.Now(); now < until; now += tickMillis {
		if f.Tick() != nil {
			return false
		}
	}
	return true
}

// stopping says whether a broker is shutting down.
func (f fork) stopping() bool {
	return slices.ContainsFunc(f.view.Brokers, func(b engine.BrokerView) bool { return b.State == engine.BrokerShuttingDown })
}

// registers says whether a broker was started again while the controller still counts its earlier process as alive: no
// heartbeat comes until that one's session is over.
func (l *layout) registers(b engine.BrokerView) bool {
	return b.State == engine.BrokerStarting && b.Session && !b.Fenced
}

// sessionTimeout is broker.session.timeout.ms.
func (l *layout) sessionTimeout() kafka.Millis {
	return kafka.Millis(l.Address.Values.Int("session-timeout"))
}

// promised lists the records of a partition that are acknowledged in a fork, or will be by an answer on its way, and are not
// lost already.
func (l *layout) promised(f fork, p engine.PartitionView) []told {
	list := slices.Clip(l.acknowledged(p))
	list = append(list, l.acknowledgedFrom(f.Cluster, p, l.Cluster.Source().Outcomes().Len())...)
	of, _ := l.View.Controller.Image.Topic(topic)
	for _, m := range f.view.UnderWay {
		response, ok := m.Message.Response.(*kmsg.ProduceResponse)
		if !ok || m.Held || l.IsCut(m.From, m.To) {
			continue
		}
		for _, t := range response.Topics {
			for _, part := range t.Partitions {
				if t.TopicID == of.ID && part.Partition == int32(p.Partition) && part.ErrorCode == 0 && part.BaseOffset >= 0 {
					list = append(list, batchAt(p.Log.Segments, kafka.Offset(part.BaseOffset))...)
				}
			}
		}
	}
	return list
}

// acknowledged lists the records of a partition that were acknowledged and are not lost.
func (l *layout) acknowledged(p engine.PartitionView) []told {
	list, found := l.promises[p.Partition]
	if found {
		return list
	}
	list = l.acknowledgedFrom(l.Cluster, p, 0)
	l.promises[p.Partition] = list
	return list
}

// acknowledgedFrom lists the records of a partition among the outcomes of a run from a number on.
func (l *layout) acknowledgedFrom(c *engine.Cluster, p engine.PartitionView, first int) (list []told) {
	source := c.Source()
	for _, o := range source.Outcomes().From(first) {
		if o.Kind != engine.Acknowledged || o.Offset < 0 || l.lost[o.Record] {
			continue
		}
		if h := source.Handed().At(o.Record); h.TopicPartition == p.TopicPartition {
			list = append(list, told{number: o.Record, offset: o.Offset, key: h.Key, value: h.Value, tick: o.Tick, event: o.Event})
		}
	}
	return list
}

// batchAt lists the records of the batch that begins at an offset.
func batchAt(segments []storage.Segment, base kafka.Offset) (list []told) {
	for i, r := range labs.RecordsFrom(segments, base, 100) {
		if i > 0 && r.BatchStart {
			break
		}
		list = append(list, told{number: -1, offset: r.Offset, key: r.Key, value: r.Value})
	}
	return list
}
