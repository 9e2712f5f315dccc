package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// election is how far a leader's election may go.
//
// Source: PartitionChangeBuilder.Election.
type election int

const (
	onlineElection    election = iota // from the ISR
	preferredElection                 // the preferred leader if it is in the ISR, else as online
	uncleanElection                   // from the ISR, else any replica that is alive
)

// partitionChange works out what one partition becomes: its leader, ISR and ELR. Fill in the first part, then
// call build.
//
// Simplified: there are no reassignments to complete.
//
// Source: PartitionChangeBuilder.
type partitionChange struct {
	topicID    [16]byte
	index      kafka.Partition
	partition  metadata.Partition
	acceptable func(kafka.BrokerID) bool // it is alive and may lead
	minISR     int                       // the effective min.insync.replicas
	elr        bool                      // the cluster keeps eligible leader replicas
	election   election
	isr        []kafka.BrokerID // that the partition is to have; begins as what it has
	unclean    kafka.BrokerID   // a replica that may have lost records, NoLeader for none
	recovered  bool             // the leader says that it recovered

	eligible []kafka.BrokerID // the ELR that the partition is to have
}

// chosen is the outcome of an election.
type chosen struct {
	leader kafka.BrokerID // NoLeader: nobody
	clean  bool
	why    string // the rule
}

// build gives the record of the change and how the leader was chosen; ok is false when nothing changes.
//
// Source: PartitionChangeBuilder.build.
func (b *partitionChange) build() (record metadata.PartitionChangeRecord, how chosen, ok bool) {
	record = metadata.NewPartitionChange(b.topicID, b.index)
	b.populateELR()
	how = b.elect()
	if how.leader != b.partition.Leader {
		b.elected(&record, how)
	}
	b.recordELR(&record)
	if record.ISR == nil && (len(b.isr) > 0 || b.elr) && !slices.Equal(b.isr, b.partition.ISR) {
		record.ISR = present(b.isr)
	}
	b.recordLastKnownLeader(&record)
	if b.recovered && b.partition.Recovering {
		record.LeaderRecoveryState = metadata.Recovered
	}
	return record, how, !record.IsNoOp()
}

// present gives ids that are not nil: in a record nil means no change.
func present(ids []kafka.BrokerID) []kafka.BrokerID { return append([]kafka.BrokerID{}, ids...) }

// populateELR works out the eligible leader replicas. While the ISR has fewer members than min.insync.replicas,
// who leaves it becomes eligible, because without it nothing more can be committed. From min.insync.replicas
// members on, nobody is.
//
// Source: PartitionChangeBuilder.maybePopulateTargetElr.
func (b *partitionChange) populateELR() {
	b.eligible = b.partition.ELR
	if !b.elr {
		return
	}
	candidates := slices.Concat(b.partition.ELR, b.partition.ISR)
	b.eligible = nil
	if len(b.isr) >= b.minISR {
		return
	}
	slices.Sort(candidates)
	for _, id := range slices.Compact(candidates) {
		if !slices.Contains(b.isr, id) && id != b.unclean {
			b.eligible = append(b.eligible, id)
		}
	}
}

// mayLead says whether a replica can be elected without losing anything: it is alive, and in the ISR or, if the
// ISR is empty, eligible.
//
// Source: PartitionChangeBuilder.isValidNewLeader.
func (b *partitionChange) mayLead(id kafka.BrokerID) bool {
	return (slices.Contains(b.isr, id) || len(b.isr) == 0 && slices.Contains(b.eligible, id)) && b.acceptable(id)
}

// elect chooses the leader.
//
// Source: PartitionChangeBuilder.electLeader, electPreferredLeader, electAnyLeader.
func (b *partitionChange) elect() chosen {
	p := b.partition
	if b.election == preferredElection && b.mayLead(p.PreferredLeader()) {
		return chosen{p.PreferredLeader(), true, fmt.Sprintf("it is the preferred leader, the first of the replicas %s, and it is in the ISR and alive", ids(p.Replicas))}
	}
	if b.mayLead(p.Leader) {
		return chosen{p.Leader, true, "the leader is in the ISR and alive, so it stays"}
	}
	if at := slices.IndexFunc(p.Replicas, b.mayLead); at >= 0 {
		if len(b.isr) == 0 {
			return chosen{p.Replicas[at], true, fmt.Sprintf("the ISR is empty, and of the replicas %s, in this order, it is the first that is an eligible leader replica and alive; "+
				"it has every committed record, for nothing was committed while fewer than min.insync.replicas = %d were in sync", ids(p.Replicas), b.minISR)}
		}
		return chosen{p.Replicas[at], true, fmt.Sprintf("of the replicas %s, in this order, it is the first that is in the ISR and alive", ids(p.Replicas))}
	}
	if b.mayLeadAsLastKnown() {
		return chosen{p.LastKnownELR[0], false, "ISR and eligible leader replicas are empty, and it was the last leader and is alive again"}
	}
	if b.election == uncleanElection {
		if at := slices.IndexFunc(p.Replicas, b.acceptable); at >= 0 {
			return chosen{p.Replicas[at], false, fmt.Sprintf("nobody who has every committed record is alive, unclean elections are allowed (unclean.leader.election.enable = true), and of the replicas %s, in this order, it is the first that is alive", ids(p.Replicas))}
		}
		return chosen{metadata.NoLeader, true, fmt.Sprintf("none of the replicas %s is alive", ids(p.Replicas))}
	}
	return chosen{metadata.NoLeader, true, "nobody who has every committed record is alive, and a replica that may lack some is not elected"}
}

// mayLeadAsLastKnown says whether the last leader of a partition that has nobody left can lead again.
//
// Source: PartitionChangeBuilder.canElectLastKnownLeader.
func (b *partitionChange) mayLeadAsLastKnown() bool {
	return b.elr && len(b.eligible) == 0 && len(b.isr) == 0 && len(b.partition.LastKnownELR) == 1 && b.acceptable(b.partition.LastKnownELR[0])
}

// elected notes another leader, or none. One from the eligible replicas becomes the ISR by itself; so does one
// that was elected uncleanly, and it has to recover.
//
// Source: PartitionChangeBuilder.tryElection.
func (b *partitionChange) elected(record *metadata.PartitionChangeRecord, how chosen) {
	if slices.Contains(b.eligible, how.leader) {
		b.isr = []kafka.BrokerID{how.leader}
		b.eligible = slices.DeleteFunc(slices.Clone(b.eligible), func(id kafka.BrokerID) bool { return id == how.leader })
	}
	record.Leader = how.leader
	if !how.clean {
		record.ISR = []kafka.BrokerID{how.leader}
		if !b.partition.Recovering {
			record.LeaderRecoveryState = metadata.Recovering
		}
	}
}

// recordELR notes the eligible leader replicas if they changed; after an unclean election, or if the cluster
// keeps none, there are none.
//
// Source: PartitionChangeBuilder.maybeUpdateRecordElr.
func (b *partitionChange) recordELR(record *metadata.PartitionChangeRecord) {
	if record.ISR != nil || !b.elr {
		b.eligible = nil
	}
	if !slices.Equal(b.eligible, b.partition.ELR) {
		record.EligibleLeaderReplicas = present(b.eligible)
	}
}

// recordLastKnownLeader notes who led a partition that has no leader now, and forgets it when there is one.
//
// Source: PartitionChangeBuilder.maybeUpdateLastKnownLeader.
func (b *partitionChange) recordLastKnownLeader(record *metadata.PartitionChangeRecord) {
	switch {
	case !b.elr:
	case record.Leader == metadata.NoLeader && len(b.partition.LastKnownELR) == 0:
		record.LastKnownELR = []kafka.BrokerID{b.partition.Leader}
	case record.Leader >= 0 && len(b.partition.LastKnownELR) > 0:
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
