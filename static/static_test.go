package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// SHA-256 of "abc" begins with ba7816bf (FIPS 180-2, appendix B.1), of the empty text with e3b0c442.
const abcName = "datastar.ba7816bf.js"

func source(files map[string]string) fstest.MapFS {
	source := fstest.MapFS{
		"dist/datastar.js": {Data: []byte("abc")},
		"dist/.keep":       {},
	}
	for name, text := range files {
		source[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return source
}

func TestShippedFiles(t *testing.T) {
	files, err := New()
	if err != nil {
		t.Fatal(err)
	}
	// The bundle's checksum begins with these digits, as tools/fetchassets pins it.
	if got, want := files.Path("datastar.js"), "/static/datastar.2837d87a.js"; got != want {
		t.Errorf("Path(datastar.js) is %q, want %q", got, want)
	}
	for name, hashed := range files.names {
		body := files.hashed[hashed].Body
		if strings.HasSuffix(name, ".css") && (bytes.Contains(body, []byte("@import")) || bytes.Contains(body, []byte("url("))) {
			t.Errorf("%s names another file, whose address holds a hash", name)
		}
	}
}

func TestPathHoldsTheHashOfTheContent(t *testing.T) {
	files, err := newFiles(source(nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"datastar.js": "/static/" + abcName,
		"lab.css":     "/static/lab.e3b0c442.css",
	} {
		if got := files.Path(name); got != want {
			t.Errorf("Path(%q) is %q, want %q", name, got, want)
		}
	}
	if _, ok := files.Open(".keep"); ok {
		t.Error("dist/.keep is served")
	}
}

func TestTheStylesheetIsItsPartsInOrder(t *testing.T) {
	files, err := newFiles(source(map[string]string{"lab/10-b.css": "b {}\n", "lab/02-a.css": "a {}\n"}))
	if err != nil {
		t.Fatal(err)
	}
	sheet, _ := files.Open(strings.TrimPrefix(files.Path("lab.css"), Prefix))
	if got, want := string(sheet.Body), "a {}\n\nb {}\n"; got != want {
		t.Errorf("lab.css is %q, want %q", got, want)
	}
	if _, parts := files.names["02-a.css"]; parts {
		t.Error("a part is served by itself")
	}
}

func TestImportsNameTheHashedFile(t *testing.T) {
	files, err := newFiles(source(map[string]string{
		"a.js": `import { x } from './dist/datastar.js'; import("./dist/datastar.js"); say("from 'here'")`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := files.Open(strings.TrimPrefix(files.Path("a.js"), Prefix))
	want := `import { x } from './` + abcName + `'; import("./` + abcName + `"); say("from 'here'")`
	if string(a.Body) != want {
		t.Errorf("script is\n%s\nwant\n%s", a.Body, want)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		source fstest.MapFS
		want   string
	}{
		{"no bundle", fstest.MapFS{"dist/.keep": {}}, "run `make generate`"},
		{"import of nothing", source(map[string]string{"a.js": `import './dist/b.js'`}), "static/a.js imports ./dist/b.js: only"},
		{"import of a neighbour", source(map[string]string{"a.js": `import './b.js'`, "b.js": ""}), "static/a.js imports ./b.js: only"},
		{"one name twice", source(map[string]string{"datastar.js": ""}), "one address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := newFiles(test.source); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestServeHTTP(t *testing.T) {
	files, err := newFiles(source(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, accept, encoding string
		status                 int
	}{
		{"/static/" + abcName, "", "", http.StatusOK},
		{"/static/" + abcName, "br, gzip", "gzip", http.StatusOK},
		{"/static/" + abcName, "GZIP;q=0.5", "gzip", http.StatusOK},
		{"/static/" + abcName, "gzip;q=0.0, br", "", http.StatusOK},
		{"/static/" + abcName, "*", "", http.StatusOK},
		{"/static/datastar.js", "gzip", "", http.StatusNotFound},
		{"/static/datastar.00000000.js", "gzip", "", http.StatusNotFound},
		{"/static/", "", "", http.StatusNotFound},
	} {
		t.Run(test.path+" "+test.accept, func(t *testing.T) {
			request := httptest.NewRequest("GET", test.path, nil)
			request.Header.Set("Accept-Encoding", test.accept)
			recorder := httptest.NewRecorder()
			files.ServeHTTP(recorder, request)
			answer := recorder.Result()
			if answer.StatusCode != test.status || answer.Header.Get("Content-Encoding") != test.encoding {
				t.Fatalf("status %d, encoding %q; want %d, %q",
					answer.StatusCode, answer.Header.Get("Content-Encoding"), test.status, test.encoding)
			}
			if test.status != http.StatusOK {
				return
			}
			if got := decode(t, recorder.Body.Bytes(), test.encoding); got != "abc" {
				t.Errorf("body %q, want abc", got)
			}
			if got := answer.Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
			if got := answer.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
				t.Errorf("cache control %q", got)
			}
		})
	}
}

func TestPathPanicsForAnUnknownName(t *testing.T) {
	files, err := newFiles(source(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	files.Path("lab.scss")
}

func decode(t *testing.T, body []byte, encoding string) string {
	t.Helper()
	if encoding == "" {
		return string(body)
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
