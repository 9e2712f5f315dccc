package web

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs/store"
)

// own is a file of a form: its field, name and content.
type own struct {
	field, name string
	body        []byte
}

// ownLog is n batches of one record with offset i, uncompressed.
func ownLog(t testing.TB, n int) []byte {
	t.Helper()
	var raw []byte
	for i := range n {
		b := record.NewBuilder(record.Options{})
		b.Append(1_700_000_000_000+kafka.Timestamp(i), []byte("k"), []byte("<b>v</b>"))
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(batch, kafka.Offset(i), 0)
		raw = append(raw, batch...)
	}
	return raw
}

// sendFiles sends files as a browser does.
func sendFiles(t testing.TB, s *Site, list ...own) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range list {
		part, err := form.CreatePart(map[string][]string{"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", f.field, f.name)}, "Content-Type": {"application/octet-stream"}})
		if err != nil {
			t.Fatal(err)
		}
		part.Write(f.body)
	}
	form.Close()
	return postFile(s, form.FormDataContentType(), &body)
}

func postFile(s *Site, kind string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/file", body)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// sent wants a 303 and gives the address.
func sent(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// A file is shown at an address that its content names, and comes back as it was, as a file and never as a page.
func TestAnOwnFileIsShownAndComesBack(t *testing.T) {
	s := newSite(t)
	log, index := ownLog(t, 40), []byte{}
	address := sent(t, sendFiles(t, s, own{"log", "00000000000000000000.log", log}, own{"index", "x.index", index}, own{"timeindex", "", nil}))
	if again := sent(t, sendFiles(t, s, own{"index", "", index}, own{"log", "other.log", log})); !strings.HasPrefix(address, again+"&index=") {
		t.Errorf("without the index the address is %s, with it %s", again, address)
	}
	w := ask(s, "GET", address)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "40 batches with 40 records") || !strings.Contains(w.Body.String(), "&lt;b&gt;v&lt;/b&gt;") || strings.Contains(w.Body.String(), "<b>v</b>") {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if other := ask(s, "GET", address+"&record=0"); other.Code != http.StatusTemporaryRedirect || other.Header().Get("Location") != address {
		t.Errorf("another spelling is answered %d %s", other.Code, other.Header().Get("Location"))
	}
	_, query, _ := strings.Cut(address, "?")
	for path, want := range map[string]string{
		"/file/segment/copy?" + query + "&file=log":   "00000000000000000000.log",
		"/file/segment/copy?" + query + "&file=index": "00000000000000000000.index",
		"/file/segment/zip?" + query:                  "00000000000000000000.zip",
	} {
		w := ask(s, "GET", path)
		for name, value := range map[string]string{"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="` + want + `"`, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if got := w.Header().Get(name); got != value || w.Code != 200 {
				t.Errorf("%s: %d, %s is %q, want %q", path, w.Code, name, got, value)
			}
		}
		switch want {
		case "00000000000000000000.log":
			if !bytes.Equal(w.Body.Bytes(), log) {
				t.Error("the copy is not what was sent")
			}
		case "00000000000000000000.zip":
			z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
			if err != nil || len(z.File) != 2 || z.File[1].Name != "uploaded/00000000000000000000.log" {
				t.Errorf("the zip: %v", err)
			}
		}
	}
}

// Every link of every view leads somewhere, and every view is small.
func TestEveryLinkOfAnOwnFileLeadsSomewhere(t *testing.T) {
	s := newSite(t)
	address := sent(t, sendFiles(t, s, own{"log", "00000000000000000000.log", ownLog(t, 400)}, own{"index", "x.index", bytes.Repeat([]byte{0, 0, 0, 9, 0, 0, 0, 1}, 20)}))
	seen := map[string]bool{}
	for _, page := range []string{"/file", address, address + "&batch=7700", address + "&view=bytes", address + "&view=bytes&byte=7700", address + "&view=find&offset=4", address + "&view=find&time=1700000000004", address + "&view=check", address + "&view=check&finding=5"} {
		w := ask(s, "GET", page)
		list := elements(t, w.Body.String())
		if w.Code != 200 || len(list) > 1200 {
			t.Errorf("%s: %d, %d elements", page, w.Code, len(list))
		}
		for _, n := range list {
			for _, key := range []string{"href", "src"} {
				link, _, _ := strings.Cut(attribute(n, key), "#")
				if link == "" || seen[link] {
					continue
				}
				seen[link] = true
				if w := ask(s, "GET", link); w.Code != 200 {
					t.Errorf("%s: <%s %s=%q>: %d", page, n.Data, key, link, w.Code)
				}
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d links were found", len(seen))
	}
}

// What cannot be taken says which field it is, what was found and what is allowed, and keeps nothing.
func TestFilesThatAreRefused(t *testing.T) {
	s := newSite(t)
	log := ownLog(t, 1)
	good := own{"log", "00000000000000000000.log", log}
	for name, test := range map[string]struct {
		files  []own
		status int
		words  []string
	}{
		"no part":         {nil, 400, []string{"No .log file was sent", "one .log file, up to 16 MiB"}},
		"none chosen":     {[]own{{"log", "", nil}, {"index", "", nil}}, 400, []string{"No .log file was sent"}},
		"only an index":   {[]own{{"index", "x.index", make([]byte, 8)}}, 400, []string{"No .log file was sent"}},
		"two logs":        {[]own{good, good}, 400, []string{"One file was sent twice", ">log<", "two files"}},
		"unknown field":   {[]own{good, {"<i>x</i>", "x", log}}, 400, []string{"&lt;i&gt;x&lt;/i&gt;", "log, index, timeindex"}},
		"an empty file":   {[]own{{"log", "00000000000000000000.log", nil}}, 422, []string{"This is not a log", "0 bytes"}},
		"a short file":    {[]own{{"log", "x.log", log[:60]}}, 422, []string{"60 bytes, not even the header of one batch"}},
		"not a log":       {[]own{{"log", "<script>x</script>.log", []byte(strings.Repeat("<script>", 20))}}, 422, []string{"This is not a log", "magic is 60"}},
		"an index as log": {[]own{{"log", "x.index", make([]byte, 80)}}, 422, []string{"This is not a log"}},
		"one byte too many": {[]own{{"log", "x.log", append(log[:len(log):len(log)], make([]byte, store.MaxFile+1-len(log))...)}}, 413,
			[]string{"This file is too large", "more than 16,777,216 bytes", "at most 16,777,216 bytes"}},
		"index too large": {[]own{good, {"index", "x.index", make([]byte, store.MaxFile+1)}}, 413, []string{">index<", "more than 16,777,216 bytes"}},
	} {
		w := sendFiles(t, s, test.files...)
		if w.Code != test.status {
			t.Errorf("%s: %d, want %d", name, w.Code, test.status)
		}
		for _, words := range test.words {
			if !strings.Contains(w.Body.String(), words) {
				t.Errorf("%s: the page does not say %q", name, words)
			}
		}
		if strings.Contains(w.Body.String(), "<script>") || !strings.Contains(w.Body.String(), `id="upload"`) {
			t.Errorf("%s: markup of the reader, or no form to try again", name)
		}
	}
	for kind, status := range map[string]int{"text/plain": 415, "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 400, "": 415} {
		if w := postFile(s, kind, strings.NewReader("--x\r\nbroken")); w.Code != status {
			t.Errorf("%q: %d, want %d", kind, w.Code, status)
		}
	}
	if w := sendFiles(t, s, own{"log", "x.log", make([]byte, store.MaxFile)}, own{"index", "i", make([]byte, store.MaxFile)}, own{"timeindex", "t", make([]byte, store.MaxFile)}, own{"log", "", make([]byte, 80<<10)}); w.Code != 413 && w.Code != 400 {
		t.Errorf("more than all files together: %d", w.Code)
	}
	if _, _, found, _ := s.store.File(hashIn(t, sent(t, sendFiles(t, newSite(t), good)))); found {
		t.Error("a form that was refused has left its log here")
	}
}

// hashIn is the hash of the log in an address.
func hashIn(t *testing.T, address string) string {
	t.Helper()
	_, hash, ok := strings.Cut(address, "log=")
	if !ok {
		t.Fatalf("%s names no log", address)
	}
	hash, _, _ = strings.Cut(hash, "&")
	return hash
}

// The largest files are taken.
func TestTheLargestFileIsTaken(t *testing.T) {
	s := newSite(t)
	log := ownLog(t, 1)
	log = append(log, make([]byte, store.MaxFile-len(log))...)
	address := sent(t, sendFiles(t, s, own{"log", "00000000000000000000.log", log}))
	w := ask(s, "GET", address+"&view=bytes&byte=16777215")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "of 16,777,216") {
		t.Errorf("%d", w.Code)
	}
}

// After an hour the addresses of a file answer 404 and say why, also while the server forgets.
func TestAnOwnFileIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.forget(ctx)
		address := sent(t, sendFiles(t, s, own{"log", "00000000000000000000.log", ownLog(t, 2)}))
		time.Sleep(time.Hour - time.Second)
		if w := ask(s, "GET", address); w.Code != 200 || !strings.Contains(w.Body.String(), "keeps the files until 01:00 UTC on 1 January 2000") {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		time.Sleep(time.Second)
		for _, target := range []string{address, strings.Replace(address, "segment", "segment/copy", 1) + "&file=log", strings.Replace(address, "segment", "segment/zip", 1)} {
			if w := ask(s, "GET", target); w.Code != 404 || !strings.Contains(w.Body.String(), "kept for an hour") || !strings.Contains(w.Body.String(), `id="upload"`) {
				t.Errorf("%s: %d", target, w.Code)
			}
		}
		time.Sleep(forgetEvery)
		synctest.Wait()
	})
}

// Where all places are taken, who comes waits a little and is told to come again.
func TestTooManyFilesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		address := sent(t, sendFiles(t, s, own{"log", "x.log", ownLog(t, 1)}))
		for _, g := range []gate{s.uploads, s.fileViews, s.copies} {
			for range cap(g.places) {
				g.places <- struct{}{}
			}
		}
		answers := []*httptest.ResponseRecorder{sendFiles(t, s, own{"log", "x.log", ownLog(t, 1)}), ask(s, "GET", address), ask(s, "GET", strings.Replace(address, "segment", "segment/zip", 1))}
		for i, w := range answers {
			if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "Too many files") {
				t.Errorf("answer %d: %d %q", i, w.Code, w.Header().Get("Retry-After"))
			}
		}
	})
}

// Addresses that nobody has written are refused by name.
func TestBadAddressesOfOwnFiles(t *testing.T) {
	s := newSite(t)
	address := sent(t, sendFiles(t, s, own{"log", "x.log", ownLog(t, 2)}))
	for target, want := range map[string]struct {
		status int
		words  string
	}{
		"/file/segment":                     {400, "the hash of a .log file"},
		"/file/segment?log=x":               {400, "43 letters"},
		address + "&view=bytes&byte=99999":  {400, "the file has the bytes 0 to 153"},
		address + "&view=bytes&inside=0":    {400, "the first byte of a compressed batch"},
		address + "&view=<script>":          {400, "batches, bytes, find and check"},
		"/file/segment/copy?file=log":       {400, "the hash of a .log file"},
		address + "&view=find&offset=-1":    {400, "a whole number from 0 on"},
		"/file/segment/none":                {404, "no such page"},
		"/file/segment?log=" + forgottenLog: {404, "kept for an hour"},
	} {
		if w := ask(s, "GET", target); w.Code != want.status || !strings.Contains(w.Body.String(), want.words) || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: %d, want %d and %q", target, w.Code, want.status, want.words)
		}
	}
}

// forgottenLog is a hash that no file of the tests has.
var forgottenLog = strings.Repeat("A", 43)

// The page of a file of the largest size, with the smallest batches that there can be: alone; with indexes that have an
// entry for each; with indexes of the largest size that hold anything.
func BenchmarkOwnFilePage(b *testing.B) {
	s := newSiteLogging(b, slog.New(slog.DiscardHandler))
	log := own{"log", "x.log", ownLog(b, store.MaxFile/77)}
	var index, times []byte
	for i := range store.MaxFile / 77 {
		at := uint32(i * len(log.body) / (store.MaxFile / 77))
		index = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(index, uint32(i)), at)
		times = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(times, uint64(1_700_000_000_000+i)), uint32(i))
	}
	noise := make([]byte, store.MaxFile)
	random := rand.New(rand.NewPCG(1, 1))
	for i := 0; i+4 <= len(noise); i += 4 {
		binary.BigEndian.PutUint32(noise[i:], random.Uint32()%store.MaxFile)
	}
	for name, files := range map[string][]own{
		"alone":   {log},
		"indexed": {log, {"index", "x.index", index}, {"timeindex", "x.timeindex", times}},
		"noise":   {log, {"index", "x.index", noise}, {"timeindex", "x.timeindex", noise}},
	} {
		address := sent(b, sendFiles(b, s, files...))
		for _, view := range []string{"", "&view=check"} {
			b.Run(name+view, func(b *testing.B) {
				for b.Loop() {
					if w := ask(s, "GET", address+view); w.Code != 200 {
						b.Fatal(w.Code)
					}
				}
			})
		}
	}
}
