package files

import (
	"errors"
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/storage"
	"loglab/labs/inspect"
	"loglab/labs/view"
)

// beside is what a directory has beside the log of the segment with that base offset.
func (d Directory) beside(base, next kafka.Offset) storage.SegmentFiles {
	bytes := func(suffix string) []byte {
		f, ok := d.file(storage.SegmentFileName(base, suffix))
		if ok && f.Bytes == nil {
			return []byte{}
		}
		return f.Bytes
	}
	return storage.SegmentFiles{
		OffsetIndex: bytes(storage.OffsetIndexSuffix), TimeIndex: bytes(storage.TimeIndexSuffix),
		TransactionIndex: bytes(storage.TransactionIndexSuffix), ProducerSnapshot: bytes(storage.ProducerSnapshotSuffix),
		Next: next,
	}
}

// finish ends the comparison with the log as far as it was read. Where that ended is no finding: the fault says it, and may
// be a bound of what is read here.
func (s *segment) finish(c *storage.Comparison) {
	var broken error
	if s.fault != nil {
		broken = errors.New(s.fault.String())
	}
	all, _ := c.Finish(broken)
	for _, f := range all {
		if f.Kind != storage.WrongBatch {
			s.findings = append(s.findings, f)
		}
	}
	s.compared = c.Files()
}

// ShowComparison holds the files of a segment against its .log: each agrees, or where it does not is listed, from
// s.Finding on. It reports false where the directory has no such segment.
func (d Directory) ShowComparison(in *view.Inspector, s Shown, w Ways) bool {
	segment := d.segment(s.Segment)
	if segment == nil {
		return false
	}
	segment.showComparison(in, s, w)
	return true
}

func (s *segment) showComparison(in *view.Inspector, shown Shown, w Ways) {
	in.AddFact(storage.LogSuffix, "%s", s.describeLog())
	s.addCompared(in)
	s.addUnused(in)
	if s.fault != nil {
		in.Links = append(in.Links, w.link("fault", "The bytes at fault", "", s.toFault()))
	}
	if len(s.compared) == 0 {
		in.AddFact("Beside it", "nothing: an .index or .timeindex of the same segment would be held against it")
	}
	n := len(s.findings)
	if n == 0 {
		return
	}
	from, to := window(n, shown.Finding)
	t := view.Table{ID: "findings", Caption: "Where they disagree", Head: []string{"Byte", "File", "Entry", "Offset", "Found", "Expected"}}
	for i, f := range s.findings[from:to] {
		t.Rows = append(t.Rows, findingRow(fmt.Sprintf("finding-%d", from+i), f, w))
	}
	t.More = inspect.RowsLeft(from, to, n, "disagreement")
	if more := s.disagreements() - n; more > 0 {
		t.More = strings.TrimSpace(fmt.Sprintf("%s %s more: of one file the first thousand are listed.", t.More, kafka.Thousands(more)))
	}
	in.Tables = append(in.Tables, t)
	if n > inspect.RowsShown {
		move := func(id, text string, to int) view.Link {
			to = max(0, min(to, n-inspect.RowsShown))
			link := w.link(id, text, "", s.toFinding(to))
			link.Inactive = to == from
			return link
		}
		in.Links = append(in.Links,
			move("findings-start", "First disagreement", 0), move("findings-before", "12 disagreements back", from-inspect.RowsShown),
			move("findings-after", "12 disagreements on", to), move("findings-end", "Last disagreement", n))
	}
}

// findingRow is one disagreement, its byte the way to the bytes.
func findingRow(id string, f storage.Finding, w Ways) view.Row {
	at, entry, offset := view.Plain("none"), "none", "none"
	if f.Byte >= 0 {
		shown := NoTarget
		shown.View, shown.File, shown.Byte = Bytes, f.File, int(f.Byte)
		text := kafka.Thousands(f.Byte)
		at = w.item(id, text, fmt.Sprintf("Byte %s of %s", text, f.File), shown)
	}
	if f.Entry >= 0 {
		entry = fmt.Sprint(f.Entry)
	}
	if f.Offset != kafka.NoOffset {
		offset = fmt.Sprint(f.Offset)
	}
	return view.Row{Items: [][]view.Item{at, view.Plain(string(kindOf(f.File))), view.Plain(entry), view.Plain(offset), view.Plain(f.Found), view.Plain(f.Expected)}}
}

// disagreements counts them, listed or not.
func (s *segment) disagreements() int {
	n := s.disagreementsOfLog()
	for _, f := range s.compared {
		n += f.Findings
	}
	return n
}

// disagreementsOfLog counts those about the .log itself. They are few: of each kind at most one can be in what is read.
func (s *segment) disagreementsOfLog() int {
	n := 0
	for _, f := range s.findings {
		if f.File == s.log.Name {
			n++
		}
	}
	return n
}

// describeLog says how the .log itself came out.
func (s *segment) describeLog() string {
	batches := kafka.Count(len(s.starts), "batch")
	text := "agrees: " + batches
	if n := s.disagreementsOfLog(); n > 0 {
		text = fmt.Sprintf("%s, %s", kafka.Count(n, "disagreement"), batches)
	}
	if s.fault != nil {
		text += fmt.Sprintf(" before the fault at %v. What leads there or beyond is not compared.", s.fault)
	}
	return text
}

// addCompared adds how each file beside the log came out.
func (s *segment) addCompared(in *view.Inspector) {
	for _, f := range s.compared {
		in.AddFact(string(kindOf(f.Name)), "%s", describeCompared(f))
	}
}

// describeCompared says how a file came out, as "agrees: 20 entries".
func describeCompared(f storage.ComparedFile) string {
	var text string
	switch entries := kafka.Count(f.Entries, "entry"); {
	case f.Findings > 0 && f.Entries == 0:
		return fmt.Sprintf("%s; it has no whole entry", kafka.Count(f.Findings, "disagreement"))
	case f.Findings > 0:
		text = fmt.Sprintf("%s; %s of %s agree", kafka.Count(f.Findings, "disagreement"), kafka.Thousands(f.Agree), entries)
	case f.NotCompared > 0:
		text = fmt.Sprintf("agrees as far as it is compared: %s of %s", kafka.Thousands(f.Agree), entries)
	default:
		return "agrees: " + entries
	}
	if f.NotCompared > 0 {
		text += fmt.Sprintf(", %s not compared", kafka.Thousands(f.NotCompared))
	}
	return text
}

// addUnused says which entries a lookup leaves out.
func (s *segment) addUnused(in *view.Inspector) {
	for _, of := range []struct {
		file        File
		sound, size int
	}{{s.index, len(s.OffsetIndex), offsetEntrySize}, {s.times, len(s.TimeIndex), timeEntrySize}} {
		if of.sound >= entriesIn(of.file.Bytes, of.size) {
			continue
		}
		if of.sound == 0 {
			in.AddFact("Not used", "%s: a lookup uses none of its entries", kindOf(of.file.Name))
			continue
		}
		in.AddFact("Not used", "%s from byte %s on: a lookup uses only the %s before it", kindOf(of.file.Name), kafka.Thousands(of.sound), kafka.Count(of.sound/of.size, "entry"))
	}
}

// addFile adds how one of the segment's files came out, and the way to where it disagrees.
func (s *segment) addFile(in *view.Inspector, name string, w Ways) {
	if name == s.log.Name && s.fault != nil {
		in.AddFact("At fault", "%v", s.fault)
	}
	for _, f := range s.compared {
		if f.Name == name {
			in.AddFact("Against the log", "%s", describeCompared(f))
		}
	}
	for i, f := range s.findings {
		if f.File == name {
			in.Links = append(in.Links, w.link("held", "Where it disagrees", "", s.toFinding(i)))
			return
		}
	}
}

// toFinding is what shows the disagreements from one on, toFault the bytes at fault in the .log.
func (s *segment) toFinding(i int) Shown {
	shown := NoTarget
	shown.View, shown.Segment, shown.Finding = Compared, s.BaseOffset, i
	return shown
}

func (s *segment) toFault() Shown {
	shown := NoTarget
	shown.View, shown.File, shown.Byte = Bytes, s.log.Name, s.fault.Byte
	return shown
}
