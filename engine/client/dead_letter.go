package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
)

// deadLetter is a record on its way to the dead-letter topic.
type deadLetter struct {
	job         job
	to          kafka.TopicPartition
	correlation int32 // of the Produce request; 0: not sent
	retryAt     kafka.Millis
}

// sendDeadLetter begins to write a record to the dead-letter topic, into the partition of the same number if there is
// one. The poll loop waits for the answer, and so do threads.
//
// Simplified: the record goes in a request of its own with acks=all and without a producer id.
func (c *Consumer) sendDeadLetter(s *step, j job) {
	app := &c.member.app
	topic := c.config.Group.App.DeadLetterTopic
	c.metadata.want([]string{topic})
	app.dead = &deadLetter{job: j, to: kafka.TopicPartition{Topic: topic, Partition: j.tp.Partition}, retryAt: s.now}
	if c.config.Group.App.Workers == 0 {
		app.state = appDeadLettering
	}
}

// deadLetterDue is when the record is sent; ok is false while the answer is under way or the leader is not known.
func (c *Consumer) deadLetterDue() (due kafka.Millis, ok bool) {
	dead := c.member.app.dead
	if dead == nil || dead.correlation != 0 {
		return 0, false
	}
	leader := c.metadata.leaderOf(c.deadLetterTo())
	return max(dead.retryAt, c.connections.openAt(leader.node)), leader.node != ""
}

// deadLetterTo gives the partition: of the same number, or the last that there is.
func (c *Consumer) deadLetterTo() kafka.TopicPartition {
	to := c.member.app.dead.to
	if t := c.metadata.topic(to.Topic); t != nil && len(t.leaders) > 0 {
		to.Partition = min(to.Partition, kafka.Partition(len(t.leaders)-1))
	}
	return to
}

// writeDeadLetter sends the record, if it can go now; it says whether it did.
func (c *Consumer) writeDeadLetter(s *step) bool {
	if due, ok := c.deadLetterDue(); !ok || due > s.now {
		return false
	}
	dead := *c.member.app.dead
	dead.to = c.deadLetterTo()
	builder := record.NewBuilder(record.Options{})
	builder.Append(c.start+kafka.Timestamp(s.now), dead.job.key, dead.job.value)
	bytes, err := builder.Finish()
	if err != nil {
		panic("consumer " + string(c.node) + ": " + err.Error())
	}
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = produceVersion, -1, int32(c.config.RequestTimeout)
	topic := kmsg.NewProduceRequestTopic()
	topic.TopicID = c.metadata.topic(dead.to.Topic).id
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = int32(dead.to.Partition), bytes
	topic.Partitions = append(topic.Partitions, part)
	request.Topics = append(request.Topics, topic)
	dead.correlation = c.post(s, c.connections.send(s.now, c.metadata.leaderOf(dead.to).node, request, c.last))
	c.member.app.dead = &dead
	return true
}

// takeProduced takes the answer of the dead-letter topic's leader.
func (c *Consumer) takeProduced(s *step, response *kmsg.ProduceResponse, correlation int32, cause uint64) {
	app := &c.member.app
	if app.dead == nil || app.dead.correlation != correlation {
		return
	}
	result := response.Topics[0].Partitions[0]
	if result.ErrorCode != 0 {
		c.metadata.request()
		c.deadLetterFailed(s, correlation)
		return
	}
	dead := app.dead
	app.dead = nil
	if app.state == appDeadLettering {
		app.state = appWorking
	}
	sink := s.out.sink(c.config.Group.ID)
	sink.deadLetter++
	c.last = s.j.Append(c.node, cause, journal.DeadLetterSent{TopicPartition: dead.job.tp, Offset: dead.job.offset, To: dead.to, At: kafka.Offset(result.BaseOffset)})
	if c.giveUp(s, dead.job); !c.dead && c.config.Group.App.Workers > 0 {
		c.poolDone(s)
	}
}

// deadLetterFailed makes the record be sent again.
func (c *Consumer) deadLetterFailed(s *step, correlation int32) {
	app := &c.member.app
	if app.dead == nil || app.dead.correlation != correlation {
		return
	}
	again := *app.dead
	again.correlation, again.retryAt = 0, s.now+retryBackoff
	app.dead = &again
}
