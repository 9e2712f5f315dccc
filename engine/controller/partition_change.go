package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/sabotage"
)

// Election is how far a leader's election may go.
//
// Source: PartitionChangeBuilder.Election.
type Election int

const (
	OnlineElection    Election = iota // from the ISR
	PreferredElection                 // the preferred leader if it is in the ISR, else as online
	UncleanElection                   // from the ISR, else any replica that is alive
)

// PartitionChange works out what one partition becomes: its leader, ISR and ELR. Fill in the first part, then
// call Build.
//
// Simplified: there are no reassignments to complete.
//
// Source: PartitionChangeBuilder.
type PartitionChange struct {
	TopicID    [16]byte
	Index      kafka.Partition
	Partition  metadata.Partition        // as it is
	Acceptable func(kafka.BrokerID) bool // it is alive and may lead
	MinISR     int                       // the effective min.insync.replicas
	ELR        bool                      // the cluster keeps eligible leader replicas
	Election   Election
	Ordered    bool             // an administrator asked for the election
	ISR        []kafka.BrokerID // that the partition is to have
	Unclean    kafka.BrokerID   // a replica that may have lost records, NoLeader for none
	Recovered  bool             // the leader says that it recovered
	Untold     bool             // the change is not journalled
	Sabotage   sabotage.Rule    // that a test breaks

	eligible []kafka.BrokerID // the ELR that the partition is to have
}

// Chosen is the outcome of an election.
type Chosen struct {
	Leader kafka.BrokerID // NoLeader: nobody
	Clean  bool
	Why    string // the rule
}

// Build gives the record of the change and how the leader was chosen; ok is false when nothing changes.
//
// Source: PartitionChangeBuilder.build.
func (b *PartitionChange) Build() (record metadata.PartitionChangeRecord, how Chosen, ok bool) {
	record = metadata.NewPartitionChange(b.TopicID, b.Index)
	b.populateELR()
	how = b.elect()
	if how.Leader != b.Partition.Leader {
		b.elected(&record, how)
	}
	b.recordELR(&record)
	if record.ISR == nil && (len(b.ISR) > 0 || b.ELR) && !slices.Equal(b.ISR, b.Partition.ISR) {
		record.ISR = present(b.ISR)
		if b.Sabotage == sabotage.StrangerInISR {
			record.ISR = append(record.ISR, stranger)
		}
	}
	b.recordLastKnownLeader(&record)
	if b.Recovered && b.Partition.Recovering {
		record.LeaderRecoveryState = metadata.Recovered
	}
	return record, how, !record.IsNoOp()
}

// stranger is a broker that is in no run.
const stranger kafka.BrokerID = 99

// present gives ids that are not nil: in a record nil means no change.
func present(ids []kafka.BrokerID) []kafka.BrokerID { return append([]kafka.BrokerID{}, ids...) }

// populateELR works out the eligible leader replicas. While the ISR has fewer members than min.insync.replicas,
// who leaves it becomes eligible, because without it nothing more can be committed. From min.insync.replicas
// members on, nobody is.
//
// Source: PartitionChangeBuilder.maybePopulateTargetElr.
func (b *PartitionChange) populateELR() {
	b.eligible = b.Partition.ELR
	if !b.ELR {
		return
	}
	candidates := slices.Concat(b.Partition.ELR, b.Partition.ISR)
	b.eligible = nil
	if len(b.ISR) >= b.MinISR {
		return
	}
	slices.Sort(candidates)
	for _, id := range slices.Compact(candidates) {
		if !slices.Contains(b.ISR, id) && id != b.Unclean {
			b.eligible = append(b.eligible, id)
		}
	}
}

// mayLead says whether a replica can be elected without losing anything: it is alive, and in the ISR or, if the
// ISR is empty, eligible.
//
// Source: PartitionChangeBuilder.isValidNewLeader.
func (b *PartitionChange) mayLead(id kafka.BrokerID) bool {
	return (slices.Contains(b.ISR, id) || len(b.ISR) == 0 && slices.Contains(b.eligible, id)) && b.Acceptable(id)
}

// elect chooses the leader.
//
// Source: PartitionChangeBuilder.electLeader, electPreferredLeader, electAnyLeader.
func (b *PartitionChange) elect() Chosen {
	p := b.Partition
	if b.Election == PreferredElection && b.mayLead(p.PreferredLeader()) {
		return Chosen{p.PreferredLeader(), true, fmt.Sprintf("it is the preferred leader, the first of the replicas %s, and it is in the ISR and alive", ids(p.Replicas))}
	}
	if b.mayLead(p.Leader) || b.Sabotage == sabotage.FencedLeaderStays {
		return Chosen{p.Leader, true, "the leader is in the ISR and alive, so it stays"}
	}
	if at := slices.IndexFunc(p.Replicas, b.mayLead); at >= 0 {
		if len(b.ISR) == 0 {
			return Chosen{p.Replicas[at], true, fmt.Sprintf("the ISR is empty, and of the replicas %s, in this order, it is the first that is an eligible leader replica and alive; "+
				"it has every committed record, for nothing was committed while fewer than min.insync.replicas = %d were in sync", ids(p.Replicas), b.MinISR)}
		}
		return Chosen{p.Replicas[at], true, fmt.Sprintf("of the replicas %s, in this order, it is the first that is in the ISR and alive", ids(p.Replicas))}
	}
	if b.mayLeadAsLastKnown() {
		return Chosen{p.LastKnownELR[0], false, "ISR and eligible leader replicas are empty, and it was the last leader and is alive again"}
	}
	if b.Election == UncleanElection {
		if at := slices.IndexFunc(p.Replicas, b.Acceptable); at >= 0 {
			return Chosen{p.Replicas[at], false, fmt.Sprintf("nobody who has every committed record is alive, %s, and of the replicas %s, in this order, it is the first that is alive", b.uncleanBecause(), ids(p.Replicas))}
		}
		return Chosen{metadata.NoLeader, true, fmt.Sprintf("none of the replicas %s is alive", ids(p.Replicas))}
	}
	return Chosen{metadata.NoLeader, true, "nobody who has every committed record is alive, and a replica that may lack some is not elected"}
}

// uncleanBecause says why the election may be unclean.
func (b *PartitionChange) uncleanBecause() string {
	if b.Ordered {
		return "an administrator asked for an unclean election"
	}
	return "the election may be unclean (unclean.leader.election.enable = true)"
}

// mayLeadAsLastKnown says whether the last leader of a partition that has nobody left can lead again.
//
// Source: PartitionChangeBuilder.canElectLastKnownLeader.
func (b *PartitionChange) mayLeadAsLastKnown() bool {
	return b.ELR && len(b.eligible) == 0 && len(b.ISR) == 0 && len(b.Partition.LastKnownELR) == 1 && b.Acceptable(b.Partition.LastKnownELR[0])
}

// elected notes another leader, or none. One from the eligible replicas becomes the ISR by itself; so does one
// that was elected uncleanly, and it has to recover.
//
// Source: PartitionChangeBuilder.tryElection.
func (b *PartitionChange) elected(record *metadata.PartitionChangeRecord, how Chosen) {
	if slices.Contains(b.eligible, how.Leader) {
		b.ISR = []kafka.BrokerID{how.Leader}
		b.eligible = slices.DeleteFunc(slices.Clone(b.eligible), func(id kafka.BrokerID) bool { return id == how.Leader })
	}
	record.Leader = how.Leader
	if !how.Clean {
		record.ISR = []kafka.BrokerID{how.Leader}
		if !b.Partition.Recovering {
			record.LeaderRecoveryState = metadata.Recovering
		}
	}
}

// recordELR notes the eligible leader replicas if they changed; after an unclean election, or if the cluster
// keeps none, there are none.
//
// Source: PartitionChangeBuilder.maybeUpdateRecordElr.
func (b *PartitionChange) recordELR(record *metadata.PartitionChangeRecord) {
	if record.ISR != nil || !b.ELR {
		b.eligible = nil
	}
	if !slices.Equal(b.eligible, b.Partition.ELR) {
		record.EligibleLeaderReplicas = present(b.eligible)
	}
}

// recordLastKnownLeader notes who led a partition that has no leader now, and forgets it when there is one.
//
// Source: PartitionChangeBuilder.maybeUpdateLastKnownLeader.
func (b *PartitionChange) recordLastKnownLeader(record *metadata.PartitionChangeRecord) {
	switch {
	case !b.ELR:
	case record.Leader == metadata.NoLeader && len(b.Partition.LastKnownELR) == 0:
		record.LastKnownELR = []kafka.BrokerID{b.Partition.Leader}
	case record.Leader >= 0 && len(b.Partition.LastKnownELR) > 0:
		record.LastKnownELR = []kafka.BrokerID{}
	}
}

// ids writes broker ids one after another.
func ids(list []kafka.BrokerID) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = strconv.Itoa(int(id))
	}
	return strings.Join(words, ", ")
}
