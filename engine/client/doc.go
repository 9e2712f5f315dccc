// Package client models the programs at the edge of the cluster: the producer and the consumer, each
// with the client library and the application around it, and the admin client. [Outside] is what the
// applications read from and write to: the source of the events and their destination.
//
// A client is a state machine like a broker: Receive takes a delivered message, Disconnected the news that a
// connection is gone, Tick lets its timers fire, NextDue says when the next one does, and all return what the
// client wants sent. A request without an answer within request.timeout.ms makes the client close its
// connection: that comes first in what Tick returns. Producer and consumer begin at the bootstrap servers by
// asking for metadata and then talk to the leaders of partitions; the admin client talks to the controller.
// Settings keep Kafka's names, units and 4.2 defaults. A client that was killed has no timer and takes nothing
// until it is started.
//
// Invariants: a client has at most max.in.flight.requests.per.connection requests unanswered by one broker; a
// record has at most one outcome; an idempotent producer's batches of one partition are sent again only in the
// order of their sequences; a consumer has one fetch under way to one broker, and its position grows but for a
// reset or a truncated log.
//
// Simplified: an event is at the destination as soon as poll has returned its record; the time that the
// application works on it comes after. Nothing is committed.
package client
