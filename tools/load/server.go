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
	before  usage // when it was last printed
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
			s.before = s.used()
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

// used reads the time that all cores have been busy, and what of it went to the server and to this
// program. Zeros where /proc does not tell.
func (s *server) used() usage {
	const perSecond = 100 // USER_HZ
	seconds := func(file string, skip string, fields ...int) (sum float64) {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), skip)
		words := strings.Fields(rest)
		for _, i := range fields {
			if i < len(words) {
				n, _ := strconv.ParseFloat(words[i], 64)
				sum += n / perSecond
			}
		}
		return sum
	}
	process := func(pid any) float64 { return seconds(fmt.Sprintf("/proc/%v/stat", pid), ") ", 11, 12) } // utime, stime
	return usage{time.Now(), seconds("/proc/stat", "cpu ", 0, 1, 2, 5, 6), process(s.command.Process.Pid), process("self")}
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

// usage is what of the cores has been used up to a moment, in seconds.
type usage struct {
	at                time.Time
	all, server, ours float64
}

// printUse says what the server holds now and the most it held since it was last asked, and who used the
// cores since then.
func (s *server) printUse() error {
	cache, err := s.metric("loglab_cache_bytes")
	if err != nil {
		return err
	}
	heap, err := s.metric("go_memstats_heap_alloc_bytes")
	if err != nil {
		return err
	}
	now := s.used()
	span := now.at.Sub(s.before.at).Seconds()
	all, server, ours := (now.all-s.before.all)/span, (now.server-s.before.server)/span, (now.ours-s.before.ours)/span
	fmt.Printf("  cores busy: server %.1f, its clients %.1f, all else on this machine %.1f\n", server, ours, all-server-ours)
	s.before = now
	const MiB = 1 << 20
	fmt.Printf("  memory in MiB: resident %d, at most %d; on the heap %.0f; cached runs and pages, as estimated, %.0f\n",
		s.resident()/MiB, s.peak.Swap(0)/MiB, heap/MiB, cache/MiB)
	return nil
}
