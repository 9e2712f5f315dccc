package labs

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// commandTexts are texts as addresses have them, and some that are hard to compress.
func commandTexts() []string {
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "4", "4:pause c1", "aaaa", strings.Repeat("a", 70_000), strings.Repeat("abc", 30_000)}
	for _, n := range []int{1, 3, 20, 200} {
		var lines []string
		for tick := range n {
			lines = append(lines, fmt.Sprintf("%d:produce p0 order-%d", tick*3, rnd.IntN(500)))
		}
		texts = append(texts, strings.Join(lines, "\n"))
	}
	for range 300 {
		raw := make([]byte, rnd.IntN(3000))
		letters := 1 + rnd.IntN(256)
		for i := range raw {
			raw[i] = byte(rnd.IntN(letters))
		}
		texts = append(texts, string(raw))
	}
	far := make([]byte, 33_000) // a match farther back than the window
	for i := range far {
		far[i] = byte(rnd.IntN(256))
	}
	return append(texts, string(far)+string(far), string(far[:32_768])+string(far), string(far[:32_767])+string(far))
}

// Judge: the library's decompressor.
func TestDeflateIsReadByTheLibrary(t *testing.T) {
	for i, text := range commandTexts() {
		packed := deflate(text)
		source := bytes.NewReader(packed)
		got, err := io.ReadAll(flate.NewReader(source))
		if err != nil || string(got) != text || source.Len() != 0 {
			t.Errorf("text %d, %.40q: %v, %d bytes left, read as %.40q", i, text, err, source.Len(), got)
		}
	}
}

// The bytes may never change: they are the spelling of addresses that people keep.
func TestDeflateNeverChanges(t *testing.T) {
	for text, want := range map[string]string{
		"":           "AwA",
		"4:pause c1": "M7EqSCwtTlVINgQA",
		"4:pause c1\n9:resume c1\n12:pause c1\n20:resume c1": "M7EqSCwtTlVINuSytCpKLS7NBbMNjRDiRgYICQA",
		strings.Repeat("0123456789", 60):                     "MzA0MjYxNTO3sBxljbKoxwIA",
	} {
		if got := base64.RawURLEncoding.EncodeToString(deflate(text)); got != want {
			t.Errorf("%.40q is %s, want %s", text, got, want)
		}
	}
}

// Fixed codes save the table of codes, and cost half as much again at the most commands there can be.
func TestDeflateIsShort(t *testing.T) {
	for _, text := range commandTexts()[6:10] {
		var best bytes.Buffer
		w, _ := flate.NewWriter(&best, flate.BestCompression)
		io.WriteString(w, text)
		w.Close()
		if n := len(deflate(text)); n > best.Len()*8/5 {
			t.Errorf("%d bytes become %d, the library's best is %d", len(text), n, best.Len())
		}
	}
}
