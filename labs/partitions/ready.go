package partitions

import "loglab/labs"

// growing is a run whose readers fall behind before its topic gets more partitions at tick 8 or later.
const growing = "partitions=3&baseline=3&work=5&"

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "Keys move", Query: "partitions=6&t=12", Text: "24 keys over 6 partitions instead of 4."},
		{Title: "Two clients, one topic", Query: "partitions=6&second=crc32-random&t=16", Text: "A Java client and a librdkafka client place the same keys differently."},
		{Title: "Partitions added while writing", Query: growing + "rate=6&do=8:add-partitions+orders+to+6&t=40&horizon=60", Text: "Readers of the new partitions overtake those of the old ones."},
		{Title: "First remedy: drain first", Query: growing + "rate=6&do=8:stop-sending+p0&do=20:add-partitions+orders+to+6&do=36:start-sending+p0&t=60&horizon=60", Text: "Stop sending, let the readers reach the end, add, go on: no event is late."},
		{Title: "Second remedy: check versions", Query: growing + "destination=versions&rate=6&do=8:add-partitions+orders+to+6&t=40&horizon=60", Text: "The destination recognises late events and refuses them."},
		{Title: "A key that changes", Query: "key-by=entity-and-state&rate=6&t=20", Text: "The state in the key scatters an order’s events."},
		{Title: "A key that is too coarse", Query: "key-by=region&rate=6&t=20", Text: "Three regions as keys: few partitions work, one is hot."},
		{Title: "One hot key", Query: "draw=hot-key&rate=10&t=40&horizon=40", Text: "Half of all records have one key."},
		{Title: "Keys by Zipf’s law", Query: "draw=zipf&rate=10&t=40&horizon=40", Text: "Few keys with many records, many keys with few."},
		{Title: "No keys: sticky", Query: "work=3&keys=0&rate=60&t=20", Text: "One partition until batch.size bytes have gone there."},
		{Title: "No keys: sticky, 2.4 to 3.2", Query: "work=3&keyless=sticky-480&keys=0&rate=60&t=20", Text: "Another partition with each new batch."},
		{Title: "No keys: round robin", Query: "keyless=round-robin&keys=0&rate=6&t=12", Text: "Record by record to the next partition; event 4 can be seen before event 2."},
	}
}
