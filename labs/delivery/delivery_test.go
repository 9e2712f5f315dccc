package delivery

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"loglab/labs/labtest"
	"loglab/labs/view"
)

// frame replays a query and draws its page.
func frame(t testing.TB, query string) (*layout, *view.Page) {
	t.Helper()
	f, p := labtest.Replay(t, Lab(), query), &view.Page{}
	build(f, p)
	return newLayout(f), p
}

// stripOf writes the records of a strip, each with its class and word.
func stripOf(p *view.Page, name string) string {
	for _, s := range p.Picture.Strips {
		if s.Name != name {
			continue
		}
		var cells []string
		for _, c := range s.Cells {
			cells = append(cells, fmt.Sprintf("%s:%s", c.Text, strings.TrimPrefix(c.Word, "")))
		}
		return strings.Join(cells, " ")
	}
	return ""
}

func dump(p *view.Page) string {
	var b strings.Builder
	for _, s := range p.Picture.Strips {
		fmt.Fprintf(&b, "%s: ", s.Name)
		for _, c := range s.Cells {
			fmt.Fprintf(&b, "%s/%s/%s ", c.Text, c.Word, c.Stage)
		}
		for _, f := range s.Flags {
			fmt.Fprintf(&b, "[%s]", f.Text)
		}
		for _, g := range s.Gaps {
			fmt.Fprintf(&b, "{%d-%d %s}", g.From, g.To, g.Text)
		}
		fmt.Fprintln(&b)
	}
	for _, c := range p.Picture.Ledger {
		fmt.Fprintf(&b, "  %s = %s (%s)\n", c.Name, c.Number, c.Text)
	}
	b.WriteString(labtest.Reading(p))
	return b.String()
}

func TestDump(t *testing.T) {
	q := os.Getenv("Q")
	if q == "" {
		t.Skip()
	}
	for _, query := range strings.Split(q, " ") {
		l, p := frame(t, query)
		fmt.Println("==", query)
		fmt.Print(dump(p))
		for _, m := range l.app_() {
			fmt.Println(" member:", m)
		}
		if os.Getenv("J") != "" {
			for e := range l.Cluster.Journal().All() {
				if e.Tick > 0 && !strings.Contains(e.Line(), "Message") && !strings.Contains(e.Line(), "Fetch") {
					fmt.Println(e.Line())
				}
			}
		}
	}
}

func (l *layout) app_() (s []string) {
	if l.app != nil {
		for i := range l.app.Members {
			s = append(s, string(l.app.Members[i].ID)+": "+l.memberWords(&l.app.Members[i]))
		}
	}
	return
}
