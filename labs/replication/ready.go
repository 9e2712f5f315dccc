package replication

import "loglab/labs"

// The beginnings that several runs share. The waits end shortly before the controller fences who is silent.
const (
	// The third record is acknowledged by the leader alone, which dies before a follower has fetched it.
	leaderDies = "do=5:produce+p0&do=6:produce+p0&do=7:produce+p0&do=10:kill+b1&do=14:wait+7s"
	// Both followers die, and the in-sync replicas shrink to the leader.
	leaderAlone = "do=5:produce+p0&do=12:kill+b2&do=12:kill+b3&do=16:wait+7s&do=40:produce+p0"
)

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "acks = 1, and the leader dies", Query: "acks=1&rate=0&" + leaderDies + "&t=40&horizon=50", Text: "An acknowledged record is lost: no follower had fetched it yet."},
		{Title: "A late old leader cuts its log", Query: "acks=1&rate=0&" + leaderDies + "&do=36:produce+p0&do=44:start+b1&t=49&horizon=60", Text: "It comes back with a record that the new leader does not have, and cuts it off."},
		{Title: "All in sync, and then refused", Query: "min-isr=3&rate=0&do=5:produce+p0&do=12:kill+b3&do=16:wait+7s&do=40:produce+p0&t=44&horizon=60", Text: "With min.insync.replicas 3 of 3 the failure of any broker stops all writes."},
		{Title: "acks = all, in sync: one", Query: "rate=0&" + leaderAlone + "&t=44&horizon=60", Text: "The in-sync replicas shrink to the leader, and acks = all is still acknowledged."},
		{Title: "The same with min.insync.replicas 2", Query: "min-isr=2&rate=0&" + leaderAlone + "&t=44&horizon=60", Text: "The write is refused instead: no promise is made that one failure could break."},
		{Title: "Both beside each other", Query: "rate=0&" + leaderAlone + "&t=44&horizon=60&vs=min-isr:2", Text: "min.insync.replicas 1 and 2, the same failures."},
		{Title: "Unclean election", Query: "unclean=true&rate=0&" + leaderAlone + "&do=46:kill+b1&do=48:start+b2&do=60:wait+7s&t=84&horizon=90", Text: "A replica that missed an acknowledged record is elected; the record is lost."},
		{Title: "Power loss of all in-sync replicas", Query: "rate=5&every=100&do=2:stop-sending+p0&do=20:power-loss+b1&do=20:power-loss+b2&do=20:power-loss+b3&do=24:wait+8s&do=40:start+b2&do=40:start+b3&t=62&horizon=70", Text: "Three copies in three page caches: acks = all does not mean on disk."},
		{Title: "A duplicate", Query: "idempotence=false&rate=0&do=4:drop-next+b1+p0&do=5:produce+p0&t=16&horizon=30", Text: "The answer is lost, the producer sends again, and the record stands twice."},
		{Title: "No duplicate with idempotence", Query: "rate=0&do=4:drop-next+b1+p0&do=5:produce+p0&t=16&horizon=30", Text: "The same answer is lost; the leader recognises the batch by its sequence."},
	}
}
