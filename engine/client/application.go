package client

import (
	"fmt"
	"slices"

	"loglab/engine/command"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/sabotage"
)

// appState says what the application around a member does. It does one kind of thing at a time.
type appState uint8

const (
	appPolling       appState = iota // it is in poll
	appWorking                       // it processes what poll has returned
	appResting                       // its threads work, and it polls again later
	appCommitting                    // it waits for the answer to a commit
	appDeadLettering                 // it waits for the answer of the dead-letter topic
	appClosing                       // it closes the consumer
	appFailed                        // poll threw an error, and it has ended

	appStarting       // it waits for its producer, before the first poll
	appFlushing       // for the acknowledgements of what it has written
	appSendingOffsets // for the answer to sendOffsetsToTransaction
	appEnding         // for the end of its transaction
)

// job is one record that poll has returned.
type job struct {
	tp         kafka.TopicPartition
	offset     kafka.Offset
	epoch      kafka.LeaderEpoch // of its batch
	key, value []byte            // shared with the message, never written
	cause      uint64            // Seq of the event that says poll returned it
	attempts   int               // that failed
}

// thread is one worker.
type thread struct {
	busy   bool
	job    job
	doneAt kafka.Millis
	waits  bool // for the sink; told
}

// application is what runs around a member.
//
// Simplified: a worker's record is in its hands or waits in one queue, in the order in which poll returned it;
// applications with a queue for each partition or key are left out.
type application struct {
	state  appState
	pollAt kafka.Millis   // it does not poll for records before
	queue  []job          // in the order of poll; nobody has begun with them
	loop   thread         // the poll loop's own work
	pool   []thread       // the worker threads
	tokens int            // records that it may process, of those processed by hand
	done   []progress     // sorted by partition
	failed []failure      // records that it has sought back to
	dead   *deadLetter    // never written once made
	ends   []commitOffset // where the last poll has come to, sorted; never written once made

	gaveUp       bool // the transaction that ends is aborted
	failedBefore int  // records that its producer had given up before the batch

	armed   command.CrashPoint
	armedBy uint64
}

// progress is how far an application is in one partition.
type progress struct {
	tp        kafka.TopicPartition
	first     kafka.Offset      // the first record that is done
	next      kafka.Offset      // after the last one
	epoch     kafka.LeaderEpoch // of that record
	committed kafka.Offset      // what a commit of this process said last, accepted; -1: none
}

// failure counts the attempts at one record over several polls.
type failure struct {
	tp       kafka.TopicPartition
	offset   kafka.Offset
	attempts int
}

func (a *application) clone() application {
	c := *a
	c.queue, c.pool, c.done, c.failed = slices.Clone(a.queue), slices.Clone(a.pool), slices.Clone(a.done), slices.Clone(a.failed)
	return c
}

// inPoll says whether the application is in poll: only there does the member join, revoke and fetch.
func (a *application) inPoll() bool { return a.state == appPolling }

// drop takes records off the queue whose partitions the member has given up.
func (a *application) drop(gone func(kafka.TopicPartition) bool) (dropped int) {
	before := len(a.queue)
	a.queue = slices.DeleteFunc(slices.Clone(a.queue), func(j job) bool { return gone(j.tp) })
	a.done = slices.DeleteFunc(slices.Clone(a.done), func(p progress) bool { return gone(p.tp) })
	return before - len(a.queue)
}

// run lets the application do one thing; false: it waits for time or news.
func (c *Consumer) run(s *step) bool {
	m := c.member
	if c.writeDeadLetter(s) || c.workers(s) {
		return true
	}
	switch m.app.state {
	case appPolling:
		return c.inPoll(s)
	case appWorking:
		return c.work(s)
	case appResting:
		if m.app.pollAt > s.now {
			return false
		}
		m.app.state = appPolling
		return true
	case appCommitting:
		return c.retrySync(s)
	case appClosing:
		return c.close(s)
	case appStarting, appFlushing, appSendingOffsets, appEnding:
		return c.awaitProducer(s)
	}
	return false
}

// inPoll does what KafkaConsumer.poll does; it says whether the application has left poll.
//
// Source: ClassicKafkaConsumer.poll.
func (c *Consumer) inPoll(s *step) bool {
	m := c.member
	if c.config.Group.HeartbeatInLoop {
		c.beat(s, true)
	}
	c.coordinate(s)
	if c.dead || m.app.state != appPolling {
		return !c.dead
	}
	c.autoCommit(s)
	if c.dead {
		return false
	}
	c.lookUp(s)
	if c.full() || m.app.pollAt > s.now {
		s.sends = append(s.sends, c.ask(s.now)...)
		return false
	}
	jobs := c.collect(s)
	s.sends = append(s.sends, c.ask(s.now)...)
	if len(jobs) == 0 {
		return false
	}
	m.polled = s.now
	m.app.ends = c.endsOf(jobs)
	m.app.queue = append(slices.Clip(m.app.queue), jobs...)
	if c.crashes(s, afterPoll, kafka.TopicPartition{}, 0) {
		return false
	}
	c.beginBatch(s)
	app := &c.config.Group.App
	switch {
	case app.Workers > 0 && app.PollEvery > 0:
		m.app.state, m.app.pollAt = appResting, s.now+app.PollEvery
	case app.Workers > 0:
	case app.Commit == CommitBefore && !c.transactional():
		c.startSync(s, positionsAfter(jobs), "commitSync before processing", appWorking)
	default:
		m.app.state = appWorking
	}
	return true
}

// full says whether an application with threads has so much to do that it has paused its partitions.
func (c *Consumer) full() bool {
	return c.config.Group.App.Workers > 0 && len(c.member.app.queue) >= queueLimit
}

// queueLimit is how many records wait for threads before the application pauses its partitions.
const queueLimit = 2000

// collect takes up to max.poll.records out of what was fetched, and moves the positions.
//
// Source: FetchCollector.collectFetch.
func (c *Consumer) collect(s *step) (jobs []job) {
	sink := s.out.sink(c.config.Group.ID)
	left := c.config.MaxPollRecords
	for left > 0 && len(c.buffered) > 0 {
		f, first := &c.buffered[0], len(jobs)
		event, drained := c.handOver(f, left, func(a *assigned, r record.Record, epoch kafka.LeaderEpoch) {
			jobs = append(jobs, job{tp: a.tp, offset: r.Offset, epoch: epoch, key: r.Key, value: r.Value})
			sink.note(a.tp, r.Offset, func(fate *RecordFate) { fate.Delivered++ })
		})
		cause := f.cause
		if drained {
			c.order = append(slices.DeleteFunc(slices.Clone(c.order), func(tp kafka.TopicPartition) bool { return tp == f.tp }), f.tp)
			c.buffered = c.buffered[1:]
		}
		left -= event.Records
		if event.Records > 0 || event.From != event.To {
			c.last = s.j.Append(c.node, cause, event)
		}
		for i := range jobs[first:] {
			jobs[first+i].cause = c.last
		}
	}
	return jobs
}

// workOf is how long a record takes.
func (c *Consumer) workOf(offset kafka.Offset) kafka.Millis {
	app := &c.config.Group.App
	if app.SlowEvery > 0 && int(offset)%app.SlowEvery == 0 {
		return app.SlowWork
	}
	return app.Work
}

// work does what comes next in the poll loop.
func (c *Consumer) work(s *step) bool {
	app := &c.member.app
	if !app.loop.busy {
		if c.beat(s, true); len(app.queue) == 0 {
			return c.batchDone(s)
		}
		if c.config.Group.App.ByHand {
			if app.tokens == 0 {
				return false
			}
			app.tokens--
		}
		return c.begin(s, &app.loop)
	}
	if app.loop.doneAt > s.now {
		return false
	}
	return c.finish(s, &app.loop, 0)
}

// begin lets a thread begin with the next record.
func (c *Consumer) begin(s *step, t *thread) bool {
	app := &c.member.app
	next := app.queue[0]
	if c.crashes(s, beforeProcessing, next.tp, next.offset) {
		return false
	}
	app.queue = app.queue[1:]
	*t = thread{busy: true, job: next, doneAt: s.now + c.workOf(next.offset)}
	return true
}

// batchDone commits and goes back to poll: all that poll had returned is done. An application that writes waits for its
// producer before.
func (c *Consumer) batchDone(s *step) bool {
	if c.producer != nil {
		c.writesDone()
		return true
	}
	return c.commitBatch(s)
}

// commitBatch commits if the application does so after a batch, and goes back to poll.
func (c *Consumer) commitBatch(s *step) bool {
	m := c.member
	switch c.config.Group.App.Commit {
	case CommitBatch:
		c.startSync(s, c.batchOffsets(), "commitSync after the batch", appPolling)
		return !c.dead
	case CommitBatchAsync:
		if offsets := c.batchOffsets(); len(offsets) > 0 {
			if c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
				return false
			}
			c.commit(s, offsets, "commitAsync after the batch", false)
		}
	}
	m.app.state = appPolling
	return true
}

// finish lets a thread end with its record: the handler fails, or its effect goes to the sink. Number is the thread's,
// from 1; 0 is the poll loop.
func (c *Consumer) finish(s *step, t *thread, number int) bool {
	sink := s.out.sink(c.config.Group.ID)
	j := &t.job
	if c.isPoison(sink, j) {
		return c.fails(s, sink, t)
	}
	if wait, ok := sink.admit(s.now); !ok {
		if !t.waits {
			c.last = s.j.Append(c.node, j.cause, journal.SinkFull{TopicPartition: j.tp, Offset: j.offset, Capacity: sink.config.Capacity, Wait: wait})
		}
		t.doneAt, t.waits = s.now+wait, true
		return true
	}
	effect := c.effectOf(sink, j)
	fate := sink.note(j.tp, j.offset, func(f *RecordFate) { f.Processed++ })
	c.last = s.j.Append(c.node, j.cause, journal.RecordProcessed{
		Group: c.config.Group.ID, TopicPartition: j.tp, Offset: j.offset, Thread: number, Times: int(fate.Processed), Effect: effect,
	})
	if entity, version, ok := eventOf(j.key, j.value); ok {
		if late, isLate := sink.order.take(entity, Sight{Version: version, At: j.tp, Offset: j.offset, Tick: s.tick, Member: c.node}); isLate {
			s.j.Append(c.node, c.last, late)
		}
	}
	if c.producer != nil && !c.write(s, *j) {
		return !c.dead
	}
	return c.isDone(s, t)
}

// effectOf lets a record have its effect outside, and says in words what came of it.
func (c *Consumer) effectOf(sink *Sink, j *job) string {
	switch app := &c.config.Group.App; {
	case app.Transform == nil:
		return sink.apply(j.tp, j.offset, j.key, j.value)
	case app.CallsOut:
		return sink.apply(j.tp, j.offset, j.key, j.value) + ". The application writes a record to " + app.Transform.Topic
	default:
		return "The application writes a record to " + app.Transform.Topic
	}
}

// isDone notes that a record is done, and commits if the application does so after each.
func (c *Consumer) isDone(s *step, t *thread) bool {
	app, j := &c.member.app, t.job
	t.busy, t.waits = false, false
	app.advance(j, c.config.Group.App.Sabotage == sabotage.CommitsAhead)
	if c.crashes(s, afterProcessing, j.tp, j.offset) {
		return false
	}
	return c.commitRecord(s, j.tp)
}

// advance notes that a record is done.
func (a *application) advance(j job, ahead bool) {
	at, found := slices.BinarySearchFunc(a.done, j.tp, func(p progress, tp kafka.TopicPartition) int { return compareTP(p.tp, tp) })
	if !found {
		a.done = slices.Insert(a.done, at, progress{tp: j.tp, first: j.offset, committed: kafka.NoOffset})
	}
	p := &a.done[at]
	p.first = min(p.first, j.offset)
	if ahead {
		j.offset++
	}
	if j.offset+1 > p.next || !found {
		p.next, p.epoch = j.offset+1, j.epoch
	}
}

// processedOf lists what is done and not committed by this process, of some partitions or of all.
func (a *application) processedOf(which []kafka.TopicPartition) (list []commitOffset) {
	for _, p := range a.done {
		if (which == nil || slices.Contains(which, p.tp)) && p.next != p.committed {
			list = append(list, commitOffset{p.tp, p.next, p.epoch})
		}
	}
	return list
}

// committed notes what a commit said that was accepted.
func (a *application) committed(offsets []commitOffset) {
	for _, o := range offsets {
		for i := range a.done {
			if a.done[i].tp == o.tp {
				a.done[i].committed = o.offset
			}
		}
	}
}

// isPoison says whether the handler fails at a record.
func (c *Consumer) isPoison(sink *Sink, j *job) bool {
	for _, p := range c.config.Group.App.Poison {
		if p.TopicPartition == j.tp && p.Offset == j.offset {
			return p.Times == 0 || int(sink.table(j.tp).fate(j.offset).Failed) < p.Times
		}
	}
	return false
}

// fails handles a handler that failed at a record.
func (c *Consumer) fails(s *step, sink *Sink, t *thread) bool {
	app, rules := &c.member.app, &c.config.Group.App
	j := &t.job
	sink.note(j.tp, j.offset, func(f *RecordFate) { f.Failed++ })
	j.attempts++
	if rules.OnFailure == SeekBack {
		j.attempts = app.countFailure(j.tp, j.offset)
	}
	enough := rules.Attempts > 0 && j.attempts >= rules.Attempts
	event := journal.ProcessingFailed{TopicPartition: j.tp, Offset: j.offset, Attempt: j.attempts}
	dead := rules.DeadLetterTopic != "" && rules.OnFailure != SkipRecord
	switch {
	case enough && dead:
		event.Then = fmt.Sprintf("after %s it goes to the dead-letter topic %s", kafka.Count(j.attempts, "attempt"), rules.DeadLetterTopic)
	case enough && rules.OnFailure != RetryInPlace && rules.OnFailure != "":
		event.Then = fmt.Sprintf("after %s it is skipped", kafka.Count(j.attempts, "attempt"))
	case rules.OnFailure == SeekBack:
		event.Then = "the application seeks back to it and polls again"
	default:
		event.Then = "the application tries again, and nothing behind it is processed meanwhile"
	}
	c.last = s.j.Append(c.node, j.cause, event)
	switch {
	case enough && dead:
		c.sendDeadLetter(s, *j)
		t.busy = false
	case enough && rules.OnFailure != RetryInPlace && rules.OnFailure != "":
		t.busy = false
		c.giveUp(s, *j)
	case rules.OnFailure == SeekBack:
		t.busy = false
		c.seekBack(s, *j)
	default:
		t.doneAt = s.now + max(c.workOf(j.offset), 1)
	}
	return true
}

// countFailure counts one more attempt at a record that comes back by poll.
func (a *application) countFailure(tp kafka.TopicPartition, offset kafka.Offset) int {
	at := slices.IndexFunc(a.failed, func(f failure) bool { return f.tp == tp && f.offset == offset })
	if at < 0 {
		a.failed = append(a.failed, failure{tp: tp, offset: offset})
		at = len(a.failed) - 1
	}
	a.failed[at].attempts++
	return a.failed[at].attempts
}

// giveUp goes on behind a record that was skipped or sent to the dead-letter topic.
func (c *Consumer) giveUp(s *step, j job) {
	s.out.sink(c.config.Group.ID).note(j.tp, j.offset, func(f *RecordFate) { f.GivenUp++ })
	if c.config.Group.App.ForgetCommit {
		return
	}
	c.member.app.advance(j, c.config.Group.App.Sabotage == sabotage.CommitsAhead)
	c.commitRecord(s, j.tp)
}

// commitRecord commits if the application does so after each record; false: the process has crashed.
func (c *Consumer) commitRecord(s *step, tp kafka.TopicPartition) bool {
	switch app := &c.config.Group.App; {
	case app.Commit != CommitRecord:
	case app.Workers > 0:
		return c.commitAsDone(s, tp)
	default:
		c.startSync(s, c.member.app.processedOf([]kafka.TopicPartition{tp}), "commitSync after the record", appWorking)
	}
	return !c.dead
}

// seekBack drops what poll had returned and sets every partition that the member still has back to its first record
// that is not done: one that failed, or the first of the queue.
func (c *Consumer) seekBack(s *step, failed ...job) {
	app := &c.member.app
	for _, j := range append(failed, app.queue...) {
		if a := c.find(j.tp); a != nil && a.position > j.offset {
			c.seek(s, a, j.offset, "the application has not processed the record there")
		}
	}
	app.queue = nil
}

// abandon drops what poll had returned of the batch.
func (c *Consumer) abandon() {
	c.member.app.queue, c.member.app.loop.busy = nil, false
}
