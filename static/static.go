package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dist holds a file that keeps it in a fresh clone, so the package compiles before `make generate`.
//
//go:embed lab/*.css *.js *.svg all:dist
var embedded embed.FS

// Prefix begins the path of every file.
const Prefix = "/static/"

// contentTypes lists what is served. Other embedded files are not.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".md":  "text/plain; charset=utf-8", // the licence of the bundle
}

// File is one file as it is served. Its bytes must not be changed.
type File struct {
	Name        string // last element of its path, with the hash: "lab.3f2a91c0.css"
	ContentType string
	Body        []byte
	Gzip        []byte // Body compressed
}

// Files are all files, ready to serve. They never change, so many goroutines may use them.
type Files struct {
	names  map[string]string // "lab.css" to "lab.3f2a91c0.css"
	hashed map[string]File   // by File.Name
}

// New prepares the embedded files. It fails when the browser bundle was not fetched before the binary was
// built, and when a script imports anything but a file in dist.
func New() (*Files, error) {
	return newFiles(embedded)
}

func newFiles(source fs.FS) (*Files, error) {
	if _, err := fs.Stat(source, "dist/datastar.js"); err != nil {
		return nil, errors.New("static/dist/datastar.js is missing: run `make generate` and build again")
	}
	files := &Files{names: map[string]string{}, hashed: map[string]File{}}
	sheet, err := stylesheet(source)
	if err == nil {
		err = files.add("lab.css", sheet)
	}
	if err != nil {
		return nil, err
	}
	// What scripts import comes first, so that its name is known when they are read.
	for _, pattern := range []string{"dist/*", "*"} {
		names, err := fs.Glob(source, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if contentTypes[path.Ext(name)] == "" {
				continue
			}
			body, err := fs.ReadFile(source, name)
			if err != nil {
				return nil, err
			}
			if path.Ext(name) == ".js" && path.Dir(name) == "." {
				body, err = files.rewriteImports(name, body)
			}
			if err == nil {
				err = files.add(path.Base(name), body)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// stylesheet joins the parts of lab.css in the order of their names, which is that of the cascade.
func stylesheet(source fs.FS) ([]byte, error) {
	names, err := fs.Glob(source, "lab/*.css") // sorted
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, len(names))
	for i, name := range names {
		if parts[i], err = fs.ReadFile(source, name); err != nil {
			return nil, err
		}
	}
	return bytes.Join(parts, []byte("\n")), nil
}

// importPath matches an import from a path that begins with a dot.
var importPath = regexp.MustCompile(`(\b(?:from|import)\s*\(?\s*['"])(\.[^'"]*)(['"])`)

// rewriteImports replaces each path that script imports by the hashed name of that file in dist.
func (f *Files) rewriteImports(name string, script []byte) ([]byte, error) {
	var err error
	script = importPath.ReplaceAllFunc(script, func(match []byte) []byte {
		part := importPath.FindSubmatch(match)
		hashed, ok := "", false
		if imported, inDist := strings.CutPrefix(string(part[2]), "./dist/"); inDist {
			hashed, ok = f.names[imported]
		}
		if !ok {
			err = fmt.Errorf("static/%s imports %s: only what is in dist can be imported", name, part[2])
		}
		return slices.Concat(part[1], []byte("./"+hashed), part[3])
	})
	return script, err
}

func (f *Files) add(name string, body []byte) error {
	if _, ok := f.names[name]; ok {
		return fmt.Errorf("two files in static are called %s and would have one address", name)
	}
	ext := path.Ext(name)
	sum := sha256.Sum256(body)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:4]) + ext
	f.names[name] = hashed
	f.hashed[hashed] = File{Name: hashed, ContentType: contentTypes[ext], Body: body, Gzip: compress(body)}
	return nil
}

// Path returns the address path of the file that the source calls name: "lab.css", "datastar.js". It panics
// when there is none, because only our own templates ask.
func (f *Files) Path(name string) string {
	hashed, ok := f.names[name]
	if !ok {
		panic("static: there is no file " + strconv.Quote(name))
	}
	return Prefix + hashed
}

// Named returns the file that the source calls name, for an address that stays the same when the file changes.
func (f *Files) Named(name string) File { return f.hashed[strings.TrimPrefix(f.Path(name), Prefix)] }

// Open returns the file whose path is Prefix followed by hashedName.
func (f *Files) Open(hashedName string) (File, bool) {
	file, ok := f.hashed[hashedName]
	return file, ok
}

// ServeHTTP answers a request for a path that Path returned; any other is not found.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, ok := f.Open(strings.TrimPrefix(r.URL.Path, Prefix))
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", file.ContentType)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	// A page in a sandboxed frame has no origin of its own and could not load module scripts without this.
	header.Set("Access-Control-Allow-Origin", "*")
	body := file.Body
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		body = file.Gzip
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// acceptsGzip reads an Accept-Encoding header. Only an explicit gzip counts, unless its weight is 0.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q, ok := strings.CutPrefix(strings.TrimSpace(weight), "q=")
			return !ok || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// compress cannot fail: it writes to memory at a level that exists.
func compress(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err)
	}
	w.Write(body)
	w.Close()
	return b.Bytes()
}
