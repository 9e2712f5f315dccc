package web

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"loglab/labs"
	"loglab/labs/all"
)

// The directory of the segment lab comes as a zip, and each of its files by itself, byte for byte as they are on the
// broker's disk at the tick of the address. What there is not is told.
func TestDisk(t *testing.T) {
	s := newSite(t)
	lab, _ := all.ByName("segments")
	const query = "v=1&t=20"
	a, err := labs.Parse(lab, labs.Pages, query)
	if err != nil {
		t.Fatal(err)
	}
	c, err := labs.Replay(a)
	if err != nil {
		t.Fatal(err)
	}
	name, want := lab.Disk(c)
	w := ask(s, http.MethodGet, "/disk/lab/segments?"+query)
	if got := w.Header().Get("Content-Disposition"); w.Code != http.StatusOK || got != `attachment; filename="orders-0-tick-20.zip"` {
		t.Fatalf("status %d, %s", w.Code, got)
	}
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != len(want) || len(want) < 10 {
		t.Fatalf("%d files in the zip, %d on the disk, want at least 10", len(z.File), len(want))
	}
	for i, f := range z.File {
		opened, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name != name+"/"+want[i].Name || !bytes.Equal(got, want[i].Bytes) {
			t.Errorf("%s in the zip is not %s on the disk", f.Name, want[i].Name)
		}
		one := ask(s, http.MethodGet, "/disk/"+want[i].Name+"/lab/segments?"+query)
		if one.Code != http.StatusOK || !bytes.Equal(one.Body.Bytes(), want[i].Bytes) || one.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: status %d, %s, %d bytes", want[i].Name, one.Code, one.Header().Get("Content-Type"), one.Body.Len())
		}
	}
	for target, words := range map[string]string{
		"/disk/00000000000000000099.log/lab/segments?" + query: "There is no such file",
		"/disk/%3Cb%3E/lab/segments?" + query:                  "There is no such file",
		"/disk/lab/partitions?v=1&t=1":                         "This lab has no files to keep",
		"/disk/lab/nothing?v=1":                                "There is no such lab",
	} {
		if w := ask(s, http.MethodGet, target); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), words) || strings.Contains(w.Body.String(), "<b>") {
			t.Errorf("%s: status %d, want 404 with %q", target, w.Code, words)
		}
	}
}
