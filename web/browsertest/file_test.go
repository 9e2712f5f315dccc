package browsertest

import (
	"context"
	encoding "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"loglab/engine/kafka"
	"loglab/engine/record"
)

// ownSegment writes a segment of a hundred batches and its indexes into a directory: offsets from 4,200 on, a batch of three
// records each, every tenth compressed, an entry of each index every fifth batch.
func ownSegment(t testing.TB, damaged bool) (log, index, times string) {
	t.Helper()
	const base, start = 4200, 1_700_000_000_000
	var raw, offsets, moments []byte
	for i := range 100 {
		codec := record.None
		if i%10 == 9 {
			codec = record.Zstd
		}
		b := record.NewBuilder(record.Options{Codec: codec})
		for j := range 3 {
			b.Append(kafka.Timestamp(start+1000*i+j), fmt.Appendf(nil, "order-%d", i%7), fmt.Appendf(nil, `{"event": %d, "amount": %d}`, 3*i+j, 100*i), record.Header{Key: "trace", Value: []byte{byte(i), byte(j)}})
		}
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		record.Stamp(batch, kafka.Offset(base+3*i), 2)
		if i%5 == 4 {
			offsets = encoding.BigEndian.AppendUint32(encoding.BigEndian.AppendUint32(offsets, uint32(3*i+2)), uint32(len(raw)))
			moments = encoding.BigEndian.AppendUint32(encoding.BigEndian.AppendUint64(moments, uint64(start+1000*i+2)), uint32(3*i+2))
		}
		raw = append(raw, batch...)
	}
	if damaged {
		raw[len(raw)/2] ^= 1
	}
	dir := t.TempDir()
	write := func(suffix string, body []byte) string {
		path := filepath.Join(dir, "00000000000000004200"+suffix)
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write(".log", raw), write(".index", offsets), write(".timeindex", moments)
}

// chooseFiles puts files of the disk into a field, as the browser's own dialog does.
func (b *tab) chooseFiles(selector string, paths ...string) {
	b.t.Helper()
	b.call(func(ctx context.Context) error {
		field, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.querySelector(" + quote(selector) + ")"})
		if err != nil {
			return err
		}
		_, err = chromedp.Call(ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: paths, ObjectID: field.Result.ObjectID})
		return err
	})
}

// upload chooses the three files of a segment.
func (b *tab) upload(log, index, times string) {
	b.t.Helper()
	b.chooseFiles("#upload-log", log)
	b.chooseFiles("#upload-index", index)
	b.chooseFiles("#upload-timeindex", times)
}

// A file is sent with the mouse, and its views lead to each other.
func TestOwnFile(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %v", scripts), func(t *testing.T) {
			t.Parallel()
			b := newTab(t, serve(t).url)
			if !scripts {
				b.withoutScripts()
			}
			b.size(1280, 900)
			b.openPlain("/")
			b.click("a[href='/file']")
			b.waitText("h1", "Your own file")
			log, index, times := ownSegment(t, false)
			b.upload(log, index, times)
			b.click("#upload button")
			b.waitText("h1", "00000000000000004200.log")
			b.waitText(".notice", "keeps the files until")
			b.waitText("#shown .facts", "100 batches with 300 records")

			// To a batch, to the bytes of its second record, and along the file.
			b.click("#batches-end")
			b.waitText("#records", "4499")
			b.click("#batches-start")
			b.waitText("#records", "4201")
			b.click("#record-1")
			b.waitText("#shown-title", "Bytes of 00000000000000004200.log")
			b.waitText("#shown .byte-fields", "offset 4,201 = 4,200 + 1")
			b.waitText("#shown .steps", "→")
			b.click("#bytes-end")
			b.waitText("#shown .byte-fields", "once decompressed with zstd")
			b.click("#bytes-start")
			b.waitFor("location.search.endsWith('&view=bytes')")

			// Bytes and fields mark each other, pressed.
			b.click("#bytes-byte-4")
			b.waitFor(markedFields + ".startsWith('crc')")
			b.click("#bytes-field-7 a")
			b.waitFor("(" + dark + ")(document.querySelector('#bytes-byte-7'))")

			// An offset and a time.
			b.click("#tab-find")
			b.waitText("#shown-title", "How a broker finds")
			b.paste("#find-offset", "4250")
			b.click("#find button")
			b.waitText("#shown-title", "Find offset 4250")
			b.waitText("#shown .facts", "the batch of offsets 4248 to 4250")
			b.waitText("#shown .facts", "Without index")
			b.paste("#find-when-time", "1700000050000")
			b.click("#find-when button")
			b.waitText("#shown-title", "Find time 1700000050000")
			b.waitText("#shown .facts", "offset 4350, timestamp 1700000050000")
			b.click("#found-records")
			b.waitText("#records", "4350")

			// What was sent comes back, and the page stays.
			site, shown := b.site, b.address()
			for id, want := range map[string]string{"file-0-copy": index, "file-1-copy": log, "file-2-copy": times} {
				body, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				if got := get(t, site+eval[string](b, "document.querySelector("+quote("#"+id)+").getAttribute('href')")); got != string(body) {
					t.Errorf("%s gives %d bytes, want %d", id, len(got), len(body))
				}
			}
			b.click("#file-1-copy")
			b.click("#zip")
			if got := b.address(); got != shown {
				t.Errorf("after downloads the page is at %s, want %s", got, shown)
			}

			// The address alone brings it back; a hash that is not there says so.
			address := b.address()
			b.openPlain("/")
			b.openPlain(address)
			b.waitText("#records", "4350")
			b.openPlain("/file/segment?log=" + strings.Repeat("A", 43))
			b.expect("404 (Not Found)")
			b.waitText("main", "kept for an hour")
		})
	}
}

// The same by the keyboard alone, but for the browser's own dialog.
func TestOwnFileByKeyboard(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain("/file")
	log, index, times := ownSegment(t, true)
	b.upload(log, index, times)
	b.focus("#upload-log")
	b.press(kb.Tab)
	b.press(kb.Tab)
	b.press(kb.Tab)
	b.press(kb.Enter)
	b.waitText("h1", "00000000000000004200.log")
	b.waitText("#shown .facts", "corrupt batch: crc is")
	b.focus("#fault")
	b.press(kb.Enter)
	b.waitText("#shown .byte-fields", "wrong, they have")
	b.focus("#tab-find")
	b.press(kb.Enter)
	b.waitText("#shown-title", "How a broker finds")
	b.focus("#find-offset")
	b.press("a", chromedp.ModifierCtrl)
	b.press("4210" + kb.Enter)
	b.waitText("#shown .facts", "the batch of offsets 4209 to 4211")
}

// spoil adds one to the last byte of a number of four in a file, and gives what it is then.
func spoil(t testing.TB, path string, at int) uint32 {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[at+3]++
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return encoding.BigEndian.Uint32(raw[at:])
}

// sendOwn sends a segment with the mouse; spoilt: no entry of its indexes agrees with the log.
func (b *tab) sendOwn(damaged, spoilt bool) {
	b.t.Helper()
	b.openPlain("/file")
	log, index, times := ownSegment(b.t, damaged)
	for i := 0; spoilt && i < 20; i++ {
		spoil(b.t, index, 8*i+4)
		spoil(b.t, times, 12*i+4)
	}
	b.upload(log, index, times)
	b.click("#upload button")
}

// A spoiled index is a row that leads to its byte: with the mouse or the keys, with scripts or without.
func TestASpoiledIndexIsFollowedToItsByte(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		for _, keys := range []bool{true, false} {
			t.Run(fmt.Sprintf("scripts %v keys %v", scripts, keys), func(t *testing.T) {
				t.Parallel()
				b := newTab(t, serve(t).url)
				if !scripts {
					b.withoutScripts()
				}
				follow := b.click
				if keys {
					follow = func(selector string) {
						b.t.Helper()
						b.focus(selector)
						b.press(kb.Enter)
					}
				}
				b.openPlain("/file")
				log, index, times := ownSegment(t, false)
				spoilt := spoil(t, index, 12) // the position of entry 1
				b.upload(log, index, times)
				follow("#upload button")
				b.waitText("#shown .facts", "1 disagreement; 19 of 20 entries agree")
				b.waitText("#shown .facts", "agrees: 20 entries")
				follow("#held")
				b.waitText("#shown-title", "Held against the log")
				b.waitText("#findings tbody", "the first byte of a batch, as ")
				b.waitText("#findings tbody", "4229")
				if got := b.count("#findings tbody tr"); got != 1 {
					t.Errorf("%d rows, want 1", got)
				}
				follow("#finding-0")
				b.waitText("#shown-title", "Bytes of 00000000000000004200.index")
				b.waitText("#shown .byte-fields", "entry 1 relativeOffset")
				b.waitText("#shown .byte-fields", fmt.Sprintf("the batch begins at byte %s of the .log", kafka.Thousands(spoilt)))
				b.waitFor("location.search.endsWith('&view=bytes&file=index&byte=8')")
				follow("#held")
				b.waitText("#shown-title", "Held against the log")
				follow("#tab-batches")
				b.waitText("#shown-title", "Batches and records")
				follow("#tab-check")
				b.waitText("#findings tbody", "4229")
			})
		}
	}
}

// Disagreements beyond twelve are reached by their links.
func TestDisagreementsArePaged(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.sendOwn(false, true)
	b.waitText("#shown .facts", "20 disagreements; 0 of 20 entries agree")
	b.click("#tab-check")
	b.waitText("#shown .note", "40 disagreements; 1 to 12 are shown.")
	for _, shown := range []string{"13 to 24", "25 to 36", "29 to 40"} {
		b.click("#findings-after")
		b.waitText("#shown .note", "40 disagreements; "+shown+" are shown.")
	}
	b.click("#findings-start")
	b.waitText("#shown .note", "1 to 12 are shown.")
	b.click("#findings-end")
	b.waitText("#findings tbody tr:last-child", ".timeindex")
}

// What cannot be shown is said, with the form to try again.
func TestWhatIsNoLogIsSaid(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t).url)
	b.openPlain("/file")
	b.click("#upload button")
	b.expect("400 (Bad Request)")
	b.waitText("h1", "No .log file was sent")
	text := filepath.Join(t.TempDir(), "<b>name.log")
	if err := os.WriteFile(text, []byte(strings.Repeat("<script>alert(1)</script>", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.chooseFiles("#upload-log", text)
	b.click("#upload button")
	b.expect("422 (Unprocessable Entity)")
	b.waitText("h1", "This is not a log")
}

// fileStates are the pages of a segment that has been sent, in every view.
func fileStates(b *tab, damaged bool) []state {
	b.t.Helper()
	b.sendOwn(damaged, damaged)
	b.waitText("h1", "00000000000000004200.log")
	at, _, _ := strings.Cut(b.address(), "#")
	if damaged {
		return []state{
			{name: "file-damaged", address: at}, {name: "file-check-damaged", address: at + "&view=check"}, {name: "file-index-damaged", address: at + "&view=bytes&file=index"},
			{name: "file-find-damaged", address: at + "&view=find&offset=4210"},
		}
	}
	return []state{
		{name: "file-form", address: "/file"}, {name: "file-batches", address: at + "&batch=5000&record=0"}, {name: "file-bytes", address: at + "&view=bytes&byte=208"},
		{name: "file-inside", address: at + "&view=bytes&inside=" + b.compressed()}, {name: "file-index", address: at + "&view=bytes&file=index"}, {name: "file-times", address: at + "&view=bytes&file=timeindex"},
		{name: "file-find", address: at + "&view=find&offset=4250"}, {name: "file-time", address: at + "&view=find&time=1700000050000"},
		{name: "file-check", address: at + "&view=check"},
		{name: "file-gone", address: "/file/segment?log=" + strings.Repeat("A", 43), complaint: "404 (Not Found)"},
	}
}

// compressed is the position of the first compressed batch on the page of batches.
func (b *tab) compressed() string {
	b.t.Helper()
	return eval[string](b, "[...document.querySelectorAll('#batches tbody tr')].find(r => r.innerText.includes('zstd')).querySelector('a').innerText.replaceAll(',', '')")
}

// Every view passes axe-core in every look and width, is no wider than the window and has few elements.
func TestOwnFileIsAccessible(t *testing.T) {
	t.Parallel()
	site := serve(t)
	b := newTab(t, site.url)
	states := append(fileStates(b, false), fileStates(b, true)...)
	for _, s := range states {
		checkWidth(b, s.name, s.address)
		if s.complaint != "" {
			b.expect(s.complaint) // of every width
		}
		b.size(1280, 800)
		if n := b.count("body, body *"); n >= 1200 {
			t.Errorf("%s: %d elements, fewer than 1,200 are allowed", s.name, n)
		} else {
			t.Logf("%s: %d elements", s.name, n)
		}
	}
	checkAccessibleOn(t, site, states)
}
