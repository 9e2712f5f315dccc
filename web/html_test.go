package web

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func elements(t *testing.T, text string) []*html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var list []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n)
		}
	}
	return list
}

// named gives the elements of a name.
func named(list []*html.Node, name string) []*html.Node {
	return slices.DeleteFunc(list, func(n *html.Node) bool { return n.Data != name })
}

func elementByID(t *testing.T, text, id string) *html.Node {
	t.Helper()
	for _, n := range elements(t, text) {
		if attribute(n, "id") == id {
			return n
		}
	}
	t.Fatalf("there is no element %q", id)
	return nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data + " ")
		}
	}
	return text.String()
}

// plainText is what a reader sees of a page.
func plainText(t *testing.T, page string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return textOf(doc)
}
