package enginetest

import (
	"fmt"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
)

// drawGroups draws, for two runs of three, groups with a coordinator and what is done to their members.
func (s *simulation) drawGroups(c chance) {
	if c.oneIn(3) {
		return
	}
	spec := s.spec
	settings := &spec.Cluster.Groups
	settings.OffsetsReplicationFactor = c.between(1, spec.Cluster.Brokers)
	settings.InitialRebalanceDelay = pickOne[kafka.Millis](c, 0, 0, 500, 3000)
	s.set("offsets.rf", settings.OffsetsReplicationFactor)
	for _, id := range []string{"billing", "audit"}[:c.between(1, 2)] {
		g := engine.ConsumerGroupSpec{ID: id, Sink: engine.SinkConfig{Kind: pickOne(c, engine.SinkPlain, engine.SinkIdempotent, engine.SinkIdempotent, engine.SinkUpsert, engine.SinkOffsets)}}
		if c.oneIn(3) {
			g.Sink.Capacity, g.Sink.Window = c.between(5, 20), spec.TickMillis*10
		}
		assignors := pickOne(c, []string{"range"}, []string{"roundrobin"}, []string{"sticky"}, []string{"cooperative-sticky"}, []string{"range", "cooperative-sticky"})
		static := c.oneIn(3)
		for i := range c.between(1, 4) {
			g.Members = append(g.Members, engine.MemberSpec{Config: s.drawMember(c, id, i, assignors, static), Off: c.oneIn(6)})
		}
		s.set(id, fmt.Sprintf("sink:%s/%d,assignors:%v,static:%t,members:%d", g.Sink.Kind, g.Sink.Capacity, assignors, static, len(g.Members)))
		spec.Groups = append(spec.Groups, g)
	}
	for range c.between(0, 40) {
		at := c.IntN(s.ticks)
		s.command(at, s.drawOrder(c))
	}
}

func (s *simulation) drawMember(c chance, id string, i int, assignors []string, static bool) engine.ConsumerConfig {
	config := engine.DefaultConsumerConfig("orders")
	config.AutoOffsetReset = pickOne(c, "earliest", "earliest", "latest")
	config.MaxPollRecords = c.between(1, 20)
	config.MetadataMaxAge = kafka.Millis(c.between(500, 30000))
	config.RequestTimeout = pickOne[kafka.Millis](c, 3000, 10000, 30000)
	g := engine.DefaultGroupConfig(id)
	g.Assignors = assignors
	if static {
		g.InstanceID = kafka.GroupInstanceID(fmt.Sprintf("i%d", i))
	}
	g.SessionTimeout = pickOne[kafka.Millis](c, 6000, 6000, 10000)
	g.HeartbeatInterval = g.SessionTimeout / 3
	g.MaxPollInterval = pickOne[kafka.Millis](c, 3000, 8000, 30000)
	g.HeartbeatInLoop = c.oneIn(6)
	g.AutoCommit, g.AutoCommitInterval = c.oneIn(4), pickOne[kafka.Millis](c, 1000, 5000)
	app := &g.App
	app.Work = pickOne[kafka.Millis](c, 0, 1, 20, 100)
	if c.oneIn(5) {
		app.SlowEvery, app.SlowWork = c.between(20, 60), kafka.Millis(c.between(100, 9000))
	}
	if c.oneIn(3) {
		app.Workers, app.PollEvery, app.What = c.between(1, 4), kafka.Millis(c.IntN(300)), pickOne(c, engine.CommitContiguous, engine.CommitHighest)
	}
	app.Commit = pickOne(c, engine.CommitBefore, engine.CommitRecord, engine.CommitBatch, engine.CommitBatch, engine.CommitBatchAsync, engine.CommitNever)
	app.CommitOnRevoke = c.oneIn(3)
	if c.oneIn(4) {
		app.OnFailure, app.Attempts = pickOne(c, engine.SeekBack, engine.SkipRecord, engine.DeadLetter), c.between(1, 3)
		app.Work = max(app.Work, 20)
		if app.OnFailure == engine.DeadLetter || c.oneIn(2) {
			app.DeadLetterTopic = s.deadLetters()
		}
		for range c.between(1, 4) {
			app.Poison = append(app.Poison, engine.Poison{TopicPartition: kafka.TopicPartition{Topic: "orders", Partition: kafka.Partition(c.IntN(s.spec.Topic.Partitions))}, Offset: kafka.Offset(c.IntN(40))})
		}
	}
	config.Group = g
	s.set(fmt.Sprintf("%s-%d", id, i+1), fmt.Sprintf("reset:%s,poll:%d,session:%d,max.poll:%d,auto:%t/%d,work:%d,slow:%d/%d,workers:%d/%d,commit:%s/%s,revoke:%t,failure:%s/%d,in.loop:%t",
		config.AutoOffsetReset, config.MaxPollRecords, g.SessionTimeout, g.MaxPollInterval, g.AutoCommit, g.AutoCommitInterval, app.Work, app.SlowEvery, app.SlowWork,
		app.Workers, app.PollEvery, app.Commit, app.What, app.CommitOnRevoke, app.OnFailure, app.Attempts, g.HeartbeatInLoop))
	return config
}

// deadLetters gives the name of the dead-letter topic, which is then one of the run's.
func (s *simulation) deadLetters() string {
	if len(s.spec.Topics) == 0 {
		s.spec.Topics = []engine.TopicSpec{{Name: "orders.DLT", Partitions: 1, ReplicationFactor: s.spec.Topic.ReplicationFactor, Config: s.spec.Topic.Config}}
	}
	return "orders.DLT"
}

// drawOrder draws one command for a group or a member.
func (s *simulation) drawOrder(c chance) string {
	g := s.spec.Groups[c.IntN(len(s.spec.Groups))]
	m := fmt.Sprintf("%s-%d", g.ID, c.between(1, len(g.Members)))
	tp := fmt.Sprintf("orders-%d", c.IntN(s.spec.Topic.Partitions))
	place := pickOne(c, "earliest", "latest", fmt.Sprintf("offset %d", c.IntN(30)), "shift -3", "duration 5s")
	b := fmt.Sprintf("b%d", c.between(1, s.spec.Cluster.Brokers))
	return pickOne(c,
		"crash "+m, "crash "+m, "leave "+m, "leave "+m, "start "+m, "start "+m, "start "+m, "pause "+m, "pause "+m, "resume "+m, "resume "+m, "kill "+m,
		"crash "+m+" "+pickOne(c, "after poll", "before processing", "after processing", "before commit", "after commit"), "commit "+m, "rebalance "+m,
		fmt.Sprintf("seek %s %s @%d", m, tp, c.IntN(30)), "reset "+g.ID+" to "+place, "replay "+g.ID+" from "+place, "cut "+m+" "+b, "heal "+m+" "+b, "drop-next "+m+" "+b, "drop-next "+b+" "+m,
		"double-next "+m+" "+b, "double-next "+b+" "+m,
	)
}

// processed grows as the groups process records: it counts their effects, and what applications that write have committed.
func processed(v engine.View) (n int) {
	for _, g := range v.Groups {
		if g.CoordinatedView == nil {
			continue
		}
		n += g.Sink.Effects + g.Sink.Ignored
		for _, o := range g.Offsets {
			if g.ID == bills {
				n += int(o.Committed)
			}
		}
	}
	return n
}

// mayLoop says whether a member of a group may need longer for what a poll returns than max.poll.interval.ms, or for one
// record than its session: then it is thrown out, reads the same again, and never comes to an end.
func (s *simulation) mayLoop(g *engine.ConsumerGroupSpec) bool {
	for _, m := range g.Members {
		config, app := &m.Config.Group, &m.Config.Group.App
		work := max(app.Work, app.SlowWork)
		batch := app.Work * kafka.Millis(m.Config.MaxPollRecords)
		if app.SlowEvery > 0 {
			batch += app.SlowWork * kafka.Millis(m.Config.MaxPollRecords/app.SlowEvery+1)
		}
		if app.Commit == engine.CommitRecord { // and waits, for its answer and for that of the followers before it
			batch += (4*s.spec.Latency + 2*s.spec.TickMillis) * kafka.Millis(m.Config.MaxPollRecords)
		}
		if g.Sink.Capacity > 0 {
			batch += g.Sink.Window * kafka.Millis(m.Config.MaxPollRecords/g.Sink.Capacity+1) * kafka.Millis(len(g.Members))
		}
		if config.MaxPollInterval < 2*config.HeartbeatInterval {
			return true // a member may learn of a rebalance when it is over
		}
		if app.Workers == 0 && (batch > config.MaxPollInterval/2 || config.HeartbeatInLoop && work > config.SessionTimeout/2) {
			return true
		}
	}
	return false
}

// pendingGroups says which groups have not come together: every member runs, is in, and has read all; and what an
// application commits by itself is committed.
func (s *simulation) pendingGroups(v engine.View) (why []string) {
	for i := range s.spec.Groups {
		spec := s.spec.Groups[i]
		g := v.Groups[len(v.Groups)-len(s.spec.Groups)+i]
		if s.mayLoop(&spec) {
			continue
		}
		if g.State != "Stable" {
			why = append(why, fmt.Sprintf("group %s is %q", g.ID, g.State))
		}
		for _, m := range g.Members {
			switch {
			case m.App == "ended with an error":
				if wrong := s.give("crash " + string(m.ID)); wrong != "" {
					return []string{wrong}
				}
				why = append(why, fmt.Sprintf("%s had ended", m.ID))
			case !m.Alive && s.restarts > 0 && s.played%int(s.restarts/s.spec.TickMillis) != 0:
				why = append(why, fmt.Sprintf("%s does not run yet", m.ID))
			case !m.Alive:
				if wrong := s.give("start " + string(m.ID)); wrong != "" {
					return []string{wrong}
				}
				why = append(why, fmt.Sprintf("%s does not run", m.ID))
			case m.State != "stable" || believes(m) != epochOf(g):
				why = append(why, fmt.Sprintf("%s is %s in generation or epoch %d of %d", m.ID, m.State, believes(m), epochOf(g)))
			case len(m.Queue)+len(m.Busy) > 0:
				why = append(why, fmt.Sprintf("%s is not through: %s", m.ID, m.App))
			}
		}
		unread := len(g.Offsets) != partitionsOf("orders", v)
		if unread {
			why = append(why, fmt.Sprintf("group %s reads %d partitions", g.ID, len(g.Offsets)))
		}
		for _, o := range g.Offsets {
			unread = unread || o.Owner == ""
			if o.RecordsLag != 0 {
				why = append(why, fmt.Sprintf("group %s is at %d of %s, which ends at %d", g.ID, o.Position, o.TopicPartition, o.HighWatermark))
			}
		}
		if static := spec.Members[0].Config.Group.InstanceID != ""; static && unread && s.played%int(60_000/s.spec.TickMillis) == 0 {
			// A static leader that comes back while the group is stable goes on with what was assigned, be it nothing, and
			// without partitions that were added while it was gone. Only a rebalance helps: KIP-814 knows of no other.
			if wrong := s.give("rebalance " + string(g.Members[0].ID)); wrong != "" {
				return []string{wrong}
			}
		}
	}
	return why
}

// memberWithoutSession names a member that nobody removes, as Kafka's coordinator has them too: "" if there is none. A client
// of the classic protocol joins a group of the consumer protocol, the records of it are committed only after
// offsets.commit.timeout.ms, and it does not come again: the timer of its session begins with a write that is done in time
// alone (GroupMetadataManager.classicGroupJoinToConsumerGroup), or when a coordinator loads the group.
func (s *simulation) memberWithoutSession() string {
	late := map[kafka.MemberID]bool{}
	for e := range s.cluster.Journal().All() {
		if b, ok := e.Body.(journal.GroupRequestRefused); ok && b.API == "JoinGroup" && b.Error == "COORDINATOR_NOT_AVAILABLE" {
			late[b.Member] = true
		}
	}
	for _, g := range s.cluster.View().Groups {
		if g.CoordinatedView == nil || g.Held == nil {
			continue
		}
		for _, m := range g.Held.Members {
			if late[m.ID] && m.SessionEnds == 0 {
				return fmt.Sprintf("group %s: %s has no session", g.ID, m.ID)
			}
		}
	}
	return ""
}

// partitionsOf counts the partitions of a topic.
func partitionsOf(topic string, v engine.View) (n int) {
	for _, p := range v.Partitions {
		if p.Topic == topic {
			n++
		}
	}
	return n
}

// believes gives the generation or the epoch that a member believes in.
func believes(m engine.MemberView) int32 {
	return max(int32(m.Generation), int32(m.Epoch))
}

// epochOf gives the generation of a group, or its epoch if it is of the consumer protocol: that is what members of the
// classic protocol in it are told as their generation.
func epochOf(g engine.GroupView) int32 {
	if g.Held == nil {
		return -1
	}
	return max(int32(g.Held.Generation), int32(g.Held.Epoch))
}
