package labs

import (
	"context"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/labs/view"
)

// nextParam asks for the tick of the next turn instead of the one that the address names. It is no part of any
// canonical address: [Runs.Next] finds the tick.
const nextParam = "next"

// lookAhead is how many ticks are looked at for the next turn.
const lookAhead = 1000

// nextLink leads to the next turn.
func nextLink(a Address) view.Link {
	l := Replace("next", "Next event", a)
	l.Label, l.Key, l.Inactive = "To the next event that changes more than records and messages", "n", a.T >= a.Last()
	if !l.Inactive {
		l.Href += "&" + nextParam + "=1"
	}
	return l
}

// AsksNext says whether the address asks for the next turn after its tick.
func (a Address) AsksNext() bool { return a.next }

// Next gives the address at its next turn: the next tick with a command, or at which brokers, leaders, in-sync
// replicas, partitions or members change or something is refused, lost or cut off. Where none comes it is the
// last tick that was looked at. With a twin, the turn of either run counts. Errors are those of [Runs.Page].
func (r *Runs) Next(ctx context.Context, a Address) (Address, error) {
	a.next = false
	last := min(a.T+lookAhead, a.Last())
	for from := a.T; from < last; {
		to := min(from+checkpointEvery-from%checkpointEvery, last)
		own, twin, err := r.clusters(ctx, a.WithTick(to))
		if err != nil {
			return a, err
		}
		tick := turnBetween(own, from, to)
		if twin != nil {
			tick = min(tick, turnBetween(twin, from, to))
		}
		if tick <= to {
			return a.WithTick(tick), nil
		}
		from = to
	}
	return a.WithTick(max(last, a.T)), nil
}

// turnBetween gives the first tick after from, up to to, with a turn; to+1 where there is none.
func turnBetween(c *engine.Cluster, from, to int) int {
	for tick := from + 1; tick <= to; tick++ {
		for e := range c.Journal().Of(kafka.Tick(tick)) {
			if isTurn(e.Body) {
				return tick
			}
		}
	}
	return to + 1
}

// isTurn says whether an event changes more than records and messages.
func isTurn(b journal.Body) bool {
	switch b.(type) {
	case journal.CommandGiven,
		journal.PartitionsAdded, journal.PartitionsAssigned, journal.MetadataLearned, journal.EventSeenLate, journal.SegmentRolled,
		journal.BrokerStarted, journal.BrokerStopped, journal.RegistrationFailed, journal.BrokerRegistered, journal.BrokerFenced,
		journal.BrokerUnfenced, journal.ControlledShutdownBegun, journal.LeaderElected, journal.LeaderLost, journal.ISRChanged,
		journal.ISRProposed, journal.AlterPartitionRefused, journal.ConfigChanged, journal.LeadershipTaken, journal.FollowingBegun,
		journal.LeaderlessLearned, journal.LogTruncated, journal.LogOpened, journal.ProduceRefused, journal.ProduceTimedOut,
		journal.DuplicateRecognised, journal.ProduceFailed, journal.BatchExpired, journal.ProducerEpochBumped, journal.LeaderLearned,
		journal.LogTruncationDetected, journal.RequestTimedOut, journal.RequestRefused, journal.FetchFailed,
		journal.MemberJoined, journal.RebalanceStarted, journal.JoinPhaseEnded, journal.GroupStable, journal.GroupEmpty, journal.MemberRemoved,
		journal.StaticMemberReplaced, journal.GroupRequestRefused, journal.OffsetsRemoved, journal.OffsetsReset, journal.ResetRefused,
		journal.PartitionsTaken, journal.PartitionsRevoked, journal.PartitionsLost, journal.MembershipLost, journal.PollIntervalExceeded,
		journal.MemberEpochMoved, journal.TargetLearned, journal.LeaveHeartbeatSent,
		journal.ConsumerClosed, journal.ConsumerFailed, journal.ConsumerCrashed, journal.CommitFailed, journal.ProcessingFailed, journal.DeadLetterSent,
		journal.OffsetCommitted, journal.TransactionalOffsetPending, journal.TransactionalOffsetsEnded, journal.SinkFull,
		journal.ConsumerMemberJoined, journal.SubscriptionChanged, journal.GroupEpochBumped, journal.TargetAssigned, journal.MemberReconciled,
		journal.SegmentsDeleted, journal.FilesRemoved, journal.LogCleaned, journal.CleaningFailed, journal.LogStartOffsetMoved, journal.PositionReset,
		journal.StaticMemberAway, journal.StaticMemberReturned, journal.PatternResolved, journal.GroupConverted,
		journal.TransactionalIDInitialised, journal.TransactionFenced, journal.PartitionsAddedToTransaction, journal.TransactionStateChanged,
		journal.TransactionTimedOut, journal.TransactionRequestRefused, journal.TransactionMarkersWritten, journal.TransactionCompleted,
		journal.TransactionWriteFailed, journal.TransactionalIDExpired:
		return true
	}
	return false
}
