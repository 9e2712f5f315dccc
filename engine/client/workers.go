package client

import (
	"slices"

	"loglab/engine/kafka"
)

// workers lets the threads of the application work; it says whether one did something.
func (c *Consumer) workers(s *step) bool {
	app := &c.member.app
	n := c.config.Group.App.Workers
	if n == 0 || app.dead != nil || app.state == appFailed || app.state == appClosing {
		return false
	}
	if len(app.pool) < n {
		app.pool = append(slices.Clip(app.pool), make([]thread, n-len(app.pool))...)
	}
	for i := range app.pool {
		t := &app.pool[i]
		if t.busy && t.doneAt <= s.now {
			progressed := c.finish(s, t, i+1)
			if !c.dead && !t.busy {
				c.poolDone(s)
			}
			return progressed
		}
		if !t.busy && len(app.queue) > 0 {
			return c.begin(s, t)
		}
	}
	return false
}

// poolDone commits when the threads are through with all that poll had returned.
func (c *Consumer) poolDone(s *step) {
	app := &c.member.app
	when := c.config.Group.App.Commit
	if when != CommitBatch && when != CommitBatchAsync || app.dead != nil || len(app.queue) > 0 || slices.ContainsFunc(app.pool, func(t thread) bool { return t.busy }) {
		return
	}
	if offsets := c.pooled(nil); len(offsets) > 0 && !c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		c.commit(s, offsets, "commitAsync, all threads are done", false)
	}
}

// commitAsDone commits one partition after a thread is done with a record of it.
func (c *Consumer) commitAsDone(s *step, tp kafka.TopicPartition) bool {
	offsets := c.pooled([]kafka.TopicPartition{tp})
	if len(offsets) == 0 {
		return true
	}
	if c.crashes(s, beforeCommit, kafka.TopicPartition{}, 0) {
		return false
	}
	c.commit(s, offsets, "commitAsync after the record, "+string(c.what()), false)
	return true
}

func (c *Consumer) what() CommitWhat {
	if c.config.Group.App.What == "" {
		return CommitContiguous
	}
	return c.config.Group.App.What
}

// committable lists what the application is done with and has not committed, of some partitions or of all.
func (c *Consumer) committable(which []kafka.TopicPartition) []commitOffset {
	if c.config.Group.App.Workers > 0 {
		return c.pooled(which)
	}
	return c.member.app.processedOf(which)
}

// pooled lists what an application with threads commits: after the highest record that is done, or before the first
// that is not.
func (c *Consumer) pooled(which []kafka.TopicPartition) []commitOffset {
	app := &c.member.app
	list := app.processedOf(which)
	if c.what() == CommitHighest {
		return list
	}
	var kept []commitOffset
	for _, o := range list {
		lower := func(j job) {
			if j.tp == o.tp && j.offset < o.offset {
				o.offset = j.offset
			}
		}
		for _, j := range app.queue {
			lower(j)
		}
		for _, t := range app.pool {
			if t.busy {
				lower(t.job)
			}
		}
		if app.dead != nil {
			lower(app.dead.job)
		}
		if a := c.find(o.tp); a != nil && a.position != kafka.NoOffset { // the application may have sought back
			o.offset = min(o.offset, a.position)
		}
		if p := app.progressOf(o.tp); p.committed < o.offset && o.offset > p.first {
			kept = append(kept, o)
		}
	}
	return kept
}

func (a *application) progressOf(tp kafka.TopicPartition) progress {
	for _, p := range a.done {
		if p.tp == tp {
			return p
		}
	}
	return progress{}
}
