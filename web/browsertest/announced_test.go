package browsertest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

// said is one thing that the browser tells a screen reader.
type said struct{ role, name string }

// announced lists what the browser tells a screen reader of the page.
func announced(b *tab) (list []said) {
	b.t.Helper()
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			json.Unmarshal(v.Value, &s)
		}
		return s
	}
	b.call(func(ctx context.Context) error {
		tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			return err
		}
		for _, n := range tree.Nodes {
			if !n.Ignored {
				list = append(list, said{text(n.Role), text(n.Name)})
			}
		}
		return nil
	})
	return list
}

// Each section is a region with a name, each control and each record has words, and no sign is read out that
// stands beside its words.
func TestWhatAScreenReaderIsTold(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	for address, regions := range map[string][]string{
		explorer + "&do=3:pause+c1&t=12":  {"Transport", "Your own keys", "Now, at tick 12", "Topic orders, 4 partitions; group billing, 6 consumers", "Reading the result", "Events", "Inspector"},
		embedded + "&t=12&chrome=minimal": {"Transport", "Topic orders, 4 partitions; group billing, 6 consumers", "Reading the result"},
		embedded + "&t=12&still=1":        {"Topic orders, 4 partitions; group billing, 6 consumers"},
	} {
		b.open(address)
		told := announced(b)
		var found []string
		for _, s := range told {
			switch s.role {
			case "region":
				found = append(found, s.name)
				fallthrough
			case "button", "link", "image", "textbox", "spinbutton", "slider":
				if s.name == "" {
					t.Errorf("%s: a %s has no words", address, s.role)
				}
			case "StaticText":
				if slices.Contains([]string{"●", "○", "‖", "⇄"}, s.name) {
					t.Errorf("%s: the sign %s is read out", address, s.name)
				}
			}
		}
		for _, region := range regions {
			if !slices.Contains(found, region) {
				t.Errorf("%s: the regions are %q; %q is not among them", address, found, region)
			}
		}
		record := said{"button", "offset 0, key order-15"}
		if regions[len(regions)-1] != "Inspector" {
			record.role = "image"
		}
		for _, want := range []said{{"list", "Partitions"}, {"group", "orders-0"}, record} {
			if !slices.Contains(told, want) {
				t.Errorf("%s: there is no %s %q", address, want.role, want.name)
			}
		}
	}
}
