// Package client models the programs at the edge of the cluster: the producer and the consumer, each
// with the client library and the application around it, and the admin client. [Outside] is what the
// applications read from and write to: the source of the events and their destination.
//
// A client is a state machine like a broker: Receive takes a delivered message, Tick lets its timers
// fire, NextDue says when the next one does, and both return what the client wants sent. Producer and
// consumer begin by asking for metadata; the admin client has no timer. Settings keep Kafka's names, units
// and 4.2 defaults.
//
// Invariants: a producer's records of one partition are sent in the order they were handed in, with at
// most max.in.flight.requests.per.connection requests unanswered; a consumer has one fetch under way
// and its position only grows.
//
// Simplified: the producer runs with enable.idempotence=false and does not retry: the network loses
// nothing, and a refused batch is given up at once.
//
// Simplified: an event is at the destination as soon as poll has returned its record; the time that the
// application works on it comes after. Nothing is committed.
package client
