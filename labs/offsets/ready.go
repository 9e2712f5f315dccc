package offsets

import "loglab/labs"

// The beginnings that several runs share.
const (
	// Two consumers with six records each, of which poll gives three at a time.
	batches = "partitions=2&records=6&poll-records=3&"
	// A record takes four times as long, three threads work, and after each record the highest done is committed.
	threads = "partitions=2&records=8&commit=after-record&threads=3&"
	// Everything is processed and committed in tick 7; then it is read again.
	replay = "commit=after-batch&"
	// The consumers of audit are started in tick 6, when about eighteen records are there.
	second = "rate=1&commit=after-batch&second=new&"
	// billing-1 crashes in tick 2 and is started again in tick 4.
	restart = "commit=after-batch&"
)

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "Crash between processing and commit", Query: batches + "commit=after-batch&do=4:crash+billing-1+before+commit&t=18&horizon=24", Text: "Look at orders-0: three records are done twice, 2×, since billing-2 began at the commit before them. In tick 8 a bracket has them still to repeat."},
		{Title: "Commit first, and lose", Query: batches + "commit=before&do=2:crash+billing-1&t=13", Text: "Committed before it was processed: billing-2 begins behind two records that nobody has processed."},
		{Title: "Commit after and before, side by side", Query: batches + "commit=after-batch&do=2:crash+billing-1&t=13&vs=commit:before", Text: "The same crash with the commit after and before processing: repeated here, lost there."},
		{Title: "The window of auto commit", Query: "partitions=2&records=20&poll-records=1&process=2&commit=auto&do=10:crash+billing-1&t=10&horizon=24", Text: "The bracket is what was processed since the client committed last: it grows for up to auto.commit.interval.ms."},
		{Title: "Automatic and manual commits, side by side", Query: "partitions=2&records=20&poll-records=1&process=2&commit=auto&do=10:crash+billing-1&t=20&horizon=30&vs=commit:manual", Text: "The same crash: the client had committed by itself in tick 7; by hand nobody had, and all begins anew."},
		{Title: "The highest done is committed, and a record lost", Query: threads + "commits=highest&slow-every=4&do=3:crash+billing-1&t=13", Text: "Three threads: offset 0 was still at work when a later one was done and committed."},
		{Title: "The same, committing up to the first not done", Query: threads + "slow-every=4&do=3:crash+billing-1&t=13", Text: "Nothing is lost; what was done behind the slow record is done again."},
		{Title: "Replay into a plain sink", Query: replay + "do=8:replay+billing+from+earliest&t=16", Text: "One command, and the log is as it was: every effect is in the sink twice."},
		{Title: "Replay into an idempotent sink", Query: replay + "sink=idempotent&do=8:replay+billing+from+earliest&t=16", Text: "The same replay: the sink knows each record and ignores it."},
		{Title: "Plain and idempotent sink, side by side", Query: replay + "do=8:replay+billing+from+earliest&t=16&vs=sink:idempotent", Text: "The records are processed twice in both; what counts differs."},
		{Title: "A slow sink and growing lag", Query: "rate=6&consumers=4&process=4&commit=after-batch&capacity=4&t=20", Text: "Six records a tick come and the sink takes four: four consumers wait for it, and the lag grows."},
		{Title: "A poison record", Query: "rate=1&commit=after-record&handler=retry&t=12", Text: "orders-0 @1 fails again and again; all behind it waits, and so does the other partition of billing-1."},
		{Title: "The same record dead-lettered", Query: "rate=1&commit=after-record&handler=dead-letter&t=12", Text: "After three attempts it goes to another topic, and the partition goes on."},
		{Title: "A zombie’s commit refused", Query: "commit=after-record&do=2:pause+billing-1&do=16:resume+billing-1&t=17&horizon=24", Text: "Paused beyond its session, billing-1 goes on where it was and commits: it is no member any more."},
		{Title: "A new group from earliest", Query: second + "do=6:start+audit-1&t=9", Text: "audit has committed nothing: it begins at the start of the log, whatever billing has read."},
		{Title: "A new group from latest", Query: second + "audit-reset=latest&do=6:start+audit-1&t=9", Text: "The same group begins at the end: what was written before is not for it."},
		{Title: "From earliest and from latest, side by side", Query: second + "do=6:start+audit-1&t=9&vs=audit-reset:latest", Text: "Where a group begins that has committed nothing is its own setting, not the log’s."},
		{Title: "Restarted: a dynamic member waits", Query: restart + "do=2:crash+billing-1&do=4:start+billing-1&t=6", Text: "It is a new member; nobody reads its partitions until the session of its earlier self ends."},
		{Title: "Restarted: a static member does not", Query: "static=on&" + restart + "do=2:crash+billing-1&do=4:start+billing-1&t=6", Text: "Its group.instance.id brings the partitions back at once."},
		{Title: "Dynamic and static, side by side", Query: restart + "do=2:crash+billing-1&do=4:start+billing-1&t=6&vs=static:on", Text: "One restart: nobody reads for six ticks, or it goes on at once."},
	}
}
