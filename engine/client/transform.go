package client

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
)

// TransformConfig makes an application send one record for each that it processes: read, process, write. With a
// transactional.id output and offsets of a batch of poll are one transaction; without one the producer and the commits
// know nothing of each other.
//
// Source: the consume-transform-produce loop of KafkaProducer's documentation, KIP-98, KIP-447.
//
// Simplified: the application flushes the producer before it sends offsets or commits. commitTransaction would flush too;
// so each step can be told from the next.
type TransformConfig struct {
	Topic    string         // that it writes to
	Producer ProducerConfig // whose Topic is not looked at
}

// producerCorrelations is where the correlation ids of a producer begin that runs in one process with a consumer.
const producerCorrelations = 1_000_000

// CheckTransform says why an application cannot be that; nil: it can.
func (c *AppConfig) CheckTransform() error {
	t := c.Transform
	switch {
	case t == nil:
		return nil
	case t.Topic == "":
		return errors.New("an application that writes needs a topic to write to")
	case c.Workers > 0:
		return errors.New("an application that writes has no worker threads")
	case c.Commit == CommitRecord:
		return errors.New("an application that writes commits by batch, not after each record")
	}
	_, err := t.Producer.Resolve()
	return err
}

// newEmbedded makes the producer of an application that writes.
//
// Simplified: consumer and producer of one process share a connection to a broker. Kafka's have one each.
func (c *Consumer) newEmbedded(bootstrap []kafka.NodeID) {
	t := c.config.Group.App.Transform
	if t == nil {
		return
	}
	config := t.Producer
	config.Topic = t.Topic
	rnd := c.rnd.Split("producer")
	p, err := NewProducer(c.node, bootstrap, c.start, config, Workload{}, rnd, rnd)
	if err != nil {
		panic(err) // the spec was checked
	}
	p.embedded, p.connections.correlation = true, producerCorrelations
	c.producer = p
}

// transactional says whether the application writes in transactions.
func (c *Consumer) transactional() bool {
	return c.producer != nil && c.producer.config.transactional()
}

// drive lets the producer send what it can.
func (c *Consumer) drive(s *step) {
	s.sends = append(s.sends, c.producer.goOn(s.now, s.out, s.j)...)
}

// isProducers says whether a response answers the producer.
func (c *Consumer) isProducers(m *simnet.Message) bool {
	return c.producer != nil && m.Correlation > producerCorrelations
}

// producerUses says whether the producer has ever sent something to a server.
func (c *Consumer) producerUses(server kafka.NodeID) bool {
	return c.producer != nil && c.producer.connections.find(server) != nil
}

// tickProducer lets the producer's timers fire. A connection that it closes is the consumer's too.
func (c *Consumer) tickProducer(now kafka.Millis, out *Outside, j *journal.Journal) (sends []simnet.Send) {
	if c.producer == nil {
		return nil
	}
	sends = c.producer.Tick(now, out, j)
	for _, s := range sends {
		if s.Close == simnet.CloseOwn && !c.dead && c.connections.find(s.To) != nil {
			c.lose(now, s.To, s.Cause, out, j)
		}
	}
	return sends
}

// write hands the producer the output of a record that was processed. False: send has thrown, and the transaction is
// being aborted.
func (c *Consumer) write(s *step, j job) bool {
	p := c.producer
	if c.transactional() && p.txn.state != InTransaction {
		c.giveUpTransaction(s)
		return false
	}
	fate := s.out.sink(c.config.Group.ID).table(j.tp).fate(j.offset)
	r := submitted{key: j.key, value: outputOf(j.value, j.tp, j.offset), of: j.tp, ofOffset: j.offset, again: fate.Processed > 1}
	p.hand(s.now, r, c.last, s.out, s.j)
	return true
}

// ofWord stands before the place of the input in the value of an output.
const ofWord = " of "

// outputOf gives the value that is written for a record: its own, and where it comes from. A record without a value has
// an output without one.
func outputOf(value []byte, tp kafka.TopicPartition, offset kafka.Offset) []byte {
	if value == nil {
		return nil
	}
	return fmt.Appendf(bytes.Clone(value), "%s%s@%d", ofWord, tp, offset)
}

// inputOf takes the place of the input off a value that outputOf has given.
func inputOf(value []byte) []byte {
	at := bytes.LastIndex(value, []byte(ofWord))
	if _, _, found := InputOf(value); !found {
		return value
	}
	return value[:at]
}

// InputOf gives the record for which a value was written; false: it does not say.
func InputOf(value []byte) (tp kafka.TopicPartition, offset kafka.Offset, found bool) {
	at := bytes.LastIndex(value, []byte(ofWord))
	if at < 0 {
		return tp, 0, false
	}
	place, digits, found := bytes.Cut(value[at+len(ofWord):], []byte("@"))
	hyphen := bytes.LastIndexByte(place, '-')
	if !found || hyphen < 1 {
		return tp, 0, false
	}
	partition, err := strconv.ParseUint(string(place[hyphen+1:]), 10, 31)
	if err != nil {
		return tp, 0, false
	}
	number, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil {
		return tp, 0, false
	}
	return kafka.TopicPartition{Topic: string(place[:hyphen]), Partition: kafka.Partition(partition)}, kafka.Offset(number), true
}

// beginBatch begins a transaction for what poll has returned.
func (c *Consumer) beginBatch(s *step) {
	if c.transactional() {
		c.producer.begin(c.last, s.j)
	}
}

// writesDone waits until the records of the batch are acknowledged, before the offsets go.
func (c *Consumer) writesDone() {
	c.member.app.state, c.producer.flushing = appFlushing, true
}

// awaitsProducer says whether the application waits for its producer and need not any more.
func (c *Consumer) awaitsProducer() bool {
	app, t := &c.member.app, &c.producer.txn
	switch app.state {
	case appStarting:
		return c.producer.Ready() && (!c.transactional() || t.state == TransactionsIdle) || t.state == FatalError
	case appFlushing:
		return t.broken() || c.producer.unacknowledged() == 0
	case appSendingOffsets:
		return t.broken() || len(t.offsets) == 0
	case appEnding:
		return t.broken() || t.state == TransactionsIdle || c.commits() && app.armed.When == command.DuringCommit
	}
	return false
}

// commits says whether EndTxn with a commit is under way.
func (c *Consumer) commits() bool {
	t := &c.producer.txn
	return t.state == CommittingTransaction && t.correlation != 0 && t.current.kind == txnEnd
}

// awaitProducer lets the application go on after a wait for its producer; false: it waits on.
func (c *Consumer) awaitProducer(s *step) bool {
	if !c.awaitsProducer() {
		return false
	}
	app, p := &c.member.app, c.producer
	switch {
	case p.txn.state == FatalError:
		c.endTransform(s)
	case p.txn.state == AbortableError:
		c.giveUpTransaction(s)
	case app.state == appStarting:
		app.state = appPolling
	case app.state == appFlushing:
		c.flushed(s)
	case app.state == appSendingOffsets:
		if c.crashes(s, command.AfterOffsets, kafka.TopicPartition{}, 0) || c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
			return false
		}
		p.finish(true, "", p.txn.last, s.j)
		app.state = appEnding
	case c.commits():
		c.crashes(s, command.DuringCommit, kafka.TopicPartition{}, 0)
	default:
		c.transactionOver(s)
	}
	return !c.dead
}

// flushed goes on behind the acknowledgements of a batch's records.
func (c *Consumer) flushed(s *step) {
	app, p := &c.member.app, c.producer
	p.flushing = false
	if failed := p.failed - app.failedBefore; failed > 0 && !c.transactional() {
		app.failedBefore = p.failed
		c.rewind(s, kafka.Count(failed, "record")+" of the batch could not be written")
		app.state = appPolling
		return
	}
	if c.crashes(s, command.AfterProduce, kafka.TopicPartition{}, 0) {
		return
	}
	if !c.transactional() {
		c.commitBatch(s)
		return
	}
	offsets := c.batchOffsets()
	switch {
	case len(offsets) > 0 && c.config.Group.App.Sabotage != sabotage.OffsetsLeftOut:
		p.sendOffsets(offsets, c.groupMetadata(), p.txn.last, s.j)
		app.state = appSendingOffsets
	case len(offsets) == 0 && p.txn.records > 0:
		p.finish(false, "there are no offsets to send: the partitions of the batch have gone to others", p.txn.last, s.j)
		app.gaveUp, app.state = true, appEnding
	default:
		p.finish(true, "", p.txn.last, s.j)
		app.state = appEnding
	}
}

// closeProducer does what close of the producer does: it sends what waits, and aborts an open transaction.
//
// Source: KafkaProducer.close.
//
// Simplified: the application does not wait for the answers.
func (c *Consumer) closeProducer(j *journal.Journal) {
	if c.producer == nil {
		return
	}
	c.producer.flushing = true
	if t := &c.producer.txn; t.state == InTransaction || t.state == AbortableError {
		c.producer.finish(false, "the application closes its producer", c.last, j)
	}
}

// groupMetadata gives what the consumer is in its group: what it was when it last was a member.
//
// Source: KafkaConsumer.groupMetadata.
func (c *Consumer) groupMetadata() groupMetadata {
	g := c.member.lastKnown
	g.group, g.instance = c.config.Group.ID, c.instance()
	return g
}

// giveUpTransaction aborts the transaction after an error that allows it, or ends the process after one that does not.
func (c *Consumer) giveUpTransaction(s *step) {
	p := c.producer
	if p.txn.state == FatalError {
		c.endTransform(s)
		return
	}
	p.flushing = false
	p.finish(false, "send, sendOffsetsToTransaction or commitTransaction threw "+p.txn.failure, p.txn.last, s.j)
	app := &c.member.app
	app.gaveUp, app.state = true, appEnding
}

// transactionOver goes on behind the end of a transaction: after an abort the application reads the batch again, from
// the committed offsets on.
func (c *Consumer) transactionOver(s *step) {
	app, p := &c.member.app, c.producer
	c.last = max(c.last, p.txn.last)
	if app.gaveUp {
		c.rewind(s, "the transaction was aborted")
		app.gaveUp, app.state = false, appPolling
		return
	}
	app.committed(c.batchOffsets())
	if !c.crashes(s, afterCommit, kafka.TopicPartition{}, 0) {
		app.state = appPolling
	}
}

// rewind makes the consumer go back to the committed offsets of all its partitions.
func (c *Consumer) rewind(s *step, why string) {
	app := &c.member.app
	event := journal.PositionsRewound{Group: c.config.Group.ID, Why: why}
	for i := range c.partitions {
		a := &c.partitions[i]
		if a.position == kafka.NoOffset {
			continue
		}
		a.position, a.epoch, a.validating, a.looked, a.stopped = kafka.NoOffset, kafka.NoLeaderEpoch, false, false, false
		c.drop(a)
		event.Partitions = append(event.Partitions, a.tp)
	}
	c.abandon()
	app.done, app.ends = nil, nil
	c.last = s.j.Append(c.node, c.last, event)
}

// endTransform ends the process: its producer can do nothing more.
//
// Simplified: the application does not close its consumer, so its group notices when the session ends.
func (c *Consumer) endTransform(s *step) {
	c.producer.endProcess(c.producer.txn.failure, s.out, s.j)
	c.end(s, c.producer.Ended(), false)
}

// ProducerConfig gives the settings of the producer of an application that writes; false: it does not.
func (c *Consumer) ProducerConfig() (ProducerConfig, bool) {
	if c.producer == nil {
		return ProducerConfig{}, false
	}
	return c.producer.Config(), true
}

// ProducerView gives the state of the producer of an application that writes; nil: it does not.
func (c *Consumer) ProducerView() *ProducerView {
	if c.producer == nil {
		return nil
	}
	v := c.producer.View()
	return &v
}
