package offsets

import (
	"fmt"
	"slices"

	"loglab/engine"
	"loglab/engine/command"
	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// buttonsFor is how many consumers have buttons of their own; a form has all.
const buttonsFor = 4

// consumersChosen is how many consumers a field offers at most; of more it wants a name.
const consumersChosen = 8

// actions adds the commands that make sense now.
func (l *layout) actions(p *view.Page) {
	add := func(id, text string, cmd command.Command, warn bool) {
		labs.AddAction(p, l.Address, id, text, cmd, warn)
	}
	labs.AddActionGroup(p, "p0")
	labs.ProducerActions(add, &l.View.Producers[0], command.Produce{Producer: "p0", Key: keyName(0), Default: true}, l.Address.Values.Int("rate") > 0)
	left := buttonsFor
	for _, g := range l.groups {
		labs.AddActionGroup(p, "Group "+g.ID)
		if !slices.ContainsFunc(g.Members, func(m engine.MemberView) bool { return m.Paused }) { // one that stands still cannot leave
			add("do-replay-"+g.ID, "Replay "+g.ID+" from earliest", command.Replay{Group: g.ID, From: command.ResetTo{Rule: command.ToEarliest}}, false)
		}
		for i := range g.Members {
			if left == 0 {
				break
			}
			left--
			labs.AddActionGroup(p, string(g.Members[i].ID))
			l.memberActions(add, &g.Members[i])
		}
	}
	labs.AddActionGroup(p, "Time")
	add("do-wait", "Wait 10 s", command.Wait{Span: 10_000}, false)
	p.Actions.Forms = append(l.forms(), p.Actions.Forms...)
}

// memberActions are the commands for one consumer in its state.
func (l *layout) memberActions(add labs.Adder, m *engine.MemberView) {
	id, n := string(m.ID), kafka.NodeID(m.ID)
	if !labs.ReviveActions(add, n, m.Alive, m.Paused) {
		return
	}
	add("do-crash-"+id, "Crash", command.Crash{Node: n}, true)
	if m.Refuses != "" { // it closes, or has ended and only its process is left
		return
	}
	if l.Address.Values.Int("process") == 0 && len(m.Queue) > 0 {
		add("do-process-"+id, "Process 1", command.Process{Node: n, Count: 1}, false)
	}
	add("do-commit-"+id, "Commit", command.Commit{Node: n}, false)
	add("do-leave-"+id, "Leave", command.Leave{Node: n}, false)
	add("do-pause-"+id, "Pause", command.Pause{Node: n}, true)
	add("do-rebalance-"+id, "Rebalance", command.Rebalance{Node: n}, false)
}

// forms are the commands with something to choose.
func (l *layout) forms() []view.Form {
	list := []view.Form{l.produceForm()}
	if len(l.consumers()) > 0 {
		list = append(list, l.consumerForm(), l.placeForm(), l.offsetsForm())
	}
	return list
}

func (l *layout) produceForm() view.Form {
	to := [][2]string{{"produce p0 *", "by its key"}}
	for i := range l.partitions() {
		to = append(to, [2]string{fmt.Sprintf("produce-to p0 %d *", i), fmt.Sprintf("%s-%d", topic, i)})
	}
	return labs.CommandForm(l.Address, "produce", "Produce", "Produce", labs.Choose("produce-to", "Partition", to...),
		view.Field{ID: "produce-key", Name: "do", Label: "Key", Kind: view.Line, Value: keyName(0), Help: "with spaces in double quotes; - for none"})
}

// consumers lists all consumers.
func (l *layout) consumers() (list [][2]string) {
	for _, g := range l.groups {
		for _, m := range g.Members {
			list = append(list, [2]string{string(m.ID), string(m.ID)})
		}
	}
	return list
}

// whoField is filled in with a consumer: chosen from a few, or named.
func (l *layout) whoField(id string) view.Field {
	list := l.consumers()
	if len(list) > consumersChosen {
		return view.Field{ID: id, Name: "do", Label: "Who", Kind: view.Line, Value: list[0][0], Help: fmt.Sprintf("%s to %s", list[0][0], list[len(list)-1][0])}
	}
	return labs.Choose(id, "Who", list...)
}

// partitionNames lists all partitions.
func (l *layout) partitionNames() (list [][2]string) {
	for _, p := range l.orders() {
		list = append(list, [2]string{p.TopicPartition.String(), p.TopicPartition.String()})
	}
	return list
}

func (l *layout) consumerForm() view.Form {
	return labs.CommandForm(l.Address, "consumer", "A consumer", "Do it",
		labs.Choose("consumer-what", "What", [][2]string{
			{"crash * after poll", "crash after poll"}, {"crash * before processing", "crash before processing"}, {"crash * after processing", "crash after processing"},
			{"crash * before commit", "crash before its commit"}, {"crash * after commit", "crash after its commit"}, {"crash *", "crash now"}, {"start *", "restart"},
			{"process *", "process 1 record"}, {"process * 3", "process 3 records"}, {"commit *", "commit"}, {"leave *", "leave"}, {"pause *", "pause"}, {"resume *", "resume"},
			{"rebalance *", "enforce a rebalance"},
		}...), l.whoField("consumer-who"))
}

func (l *layout) placeForm() view.Form {
	return labs.CommandForm(l.Address, "place", "A consumer and an offset", "Do it",
		labs.Choose("place-what", "What", [][2]string{
			{"seek * * @*", "seek to"}, {"commit * * @*", "commit"}, {"crash * after processing * @*", "crash after processing"}, {"crash * before processing * @*", "crash before processing"},
		}...), l.whoField("place-who"), labs.Choose("place-partition", "Partition", l.partitionNames()...),
		view.Field{ID: "place-offset", Name: "do", Label: "Offset", Kind: view.Number, Value: "0", Max: 1_000_000})
}

func (l *layout) offsetsForm() view.Form {
	var what [][2]string
	for _, g := range l.groups {
		what = append(what, [2]string{"replay " + g.ID + " from *", "replay " + g.ID}, [2]string{"reset " + g.ID + " to *", "reset " + g.ID})
	}
	f := labs.CommandForm(l.Address, "offsets", "Offsets of a group", "Do it", labs.Choose("offsets-what", "What", what...),
		view.Field{ID: "offsets-to", Name: "do", Label: "Where", Kind: view.Line, Value: string(command.ToEarliest), Help: "earliest, latest, offset 1, shift -2, duration 5s or timestamp MS"})
	f.Note = "Replay closes the consumers, resets once the group is empty and starts them again; static members stay in the group until their sessions end. A reset alone needs an empty group."
	return f
}
