package controller

import (
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// operation is what one request or timer does: all of it or nothing.
type operation struct {
	records []metadata.Record
	// trigger is the event that led to the others, such as a fencing to elections; nil for none.
	trigger journal.Body
	events  []journal.Body
}

// maxRecordsPerUserOperation bounds what one request may write.
//
// Source: QuorumController.MAX_RECORDS_PER_USER_OP.
const maxRecordsPerUserOperation = 10_000

// maxBatchBytes bounds a batch of the metadata log.
//
// Source: KafkaRaftClient.MAX_BATCH_SIZE_BYTES.
const maxBatchBytes = 8 << 20

// logConfig is the configuration of the metadata log.
//
// Simplified: segments of the metadata log roll as those of a topic with the default settings do, and none is
// deleted.
func logConfig() storage.Config {
	config := storage.DefaultConfig()
	config.MaxMessageBytes = maxBatchBytes
	return config
}

// commit writes an operation's records, journals what it did and answers the fetches that waited for records.
// last is the event that the request's answer goes back to.
//
// Source: QuorumController.ControllerWriteEvent.
func (c *Controller) commit(now kafka.Millis, op operation, cause uint64, j *journal.Journal) (last uint64, fetched []simnet.Send) {
	last = cause
	if len(op.records) > 0 {
		appended := c.write(now, op.records)
		cause = j.Append(c.config.Node, cause, journal.BatchAppended{
			TopicPartition: metadata.LogPartition(), BaseOffset: appended.BaseOffset, LastOffset: appended.LastOffset,
			Bytes: appended.Bytes, Segment: appended.SegmentBase, Position: appended.Position,
		})
		last = cause
		fetched = c.completeFetches(func(p parkedFetch) (uint64, bool) { return cause, true })
	}
	if op.trigger != nil {
		cause = j.Append(c.config.Node, cause, op.trigger)
		last = cause
	}
	for _, e := range op.events {
		last = j.Append(c.config.Node, cause, e)
	}
	return last, fetched
}

// write appends records to the log as one batch, applies them to the image and keeps what only the active
// controller knows of brokers in step.
func (c *Controller) write(now kafka.Millis, records []metadata.Record) storage.Appended {
	b := record.NewBuilder(record.Options{})
	for _, r := range records {
		b.Append(c.clock(now), nil, metadata.Append(nil, r))
	}
	batch, err := b.Finish()
	if err != nil {
		panic(err)
	}
	appended, err := c.log.Append(batch, 0, c.clock(now))
	if err != nil {
		panic(err) // the limits on one operation are far below those of the log
	}
	for i, r := range records {
		offset := appended.BaseOffset + kafka.Offset(i)
		c.image = c.sabotaged(c.image, c.image.Apply(r, offset))
		c.replay(r, offset)
	}
	return appended
}
