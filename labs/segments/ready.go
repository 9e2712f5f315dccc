package segments

import "loglab/labs"

// The beginnings that several runs share.
const (
	// A record every 50 s, and a check of retention 10 s after each.
	aging = "tick-ms=10000&every=50000&keys=1&segment-bytes=16384&"
	// The checks of it.
	checks = "&do=1:check-retention+b1&do=6:check-retention+b1&do=11:check-retention+b1&do=16:check-retention+b1&do=21:check-retention+b1&do=26:check-retention+b1&do=31:check-retention+b1&do=36:check-retention+b1"
	// Three records, the second from a clock that is ten days ahead.
	future = "&do=0:produce+p0+A+1&do=0:wait+1s&do=0:skew+p0+240h&do=0:produce+p0+A+2&do=0:wait+1s&do=0:skew+p0+0ms&do=0:produce+p0+A+3&do=0:wait+1s"
	// Five records are read and committed, two are not; forty minutes later three come.
	absence = "&segment-bytes=490&retention-ms=1680000&do=0:produce+p0+A+1&do=0:produce+p0+B+1&do=0:produce+p0+C+1&do=0:produce+p0+A+2&do=0:produce+p0+B+2&do=2:leave+reader-1&do=3:produce+p0+C+2&do=3:produce+p0+A+3&do=36:produce+p0+B+3&do=36:produce+p0+C+3&do=36:produce+p0+A+4&do=38:start+reader-1&t=39"
	// Seven records of 70 bytes, two to a segment.
	seven = "&do=0:produce+p0+A+1&do=1:produce+p0+B+1&do=2:produce+p0+C+1&do=3:produce+p0+A+2&do=4:produce+p0+B+2&do=5:produce+p0+C+2&do=6:produce+p0+A+3"
)

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "Old records stay although retention.ms has passed", Query: aging + "retention-ms=60000" + checks + "&t=26", Text: "Retention takes whole segments by their youngest record, and one that is still written is always young."},
		{Title: "The same with segment.ms = 60,000", Query: aging + "segment-ms=60000&retention-ms=60000" + checks + "&t=26", Text: "Two records to a segment; each goes a minute after its second one, with the next check."},
		{Title: "Both side by side", Query: aging + "retention-ms=60000" + checks + "&t=26&vs=segment-ms:60000", Text: "One setting decides how many records wait for the youngest among them."},
		{Title: "How long a record lives with ten minutes of retention", Query: "tick-ms=30000&every=5000&keys=1&segment-bytes=1048576&segment-ms=600000&index-interval=4096&retention-ms=600000&do=0:stop-sending+p0&do=1:start-sending+p0&t=52&horizon=56", Text: "25 minutes: the segment fills for ten, its last record grows old for ten, and the check comes every five. The file stays a minute more."},
		{Title: "A timestamp in the future blocks deletion", Query: "tick-ms=21600000&rate=0&ts-after=9223372036854775807&retention-ms=60000" + future + "&do=1:produce+p0+A+4&t=4&horizon=44", Text: "One record from a clock ten days ahead: what stands in its segment, and behind it, stays ten days."},
		{Title: "The same, refused by default", Query: "tick-ms=21600000&rate=0&retention-ms=60000" + future + "&do=1:produce+p0+A+4&t=1&horizon=44", Text: "message.timestamp.after.max.ms = 3,600,000: the broker does not take a record that is more than an hour ahead."},
		{Title: "Size: one segment goes, 350 bytes are left", Query: "rate=0&segment-bytes=140&retention-bytes=300" + seven + "&do=8:check-retention+b1&t=8&horizon=20", Text: "490 bytes with retention.bytes = 300: a segment goes only if 300 would still be there without it."},
		{Title: "An idle partition never rolls", Query: "tick-ms=60000&every=20000&segment-ms=60000&do=2:stop-sending+p0&do=30:produce+p0+A&t=29&horizon=34", Text: "segment.ms is looked at when a record comes. For half an hour none does; the next one rolls the segment at once."},
		{Title: "A compacted topic still shows duplicates", Query: "rate=0&segment-bytes=419&policy=compact&dirty-ratio=0&do=1:produce+p0+A+1&do=2:produce+p0+B+1&do=3:produce+p0+A+2&do=4:produce+p0+C+1&do=5:tombstone+p0+B&do=6:produce+p0+A+3&do=8:run-cleaner+b1&do=10:produce+p0+A+4&do=12:run-cleaner+b1&t=12&horizon=20", Text: "A = 3 and A = 4 are both there: the active segment is never cleaned, and its keys replace nothing yet."},
		{Title: "A tombstone: when does it go?", Query: "tick-ms=500&rate=0&segment-bytes=16384&segment-ms=1&policy=compact&dirty-ratio=0&delete-retention=1000&do=1:produce+p0+A+1&do=1:produce+p0+B+1&do=1:produce+p0+A+2&do=1:produce+p0+C+1&do=1:tombstone+p0+B&do=1:produce+p0+A+3&do=2:run-cleaner+b1&do=4:produce+p0+A+4&do=6:run-cleaner+b1&do=6:produce+p0+D+1&do=7:run-cleaner+b1&do=10:produce+p0+D+2&do=11:run-cleaner+b1&t=7&horizon=20", Text: "delete.retention.ms counts from the first cleaning that meets it, and then it takes another cleaning."},
		{Title: "Compacted and deleted", Query: "tick-ms=60000&every=20000&keys=4&policy=compact,delete&retention-ms=600000&dirty-ratio=0.3&do=5:stop-sending+p0&t=14&horizon=24", Text: "While A to D are written, the cleaner keeps the last record of each. Ten minutes after the last one retention takes these too, and nothing is left."},
		{Title: "Delete records, in the middle of a segment", Query: "rate=0" + "&segment-bytes=210" + seven + "&do=8:delete-records+orders-0+@4&do=10:check-retention+b1&t=9&horizon=20", Text: "The log begins at offset 4 at once. The segment below goes with the next check; offset 3 stays on the disk, unreadable."},
		{Title: "Power loss", Query: "do=14:power-loss+b1&do=17:start+b1&t=14&horizon=30", Text: "Four acknowledged records are only in the page cache; with no other replica they are gone, and their offsets are given again."},
		{Title: "A reader away longer than retention, earliest", Query: "tick-ms=60000&rate=0&reader=on" + absence, Text: "Its position is not in the log any more: it goes on at the log start and never sees offsets 5 and 6."},
		{Title: "The same, latest", Query: "tick-ms=60000&rate=0&reader=on&reset=latest" + absence, Text: "It goes on at the end: offsets 5 to 9 are not for it, three of them still there."},
		{Title: "The same, none", Query: "tick-ms=60000&rate=0&reader=on&reset=none" + absence, Text: "The application gets an OffsetOutOfRangeException, and has to decide for itself."},
	}
}
