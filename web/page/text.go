package page

import (
	"fmt"
	"html"
	"net/url"
	"strings"

	"loglab/labs/lesson"
	"loglab/labs/view"
)

func skipAddress(lab bool) string {
	if lab {
		return "#lab"
	}
	return "#content"
}

// politeness keeps a screen reader from a sentence for every frame while playing.
func politeness(p *view.Page) string {
	if p.Stream != "" {
		return "off"
	}
	return "polite"
}

func termAddress(slug string) string { return "/glossary/" + slug }

// titleOf is the title of a term; a slug that no term has stands for itself.
func titleOf(terms lesson.Glossary, slug string) string {
	if t, ok := terms.Term(slug); ok {
		return t.Title
	}
	return slug
}

// lookClass is the class of the whole document for a theme and a size.
func lookClass(h head) string {
	var names []string
	if h.Theme != "" {
		names = append(names, "theme-"+h.Theme)
	}
	if h.Size != "" {
		names = append(names, "size-"+h.Size)
	}
	return strings.Join(names, " ")
}

func frameClass(p *view.Page) string {
	class := "lab"
	switch {
	case p.Still:
		class = "lab still"
	case p.Minimal:
		class = "lab minimal"
	}
	if p.Twin != nil {
		class += " two"
	}
	return class
}

// benchClass says what stands beside the picture.
func benchClass(p *view.Page) string {
	if p.Story != nil && !p.Story.Trying {
		return "bench with-story"
	}
	return "bench"
}

// FrameTitle names a frame where the page around it does not: "Partition explorer, tick 12".
func FrameTitle(p *view.Page) string { return fmt.Sprintf("%s, tick %d", p.Title, p.Tick) }

// EmbedHeight is the height in pixels of an embedded frame: transport and the picture of a lab as it starts.
const EmbedHeight = 720

// embedCode is what an author pastes into a page to have the frame in it. lab.js writes the same for the
// frames that follow.
func embedCode(p *view.Page, origin string) string { return FrameCode(p, origin, "100%", EmbedHeight) }

// FrameCode is an <iframe> of a page that is not embedded itself. The width is in pixels or "100%".
func FrameCode(p *view.Page, origin, width string, height int) string {
	may := `allow="clipboard-write"`
	if p.Still {
		may = `tabindex="-1"` // a browser stops at a frame although nothing in it takes the focus
	}
	return fmt.Sprintf(`<iframe title="%s" src="%s" width="%s" height="%d" loading="lazy" %s></iframe>`,
		html.EscapeString(FrameTitle(p)), html.EscapeString(origin+"/embed"+p.Address), width, height, may)
}

// MakeEmbedPath is the page on which an author makes the code for a frame; its parameter "url" is a link to one.
const MakeEmbedPath = "/make-embed"

// makeEmbedLink leads there.
func makeEmbedLink(p *view.Page) string { return MakeEmbedPath + "?url=" + url.QueryEscape(p.Address) }

// ElementPath is the script of the element <log-lab> for pages of other sites.
const ElementPath = "/embed.js"

// elementCode is the same frame as an element that is as high as it needs to be, and its script.
func elementCode(p *view.Page, origin string) string {
	title, to := html.EscapeString(FrameTitle(p)), html.EscapeString(origin+p.Address)
	return fmt.Sprintf("<script type=\"module\" src=\"%s\"></script>\n<log-lab src=\"%s\" title=\"%s\"><a href=\"%s\">%s</a></log-lab>",
		html.EscapeString(origin+ElementPath), to, title, to, title)
}

// The size of the picture for previews of links, in pixels.
const (
	PreviewWidth  = 1200
	PreviewHeight = 630
)

// PreviewName ends the path of the picture that other sites show of a link to a lab or a scenario.
const PreviewName = "/preview.png"

// PreviewPath is the path of the picture of a page's lab or scenario.
func PreviewPath(p *view.Page) string {
	return strings.TrimPrefix(p.Path, "/embed") + PreviewName
}

// previewOf is nothing where the origin is not known: other sites take no address without a host.
func previewOf(p *view.Page, origin string) preview {
	if origin == "" {
		return preview{}
	}
	return preview{
		Title: FrameTitle(p), URL: origin + p.Address, Image: origin + PreviewPath(p),
		ImageText: p.Title + ": " + pictured(p),
	}
}

// pictured says what the preview picture of a page draws.
func pictured(p *view.Page) string {
	if p.Picture.Timeline != nil {
		return "who reads which partition, over time"
	}
	return "logs, a strip of records each"
}

// discovery is where a site that has a link to a frame asks how to show it; empty where the origin is not known.
func discovery(p *view.Page, origin string) string {
	if origin == "" {
		return ""
	}
	return origin + "/oembed?url=" + url.QueryEscape(origin+p.Address)
}

// tickClass marks the ticks that are stops.
func tickClass(l view.Link) string {
	if l.Primary {
		return "stop"
	}
	return ""
}
