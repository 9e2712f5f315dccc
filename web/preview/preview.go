package preview

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"loglab/labs/view"
)

// Measures in pixels.
const (
	width, height = 1200, 630
	margin        = 64
	cellSide      = 56
	laneHeight    = 78
	lanesTop      = 258
	lanesShown    = 4
	rowHeight     = 38 // of a timeline
	rowsShown     = 8
	rowNames      = 220
	namesWidth    = 150
)

// The light colours of static/lab/01-page.css.
var (
	paper  = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink    = color.RGBA{0x17, 0x21, 0x2b, 0xff}
	muted  = color.RGBA{0x55, 0x62, 0x70, 0xff}
	line   = color.RGBA{0xd5, 0xda, 0xe0, 0xff}
	accent = color.RGBA{0x1a, 0x4f, 0x8b, 0xff}
	warn   = color.RGBA{0x8f, 0x34, 0x00, 0xff}
	keys   = []color.RGBA{
		{0x8a, 0x94, 0xa0, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0xb3, 0xa6, 0x00, 0xff},
		{0x4d, 0x4d, 0x4d, 0xff},
	}
)

// faces are the type of the picture.
type faces struct{ title, longTitle, text, name, cell, offset font.Face }

func loadFaces() (f faces, err error) {
	for _, face := range []struct {
		to   *font.Face
		ttf  []byte
		size float64
	}{
		{&f.title, gobold.TTF, 60}, {&f.longTitle, gobold.TTF, 46}, {&f.text, goregular.TTF, 28}, {&f.name, gomonobold.TTF, 24},
		{&f.cell, gomonobold.TTF, 20}, {&f.offset, gomono.TTF, 15},
	} {
		parsed, err := opentype.Parse(face.ttf)
		if err != nil {
			return f, err
		}
		// 72 dots an inch: a size is a number of pixels.
		if *face.to, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: face.size, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Draw gives the picture of a page as a PNG.
func Draw(p *view.Page) ([]byte, error) {
	faces, err := loadFaces()
	if err != nil {
		return nil, err
	}
	c := canvas{image.NewRGBA(image.Rect(0, 0, width, height))}
	c.fill(c.Bounds(), paper)
	c.fill(image.Rect(0, 0, 16, height), accent)
	face, titles := faces.title, []string{p.Title}
	if font.MeasureString(face, p.Title).Ceil() > width-2*margin {
		face = faces.longTitle
		titles = wrap(face, p.Title, width-2*margin, 2)
	}
	top, goal, lines := 112, 164, 3 // base lines, and how many the goal has at most
	if len(titles) > 1 {
		top, goal, lines = 86, 188, 2
	}
	for i, words := range titles {
		c.text(face, ink, margin, top+i*52, width-margin, words)
	}
	for i, words := range wrap(faces.text, p.Goal, width-2*margin, lines) {
		c.text(faces.text, muted, margin, goal+i*38, width-margin, words)
	}
	for i, l := range lanes(p.Picture) {
		c.lane(faces, l, lanesTop+i*laneHeight)
	}
	if p.Picture.Timeline != nil {
		c.timeline(faces, p.Picture.Timeline)
	}
	c.text(faces.name, ink, margin, height-24, width-margin, "Log Lab · "+p.Transport.Clock)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, c)
	return out.Bytes(), err
}

// lane is one strip with its name, and on the right what else there is to say of it.
type lane struct {
	view.Strip
	name, text string
}

// lanes gives the strips that are drawn: of partitions, or of the replicas of one.
func lanes(p view.Picture) (list []lane) {
	for _, s := range p.Strips {
		list = append(list, lane{s, s.Name, ""})
	}
	if p.Cluster != nil {
		for _, n := range p.Cluster.Brokers {
			if len(n.Replicas) > 0 {
				r := n.Replicas[0]
				list = append(list, lane{r.Strip, n.Name, r.RoleText + ", " + r.SyncText})
			}
		}
	}
	return list[:min(len(list), lanesShown)]
}

type canvas struct{ *image.RGBA }

func (c canvas) fill(r image.Rectangle, with color.Color) {
	draw.Draw(c, r, image.NewUniform(with), image.Point{}, draw.Src)
}

// text writes one line from x on its base line y; what would pass right is cut.
func (c canvas) text(face font.Face, ink color.Color, x, y, right int, text string) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(cut(face, text, right-x))
}

// centred writes one line in the middle of a cell.
func (c canvas) centred(face font.Face, ink color.Color, left, y int, text string) {
	text = cut(face, text, cellSide-6)
	c.text(face, ink, left+(cellSide-font.MeasureString(face, text).Round())/2, y, left+cellSide, text)
}

// lane draws one partition.
func (c canvas) lane(f faces, s lane, top int) {
	c.text(f.name, ink, margin, top+36, margin+namesWidth-8, s.name)
	left := margin + namesWidth
	c.fill(image.Rect(left, top, width-margin, top+1), line)
	c.fill(image.Rect(left, top+cellSide-1, width-margin, top+cellSide), line)
	for _, cell := range s.Cells {
		if left+cellSide > width-margin {
			return
		}
		c.cell(f, cell, image.Rect(left, top, left+cellSide, top+cellSide))
		left += cellSide + 2
	}
	c.text(f.text, muted, left+24, top+38, width-margin, s.text)
	for _, g := range s.Gaps {
		left = c.gap(f, g, margin+namesWidth, left+24, top)
	}
}

// gap draws a bracket as a bar under the cells that begin at left, and its words behind them; it gives where they end.
func (c canvas) gap(f faces, g view.Gap, left, words, top int) (end int) {
	colour := warn
	if g.Kind == view.InHand {
		colour = muted
	}
	c.fill(image.Rect(left+g.From*(cellSide+2), top+cellSide+4, left+g.To*(cellSide+2)-2, top+cellSide+12), colour)
	c.text(f.name, colour, words, top+38, width-margin, g.Text)
	return words + font.MeasureString(f.name, g.Text).Round()
}

// timeline draws the first rows that have a name, over the columns up to the tick shown.
func (c canvas) timeline(f faces, t *view.Timeline) {
	left, row := margin+rowNames, 0
	column := (width - margin - left) / max(t.Now, 1)
	for _, part := range t.Parts {
		for _, r := range part.Rows {
			if r.Name == "" || row == rowsShown {
				continue
			}
			top := lanesTop + row*rowHeight
			c.text(f.cell, ink, margin, top+24, left-8, r.Name)
			for _, run := range r.Runs {
				if to := min(run.To, t.Now); run.From < to {
					c.run(f, run, image.Rect(left+run.From*column, top, left+to*column, top+rowHeight-8))
				}
			}
			row++
		}
	}
}

// run draws a stretch of ticks in its owner's colour, or as a gap.
func (c canvas) run(f faces, run view.Run, r image.Rectangle) {
	colour := keys[0]
	switch {
	case run.Color > 0 && run.Color < len(keys):
		colour = keys[run.Color]
	case strings.HasPrefix(run.Kind, "nobody"), run.Kind == "begins", run.Kind == "down":
		colour = warn
	}
	c.fill(r, mix(colour, ink, 82))
	c.fill(r.Inset(2), mix(colour, paper, 26))
	if words := font.MeasureString(f.offset, run.Text).Ceil(); words > 0 && words < r.Dx()-6 {
		c.text(f.offset, ink, r.Min.X+(r.Dx()-words)/2, r.Min.Y+20, r.Max.X, run.Text)
	}
}

// cell draws one record as the page does: full once it was read, with a bar above it when it is new.
func (c canvas) cell(f faces, cell view.Cell, r image.Rectangle) {
	key := keys[0]
	if cell.Color > 0 && cell.Color < len(keys) {
		key = keys[cell.Color]
	}
	inside := mix(key, paper, 26)
	if cell.Waiting {
		inside = paper
	}
	c.fill(r, mix(key, ink, 82))
	c.fill(r.Inset(2), inside)
	if cell.New {
		c.fill(image.Rect(r.Min.X, r.Min.Y-6, r.Max.X, r.Min.Y), ink)
	}
	c.centred(f.cell, ink, r.Min.X, r.Min.Y+28, cell.Text)
	below := cell.Offset
	if cell.Stage != "" {
		below = strings.TrimPrefix(cell.Word, "✓") // which the face does not have
	}
	c.centred(f.offset, ink, r.Min.X, r.Min.Y+48, below)
}

// mix gives a colour with percent of a in it, the rest b.
func mix(a, b color.RGBA, percent int) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8((int(x)*percent + int(y)*(100-percent)) / 100) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}

// cut shortens a text to a width.
func cut(face font.Face, text string, width int) string {
	if font.MeasureString(face, text).Ceil() <= width {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && font.MeasureString(face, string(letters)+"…").Ceil() > width {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}

// wrap breaks a text into at most so many lines; the last holds the rest, however long.
func wrap(face font.Face, text string, width, lines int) []string {
	var list []string
	current := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimSpace(current + " " + word)
		if current != "" && len(list) < lines-1 && font.MeasureString(face, longer).Ceil() > width {
			list, longer = append(list, current), word
		}
		current = longer
	}
	return append(list, current)
}
