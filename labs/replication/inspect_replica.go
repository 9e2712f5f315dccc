package replication

import (
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// inspectReplica shows one replica: what its broker knows and has, and where it leads what it knows of the others.
func (l *layout) inspectReplica(in *view.Inspector, p engine.PartitionView, r engine.ReplicaView) {
	drawn := l.replica(p, r)
	in.Title = fmt.Sprintf("Replica of %s on %s", p.TopicPartition, labs.BrokerName(r.Broker))
	in.AddFact("Standing", "%s, %s; replicas %s, in this order", drawn.RoleText, drawn.SyncText, labs.BrokerNames(assigned(p)))
	if drawn.Note != "" {
		in.AddFact("Note", "%s", drawn.Note)
	}
	in.AddFact("Log", "from %d, exclusive of its end %d; high watermark %d", r.LogStartOffset, r.LogEndOffset, r.HighWatermark)
	broker := l.broker(r.Broker).Node
	if segments := labs.SegmentsOf(r); len(segments) > 0 {
		last := segments[len(segments)-1]
		in.Links = append(in.Links, l.open("open-segment", "its segment", labs.Target{Kind: labs.SegmentTarget, Partition: p.TopicPartition, Number: int64(last.BaseOffset), Node: broker}))
	}
	in.Links = append(in.Links, l.open("open-broker", string(broker), labs.Target{Kind: labs.NodeTarget, Node: broker}),
		l.open("open-partition", "the metadata of "+p.TopicPartition.String(), labs.Target{Kind: labs.PartitionTarget, Partition: p.TopicPartition}))
	if !r.Online {
		if r.OnDisk != nil {
			in.Tables = append(in.Tables, epochTable(r.OnDisk.Epochs))
		}
		return
	}
	has := r.Replica
	in.AddFact("Believes", "%s in leader epoch %d, partition epoch %d; in sync %s", has.Role, has.State.LeaderEpoch, has.State.PartitionEpoch, labs.BrokerNames(has.State.ISR))
	if kept, ok := l.Cluster.AfterPowerLoss(r.Broker, p.TopicPartition); ok {
		in.AddFact("On the disk", "below offset %d; what follows is only in the page cache", kept.LogEndOffset)
	}
	if has.Role == "leader" {
		in.AddFact("Epoch began", "at offset %d", has.EpochStart)
		in.Tables = append(in.Tables, l.followerTable(has.LogEndOffset, r))
	}
	if has.Proposal != nil {
		in.AddFact("Proposes", "in sync %s: %s; it waits for the controller’s answer", labs.BrokerNames(has.Proposal.ISR), has.Proposal.Why)
	}
	in.Tables = append(in.Tables, epochTable(has.Epochs), producerTable(has.Producers))
}

// epochTable lists the leader epochs of a log.
func epochTable(list []storage.EpochEntry) view.Table {
	t := view.Table{ID: "epochs", Caption: "Leader epochs of the log: truncation goes by them", Head: []string{"Epoch", "Begins at offset"}, Mono: true}
	from := max(len(list)-inspect.RowsShown, 0)
	for _, e := range list[from:] {
		t.Rows = append(t.Rows, inspect.Cells(fmt.Sprint(e.Epoch), fmt.Sprint(e.StartOffset)))
	}
	if len(list) == 0 {
		t.More = "None: the log is empty."
	}
	return t
}

// followerTable lists what a leader knows of the others.
func (l *layout) followerTable(end kafka.Offset, r engine.ReplicaView) view.Table {
	t := view.Table{ID: "followers", Caption: "What the leader knows of the others", Head: []string{"Broker", "Its end, by its last fetch", "Caught up last, ms", "In sync"}}
	for _, f := range r.Replica.Followers {
		at := fmt.Sprintf("%d of %d", f.LogEndOffset, end)
		if f.LogEndOffset < 0 {
			at = "not known yet"
		}
		when := "never in this epoch"
		if f.EverCaughtUp {
			when = kafka.Thousands(f.LastCaughtUp)
		}
		inSync := "no"
		switch {
		case f.InSync && f.CaughtUp:
			inSync = "yes"
		case f.InSync:
			inSync = "yes, but not caught up"
		case f.Eligible:
			inSync = "no; may join"
		}
		t.Rows = append(t.Rows, inspect.Cells(labs.BrokerName(f.ID), at, when, inSync))
	}
	return t
}

// producerTable lists the producers that a log knows.
func producerTable(list []storage.ProducerState) view.Table {
	t := view.Table{ID: "producers", Caption: "Producers that the log knows: duplicates are told by their sequences", Head: []string{"Producer id", "Epoch", "Sequences of the last batches"}, Mono: true}
	for _, p := range list {
		var batches []string
		for _, b := range p.Batches {
			batches = append(batches, fmt.Sprintf("%d–%d at %d", b.BaseSequence, b.LastSequence, b.BaseOffset))
		}
		t.Rows = append(t.Rows, inspect.Cells(fmt.Sprint(p.ProducerID), fmt.Sprint(p.ProducerEpoch), strings.Join(batches, ", ")))
	}
	if len(list) == 0 {
		t.More = "None: no batch carries a producer id."
	}
	return t
}

// inspectMetadata shows a partition as the controller has it beside what each broker knows.
func (l *layout) inspectMetadata(in *view.Inspector, p engine.PartitionView) {
	in.Title = "Metadata of " + p.TopicPartition.String()
	in.AddFact("Preferred leader", "%s, the first of the replicas %s", labs.BrokerName(p.Replicas[0].Broker), labs.BrokerNames(assigned(p)))
	in.AddFact("min.insync.replicas", "%d in effect", p.MinISR)
	t := view.Table{ID: "metadata", Caption: "The controller, and what each broker knows", Head: []string{"Node", "Leader", "Leader epoch", "Partition epoch", "In sync", "Eligible leaders", "Metadata read to"}}
	row := func(name string, leader kafka.BrokerID, epoch kafka.LeaderEpoch, partitionEpoch int32, isr, elr []kafka.BrokerID, offset kafka.Offset) []string {
		led := "none"
		if leader != engine.NoLeader {
			led = labs.BrokerName(leader)
		}
		return []string{name, led, fmt.Sprint(epoch), fmt.Sprint(partitionEpoch), labs.BrokerNames(isr), labs.BrokerNames(elr), fmt.Sprint(offset)}
	}
	truth := row("controller", p.Leader, p.LeaderEpoch, p.PartitionEpoch, p.ISR, p.ELR, l.View.Controller.LogEndOffset)
	t.Rows = append(t.Rows, inspect.Cells(truth...))
	for _, b := range l.View.Brokers {
		known, ok := b.Image.Partition(p.TopicPartition)
		if !ok {
			t.Rows = append(t.Rows, inspect.Cells(labs.BrokerName(b.ID), "knows nothing of it", "", "", "", "", fmt.Sprint(b.MetadataOffset)))
			continue
		}
		cells := row(labs.BrokerName(b.ID), known.Leader, known.LeaderEpoch, known.PartitionEpoch, known.ISR, known.ELR, b.MetadataOffset)
		r := inspect.Cells(cells...)
		for i := 1; i < len(cells)-1; i++ {
			if cells[i] != truth[i] {
				r.Items[i][0].Mark, r.Items[i][0].Label = "stale", "not what the controller has"
			}
		}
		r.Selected = slices.Contains(assigned(p), b.ID) && b.ID == p.Leader
		t.Rows = append(t.Rows, r)
	}
	in.Tables = append(in.Tables, t)
}
