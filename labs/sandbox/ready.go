package sandbox

import "loglab/labs"

// The beginnings that several runs share.
const (
	// One partition, written by hand.
	single = "partitions=1&rate=0&"
	// Both followers die, and the in-sync replicas shrink to the leader.
	leaderAlone = "do=5:produce+p0+a&do=12:kill+b2&do=12:kill+b3&do=16:wait+7s&do=40:produce+p0+b&t=44"
)

// readyRuns are runs to begin with: stories of the other labs, each with everything around it.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "A leader dies under everybody", Query: "rate=1&every=500&do=20:kill+b1&do=24:wait+8s&t=60&horizon=90", Text: "b1 led a partition and coordinated the group: others take over, and nothing acknowledged with acks = all is lost."},
		{Title: "acks = 1, and the leader dies", Query: single + "acks=1&do=5:produce+p0+a&do=6:produce+p0+b&do=7:produce+p0+c&do=10:kill+b1&do=14:wait+7s&t=40", Text: "An acknowledged record is lost: no follower had fetched it yet."},
		{Title: "All but the leader die", Query: single + leaderAlone, Text: "With min.insync.replicas = 1 a write with acks = all is still acknowledged."},
		{Title: "The same, with min.insync.replicas 1 and 2 side by side", Query: single + leaderAlone + "&vs=min-isr:2", Text: "The second run refuses the write instead."},
		{Title: "A lost answer, with idempotence and without", Query: single + "do=4:drop-next+b1+p0&do=5:produce+p0+a&t=20&vs=idempotence:false", Text: "The same loss: the record stands once, or twice."},
		{Title: "An open transaction holds up readers", Query: single + "producers=2&transactional=first&isolation=read_committed&do=4:begin-transaction+p0&do=4:produce+p0+a&do=12:kill+p0&do=14:produce+p1+b&do=16:produce+p1+c&t=22", Text: "p0 is gone, its transaction is open: the plain records of p1 wait behind it."},
		{Title: "A crash after processing, before the commit", Query: "tick-ms=1000&work=500&every=500&do=8:crash+billing-1+before+commit&t=20", Text: "Who takes over begins at the committed offset: some records are processed twice."},
		{Title: "A member more than there are partitions", Query: "tick-ms=1000&protocol=consumer&members=3&off=1&every=500&do=8:start+billing-3&t=20", Text: "The coordinator takes it into its group and has no partition for it: it is idle."},
		{Title: "Records deleted before a group has read them", Query: "tick-ms=1000&partitions=1&members=1&every=500&do=8:crash+billing-1&do=12:delete-records+orders-0+@20&do=13:start+billing-1&t=16", Text: "Its committed offset is below the start of the log: auto.offset.reset decides where it goes on."},
		{Title: "A cleaning", Query: "tick-ms=1000&partitions=1&policy=compact&segment-bytes=300&every=500&do=12:run-cleaner+b1&t=12", Text: "Of each key the last record before the active segment stays, and those in it; offsets stay as they were."},
	}
}
