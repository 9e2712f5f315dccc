package group

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/coordinator"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/sabotage"
	"loglab/engine/simnet"
	"loglab/engine/storage"
)

// pendingWrite is a write of which nobody has told yet what became of it. What its records say is in force at once
// for whoever writes after it, and taken back if they cannot be written.
//
// Source: CoordinatorRuntime, where timeline data structures keep both views.
type pendingWrite struct {
	id      uint64
	about   string // the group that the record describes, if it is one of a group
	changes []change
	created []string // groups that there are since
	removed []*group // groups that there are no longer
	waiting []deferred

	replayed []replayed    // of groups of the consumer protocol
	retry    *retriedTimer // that led to it; nil: none; never written

	transaction *coordinator.Producer      // in whose transaction the records are; nil: in none; never written
	marker      *storage.TransactionMarker // that ends a transaction; nil: there are records; never written
}

// change is a committed offset, or that it is gone.
type change struct {
	group      string
	entry      committed
	member     string
	generation kafka.GenerationID
}

// deferred is what happens when the records are written, or cannot be, or not in time.
type deferred struct {
	deadline kafka.Millis // offsets.commit.timeout.ms from the request on
	cause    uint64       // the event that led to it
	done     outcome
	request  *simnet.Message
	response kmsg.Response // when they are written; nil: see done
	group    string
	sync     *leaderSync
	static   *staticReturn
	classic  *classicTimers // begin when the records are written; nil: none do
}

// outcome says what a deferred is for.
type outcome uint8

const (
	answerRequest outcome = iota // the response is sent
	groupCreated                 // a join made a group: the join is answered by itself, but with an error if this fails
	guarded                      // a join or sync waits for something else, but fails if this fails
	leaderSynced                 // the assignment holds
	staticBack                   // a static member has its new id
)

// leaderSync is what the leader brought.
type leaderSync struct {
	generation  kafka.GenerationID
	leader      string
	assignments map[string][]byte // by member, only looked up
}

// staticReturn is how a static member was before it came back.
type staticReturn struct {
	instance, oldID, newID, leader string
	protocols                      []kmsg.JoinGroupRequestProtocol
	sessionTimeout                 kafka.Millis
	rebalanceTimeout               kafka.Millis
}

// write wants records appended, or a marker.
func (s *step) write(records []coordinator.Record, w pendingWrite) *pendingWrite {
	s.c.lastID++
	w.id = s.c.lastID
	for i := range w.changes {
		w.changes[i].entry = s.c.numbered(w.changes[i].entry)
	}
	s.c.hold(w)
	s.effects.Writes = append(s.effects.Writes, coordinator.Write{ID: w.id, Records: records, Cause: s.cause, Transaction: w.transaction, Marker: w.marker})
	s.c.writes = append(s.c.writes, w)
	return &s.c.writes[len(s.c.writes)-1]
}

// wait adds what is to happen once a write is known; it may wait offsets.commit.timeout.ms for that.
func (s *step) wait(w *pendingWrite, d deferred) {
	d.cause, d.deadline = s.cause, s.now+max(s.c.config.CommitTimeout, 1)
	w.waiting = append(w.waiting, d)
}

// answerAfter answers once the write is known, or, if w is nil, all writes so far: an answer never says more than
// what is written.
//
// Source: CoordinatorRuntime.waitForPendingWrites.
func (s *step) answerAfter(w *pendingWrite, m *simnet.Message, response kmsg.Response, group string) {
	if w == nil && len(s.c.writes) > 0 {
		w = &s.c.writes[len(s.c.writes)-1]
	}
	if w == nil {
		s.answer(m, response)
		return
	}
	s.wait(w, deferred{done: answerRequest, request: m, response: response, group: group})
}

// guard sees to it that a join or sync that waits is answered with an error if the writes before it fail.
func (s *step) guard(m *simnet.Message, id string) {
	g := s.c.group(id)
	if len(s.c.writes) == 0 || g == nil || !g.parks(m) {
		return
	}
	w := &s.c.writes[len(s.c.writes)-1]
	if !slices.ContainsFunc(w.waiting, func(d deferred) bool { return d.request == m }) {
		s.wait(w, deferred{done: guarded, request: m, group: id})
	}
}

// parks says whether the request waits here and has no answer.
func (g *group) parks(m *simnet.Message) bool {
	return slices.ContainsFunc(g.members, func(k *member) bool {
		return k.join == parked{request: m} || k.sync == parked{request: m}
	})
}

// settle marks a request that waits as answered.
func (g *group) settle(m *simnet.Message) {
	for _, k := range g.members {
		if k.join.request == m {
			k.join.answered = true
		}
		if k.sync.request == m {
			k.sync.answered = true
		}
	}
}

// Written tells what became of a write: it is on every in-sync replica, or err says why not. A write that is there
// has all those before it there that were not refused.
//
// With most errors nothing was appended, and what the records say is taken back. REQUEST_TIMED_OUT and
// NOT_ENOUGH_REPLICAS_AFTER_APPEND leave it open: the records are in the log, and Written must be called once more when
// they are on every in-sync replica. Until then the requests that come next wait too, each for
// offsets.commit.timeout.ms; that time the coordinator keeps by itself.
func (c *Coordinator) Written(now kafka.Millis, id uint64, err *kerr.Error, cause uint64, j *journal.Journal) coordinator.Effects {
	s := c.begin(now, cause, j)
	if err == nil {
		for len(c.writes) > 0 && c.writes[0].id <= id {
			w := c.writes[0]
			c.writes = slices.Delete(c.writes, 0, 1)
			s.cause = cause
			s.written(w)
		}
		return s.end()
	}
	i := slices.IndexFunc(c.writes, func(w pendingWrite) bool { return w.id == id })
	if i < 0 {
		return s.end()
	}
	if err == kerr.RequestTimedOut {
		s.timeOutWrites()
		return s.end()
	}
	w := c.writes[i]
	c.writes[i].waiting = nil
	undone := err != kerr.NotEnoughReplicasAfterAppend
	if undone {
		c.writes = slices.Delete(c.writes, i, i+1)
	}
	for _, d := range w.waiting {
		s.cause = cause
		s.failed(d, err)
	}
	if undone {
		for _, g := range s.undo(w) {
			s.cause = cause
			s.answerAll(g, WriteError(err))
		}
	}
	return s.end()
}

// written makes what the records say visible and answers who waits.
func (s *step) written(w pendingWrite) {
	for _, id := range w.created {
		if g := s.c.unwritten(id); g != nil {
			g.written = true
		}
	}
	s.c.makeVisible(w)
	cause := s.showOffsets(w)
	for _, d := range w.waiting {
		s.cause = cause
		s.succeeded(d)
	}
}

// pending finds a write of which nobody has told yet what became of it.
func (c *Coordinator) pending(id uint64) *pendingWrite {
	i := slices.IndexFunc(c.writes, func(w pendingWrite) bool { return w.id == id })
	return &c.writes[i]
}

// unwritten finds the oldest group of that id of which nothing is written, one that is being deleted too.
func (c *Coordinator) unwritten(id string) *group {
	for _, w := range c.writes {
		for _, g := range w.removed {
			if g.id == id && !g.written {
				return g
			}
		}
	}
	if g := c.group(id); g != nil && !g.written {
		return g
	}
	return nil
}

// undo takes back what the records of a write would have said. It gives the groups that there are not any more.
func (s *step) undo(w pendingWrite) (orphans []*group) {
	s.c.takeBack(w)
	if w.retry != nil {
		s.retryTimer(w.retry)
	}
	if len(w.changes) > 0 || w.marker != nil {
		s.c.holdAnew()
	}
	for _, g := range w.removed {
		if later := s.c.group(g.id); later != nil {
			later.written = later.written || g.written // the log has a record of that id
			continue
		}
		s.c.put(g)
	}
	for _, id := range w.created {
		g := s.c.group(id)
		if g == nil || g.written {
			continue
		}
		if other := slices.IndexFunc(s.c.writes, func(other pendingWrite) bool { return other.touches(id) }); other >= 0 {
			s.c.writes[other].created = append(slices.Clone(s.c.writes[other].created), id)
			continue
		}
		s.c.drop(id)
		orphans = append(orphans, g)
	}
	return orphans
}

// touches says whether the write has a record of the group or its offsets.
func (w pendingWrite) touches(group string) bool {
	return w.about == group || slices.ContainsFunc(w.changes, func(ch change) bool { return ch.group == group && !ch.entry.forgotten })
}

func (s *step) succeeded(d deferred) {
	g := s.c.group(d.group)
	switch d.done {
	case answerRequest:
		if d.classic != nil {
			s.beginTimers(d.group, *d.classic)
		}
		if d.request != nil {
			s.answer(d.request, d.response)
		}
	case leaderSynced:
		if g != nil {
			s.assignmentWritten(g, d.sync)
		}
	case staticBack:
		if g != nil {
			s.staticWritten(g, d)
		}
	}
}

// failed answers what waits for a write that failed, or was not known in time.
func (s *step) failed(d deferred, err *kerr.Error) {
	g := s.c.group(d.group)
	told := WriteError(err)
	why := "the records could not be written: " + err.Message
	if err == kerr.RequestTimedOut {
		why = "the records were not on every in-sync replica within offsets.commit.timeout.ms = " + kafka.Thousands(s.c.config.CommitTimeout) + " ms"
	}
	switch d.done {
	case answerRequest:
		if d.request == nil {
			return
		}
		if _, fetch := d.request.Request.(*kmsg.OffsetFetchRequest); fetch && told == kerr.CoordinatorNotAvailable {
			told = kerr.NotCoordinator // which older consumers know
		}
		s.refuseUnwritten(d, told, why)
	case groupCreated, guarded:
		if g != nil && g.parks(d.request) {
			g.settle(d.request)
			s.refuseUnwritten(d, told, why)
		}
	case leaderSynced:
		if g != nil {
			s.assignmentFailed(g, d.sync, told, why)
		}
	case staticBack:
		if g != nil {
			s.staticFailed(g, d, told, why)
		}
	}
}

// refuseUnwritten answers a request whose records were not written. As in Kafka, JoinGroup's answer has no member id then.
func (s *step) refuseUnwritten(d deferred, err *kerr.Error, why string) {
	response := errorResponse(d.request.Request, err)
	if join, is := response.(*kmsg.JoinGroupResponse); is {
		join.MemberID = ""
	}
	s.refuse(d.request, response, refusal{d.group, memberIn(d.request.Request), err, why})
}

// timeOutWrites answers what has waited too long for a write. The records may be written later.
func (s *step) timeOutWrites() {
	for {
		w, d := s.overdue()
		if w < 0 {
			return
		}
		late := s.c.writes[w].waiting[d]
		s.c.writes[w].waiting = slices.Delete(slices.Clone(s.c.writes[w].waiting), d, d+1)
		s.cause = late.cause
		s.failed(late, kerr.RequestTimedOut)
	}
}

func (s *step) overdue() (write, waiting int) {
	for i := range s.c.writes {
		for k := range s.c.writes[i].waiting {
			if s.c.writes[i].waiting[k].deadline <= s.now {
				return i, k
			}
		}
	}
	return -1, -1
}

// WriteError is what a client is told of a failed append.
//
// Source: CoordinatorOperationExceptionHelper, GroupMetadataManager.appendGroupMetadataErrorToResponseError.
func WriteError(err *kerr.Error) *kerr.Error {
	switch err {
	case kerr.UnknownTopicOrPartition, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut:
		return kerr.CoordinatorNotAvailable
	case kerr.NotLeaderForPartition, kerr.KafkaStorageError:
		return kerr.NotCoordinator
	case kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidFetchSize:
		return kerr.UnknownServerError
	case kerr.NetworkException:
		return kerr.CoordinatorLoadInProgress
	}
	return err
}

// showsEarly says whether a test breaks the rule that only what is written is shown.
func (c *Coordinator) showsEarly() bool { return c.config.Sabotage == sabotage.OffsetsShownEarly }

// hostOf is a client's address as Java writes it.
func hostOf(m *simnet.Message) string { return "/" + string(m.From) }

func nodeOf(host string) kafka.NodeID { return kafka.NodeID(strings.TrimPrefix(host, "/")) }

// memberIn gives the member id that a request names, if it names one.
func memberIn(request kmsg.Request) string {
	switch request := request.(type) {
	case *kmsg.JoinGroupRequest:
		return request.MemberID
	case *kmsg.SyncGroupRequest:
		return request.MemberID
	case *kmsg.HeartbeatRequest:
		return request.MemberID
	case *kmsg.OffsetCommitRequest:
		return request.MemberID
	case *kmsg.TxnOffsetCommitRequest:
		return request.MemberID
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return request.MemberID
	}
	return ""
}
