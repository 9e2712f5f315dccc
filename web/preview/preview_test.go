package preview

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"loglab/labs/view"
)

func page(text string) *view.Page {
	return &view.Page{
		Title: text, Goal: text,
		Transport: view.Transport{Clock: text},
		Picture: view.Picture{Strips: []view.Strip{{
			Name:  text,
			Cells: []view.Cell{{Text: text, Offset: "0", Color: 1}, {Text: text, Offset: text, Color: 3, Waiting: true}},
		}}},
	}
}

func drawn(t *testing.T, p *view.Page) (image.Image, []byte) {
	t.Helper()
	data, err := Draw(p)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img, data
}

// The picture has the size that sites ask for, and is small enough for them.
func TestSize(t *testing.T) {
	img, data := drawn(t, page("Partition explorer"))
	if got := img.Bounds().Size(); got != image.Pt(1200, 630) {
		t.Errorf("the picture measures %v", got)
	}
	if len(data) > 300_000 {
		t.Errorf("the picture has %d bytes", len(data))
	}
}

// A record that was read has its key's tint; one that waits is white.
func TestRecordsHaveTheColoursOfTheirKeys(t *testing.T) {
	img, _ := drawn(t, page("7"))
	at := func(cell int) color.RGBA {
		return color.RGBAModel.Convert(img.At(margin+namesWidth+cell*(cellSide+2)+4, lanesTop+4)).(color.RGBA)
	}
	if got, want := at(0), mix(keys[1], paper, 26); got != want {
		t.Errorf("the record that was read is %v, want %v", got, want)
	}
	if got := at(1); got != paper {
		t.Errorf("the record that waits is %v", got)
	}
}

// However long a text is, the margin on the right stays empty.
func TestLongTextsAreCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("W", 150), strings.Repeat("word ", 60), "日本語\x00\u202e<b>", ""} {
		img, _ := drawn(t, page(text))
		for y := range height {
			for x := width - margin + 1; x < width; x++ {
				if color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) != paper {
					t.Fatalf("%.10q reaches the place %d, %d", text, x, y)
				}
			}
		}
	}
}

// A run in which a partition has an owner is in the owner's tint; one in which nobody has it is in that of a warning.
func TestTimelineHasTheColoursOfOwners(t *testing.T) {
	p := page("7")
	p.Picture = view.Picture{Timeline: &view.Timeline{Columns: 40, Now: 10, Parts: []view.TimePart{{Rows: []view.TimeRow{
		{Name: "orders-0", Runs: []view.Run{{From: 0, To: 5, Kind: "read", Color: 2}, {From: 5, To: 20, Kind: "nobody"}}},
	}}}}}
	img, _ := drawn(t, p)
	column := (width - 2*margin - rowNames) / 10
	for at, want := range map[int]color.RGBA{2: mix(keys[2], paper, 26), 7: mix(warn, paper, 26)} {
		if got := color.RGBAModel.Convert(img.At(margin+rowNames+at*column+4, lanesTop+4)).(color.RGBA); got != want {
			t.Errorf("column %d is %v, want %v", at, got, want)
		}
	}
}
