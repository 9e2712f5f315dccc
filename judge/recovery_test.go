//go:build judge

package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/storage"
)

// recoveredLogs is how many logs of drawn batches Kafka recovers.
const recoveredLogs = 60

// Kafka loads our directories as after an unclean shutdown: it reads every batch, cuts nothing off, and
// rebuilds the same indexes. Only the active segment's time index gets the entry that closes it.
func TestRecovery(t *testing.T) {
	rnd := draws(t)
	root := t.TempDir()
	var want, questions []string
	add := func(dir string, config storage.Config, end kafka.Offset, segments []storage.Segment) {
		questions = append(questions, fmt.Sprintf("recover %s %d %s", filepath.Join(root, dir), startTime, settingsOf(config)), "segments")
		want = append(want, "ok", segmentsText(end, segments))
	}
	for i := range recoveredLogs {
		run := newLogRun(rnd.Split(fmt.Sprint("run ", i)), "")
		for range appendsARun {
			run.step()
		}
		run.writeFiles(t, filepath.Join(root, fmt.Sprint(i)))
		add(fmt.Sprintf("%d/orders-0", i), run.log.Config(), run.log.LogEndOffset(), run.log.Segments())
	}
	for codec := record.None; codec <= record.Zstd; codec++ {
		config, cluster := runCluster(t, codec, record.CreateTime)
		for _, p := range cluster.View().Partitions {
			dir := filepath.Join(codec.String(), p.TopicPartition.String())
			writeSegments(t, root, dir, p.Log.Segments)
			add(dir, config, p.Log.LogEndOffset, p.Log.Segments)
		}
	}
	segments := 0
	for i, answer := range answers(t, kafkaProgram(t, "Log"), questions) {
		// The active segment's time index ends both texts.
		if !strings.HasPrefix(answer, want[i]) || len(answer) > len(want[i])+2*12 {
			t.Fatalf("seed %d: %s\n Kafka %s\n ours  %s", *seed, questions[max(0, i-1)], answer, want[i])
		}
		segments += strings.Count(answer, " ")
	}
	t.Logf("%d directories with %d segments", len(questions)/2, segments)
}

// writeFiles writes every file of the run's disk below root.
func (r *logRun) writeFiles(t *testing.T, root string) {
	t.Helper()
	for _, path := range r.disk.List("orders-0") {
		file, _ := r.disk.Open(path)
		writeFile(t, filepath.Join(root, path), r.disk.Bytes(file))
	}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
