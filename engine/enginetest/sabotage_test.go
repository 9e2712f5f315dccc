package enginetest

import (
	"strings"
	"testing"

	"loglab/engine"
	"loglab/engine/ledger"
	"loglab/engine/sabotage"
)

// Each invariant speaks up when its rule is broken, and no other does before it: in the runs that the simulator draws,
// with one rule broken, the first thing that is found is what watches over that rule.
func TestBrokenRulesAreFound(t *testing.T) {
	for _, tc := range []struct {
		rule sabotage.Rule
		want ledger.Invariant
		// withoutPromises: producers use acks=1, as otherwise the rule breaks a promise in the same tick.
		withoutPromises bool
		// ofGroups: it takes a run that has a group with a coordinator; the others are played without any.
		ofGroups bool
		// ofConsumers: it takes a run that has a group of the consumer protocol.
		ofConsumers bool
		// ofTransactions: it takes a run that has transactional producers; the others are played without any.
		ofTransactions bool
		// ofApplications: it takes a run that has applications which read, process and write.
		ofApplications bool
	}{
		{rule: sabotage.OffsetsRepeat, want: ledger.OffsetsRise, withoutPromises: true},
		{rule: sabotage.SequencesUnchecked, want: ledger.SequencesInOrder},
		{rule: sabotage.MarkUnclamped, want: ledger.MarksInOrder},
		{rule: sabotage.MarkFalls, want: ledger.WatermarkStays},
		{rule: sabotage.LogsMayDiverge, want: ledger.ReplicasAgree, withoutPromises: true},
		{rule: sabotage.CleansTooMuch, want: ledger.CleaningKeepsLast},
		{rule: sabotage.AcknowledgesEarly, want: ledger.AcknowledgedSurvive},
		{rule: sabotage.ReadsBeyondMark, want: ledger.PositionsBelowMark},
		{rule: sabotage.MetadataRunsAhead, want: ledger.MetadataBehind},
		{rule: sabotage.EpochStands, want: ledger.OneLeaderAnEpoch},
		{rule: sabotage.EpochFalls, want: ledger.EpochsRise},
		{rule: sabotage.StrangerInISR, want: ledger.ISRAmongReplicas},
		{rule: sabotage.FencedLeaderStays, want: ledger.LeaderInISR},
		{rule: sabotage.ElectsAnyone, want: ledger.CleanElection},
		{rule: sabotage.AssignmentRemembers, want: ledger.AssignmentRepeats},
		{rule: sabotage.LeaderServesAll, want: ledger.OneOwner, ofGroups: true},
		{rule: sabotage.OldCommitsAccepted, want: ledger.CommitOfGeneration, ofGroups: true},
		{rule: sabotage.CommitsAhead, want: ledger.NothingSkipped, ofGroups: true},
		{rule: sabotage.EffectsDoubled, want: ledger.EffectsOnce, ofGroups: true},
		{rule: sabotage.OffsetsShownEarly, want: ledger.OffsetsWritten, ofGroups: true},
		{rule: sabotage.SessionsNeverEnd, want: ledger.SessionsEnd, ofGroups: true},
		{rule: sabotage.GivenBeforeReleased, want: ledger.OneHolder, ofGroups: true, ofConsumers: true},
		{rule: sabotage.TargetAhead, want: ledger.GroupEpochsRise, ofGroups: true, ofConsumers: true},
		{rule: sabotage.ReadsUnstable, want: ledger.CommittedOnly, ofTransactions: true},
		{rule: sabotage.AbortedUnlisted, want: ledger.CommittedOnly, ofTransactions: true},
		{rule: sabotage.EndsUnreplicated, want: ledger.StableBelowMark, ofTransactions: true},
		{rule: sabotage.MarkerLeftOut, want: ledger.AllOrNothing, ofTransactions: true},
		{rule: sabotage.CompletesEarly, want: ledger.AllOrNothing, ofTransactions: true},
		{rule: sabotage.EndAnsweredEarly, want: ledger.EndsAsTold, ofTransactions: true},
		{rule: sabotage.OldEpochsAccepted, want: ledger.FencedStayOut, ofTransactions: true},
		{rule: sabotage.ZombiesPass, want: ledger.OneProducerAnEpoch, ofTransactions: true},
		{rule: sabotage.WritesUnverified, want: ledger.TransactionsKnown, ofTransactions: true},
		{rule: sabotage.AddsWhileEnding, want: ledger.TransactionStates, ofTransactions: true},
		{rule: sabotage.OffsetsLeftOut, want: ledger.OutputsOnce, ofGroups: true, ofTransactions: true, ofApplications: true},
	} {
		t.Run(string(tc.want), func(t *testing.T) {
			t.Parallel()
			const most = 300
			for seed := range uint64(most) {
				s := drawSimulation(seed + 1)
				s.spec.Sabotage = tc.rule
				if !tc.ofTransactions {
					s.withoutTransactions()
				} else if len(s.transactional()) == 0 {
					continue
				}
				if !tc.ofGroups {
					s.spec.Groups = nil
				} else if len(s.spec.Groups) == 0 || tc.ofConsumers && s.restarts == 0 {
					continue
				}
				if tc.ofApplications && !s.hasApplications() {
					continue
				}
				for i := range s.spec.Producers {
					if tc.withoutPromises {
						s.spec.Producers[i].Config.Acks, s.spec.Producers[i].Config.EnableIdempotence = 1, engine.IdempotenceOff
					}
				}
				failure := s.play()
				for _, v := range s.violations {
					if v.Invariant != tc.want {
						t.Fatalf("with the rule broken that %s watches over (%s), seed %d: %s\n%s", tc.want, tc.rule, s.seed, v, failure)
					}
				}
				if len(s.violations) > 0 {
					return
				}
			}
			t.Errorf("in %d runs in which %s nothing was found", most, tc.rule)
		})
	}
}

// A transaction that does not come to an end is found: here one that does not time out.
func TestTransactionThatDoesNotEndIsFound(t *testing.T) {
	for seed := range uint64(100) {
		s := drawSimulation(seed + 1)
		s.spec.Groups, s.spec.Sabotage = nil, sabotage.NoTimeouts
		if len(s.transactional()) == 0 {
			continue
		}
		if failure := s.play(); strings.Contains(failure, "is in state Ongoing") {
			return
		}
	}
	t.Error("no run finds a transaction that stays in state Ongoing")
}

// A group that does not come to rest is found: here one whose target assignment stays as it was at first.
func TestGroupThatDoesNotConvergeIsFound(t *testing.T) {
	for seed := range uint64(100) {
		s := drawSimulation(seed + 1)
		if s.restarts == 0 {
			continue
		}
		s.spec.Sabotage = sabotage.TargetStands
		if failure := s.play(); strings.Contains(failure, `is "Assigning"`) {
			return
		}
	}
	t.Error("no run finds a group that stays in state Assigning")
}
