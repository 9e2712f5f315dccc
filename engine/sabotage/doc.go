// Package sabotage names the rules that a test can make a run break, so that the test sees the invariant that
// watches over the rule speak up. Each is looked at in one place of the code. A run whose spec names none breaks
// none, and no address of a lab can name one.
//
//	spec.Sabotage = sabotage.AcknowledgesEarly
package sabotage

// Rule is one rule that a run breaks; empty: none.
type Rule string

// The rules, with the package that breaks them.
const (
	OffsetsRepeat       Rule = "a leader gives an offset twice"                               // storage
	CleansTooMuch       Rule = "the cleaner takes the last record of a key"                   // storage
	SequencesUnchecked  Rule = "a leader appends a batch that it has already"                 // storage
	MarkUnclamped       Rule = "a follower takes a high watermark that its log does not have" // replication
	MarkFalls           Rule = "a leader sets its high watermark back at an append"           // replication
	LogsMayDiverge      Rule = "a leader does not compare epochs with a follower's log"       // replication
	AcknowledgesEarly   Rule = "acks=all is answered before the in-sync replicas have it"     // replication
	ReadsBeyondMark     Rule = "consumers read up to the log end offset"                      // replication
	MetadataRunsAhead   Rule = "a broker counts a metadata record that there is not"          // broker
	EpochStands         Rule = "a change of the leader leaves the leader epoch"               // controller
	EpochFalls          Rule = "the controller sets a partition epoch back"                   // controller
	StrangerInISR       Rule = "the controller puts a broker into an ISR that is no replica"  // controller
	FencedLeaderStays   Rule = "a fenced leader leaves the ISR and goes on leading"           // controller
	ElectsAnyone        Rule = "the controller elects uncleanly although it may not"          // controller
	AssignmentRemembers Rule = "an assignment depends on how long the run is"                 // engine
	OldCommitsAccepted  Rule = "a commit of an old generation is accepted"                    // group
	SessionsNeverEnd    Rule = "a member that sends no heartbeat stays"                       // group
	EffectsDoubled      Rule = "an idempotent sink applies an effect again"                   // client
	CommitsAhead        Rule = "an application commits one record more than it is done with"  // client
	OffsetsLeftOut      Rule = "an application ends its transaction without its offsets"      // client
	LeaderServesAll     Rule = "every member is given the leader's assignment"                // group
	OffsetsShownEarly   Rule = "a committed offset is shown before it is written"             // group
	GivenBeforeReleased Rule = "a partition is given before its owner has given it up"        // group
	TargetAhead         Rule = "a member comes to an epoch beyond the target assignment"      // group
	TargetStands        Rule = "the target assignment stays when the group epoch rises"       // group
	ZombiesPass         Rule = "a producer that begins leaves the epoch of the one before"    // txn
	EndAnsweredEarly    Rule = "the end of a transaction is answered before it is written"    // txn
	CompletesEarly      Rule = "a transaction is complete before its markers are written"     // txn
	AddsWhileEnding     Rule = "partitions are added to a transaction that is ending"         // txn
	NoTimeouts          Rule = "a transaction that is open for too long stays open"           // txn
	MarkerLeftOut       Rule = "the first partition of a topic gets no marker"                // broker
	WritesUnverified    Rule = "a leader begins a transaction without asking its coordinator" // broker
	OldEpochsAccepted   Rule = "a leader appends a batch of a fenced producer"                // storage
	OldMarkersAccepted  Rule = "a leader appends a marker of an older coordinator"            // storage
	EndsUnreplicated    Rule = "a marker counts before the in-sync replicas have it"          // storage
	ReadsUnstable       Rule = "read_committed reads up to the high watermark"                // replication
	AbortedUnlisted     Rule = "a leader lists no aborted transactions"                       // replication
)
