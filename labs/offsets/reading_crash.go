package offsets

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
	"loglab/labs/view"
)

// readCrashes tells of the last crashes: what was processed, what was committed, who went on where.
func (l *layout) readCrashes(g *groupState) (list []view.Paragraph) {
	from := max(len(g.history.crashes)-crashesTold, 0)
	for i := len(g.history.crashes) - 1; i >= from; i-- {
		list = append(list, l.readCrash(g, &g.history.crashes[i]))
	}
	return list
}

func (l *layout) readCrash(g *groupState, c *crash) view.Paragraph {
	when := fmt.Sprintf("%s crashed in tick %d", c.node, c.tick)
	if c.at != "" {
		when += ", " + c.at
	}
	p := view.Paragraph{{Text: when + ". ", Strong: true}}
	switch {
	case len(c.parts) == 0 && c.fenced:
		return append(p, view.Span{Text: "Others read by then what it took for its own."})
	case len(c.parts) == 0:
		return append(p, view.Span{Text: "It read no partition."})
	}
	waits := true
	for i := range c.parts {
		if c.parts[i].begins >= 0 {
			waits = false
		}
		p = append(p, view.Span{Text: l.crashText(g, &c.parts[i]) + " "})
	}
	if waits {
		p = append(p, view.Span{Text: l.waitText(g, c)})
	}
	return p
}

// came is what came of a crash in one partition.
type came struct {
	again, soFar int // records that are processed again, and how many of them were by now
	lost, since  int // records that nobody processed next, and how many of them were processed later after all
}

// cameOf works it out: from where things stood at the crash, and where the next reader began.
func (g *groupState) cameOf(p *crashPart) (c came) {
	r := p.reckon(p.begins)
	now := &g.parts[p.Partition].standing
	for _, o := range r.again {
		if now.fates(o).Processed > p.fates(o).Processed {
			c.soFar++
		}
	}
	for _, o := range r.lost {
		if now.settled(o) {
			c.since++
		}
	}
	c.again, c.lost = len(r.again), len(r.lost)
	return c
}

// crashText says what a crash meant for one partition.
func (l *layout) crashText(g *groupState, p *crashPart) string {
	name := p.TopicPartition.String()
	had := fmt.Sprintf("%s: it had processed none", name)
	if p.processed >= 0 {
		had = fmt.Sprintf("%s: it had processed up to offset %d", name, p.processed-1)
	}
	if p.others > p.processed {
		had += fmt.Sprintf(" (the group up to %d)", p.others-1)
	}
	if had += " and "; p.processed >= 0 {
		had += "had "
	}
	had += fmt.Sprintf("committed %s.", nothingOr(p.committed))
	if p.stored >= 0 {
		had += fmt.Sprintf(" The sink had stored %d.", p.stored)
	}
	if p.begins < 0 {
		return had
	}
	return had + fmt.Sprintf(" %s began at %d in tick %d: %s.", p.heir, p.begins, p.heirTick, g.cameOf(p).text())
}

// text says it.
func (c came) text() string {
	var parts []string
	switch {
	case c.again > 0 && c.soFar == c.again:
		parts = append(parts, were(c.again, "record")+" processed twice")
	case c.again > 0:
		parts = append(parts, fmt.Sprintf("%s processed again, %d so far", isAre(c.again), c.soFar))
	}
	if never := c.lost - c.since; never > 0 {
		parts = append(parts, were(never, "record")+" never processed")
	}
	if c.since > 0 {
		parts = append(parts, were(c.since, "record")+" passed over, and processed later after all")
	}
	if len(parts) == 0 {
		return "nothing is repeated and nothing lost"
	}
	return strings.Join(parts, ", and ")
}

func were(n int, noun string) string { return kafka.Count(n, noun) + " " + labs.Verb(n, "was", "were") }

func nothingOr(o kafka.Offset) string {
	if o < 0 {
		return "nothing"
	}
	return fmt.Sprint(o)
}

// waitText says what has to happen before somebody reads on.
func (l *layout) waitText(g *groupState, c *crash) string {
	for _, m := range g.silent() {
		if m.Host != c.node {
			continue
		}
		static := "If it is restarted, it has to wait for that too."
		switch {
		case m.InstanceID != "" && c.back >= 0:
			static = fmt.Sprintf("It was restarted in tick %d: its group.instance.id brings its partitions back to it as soon as it has joined.", c.back)
		case m.InstanceID != "":
			static = "If it is restarted before, its group.instance.id brings its partitions back to it at once."
		case c.back >= 0:
			static = fmt.Sprintf("It was restarted in tick %d and is a new member: it waits for that too.", c.back)
		}
		return fmt.Sprintf("The group does not know: it notices in tick %d, when the session ends. Until then nobody reads them. %s", l.tickAt(m.SessionEnds), static)
	}
	return "Nobody reads them yet."
}
