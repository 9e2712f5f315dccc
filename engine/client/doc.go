// Package client models the programs at the edge of the cluster: the producer and the consumer, each
// with the client library and the application around it, and the admin client. [Outside] is what the
// applications read from and write to: the source of the events and their destination.
//
// A consumer is given its partitions, or it is a member of a group with a coordinator (member.go): it finds the
// coordinator (coordinator.go), asks what is committed (committed.go) and commits (commit.go). By which protocol it is a
// member, group.protocol says. In the classic one it joins and as a leader divides (join.go), and sends heartbeats from a
// thread of its own (heartbeat.go). In the consumer protocol (KIP-848) the coordinator divides and all goes by one
// request, ConsumerGroupHeartbeat (consumer_heartbeat.go): it joins and leaves by its epoch and is fenced (membership.go),
// and it comes to what it is told to own by itself (reconcile.go). Topics can be subscribed to by a pattern (pattern.go).
// Around a member runs an application
// (application.go, workers.go) that does one kind of thing at a time: it polls, processes a record, commits; a crash can
// be armed between any two (crash.go). What it has processed goes to its group's [Sink], which also keeps what became of
// each record. An application that also writes has a producer in its process (transform.go): records and offsets are one
// transaction, or two things that know nothing of each other. member_orders.go has what a person can tell an application to do. group_tool.go is the administrator's
// tool that resets offsets.
//
// A producer with a transactional.id writes in transactions (transaction.go): its requests to the coordinators go one at a
// time and before records (transaction_requests.go), and what each answer means is in transaction_answers.go. The
// application that begins and ends transactions is in producer_app.go. What a consumer is given of them, isolation.level
// says (isolation.go). An application may write its events into an outbox table, which a relay publishes (outbox.go).
//
// A client is a state machine like a broker: Receive takes a delivered message, Disconnected the news that a
// connection is gone, Tick lets its timers fire, NextDue says when the next one does, and all return what the
// client wants sent. A request without an answer within request.timeout.ms makes the client close its
// connection: that comes first in what Tick returns. Producer and consumer begin at the bootstrap servers by
// asking for metadata and then talk to the leaders of partitions; the admin client talks to the controller, and about
// groups to brokers.
// Settings keep Kafka's names, units and 4.2 defaults. A client that was killed has no timer and takes nothing
// until it is started.
//
// Invariants: a client has at most max.in.flight.requests.per.connection requests unanswered by one broker; a
// record has at most one outcome; an idempotent producer's batches of one partition are sent again only in the
// order of their sequences; a transactional producer sends records only to partitions of its transaction, and EndTxn only
// when no batch is left; a consumer has one fetch under way to one broker, and its position grows but for a
// reset, a seek or a truncated log; a member fetches only while its application is in poll, and a classic one also joins
// and gives up partitions only then; a commit names the generation or the epoch that the member was in when it was sent;
// a member of the consumer protocol has one heartbeat under way whose answer counts, keeps its id as long as its process
// runs, and reads what it keeps through every change without a break.
//
// Simplified: for a consumer without a group an event is at the destination as soon as poll has returned its record; the
// time that the application works on it comes after, and nothing is committed.
//
// Simplified: poll has no time-out: it waits until it can return records. max.poll.interval.ms counts from the moment at
// which it has.
//
// Simplified: all of a consumer's requests to a broker share one connection; Kafka's has another one for the coordinator.
package client
