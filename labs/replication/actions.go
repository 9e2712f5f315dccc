package replication

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/labs"
	"loglab/labs/view"
)

// settings makes the forms of the set-up.
func settings(a labs.Address) []view.Form {
	cluster := labs.SettingsForm(a, "setup", "Cluster and topic", "Apply", labs.NamesOf(clusterSettings())...)
	cluster.Note = fmt.Sprintf("A tick is %d ms, and every message takes one.", tickMillis)
	producer := labs.SettingsForm(a, "producer", "Producer and consumer", "Apply", labs.NamesOf(producerSettings())...)
	producer.Note = idempotenceNote(a.Values)
	return []view.Form{cluster, producer}
}

// idempotenceNote says which value of enable.idempotence holds, and why.
func idempotenceNote(v labs.Values) string {
	asked, err := producerConfig(v)
	if err != nil {
		return "" // the address was refused
	}
	holds, _ := asked.Resolve()
	switch {
	case holds.EnableIdempotence == engine.IdempotenceOn:
		return "In effect: enable.idempotence = true."
	case v.Text("idempotence") == no:
		return "In effect: enable.idempotence = false."
	case v.Text("acks") != acksAll:
		return fmt.Sprintf("In effect: enable.idempotence = false, because acks = %s.", v.Text("acks"))
	}
	return "In effect: enable.idempotence = false, because retries = 0."
}

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	for _, b := range l.View.Brokers {
		labs.AddActionGroup(p, string(b.Node))
		brokerActions(add, b)
	}
	labs.AddActionGroup(p, "p0")
	labs.ProducerActions(add, &l.View.Producers[0], command.Produce{Producer: "p0", Keyless: true, Default: true}, true)
	labs.AddActionGroup(p, "Topic "+topic)
	l.partitionActions(add)
	labs.AddActionGroup(p, "Time")
	labs.WaitActions(add, 1000, 10_000, 45_000)
	p.Actions.Forms = append([]view.Form{labs.LinkForm(l.Address, labs.Nodes(l.View))}, p.Actions.Forms...)
}

// brokerActions are the commands for one broker in its state.
func brokerActions(add labs.Adder, b engine.BrokerView) {
	labs.BrokerActions(add, b)
	id, n := string(b.Node), b.Node
	add("do-wipe-"+id, "Wipe", command.Wipe{Node: n}, true)
	switch {
	case !b.Up():
	case b.DiskDelay > 0:
		add("do-fast-"+id, "Fast disk", command.SlowDisk{Node: n}, false)
	default:
		add("do-slow-"+id, "Slow disk", command.SlowDisk{Node: n, Delay: 500}, true)
	}
}

// partitionActions are elections and settings of the topic that can be changed.
func (l *layout) partitionActions(add labs.Adder) {
	for _, p := range l.drawn() {
		name := p.TopicPartition.String()
		switch {
		case p.Leader == engine.NoLeader && slices.ContainsFunc(p.Replicas, func(r engine.ReplicaView) bool { return !l.broker(r.Broker).Fenced }):
			add("do-unclean-"+name, "Unclean election "+name, command.Elect{TopicPartition: p.TopicPartition, Unclean: true}, true)
		case p.Leader != p.Replicas[0].Broker && slices.Contains(p.ISR, p.Replicas[0].Broker):
			add("do-preferred-"+name, "Preferred election "+name, command.Elect{TopicPartition: p.TopicPartition}, false)
		}
	}
	alter := func(id, text, name, value string, warn bool) {
		add(id, text, command.AlterConfig{Topic: topic, Name: name, Value: value}, warn)
	}
	now := l.minISR()
	for _, n := range []int{now - 1, now + 1} {
		if n >= 1 && n <= l.Address.Values.Int("rf") {
			alter(fmt.Sprintf("do-min-isr-%d", n), fmt.Sprintf("min.insync.replicas = %d", n), "min.insync.replicas", fmt.Sprint(n), n < now)
		}
	}
	if l.uncleanAllowed() {
		alter("do-unclean-off", "Forbid unclean elections", "unclean.leader.election.enable", no, false)
	} else {
		alter("do-unclean-on", "Allow unclean elections", "unclean.leader.election.enable", yes, true)
	}
}

// uncleanAllowed is unclean.leader.election.enable as the topic has it now.
func (l *layout) uncleanAllowed() bool {
	if text, ok := l.View.Controller.Image.TopicSetting(topic, "unclean.leader.election.enable"); ok {
		return text == yes
	}
	return l.Address.Values.Text("unclean") == yes
}
