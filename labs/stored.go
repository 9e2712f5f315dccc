package labs

import (
	"slices"

	"loglab/labs/view"
)

// Paths of the site that pages lead to beside those of labs.
const (
	StorePath      = "/store"       // takes forms and files that may be too long for an address
	EmbedStorePath = "/embed/store" // the same for a frame in another site's page, which shows what is wrong in place
	FilePrefix     = "/file"        // before the path of a lab: the address as a file; before /scenario and that path: as a scenario
	DiskPrefix     = "/disk"        // before the path of a lab: files of its disk, see DiskPath
)

// DiskPath is where the directory that a lab shows can be had as a zip, as it is at an address, or one file of it if a
// name is given.
func DiskPath(a Address, name string) string {
	a.Site = Pages
	if name != "" {
		name = "/" + name
	}
	return DiskPrefix + name + a.String()
}

// maxStory is the last tick that a scenario can have.
const maxStory = 1000

// saveLink leads to the run as a scenario, once something was done; nil: nothing was, it is too long for one, two
// runs are shown, or the frame stands in another site's page.
func saveLink(a Address) *view.Link {
	n := len(a.Do)
	if n == 0 || a.Site == Embeds || a.head != nil || a.HasTwin() || max(a.T, a.Do[n-1].Tick) > maxStory {
		return nil
	}
	return &view.Link{ID: "save-scenario", Text: "Save as a scenario", Label: "Save as a scenario: this run as a file to write a story for", Href: FilePrefix + "/scenario" + a.Fork().String()}
}

// kept tells that only this server can open the address, and offers a file that every server can.
func kept(a Address) []view.Notice {
	if a.head == nil {
		return nil
	}
	a.Site = Pages
	file := view.Link{ID: "save-file", Text: "Save it as a file", Href: FilePrefix + a.String()}
	return []view.Notice{{
		Text: "This run is too long for an address, so this server keeps a part of it. The link works only here, and until the server needs the room for others. A file works on every server: a lab page opens it at its end.",
		Link: &file,
	}}
}

// Posted makes a form of a lab one that is posted, so that its fields may be longer than an address and
// may be files. The answer leads to the address: the short one where that is enough.
func Posted(a Address, f view.Form) view.Form {
	f.Post, f.Action, f.Go = true, StorePath, ""
	if a.Site == Embeds {
		f.Action = EmbedStorePath
	}
	f.Hidden = slices.DeleteFunc(slices.Clone(f.Hidden), func(p view.Param) bool { return p.Name == goalParam }) // what is stored is a run of the lab
	f.Hidden = append([]view.Param{{Name: PathParam, Value: a.Fork().Path()}}, f.Hidden...)
	return f
}

// OpenForm opens the file of an address.
func OpenForm() view.Form {
	return view.Form{
		ID: "open-file", Title: "Open a file", Post: true, Action: StorePath, Submit: "Open it",
		Fields: []view.Field{{ID: "open-file-file", Name: "file", Label: "A run that was saved here or on another server", Kind: view.File}},
	}
}

// KeepForm stores what is too long of an address.
func KeepForm(a Address) view.Form {
	return Posted(a, view.Form{ID: "keep-run", Hidden: HiddenParams(a), Submit: "Keep it on this server", Note: "The link then works only here, and until the server needs the room for others."})
}

// textBytes is what the settings of an address hold in memory; of stored ones that can be much.
func (a Address) textBytes() int {
	n := 0
	for _, text := range a.Values.text {
		n += len(text)
	}
	return n
}
