package rebalance

import "loglab/labs"

// The beginnings and commands that several runs share.
const (
	// A fourth member joins a group of three.
	newcomer = "do=2:start+billing-04"
	// Two of three members are restarted one after the other.
	rolling = "do=2:leave+billing-01&do=7:start+billing-01&do=20:leave+billing-02&do=25:start+billing-02"
	// Each record takes billing-01 longer than max.poll.interval.ms lets it work.
	tooSlow = "members=2&poll-interval=6000&slow=1&"
)

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{
		{Title: "A newcomer stops the world", Query: "assignor=sticky&" + newcomer + "&t=18", Text: "Eager: one partition moves, and all six stand still, since every member gives up all it has before it joins."},
		{Title: "A newcomer, cooperative", Query: "protocol=cooperative&" + newcomer + "&t=31", Text: "Whoever keeps a partition reads on. The one that moves is read through the first round and stands still from its end to that of the second."},
		{Title: "A newcomer, consumer protocol", Query: "protocol=consumer&" + newcomer + "&t=24", Text: "The coordinator divides, and each member comes to its share with its own heartbeats: only the partition that moves stands still, in one go."},
		{Title: "Eager and cooperative, side by side", Query: newcomer + "&t=31&vs=protocol:cooperative", Text: "The same newcomer: a gap through all partitions, or a longer one in the partition that moves."},
		{Title: "Cooperative and consumer protocol, side by side", Query: "protocol=cooperative&" + newcomer + "&t=31&vs=protocol:consumer", Text: "Two rounds of the whole group, or two heartbeats of two members."},
		{Title: "Target, epochs and who waits", Query: "protocol=consumer&" + newcomer + "&t=8&at=group:billing", Text: "billing-01 is told to give one partition up, and billing-04 waits for it, each in a member epoch of its own. The others are through."},
		{Title: "Cooperative takes two rounds", Query: "protocol=cooperative&" + newcomer + "&t=16", Text: "Between the two: billing-01 has given orders-3 up, and nobody has it before the next round."},
		{Title: "The default list still runs eager range", Query: newcomer + "&t=13&at=group:billing", Text: "Every member supports range and cooperative-sticky. All vote for range, and as range knows no cooperation all give up everything."},
		{Title: "Range over four topics", Query: "topics=4&partitions=3&members=2&t=3", Text: "Eight partitions and four: what is left over goes to the first member in every topic."},
		{Title: "Range and roundrobin, side by side", Query: "topics=4&partitions=3&members=2&assignor=range&t=3&vs=assignor:roundrobin", Text: "The same four topics, divided one by one or all in turn."},
		{Title: "Range moves more than it must", Query: "partitions=16&members=5&assignor=range&do=2:start+billing-06&t=18&vs=assignor:sticky", Text: "A sixth member joins: range shifts every border, sticky moves what the newcomer gets."},
		{Title: "More members than partitions", Query: "members=7&do=3:start+billing-08&t=23", Text: "An eighth member gets nothing, and all six partitions stand still for its coming all the same."},
		{Title: "A crash: first the session", Query: "do=4:crash+billing-02&t=31", Text: "Nobody reads its two partitions until its session ends, and then everybody’s stand still."},
		{Title: "Rolling restart, dynamic", Query: rolling + "&t=38", Text: "Each restart is a rebalance of the whole group."},
		{Title: "Rolling restart, static", Query: "static=on&" + rolling + "&t=38", Text: "A static member does not leave: only its own partitions wait for it, and nobody joins again."},
		{Title: "Rolling restart, consumer protocol", Query: "protocol=consumer&" + rolling + "&t=60", Text: "Dynamic members again: what a leaver had goes to others. When it is back it is given as many, not all of them the same, and what billing-03 has moves too."},
		{Title: "Rolling restart, side by side", Query: rolling + "&t=38&vs=static:on", Text: "The same restarts with and without group.instance.id."},
		{Title: "The poll-interval loop", Query: tooSlow + "slow-work=4000&poll-records=2&t=30&horizon=60", Text: "Two records take longer than max.poll.interval.ms: billing-01 leaves, comes back, is given records, and leaves again."},
		{Title: "A commit refused after a rebalance", Query: tooSlow + "slow-work=11000&poll-records=1&commit=after-batch&do=2:start+billing-03&t=25", Text: "In the middle of a record the group goes on without billing-01; what it commits then is not taken."},
		{Title: "Two members with one instance id", Query: "static=clash&do=2:start+billing-16&t=12", Text: "billing-16 has the group.instance.id of billing-01, takes its place, and billing-01 ends with FENCED_INSTANCE_ID."},
		{Title: "The same, consumer protocol", Query: "protocol=consumer&static=clash&do=2:start+billing-16&t=10", Text: "Here the first one stays: the second is answered UNRELEASED_INSTANCE_ID and ends."},
		{Title: "Partitions added", Query: "do=2:add-partitions+orders+to+9&t=31", Text: "Nobody has the new ones until the leader’s metadata is renewed; then everybody joins again."},
	}
}
