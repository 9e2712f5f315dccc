package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// stripOf writes what stands in a strip, place by place: "a1 C b1".
func stripOf(p *view.Page, name string) string {
	for _, s := range p.Picture.Strips {
		if s.Name != name {
			continue
		}
		var cells []string
		for _, c := range s.Cells {
			cells = append(cells, c.Text)
		}
		return strings.Join(cells, " ")
	}
	return "no strip"
}

// seenBy writes the records that a reader's strip has as seen.
func seenBy(p *view.Page, level string) string {
	var cells []string
	for _, s := range p.Picture.Strips {
		for _, c := range s.Cells {
			if s.Name == level && strings.HasPrefix(c.Stage, isSeen) {
				cells = append(cells, c.Text)
			}
		}
	}
	return strings.Join(cells, " ")
}

// flagsOf writes the marks under a strip.
func flagsOf(p *view.Page, name string) string {
	var list []string
	for _, s := range p.Picture.Strips {
		for _, f := range s.Flags {
			if s.Name == name {
				list = append(list, f.Text)
			}
		}
	}
	return strings.Join(list, ", ")
}

// bracketsOf writes the transactions drawn over a strip: "1–2 tx-0 open".
func bracketsOf(p *view.Page, name string) string {
	var list []string
	for _, s := range p.Picture.Strips {
		for _, g := range s.Gaps {
			if s.Name == name {
				list = append(list, fmt.Sprintf("%d–%d %s", int(s.First)+g.From, int(s.First)+g.To, g.Text))
			}
		}
	}
	return strings.Join(list, ", ")
}

// countOf gives a number of the ledger with its words: "3 once".
func countOf(p *view.Page, name string) string {
	for _, c := range p.Picture.Ledger {
		if c.Name == name {
			return c.Number + " " + c.Text
		}
	}
	return "no number"
}

// stateOf gives the state in which the coordinator has a transactional id.
func stateOf(p *view.Page, id string) string {
	if p.Picture.Machine == nil {
		return "no machine"
	}
	states := p.Picture.Machine.States
	for _, end := range p.Picture.Machine.Ends {
		states = append(states, end...)
	}
	for _, s := range states {
		for _, in := range s.In {
			if in == id {
				return s.Name
			}
		}
	}
	return "in no state"
}

// The coordinator's log can be opened: from whoever writes in transactions to the partition, its records, and their bytes.
func TestInspectTransactionStates(t *testing.T) {
	_, p := frame(t, "t=20&at=node:billing-1")
	if links := p.Inspector.Links; !slices.ContainsFunc(links, func(l view.Link) bool { return strings.Contains(l.Href, "at=partition:__transaction_state-48") }) {
		t.Errorf("the links are %v", links)
	}
	_, p = frame(t, "t=20&at=partition:__transaction_state-48")
	var states []string
	for _, r := range p.Inspector.Tables[0].Rows {
		states = append(states, r.Items[1][0].Text+" "+r.Items[2][0].Text)
	}
	want := []string{
		"tx-billing-1 version 1: Empty, producer id 1 with epoch 0, timeout 60,000 ms",
		"tx-billing-1 version 1: Ongoing, producer id 1 with epoch 0, timeout 60,000 ms; of bills-0; begun 701 ms into the run",
		"tx-billing-1 version 1: Ongoing, producer id 1 with epoch 0, timeout 60,000 ms; of __consumer_offsets-9, bills-0; begun 701 ms into the run",
		"tx-billing-1 version 1: PrepareCommit, producer id 1 with epoch 1, timeout 60,000 ms; of __consumer_offsets-9, bills-0; begun 701 ms into the run",
		"tx-billing-1 version 1: CompleteCommit, producer id 1 with epoch 1, timeout 60,000 ms; begun 701 ms into the run",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, p = frame(t, "t=20&at=record:__transaction_state-48:3")
	for i, want := range []string{
		"0000" + "000c" + "74782d62696c6c696e672d31", // TransactionLogKey.json: type, length, the id
		"0001" + "0000000000000001" + "0001" + "0000ea60" + "02" + "03" + // version, producer id and epoch, timeout, PrepareCommit, two topics
			"13" + "5f5f636f6e73756d65725f6f666673657473" + "02" + "00000009" + "00" + "06" + "62696c6c73" + "02" + "00000000" + "00",
	} {
		a, text := p.Inspector.Anatomies[i], ""
		for _, line := range a.Lines {
			for _, part := range line.Parts {
				text += strings.ReplaceAll(part.Text, " ", "")
				if part.Covered {
					t.Errorf("%s: a CRC is said to cover %q", a.Caption, part.Text)
				}
			}
		}
		if !strings.HasPrefix(text, want) {
			t.Errorf("%s are %s, want %s", a.Caption, text, want)
		}
	}
}

// A topic's id in a message is named by the topic whose it is.
func TestTopicIDsAreNamed(t *testing.T) {
	for query, want := range map[string]string{
		"t=9&at=message:145":            "the id of topic bills",               // the answer to a Produce request
		"t=8&at=message:142":            "the id of topic bills",               // a reader's Fetch request
		"brokers=3&t=26&at=message:550": "the id of topic __transaction_state", // a leader’s answer to a follower
		"brokers=3&t=26&at=message:547": "the id of __cluster_metadata",
	} {
		_, p := frame(t, query)
		got := ""
		for _, a := range p.Inspector.Anatomies {
			for _, field := range a.Fields {
				if strings.HasPrefix(field.Meaning, "the id of") {
					got = field.Meaning
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
