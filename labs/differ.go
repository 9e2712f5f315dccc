package labs

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"loglab/labs/view"
)

// markDifferences marks in two pictures what the other has otherwise or not at all. Parts of the same name are
// compared, and records of the same offset. Where one picture shows a stretch of a log that is out of sight in
// the other, nothing is known and nothing is marked. It says whether it marked anything.
func markDifferences(a, b *view.Picture) bool {
	pairUp(members(a), members(b), func(m *view.Member) string { return m.ID }, markMembers)
	pairUp(pointers(a.Strips), pointers(b.Strips), func(s *view.Strip) string { return s.Name }, markStrips)
	pairUp(pointers(a.Tables), pointers(b.Tables), func(t *view.Table) string { return t.ID }, markTables)
	pairUp(clusterNodes(a), clusterNodes(b), func(n *view.Node) string { return n.ID }, markNodes)
	pairUp(replicas(a), replicas(b), func(r *view.Replica) string { return r.ID }, markReplicas)
	pairUp(pointers(a.Ledger), pointers(b.Ledger), func(c *view.Count) string { return c.Name }, markCounts)
	pairUp(timeRows(a), timeRows(b), func(r *view.TimeRow) string { return r.ID }, markTimeRows)
	pairUp(segments(a), segments(b), func(s *view.Segment) string { return s.ID }, markSegments)
	pairUp(storedCells(a), storedCells(b), func(c *view.Cell) string { return c.ID }, markStored)
	markMachines(a.Machine, b.Machine)
	markMessages(messages(a), messages(b))
	markMessages(messages(b), messages(a))
	return anyDiffers(reflect.ValueOf(a)) || anyDiffers(reflect.ValueOf(b))
}

// markMachines marks two machines of which something is not the same.
func markMachines(x, y *view.Machine) {
	if x != nil && y != nil {
		differ := !reflect.DeepEqual(*x, *y)
		x.Differs, y.Differs = differ, differ
	}
}

// anyDiffers says whether a piece of a page or a part of it is marked.
func anyDiffers(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && anyDiffers(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if anyDiffers(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			isMark := strings.HasSuffix(v.Type().Field(i).Name, "Differs")
			if isMark && !v.Field(i).IsZero() || anyDiffers(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// pairUp calls mark for the elements of each name in either list; what a list lacks is nil.
func pairUp[T any](a, b []*T, name func(*T) string, mark func(x, y *T)) {
	byName := map[string]*T{}
	for _, y := range b {
		byName[name(y)] = y
	}
	for _, x := range a {
		mark(x, byName[name(x)])
		delete(byName, name(x))
	}
	for _, y := range b {
		if byName[name(y)] != nil {
			mark(nil, y)
		}
	}
}

// lone marks what only one of the runs has, and says whether there is such.
func lone[T any](x, y *T, differs func(*T) *bool) bool {
	switch {
	case x == nil:
		*differs(y) = true
	case y == nil:
		*differs(x) = true
	}
	return x == nil || y == nil
}

func pointers[T any](list []T) []*T {
	p := make([]*T, len(list))
	for i := range list {
		p[i] = &list[i]
	}
	return p
}

func members(p *view.Picture) []*view.Member {
	list := pointers(p.Members)
	for _, stop := range p.Network.Stops {
		list = append(list, pointers(stop.Nodes)...)
	}
	return list
}

func messages(p *view.Picture) (list []*view.Message) {
	for _, lane := range p.Network.Lanes {
		list = append(list, pointers(lane.Items)...)
	}
	for _, n := range clusterNodes(p) {
		list = append(list, pointers(n.Inbox)...)
	}
	return list
}

// clusterNodes lists the nodes that stand beside each other.
func clusterNodes(p *view.Picture) []*view.Node {
	if p.Cluster == nil {
		return nil
	}
	list := append(pointers(p.Cluster.Clients), pointers(p.Cluster.Brokers)...)
	if p.Cluster.Controller != nil {
		list = append(list, p.Cluster.Controller)
	}
	return list
}

func replicas(p *view.Picture) (list []*view.Replica) {
	for _, n := range clusterNodes(p) {
		list = append(list, pointers(n.Replicas)...)
	}
	return list
}

// timeRows lists the rows of a timeline.
func timeRows(p *view.Picture) (list []*view.TimeRow) {
	if p.Timeline == nil {
		return nil
	}
	for i := range p.Timeline.Parts {
		list = append(list, pointers(p.Timeline.Parts[i].Rows)...)
	}
	return list
}

// segments lists the segments of a disk.
func segments(p *view.Picture) []*view.Segment {
	if p.Disk == nil {
		return nil
	}
	return pointers(p.Disk.Segments)
}

func markSegments(x, y *view.Segment) {
	if lone(x, y, func(v *view.Segment) *bool { return &v.Differs }) {
		return
	}
	differ := x.State != y.State || x.Part != y.Part || x.Size != y.Size || x.Next != y.Next
	x.Differs, y.Differs = differ, differ
}

// storedCells lists the records that stand in the segments of a disk.
func storedCells(p *view.Picture) (list []*view.Cell) {
	for _, s := range segments(p) {
		for i := range s.Lines {
			for j := range s.Lines[i].Batches {
				list = append(list, pointers(s.Lines[i].Batches[j].Cells)...)
			}
		}
	}
	return list
}

// markStored marks a record that is another one in the other picture. One that is not in sight there may be out of its
// window, so nothing is known.
func markStored(x, y *view.Cell) {
	if x == nil || y == nil {
		return
	}
	differ := x.Text != y.Text || x.Below != y.Below
	x.Differs, y.Differs = differ, differ
}

func markTimeRows(x, y *view.TimeRow) {
	if lone(x, y, func(v *view.TimeRow) *bool { return &v.Differs }) {
		return
	}
	differ := x.Note != y.Note || !slices.Equal(x.Runs, y.Runs)
	x.Differs, y.Differs = differ, differ
}

func markNodes(x, y *view.Node) {
	if lone(x, y, func(v *view.Node) *bool { return &v.Differs }) {
		return
	}
	differ := x.State != y.State || x.Words != y.Words || !slices.Equal(x.Lines, y.Lines) || !slices.Equal(x.Faults, y.Faults)
	x.Differs, y.Differs = differ, differ
}

func markReplicas(x, y *view.Replica) {
	if lone(x, y, func(v *view.Replica) *bool { return &v.Differs }) {
		return
	}
	markStrips(&x.Strip, &y.Strip)
	differ := x.RoleText != y.RoleText || x.SyncText != y.SyncText || x.Note != y.Note
	x.Differs, y.Differs = differ, differ
}

func markCounts(x, y *view.Count) {
	if lone(x, y, func(v *view.Count) *bool { return &v.Differs }) {
		return
	}
	x.Differs, y.Differs = x.Number != y.Number, x.Number != y.Number
}

func markMembers(x, y *view.Member) {
	if lone(x, y, func(v *view.Member) *bool { return &v.Differs }) {
		return
	}
	differ := x.State != y.State || x.Text != y.Text
	x.Differs, y.Differs = differ, differ
}

// markMessages marks the messages that the others lack: those with the same words are the same.
func markMessages(list, others []*view.Message) {
	type words struct{ from, to, text, when string }
	wordsOf := func(m *view.Message) words { return words{m.From, m.To, m.Text, m.When} }
	left := map[words]int{}
	for _, m := range others {
		left[wordsOf(m)]++
	}
	for _, m := range list {
		left[wordsOf(m)]--
		m.Differs = left[wordsOf(m)] < 0
	}
}

func markStrips(x, y *view.Strip) {
	if lone(x, y, func(v *view.Strip) *bool { return &v.Differs }) {
		return
	}
	x.Differs, y.Differs = x.Owner != y.Owner, x.Owner != y.Owner
	x.CountDiffers, y.CountDiffers = x.Count != y.Count, x.Count != y.Count
	x.LagDiffers, y.LagDiffers = x.Lag != y.Lag, x.Lag != y.Lag
	markMachines(x.Above, y.Above)
	pairUp(pointers(x.Cells), pointers(y.Cells), func(c *view.Cell) string { return c.Offset }, func(c, d *view.Cell) {
		switch {
		case c == nil:
			markCell(d, inSight(x, d))
		case d == nil:
			markCell(c, inSight(y, c))
		default:
			differ := !sameCell(*c, *d)
			markCell(c, differ)
			markCell(d, differ)
		}
	})
	markFlags(x, y)
	markFlags(y, x)
	markGaps(x, y)
	markGaps(y, x)
}

// inSight says whether the place of a record is in the window of a strip.
func inSight(s *view.Strip, c *view.Cell) bool {
	offset, err := strconv.ParseInt(c.Offset, 10, 64)
	return err == nil && offset >= s.First && offset < s.First+int64(s.Columns)
}

func markCell(c *view.Cell, differs bool) {
	if differs {
		c.Differs = true
		c.Label += ", not so in the other run"
	}
}

// sameCell compares what a reader sees of two records, but for which is open in the inspector.
func sameCell(c, d view.Cell) bool {
	c.ID, c.At, c.Selected = d.ID, d.At, d.Selected
	return c == d
}

// markFlags marks those of a strip that the other has elsewhere, as far as their place is in its sight.
func markFlags(s, other *view.Strip) {
	for i, f := range s.Flags {
		f.Column += int(s.First - other.First)
		inSight := f.Column >= 0 && f.Column < other.Columns
		s.Flags[i].Differs = inSight && !slices.Contains(plainFlags(other.Flags), f)
	}
}

// markGaps marks those of a strip that the other does not have, where both show the same stretch.
func markGaps(s, other *view.Strip) {
	for i, g := range s.Gaps {
		s.Gaps[i].Differs = s.First == other.First && !slices.ContainsFunc(other.Gaps, func(o view.Gap) bool {
			o.Differs = false
			return o == g
		})
	}
}

// plainFlags are flags without their marks.
func plainFlags(flags []view.Flag) []view.Flag {
	plain := slices.Clone(flags)
	for i := range plain {
		plain[i].Differs = false
	}
	return plain
}

func markTables(x, y *view.Table) {
	if lone(x, y, func(v *view.Table) *bool { return &v.Differs }) {
		return
	}
	x.Differs, y.Differs = x.Caption != y.Caption, x.Caption != y.Caption
	head := func(r *view.Row) string { return itemsText(r.Items[0]) }
	pairUp(pointers(x.Rows), pointers(y.Rows), head, func(r, s *view.Row) {
		switch {
		case r == nil:
			s.Differs = []bool{true}
		case s == nil:
			r.Differs = []bool{true}
		default:
			markRow(r, s)
		}
	})
}

// markRow compares two rows of the same head, cell by cell.
func markRow(r, s *view.Row) {
	for i := range min(len(r.Items), len(s.Items)) {
		if itemsText(r.Items[i]) == itemsText(s.Items[i]) {
			continue
		}
		if r.Differs == nil {
			r.Differs, s.Differs = make([]bool, len(r.Items)), make([]bool, len(s.Items))
		}
		r.Differs[i], s.Differs[i] = true, true
	}
}

// itemsText is what a reader sees of a table's cell.
func itemsText(items []view.Item) string {
	text := ""
	for _, i := range items {
		text += i.Text + "\x00" + i.Mark + "\x00"
	}
	return text
}
