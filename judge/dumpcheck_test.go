//go:build judge

package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loglab/engine/record"
	"loglab/engine/storage"
)

// How many directories Kafka writes in TestDumpCheck, of each kind.
const checkedRuns = 60

// Kafka's UnifiedLog appends, rolls, truncates, recovers, ends transactions, cleans and deletes as drawn, and leaves
// its directories open or closed. "loglab dump --check" finds nothing wrong in any of the segments.
func TestDumpCheck(t *testing.T) {
	root := memoryDir(t)
	kafkaWritesDirectories(t, root)
	loglab := buildLoglab(t)
	counts, problems := map[string]int{}, 0
	for _, file := range filesBelow(t, root) {
		counts["*"+filepath.Ext(file)]++
		if filepath.Ext(file) != storage.LogSuffix {
			if content := readFile(t, root, file); len(content) > 0 && len(bytes.TrimRight(content, "\x00"))+200 < len(content) {
				counts["preallocated"]++
			}
			continue
		}
		if problem := checked(t, loglab, filepath.Join(root, file)); len(problem) > 0 {
			if problems++; problems <= mostShown {
				t.Errorf("%s: %v", file, problem)
			}
		}
	}
	t.Logf("%d segments with problems of %v", problems, counts)
	for _, kind := range []string{"*.log", "*.index", "*.timeindex", "*.txnindex", "*.snapshot", "preallocated"} {
		if counts[kind] < 20 {
			t.Errorf("only %d of %s", counts[kind], kind)
		}
	}
}

// kafkaWritesDirectories lets Kafka go through drawn runs below root. What it answers is compared elsewhere.
func kafkaWritesDirectories(t *testing.T, root string) {
	t.Helper()
	rnd := draws(t)
	var log, cleaning []string
	for i := range checkedRuns {
		leads := newLogRun(rnd.Split(fmt.Sprint("log ", i)), filepath.Join(root, fmt.Sprint("log-", i), "orders-0"))
		for range appendsARun {
			leads.step()
		}
		if i%2 == 0 {
			leads.ask("ok", "stop")
		}
		replica := newReplicaRun(rnd.Split(fmt.Sprint("replica ", i)), filepath.Join(root, fmt.Sprint("replica-", i), "orders-0"))
		for range appendsARun {
			replica.step()
		}
		replica.ask("ok", "stop") // what a truncation left in an open index file looks like entries
		log = append(log, append(leads.questions, replica.questions...)...)

		cleans := newCleanRun(rnd.Split(fmt.Sprint("clean ", i)), filepath.Join(root, fmt.Sprint("clean-", i), "orders-0"), 1+i%2*int(record.Zstd))
		for range cleanSteps {
			if cleans.step(); cleans.failed {
				break
			}
		}
		cleaning = append(cleaning, cleans.questions...)
	}
	answers(t, kafkaProgram(t, "Log"), log)
	answers(t, kafkaProgram(t, "Cleaning"), cleaning)
}

// filesBelow lists the files below root by their paths there.
func filesBelow(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file, err := filepath.Rel(root, path)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// problem is a disagreement that "loglab dump --check --json" prints.
type problem struct{ Kind, File, Found, Expected string }

func (p problem) String() string {
	return fmt.Sprintf("%s: %s: found %s, expected %s", p.File, p.Kind, p.Found, p.Expected)
}

// checked runs "loglab dump --check --json" and gives what it finds.
func checked(t *testing.T, loglab, path string) (problems []problem) {
	t.Helper()
	text, err := exec.Command(loglab, "dump", "--check", "--json", path).Output()
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var line struct{ Problem *problem }
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Problem != nil {
			problems = append(problems, *line.Problem)
		}
	}
	if (err != nil) != (len(problems) > 0) {
		t.Fatalf("%s: %v, with %d problems", path, err, len(problems))
	}
	return problems
}

// spoiledIndexes is how many files of indexes TestDumpCheckSpoiled spoils.
const spoiledIndexes = 600

// Index files of segments that Kafka wrote and closed are spoiled, each once: cut, bytes changed, entries exchanged or
// doubled. What DumpLogSegments finds wrong in one, by the check that a broker makes when it starts or by looking into
// the log, "loglab dump --check" finds too, and in no other file.
func TestDumpCheckSpoiled(t *testing.T) {
	rnd := draws(t)
	root := memoryDir(t)
	var questions []string
	for i := range 20 {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"), func(c *storage.Config) { c.IndexIntervalBytes = 100 * (i % 3) })
		for range appendsARun {
			run.step()
		}
		run.ask("ok", "stop")
		questions = append(questions, run.questions...)
	}
	answers(t, kafkaProgram(t, "Log"), questions)
	var indexes []string
	for _, file := range filesWith(filesBelow(t, root), storage.OffsetIndexSuffix, storage.TimeIndexSuffix) {
		if len(readFile(t, root, file)) > 24 {
			indexes = append(indexes, file)
		}
	}
	type spoiledFile struct{ file, how string }
	var spoiled []spoiledFile
	questions = nil
	for i := range spoiledIndexes {
		file := indexes[rnd.IntN(len(indexes))]
		content := readFile(t, root, file)
		size := 8
		if filepath.Ext(file) == storage.TimeIndexSuffix {
			size = 12
		}
		how := spoilIndex(rnd.IntN, content, size)
		dir := fmt.Sprint("spoiled-", i)
		for _, beside := range []string{storage.LogSuffix, storage.OffsetIndexSuffix, storage.TimeIndexSuffix} {
			name := strings.TrimSuffix(file, filepath.Ext(file)) + beside
			copied := readFile(t, root, name)
			if name == file {
				copied = how.content
			}
			writeFile(t, filepath.Join(root, dir, filepath.Base(name)), copied)
		}
		path := filepath.Join(root, dir, filepath.Base(file))
		spoiled = append(spoiled, spoiledFile{path, how.what})
		questions = append(questions, "--index-sanity-check --files "+path, "--verify-index-only --files "+path)
	}
	theirs := answers(t, kafkaProgram(t, "Dump"), questions)
	loglab := buildLoglab(t)
	counts, example, kafkaFinds := map[string]int{}, map[string]string{}, 0
	for i, s := range spoiled {
		sanity, verified := theirs[2*i], theirs[2*i+1]
		insane, wrong := strings.Contains(sanity, "CorruptIndexException"), wrongForKafka(verified)
		found := checked(t, loglab, strings.TrimSuffix(s.file, filepath.Ext(s.file))+storage.LogSuffix)
		what := fmt.Sprintf("%s, %s: wrong by Kafka's sanity check %t, by its comparison %t, by ours %t", filepath.Ext(s.file), s.how, insane, wrong, len(found) > 0)
		counts[what]++
		example[what] = strings.ReplaceAll(fmt.Sprintf("%s\n%s\n%v", sanity, verified, found), root, "")
		if insane || wrong {
			kafkaFinds++
			if len(found) == 0 {
				t.Errorf("%s: %s: we find nothing; Kafka says\n%s\n%s", s.file, s.how, sanity, verified)
			}
		}
		for _, p := range found {
			if p.File != filepath.Base(s.file) {
				t.Errorf("%s: %s: %v is about another file", s.file, s.how, p)
			}
		}
	}
	if kafkaFinds < spoiledIndexes/2 {
		t.Errorf("Kafka finds only %d of %d wrong", kafkaFinds, spoiledIndexes)
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%d × %s\n%s", counts[what], what, example[what])
	}
}

// wrongForKafka says whether DumpLogSegments complains of an index.
func wrongForKafka(answer string) bool {
	for _, sign := range []string{"Mismatches", "Found timestamp mismatch", "Found out of order timestamp", "not found in the log", "Exception"} {
		if strings.Contains(answer, sign) {
			return true
		}
	}
	return false
}

// spoiledIndex is the content of an index after it was spoiled, and how.
type spoiledIndex struct {
	content []byte
	what    string
}

// spoilIndex spoils a file of entries.
func spoilIndex(draw func(n int) int, content []byte, size int) spoiledIndex {
	b, entries := bytes.Clone(content), len(content)/size
	entry := draw(entries)
	switch draw(5) {
	case 0:
		return spoiledIndex{b[:len(b)-1-draw(size-1)], "cut inside an entry"}
	case 1:
		at := draw(size)
		b[entry*size+at] ^= 1 << draw(8)
		return spoiledIndex{b, "a bit changed"}
	case 2:
		entry = draw(entries - 1)
		first := bytes.Clone(b[entry*size:][:size])
		copy(b[entry*size:], b[(entry+1)*size:][:size])
		copy(b[(entry+1)*size:], first)
		return spoiledIndex{b, "two entries exchanged"}
	case 3:
		entry = draw(entries - 1)
		copy(b[(entry+1)*size:], b[entry*size:][:size])
		return spoiledIndex{b, "an entry doubled"}
	}
	last := b[len(b)-size:]
	if size == 12 {
		last = last[8:]
	}
	last[0] |= 0x80
	return spoiledIndex{b, "last offset below the base"}
}
