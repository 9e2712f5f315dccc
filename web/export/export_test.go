package export

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"loglab/content"
	"loglab/labs/all"
	"loglab/labs/scenario"
)

func shipped(t *testing.T) []*scenario.Scenario {
	t.Helper()
	list, err := scenario.Load(content.FS, "scenarios", scenario.Known{Labs: all.Labs()})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var leads = regexp.MustCompile(`(?:href|src|action)="([^"#]*)(?:#[^"]*)?"`)

// Every link leads to a file of the folder, no page has a script or a form, and questions lead to their answers.
func TestFilesStandAlone(t *testing.T) {
	for _, told := range shipped(t) {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			checkFiles(t, told)
		})
	}
}

func checkFiles(t *testing.T, told *scenario.Scenario) {
	t.Helper()
	files, err := Files(context.Background(), told)
	if err != nil {
		t.Fatal(err)
	}
	if want := told.End + 3; len(files) != want {
		t.Errorf("%d files, want %d", len(files), want)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.Name] = string(f.Body)
	}
	for name, body := range pages {
		if strings.HasSuffix(name, ".html") {
			checkAlone(t, name, body, pages)
		}
	}
	last := pages[fileOf(told.End)]
	if !strings.Contains(last, `id="reading"`) || !strings.Contains(last, `href="index.html#limits-title"`) || !strings.Contains(pages["index.html"], `id="limits-title"`) {
		t.Error("the last page does not read the result, or nothing says what is simplified")
	}
	if told.Goal != nil && !strings.Contains(last, html.EscapeString(told.Goal.Text)) {
		t.Error("the last page has no goal")
	}
	for _, q := range told.Questions {
		if at := pages[fileOf(q.At)]; !strings.Contains(at, fmt.Sprintf(`href="%s#ask"`, fileOf(q.Decided))) || strings.Contains(at, "What happened") {
			t.Errorf("the page of tick %d does not ask %s", q.At, q.Name)
		}
		if !strings.Contains(pages[fileOf(q.Decided)], "What happened") {
			t.Errorf("the page of tick %d does not answer %s", q.Decided, q.Name)
		}
	}
}

func checkAlone(t *testing.T, name, body string, pages map[string]string) {
	t.Helper()
	for _, word := range []string{"<script", "<form", "<button", "http://", "https://"} {
		if strings.Contains(body, word) {
			t.Errorf("%s has %s", name, word)
		}
	}
	for _, to := range leads.FindAllStringSubmatch(body, -1) {
		if pages[to[1]] == "" {
			t.Errorf("%s leads to %q", name, to[1])
		}
	}
}

// The same scenario gives the same bytes.
func TestSameBytes(t *testing.T) {
	told := shipped(t)[0]
	var zips [2]bytes.Buffer
	for i := range zips {
		files, err := Files(context.Background(), told)
		if err == nil {
			err = Zip(&zips[i], files)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(zips[0].Bytes(), zips[1].Bytes()) {
		t.Errorf("%s: two exports differ", told.Name)
	}
}
