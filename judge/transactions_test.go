//go:build judge

package judge

import (
	"fmt"
	"path/filepath"
	"testing"
)

// How much TestTransactions asks.
const (
	transactionRuns  = 250
	transactionSteps = 80
)

// transactionKinds must each happen in some run.
var transactionKinds = []string{
	"plain append", "plain append refused", "transactional append", "transactional append refused",
	"COMMIT of version 0", "COMMIT of version 1", "COMMIT of version 2", "ABORT of version 0", "ABORT of version 1", "ABORT of version 2",
	"marker that ends nothing", "marker refused, INVALID_PRODUCER_EPOCH", "marker refused, TRANSACTION_COORDINATOR_FENCED",
	"marker refused, MESSAGE_TOO_LARGE", "marker refused, RECORD_LIST_TOO_LARGE", "marker refused, UNKNOWN_SERVER_ERROR",
	"follow", "follow, 1 transactions ended", "follow, 2 transactions ended",
	"high watermark up", "high watermark down",
	"last stable offset held by an open transaction", "last stable offset held by a marker that is not replicated",
	"committed read of nothing", "committed read, 0 aborted", "committed read, 1 aborted", "committed read, 2 aborted",
	"committed read refused, OFFSET_OUT_OF_RANGE", "aborted by a marker in a later segment",
	"truncate", "truncate, aborted transactions gone", "truncate, transaction open again", "restart-at",
	"stop", "kill", "torn tail", "restart, aborted transactions gone", "restart, transaction open again",
}

// Kafka's UnifiedLog and ours get the same transactions of several producers, and markers of old and new epochs and
// coordinators under each version of the protocol, as leader and as follower; the high watermark moves, the log is
// truncated, stopped or killed with a piece of its last segment lost, and loaded again. They give the same offsets or
// refuse with the same error, and readers of committed records the same bytes with the same aborted transactions. After
// each step they have the same last stable offset, the same bytes in .txnindex and know the same of the producers, and
// now and then have the same bytes in every file.
func TestTransactions(t *testing.T) {
	rnd := draws(t)
	root := memoryDir(t)
	var scripts []*script
	asked, done := 0, map[string]int{}
	for i := range transactionRuns {
		run := newTransactionRun(rnd.Split(fmt.Sprint("run ", i)), filepath.Join(root, fmt.Sprint(i), "orders-0"))
		for step := range transactionSteps {
			if run.step(); step%20 == 19 {
				run.compareFiles()
			}
		}
		scripts = append(scripts, &run.script)
		asked += len(run.questions)
		for kind, count := range run.done {
			done[kind] += count
		}
	}
	compareScripts(t, "Log", scripts)

	for _, kind := range transactionKinds {
		if done[kind] == 0 {
			t.Errorf("seed %d: no %s", *seed, kind)
		}
	}
	t.Logf("%d runs, %d questions: %v", transactionRuns, asked, done)
}
