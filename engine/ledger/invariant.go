package ledger

import (
	"fmt"

	"loglab/engine/kafka"
)

// Invariant names a rule that holds in every run, whatever fails.
type Invariant string

// The invariants.
const (
	OffsetsRise         Invariant = "offsets-rise"            // the offsets of a log strictly increase, up to the log end offset
	MarksInOrder        Invariant = "marks-in-order"          // log start offset ≤ high watermark ≤ log end offset
	WatermarkStays      Invariant = "watermark-stays"         // a leader's high watermark never falls within its epoch
	OneLeaderAnEpoch    Invariant = "one-leader-an-epoch"     // over all brokers and all time
	ISRAmongReplicas    Invariant = "isr-among-replicas"      // at the controller and at every broker
	LeaderInISR         Invariant = "leader-in-isr"           // at the controller and at every broker
	CleanElection       Invariant = "clean-election"          // a leader comes from ISR or ELR unless the run allows another
	ReplicasAgree       Invariant = "replicas-agree"          // byte for byte below the smaller high watermark
	CleaningKeepsLast   Invariant = "cleaning-keeps-last"     // a log that was cleaned has the last record of every key
	AcknowledgedSurvive Invariant = "acknowledged-survive"    // what was committed, or acknowledged with acks=all, is where the leader is, or may be
	SequencesInOrder    Invariant = "sequences-in-order"      // an idempotent producer's records stand once and in order
	EpochsRise          Invariant = "epochs-rise"             // leader epoch and partition epoch never fall
	MetadataBehind      Invariant = "metadata-behind"         // no broker has more metadata than the controller
	PositionsBelowMark  Invariant = "positions-below-mark"    // no consumer is above every high watermark that there ever was
	AssignmentRepeats   Invariant = "assignment-of-its-input" // an assignment depends on its input alone
	OneOwner            Invariant = "one-owner-a-generation"  // no two members own a partition in one generation
	CommitOfGeneration  Invariant = "commit-of-generation"    // no coordinator takes a commit of another generation than the group's
	NothingSkipped      Invariant = "nothing-skipped"         // a group that commits what it is done with has processed all below
	EffectsOnce         Invariant = "effects-once"            // an idempotent sink, or one that stores offsets, has no effect twice
	OffsetsWritten      Invariant = "offsets-written"         // a coordinator shows the offsets that are on every in-sync replica
	SessionsEnd         Invariant = "sessions-end"            // a member that waits for nothing is removed if it goes silent
	OneHolder           Invariant = "one-holder"              // no coordinator gives a partition that another member has, or has not given up yet
	GroupEpochsRise     Invariant = "group-epochs-rise"       // member epochs ≤ assignment epoch ≤ group epoch, and these never fall
)

// The invariants of transactions.
const (
	CommittedOnly         Invariant = "committed-only"          // a reader of committed records is given those of committed transactions, all of them, and none behind one that is open
	StableBelowMark       Invariant = "stable-below-mark"       // the last stable offset is the high watermark or the first record of an open transaction below it; a leader's never falls within its epoch
	AllOrNothing          Invariant = "all-or-nothing"          // when a transaction is complete each of its partitions has the marker that was decided, and none has another
	EndsAsTold            Invariant = "ends-as-told"            // a transaction ends everywhere as its producer was told
	FencedStayOut         Invariant = "fenced-stay-out"         // a producer whose epoch is over adds no record and commits none
	OneProducerAnEpoch    Invariant = "one-producer-an-epoch"   // no two processes with a transactional.id are given one epoch
	TransactionsKnown     Invariant = "transactions-known"      // a leader begins no transaction of which the coordinator does not know the partition
	TransactionStates     Invariant = "transaction-states"      // a transaction's state moves as Kafka's does
	CoordinatorEpochsRise Invariant = "coordinator-epochs-rise" // the coordinator epoch in a producer's markers never falls in a log
	OutputsOnce           Invariant = "outputs-once"            // of an application that reads, processes and writes in transactions no two outputs of one input are committed
)

// Violation says that an invariant does not hold.
type Violation struct {
	Invariant      Invariant            `json:"invariant"`
	Tick           kafka.Tick           `json:"tick"`
	TopicPartition kafka.TopicPartition `json:"topic_partition"` // empty: it is about none
	Text           string               `json:"text"`            // what was found, with its numbers
}

// String gives one line.
func (v Violation) String() string {
	if v.TopicPartition.Topic == "" {
		return fmt.Sprintf("t=%04d %s: %s", v.Tick, v.Invariant, v.Text)
	}
	return fmt.Sprintf("t=%04d %s %s: %s", v.Tick, v.Invariant, v.TopicPartition, v.Text)
}
