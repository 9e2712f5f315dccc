//go:build judge

package judge

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loglab/engine/prng"
)

var seed = flag.Uint64("seed", 20260210, "what the judges are asked is drawn from this number")

// draws is the stream that a test draws its questions from.
func draws(t *testing.T) prng.Rand {
	t.Helper()
	t.Logf("seed %d", *seed)
	return prng.New(*seed).Split(t.Name())
}

// need fails the test unless a program is installed.
func need(t *testing.T, program, hint string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("this judge needs %s, which is not installed: %s", program, hint)
	}
}

// memoryDir is a temporary directory, in memory where Linux offers that: a log is synced at each roll.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "loglab-judge-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fetched gives a directory of the cache. If it is not there, fetch fills it; a fetch that fails leaves
// nothing behind.
func fetched(t *testing.T, name string, fetch func(dir string) *exec.Cmd) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "loglab-judge")
	target := filepath.Join(cache, name)
	if _, err := os.Stat(target); err == nil {
		return target
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, name+".fetching-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	command := fetch(dir)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("fetch %s: %s: %v\n%s", name, command, err, out)
	}
	if err := os.Rename(dir, target); err != nil {
		t.Fatal(err)
	}
	return target
}

// output runs a program and gives what it writes to its standard output.
func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	var out, errors bytes.Buffer
	command.Stdout, command.Stderr = &out, &errors
	if err := command.Run(); err != nil {
		t.Fatalf("%.300s: %v\n%s\n%s", command, err, tail(out.String()), errors.String())
	}
	return out.String()
}

// tail gives the end of a long text.
func tail(text string) string {
	const most = 1000
	return text[max(0, len(text)-most):]
}

// answers runs a judge, hands it the questions, one a line, and gives its answers, one a line.
func answers(t *testing.T, judge *exec.Cmd, questions []string) []string {
	t.Helper()
	judge.Stdin = strings.NewReader(strings.Join(questions, "\n") + "\n")
	lines := strings.Split(strings.TrimSuffix(output(t, judge), "\n"), "\n")
	if len(lines) != len(questions) {
		t.Fatalf("%.300s: %d answers to %d questions; the last: %s", judge, len(lines), len(questions), tail(lines[len(lines)-1]))
	}
	return lines
}
