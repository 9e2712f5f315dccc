package export

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loglab/labs"
	"loglab/labs/scenario"
	"loglab/labs/view"
	"loglab/static"
	"loglab/web/page"
)

// File is one file of the folder.
type File struct {
	Name string
	Body []byte
}

// cacheBytes is the memory of the run while its pages are drawn.
const cacheBytes = 64 << 20

// assets are the files beside the pages.
var assets = page.Assets{Style: "style.css", Icon: "icon.svg"}

// Files gives the files of a scenario, sorted by name. The error is that of its run.
func Files(ctx context.Context, told *scenario.Scenario) ([]File, error) {
	files, err := beside()
	if err != nil {
		return nil, err
	}
	runs := labs.NewRuns(cacheBytes)
	start := labs.StartStory(told.Story, labs.Pages)
	start.Still = true
	for tick := 0; tick <= told.End; tick++ {
		p, err := runs.Page(ctx, start.WithTick(tick))
		if err != nil {
			return nil, err
		}
		html, err := page.Render(ctx, page.Offline(assets, offline(told, p)))
		if err != nil {
			return nil, err
		}
		files = append(files, File{fileOf(tick), html})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// beside gives what all pages need.
func beside() (files []File, err error) {
	served, err := static.New()
	if err != nil {
		return nil, err
	}
	for from, to := range map[string]string{"lab.css": assets.Style, "icon.svg": assets.Icon} {
		f, _ := served.Open(strings.TrimPrefix(served.Path(from), static.Prefix))
		files = append(files, File{to, f.Body})
	}
	return files, nil
}

// fileOf is the file of a tick; the first is the one that a folder opens with.
func fileOf(tick int) string {
	if tick == 0 {
		return "index.html"
	}
	return fmt.Sprintf("tick-%04d.html", tick)
}

// offline is the page of a tick with its links to the others.
func offline(told *scenario.Scenario, p *view.Page) page.OfflinePage {
	stops := told.StopTicks()
	before, after := 0, told.End
	for _, stop := range stops {
		if stop < p.Tick {
			before = stop
		}
	}
	for _, stop := range slices.Backward(stops) {
		if stop > p.Tick {
			after = stop
		}
	}
	o := page.OfflinePage{Page: p, Ways: []view.Link{
		way("Previous stop", before, p.Tick, told.End), way("Back", p.Tick-1, p.Tick, told.End),
		way("Step", p.Tick+1, p.Tick, told.End), way("Next stop", after, p.Tick, told.End),
	}}
	o.Ways[3].Primary = !o.Ways[3].Inactive
	for tick := 0; tick <= told.End; tick++ {
		l := view.Link{Href: fileOf(tick), Text: fmt.Sprint(tick), Current: tick == p.Tick, Primary: slices.Contains(stops, tick)}
		if l.Primary {
			l.Label = fmt.Sprintf("Tick %d, a stop", tick)
		}
		o.Ticks = append(o.Ticks, l)
	}
	if p.Tick > 0 {
		o.Limits = fileOf(0) + "#limits-title"
	}
	if ask := p.Story.Ask; ask != nil && ask.Happened == "" {
		for _, q := range told.Questions {
			if q.Name == ask.Name {
				o.Answer = fileOf(q.Decided) + "#ask"
			}
		}
	}
	return o
}

// way leads to a tick; where there is none, or it is the one shown, there is nothing to do.
func way(text string, tick, shown, end int) view.Link {
	tick = min(max(tick, 0), end)
	id := strings.ToLower(strings.ReplaceAll(text, " ", "-"))
	return view.Link{ID: id, Text: text, Href: fileOf(tick), Inactive: tick == shown}
}

// zipTime is the time of every file in a zip, the first that the format has.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Zip writes the files as a zip with index.html at its top.
func Zip(w io.Writer, files []File) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: zipTime})
		if err == nil {
			_, err = entry.Write(f.Body)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}
