package browsertest

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"loglab/labs/store"
	"loglab/web"
)

// server is the site on a port of this machine, with a view of what the browser asks for.
type server struct {
	url     string
	frames  atomic.Int32 // frames asked for so far
	streams atomic.Int32 // streams open now
}

// serve starts a site of its own for a test.
func serve(t testing.TB) *server {
	return serveThrough(t, func(next http.Handler) http.Handler { return next })
}

// serveSlowly holds each frame back for as long as delay says.
func serveSlowly(t testing.TB, delay func() time.Duration) *server {
	return serveThrough(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/frame/") {
				select {
				case <-time.After(delay()):
				case <-r.Context().Done():
				}
			}
			next.ServeHTTP(w, r)
		})
	})
}

// serveThrough puts a handler of the test before that of the site.
func serveThrough(t testing.TB, wrap func(http.Handler) http.Handler) *server {
	t.Helper()
	texts, err := store.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { texts.Close() })
	site, err := web.New(slog.New(slog.DiscardHandler), texts)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	handler := wrap(site.Handler())
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/play/"):
			s.streams.Add(1)
			defer s.streams.Add(-1)
		case strings.HasPrefix(r.URL.Path, "/frame/"):
			s.frames.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(listening.Close)
	s.url = listening.URL
	return s
}

// buildDir holds the binary; TestMain removes it.
var buildDir string

// binary builds loglab once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loglab-browsertest-")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "loglab")
	build := exec.Command("go", "build", "-o", path, "loglab/cmd/loglab")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// loglab runs the binary and gives what it prints.
func loglab(t testing.TB, args ...string) []byte {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal("go build ./cmd/loglab: ", err)
	}
	run := exec.Command(path, args...)
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("loglab %q: %v", args, err)
	}
	return out
}

// process is the real binary, serving.
type process struct {
	url string
	cmd *exec.Cmd
}

// start runs "loglab serve" on an address such as 127.0.0.1:0 and waits until it can be reached.
func start(t testing.TB, addr string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal("go build ./cmd/loglab: ", err)
	}
	p := &process{cmd: exec.Command(path, "serve", "--addr", addr)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, "http://") {
			p.url = strings.TrimSuffix(line, "/")
			return p
		}
	}
	t.Fatal("loglab serve ended before it said where it can be reached")
	return nil
}

// end sends the process a signal and waits until it is gone. Once it is, end does nothing.
func (p *process) end(signal syscall.Signal) {
	if p.cmd.ProcessState == nil {
		p.cmd.Process.Signal(signal)
		p.cmd.Wait()
	}
}

func (p *process) addr() string { return strings.TrimPrefix(p.url, "http://") }

// get fetches a path from a server and gives the body of a good answer.
func get(t testing.TB, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, answer.Status)
	}
	return string(body)
}
