package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// server is the server that is measured.
type server struct {
	command *exec.Cmd
	url     string // http://127.0.0.1:PORT
	host    string // 127.0.0.1:PORT
	peak    atomic.Int64
	done    chan struct{}
}

// start runs the binary on a free port and waits until it says where it can be reached.
func start(binary string) (*server, error) {
	s := &server{command: exec.Command(binary, "serve", "--addr", "127.0.0.1:0"), done: make(chan struct{})}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url := strings.TrimSpace(lines.Text()); strings.HasPrefix(url, "http://") {
			s.url = strings.TrimSuffix(url, "/")
			s.host = strings.TrimPrefix(s.url, "http://")
			go s.watch()
			return s, nil
		}
	}
	s.command.Process.Kill()
	return nil, errors.New("the server did not say where it can be reached")
}

// stop ends the server.
func (s *server) stop() {
	close(s.done)
	s.command.Process.Signal(syscall.SIGTERM)
	s.command.Wait()
}

// watch keeps the greatest resident size.
func (s *server) watch() {
	for every := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-s.done:
			every.Stop()
			return
		case <-every.C:
			s.peak.Store(max(s.peak.Load(), s.resident()))
		}
	}
}

// resident is how many bytes of the server are in memory; 0 where /proc does not tell.
func (s *server) resident() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kilobytes, 10, 64)
	return n << 10
}

// metric reads one number of /metrics.
func (s *server) metric(name string) (float64, error) {
	answer, err := http.Get(s.url + "/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), "\n"+name+" ")
	if !found {
		return 0, fmt.Errorf("/metrics has no %s", name)
	}
	number, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseFloat(number, 64)
}

// printMemory says what the server holds now and the most it held since it was last asked.
func (s *server) printMemory() error {
	cache, err := s.metric("loglab_cache_bytes")
	if err != nil {
		return err
	}
	heap, err := s.metric("go_memstats_heap_alloc_bytes")
	if err != nil {
		return err
	}
	const MiB = 1 << 20
	fmt.Printf("  memory in MiB: resident %d, at most %d; on the heap %.0f; cached runs and pages, as estimated, %.0f\n",
		s.resident()/MiB, s.peak.Swap(0)/MiB, heap/MiB, cache/MiB)
	return nil
}
