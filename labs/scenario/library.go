package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Library holds the scenarios that a server shows: those it was built with, and those of a directory, which is looked
// at again while it serves. It is safe for concurrent use.
type Library struct {
	known   Known
	shipped []*Scenario
	dir     string // of the teacher; empty: none
	log     *slog.Logger

	looking sync.Mutex // held by the one request that looks at the directory; the others take what was seen before
	looked  time.Time  // guarded by looking

	mu  sync.Mutex
	own map[string]*entry // by name; never written once it is here
}

// entry is a file of the directory.
type entry struct {
	size     int64
	changed  time.Time // zero: it was not read
	scenario *Scenario
	err      error // what is wrong with it; nil: nothing
}

// Bounds of a teacher's directory.
const (
	lookEvery = time.Second // how often it is looked at, when somebody asks
	maxOwn    = 200         // files
)

// Load reads the scenarios of a directory of fsys. The error says what is wrong with files, by their lines; the others
// are given all the same.
func Load(fsys fs.FS, dir string, known Known) ([]*Scenario, error) {
	names, err := fs.Glob(fsys, dir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var list []*Scenario
	var wrong []error
	for _, name := range names {
		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if s, err := Parse(name, source, known); err != nil {
			wrong = append(wrong, err)
		} else {
			list = append(list, s)
		}
	}
	return list, errors.Join(wrong...)
}

// NewLibrary makes the library of shipped scenarios and, where dir is not empty, of a directory. It fails if there is no
// such directory; a file in it that is wrong is told to the log and to whoever opens it, and the rest is served.
func NewLibrary(shipped []*Scenario, dir string, known Known, log *slog.Logger) (*Library, error) {
	l := &Library{known: known, shipped: shipped, dir: dir, log: log, own: map[string]*entry{}}
	if dir != "" {
		if _, err := os.ReadDir(dir); err != nil {
			return nil, cmp.Or(errors.Unwrap(err), err)
		}
		l.look()
	}
	return l, nil
}

// ByName gives a scenario. The error says what is wrong with a file of that name; without one, nil is none.
func (l *Library) ByName(name string) (*Scenario, error) {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.own[name]; ok {
		return e.scenario, e.err
	}
	for _, s := range l.shipped {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, nil
}

// All gives every scenario that can be shown, the shipped ones first, and how many files are wrong.
func (l *Library) All() (list []*Scenario, wrong int) {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.shipped {
		if l.own[s.Name] == nil {
			list = append(list, s)
		}
	}
	var own []*Scenario
	for _, e := range l.own {
		if e.err != nil {
			wrong++
			continue
		}
		own = append(own, e.scenario)
	}
	slices.SortFunc(own, func(a, b *Scenario) int { return cmp.Compare(a.Name, b.Name) })
	return append(list, own...), wrong
}

// look reads the files of the directory that have changed since it was looked at.
func (l *Library) look() {
	if l.dir == "" || !l.looking.TryLock() {
		return
	}
	defer l.looking.Unlock()
	if time.Since(l.looked) < lookEvery {
		return
	}
	l.looked = time.Now()
	files, err := os.ReadDir(l.dir)
	if err != nil {
		l.log.Warn("scenarios cannot be read", "dir", l.dir, "error", err)
		return // what was read stays
	}
	seen := map[string]*entry{}
	for _, file := range files {
		if file.IsDir() || !strings.HasSuffix(file.Name(), ".yaml") {
			continue
		}
		name := strings.TrimSuffix(file.Name(), ".yaml")
		e := l.entryOf(file.Name(), len(seen), l.own[name])
		if e.err != nil && (l.own[name] == nil || l.own[name].err == nil || l.own[name].err.Error() != e.err.Error()) {
			l.log.Warn("scenario refused", "file", file.Name(), "error", strings.ReplaceAll(e.err.Error(), "\n", "; "))
		}
		seen[name] = e
	}
	l.mu.Lock()
	l.own = seen
	l.mu.Unlock()
}

// entryOf gives the entry of a file; before counts those that stand before it, and known is what it was, nil if it is new.
func (l *Library) entryOf(base string, before int, known *entry) *entry {
	if before >= maxOwn {
		return &entry{err: fmt.Errorf("%s: at most %d files are read, and so many stand before it", base, maxOwn)}
	}
	info, err := os.Stat(l.dir + "/" + base)
	switch {
	case err != nil:
		return &entry{err: fmt.Errorf("%s: %w", base, errors.Unwrap(err))}
	case !info.Mode().IsRegular():
		return &entry{err: fmt.Errorf("%s: this is no regular file", base)}
	case known != nil && known.size == info.Size() && known.changed.Equal(info.ModTime()):
		return known
	}
	return l.read(base, info)
}

// read reads one file and runs it once.
func (l *Library) read(base string, info fs.FileInfo) *entry {
	e := &entry{size: info.Size(), changed: info.ModTime()}
	if info.Size() > maxFile {
		d := &decoder{name: base}
		d.refuse(1, "the file has %d bytes, at most %d are allowed", info.Size(), maxFile)
		e.err = d.problems
	} else if source, err := os.ReadFile(l.dir + "/" + base); err != nil {
		e.err = fmt.Errorf("%s: %w", base, err)
	} else if e.scenario, e.err = Parse(base, source, l.known); e.err == nil {
		e.err = e.scenario.Check(base)
	}
	if e.err != nil {
		e.scenario = nil
		return e
	}
	l.log.Info("scenario read", "file", base)
	return e
}
