package client

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simnet"
)

// fetched is what one response brought of one partition and poll has not handed over yet.
type fetched struct {
	tp    kafka.TopicPartition
	data  []byte       // batches; the first may be handed over in part; shared with the message, never written
	from  kafka.Offset // the position that was asked for
	cause uint64       // Seq of the event that says the response was delivered

	aborted  []abortedTransaction // that are still to come, by their first offsets; never written
	aborting []kafka.ProducerID   // whose batches are skipped; never written once made
}

// takeFetched buffers the records of a fetch response. What came of a partition that is not its own any more,
// or for another position than it has now, is dropped.
//
// Source: FetchCollector.initialize, AbstractFetch.handleFetchSuccess.
func (c *Consumer) takeFetched(now kafka.Millis, m *simnet.Message, about []askedPartition, response *kmsg.FetchResponse, cause uint64, j *journal.Journal) {
	for _, topic := range response.Topics {
		for _, result := range topic.Partitions {
			tp := kafka.TopicPartition{Topic: c.metadata.nameOf(topic.TopicID), Partition: kafka.Partition(result.Partition)}
			a := c.find(tp)
			was, any := of(about, tp)
			if a == nil || !any || was.offset != a.position || a.validating || a.revoking {
				continue
			}
			switch {
			case result.ErrorCode == kerr.OffsetOutOfRange.Code:
				c.outOfRange(a, cause, j)
			case result.ErrorCode != 0:
				c.failed(now, a, result.ErrorCode, cause, j)
				c.moved(a, result, response, m.API(), cause, j)
			case result.PreferredReadReplica >= 0 && c.config.ClientRack != "" && c.metadata.nodeOf(result.PreferredReadReplica) != "":
				c.prefer(now, a, c.metadata.nodeOf(result.PreferredReadReplica), cause, j)
			case len(result.RecordBatches) > 0:
				c.buffered = append(c.buffered, fetched{tp: a.tp, data: result.RecordBatches, from: a.position, cause: cause, aborted: abortedOf(result)})
				a.skipped = nil
			}
		}
	}
}

// moved learns from a response with an error who leads the partition now.
func (c *Consumer) moved(a *assigned, result kmsg.FetchResponseTopicPartition, response *kmsg.FetchResponse, api string, cause uint64, j *journal.Journal) {
	host := kafka.NodeID("")
	for _, b := range response.Brokers {
		if b.NodeID == result.CurrentLeader.LeaderID {
			host = kafka.NodeID(b.Host)
		}
	}
	if c.metadata.moved(a.tp, result.CurrentLeader.LeaderID, result.CurrentLeader.LeaderEpoch, host, api, c.node, cause, j) {
		a.waits = false
		c.leaderChanged(a)
	}
}

// prefer makes a partition be fetched from another replica than the leader for a while.
//
// Source: KIP-392; SubscriptionState.updatePreferredReadReplica.
func (c *Consumer) prefer(now kafka.Millis, a *assigned, node kafka.NodeID, cause uint64, j *journal.Journal) {
	a.preferred, a.preferredUntil = node, now+c.config.MetadataMaxAge
	c.last = j.Append(c.node, cause, journal.PreferredReplicaChosen{TopicPartition: a.tp, Replica: node, Rack: c.config.ClientRack, For: c.config.MetadataMaxAge})
}

// handOver gives the application up to most records of what was fetched, one after the other. It is drained once a record was looked for and none was left: what ends exactly at most is found to be
// empty by the next poll. Records before the position are dropped, because a response begins with the
// whole batch that holds it; a batch that is cut at the end is dropped too. The position moves over control records and,
// by isolation.level = read_committed, over batches of aborted transactions.
//
// Source: CompletedFetch.fetchRecords.
func (c *Consumer) handOver(f *fetched, most int, take func(*assigned, record.Record, kafka.LeaderEpoch)) (event journal.RecordsRead, drained bool) {
	a := c.find(f.tp)
	event = journal.RecordsRead{TopicPartition: a.tp, From: a.position, To: a.position}
	for event.Records < most {
		b, err := record.Parse(f.data)
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			return event, true
		}
		if err == nil && a.position <= max(b.BaseOffset, f.from) { // the first time
			err = b.CheckCRC() // check.crcs
		}
		if err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, a.tp, err))
		}
		skips := c.config.IsolationLevel == ReadCommitted && f.isAborted(&b)
		if skips {
			a.skip(max(b.BaseOffset, a.position), b.NextOffset()-1, "aborted")
		}
		scanner := b.Scan()
		for scanner.Next() {
			r := scanner.Record()
			switch {
			case r.Offset < a.position:
				if a.position == f.from {
					event.Skipped++
				}
			case skips:
				event.Aborted++
			case b.Attributes.Control():
				event.Markers++
				a.skip(r.Offset, r.Offset, "marker")
			case event.Records == most:
				return event, false
			default:
				event.Records++
				a.read++
				take(a, r, b.PartitionLeaderEpoch)
				a.position, a.epoch, event.To = r.Offset+1, b.PartitionLeaderEpoch, r.Offset+1
			}
		}
		if err := scanner.Err(); err != nil {
			panic(fmt.Sprintf("consumer %s: %s: %v", c.node, a.tp, err))
		}
		a.position, a.epoch = max(a.position, b.NextOffset()), b.PartitionLeaderEpoch
		event.To = a.position
		f.data = f.data[b.Size():]
	}
	return event, false
}

// process is the application's work on one record: the destination takes the event.
func (c *Consumer) process(a *assigned, r record.Record, tick kafka.Tick, out *Outside) (late journal.EventSeenLate, isLate bool) {
	out.Destination.records++
	entity, version, ok := eventOf(r.Key, r.Value)
	if !ok {
		return late, false
	}
	return out.Destination.take(entity, Sight{Version: version, At: a.tp, Offset: r.Offset, Tick: tick, Member: c.node})
}
