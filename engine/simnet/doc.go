// Package simnet models the links between nodes: a message put on a link arrives after the link's
// latency, and all arrivals of a run have one order.
//
// A message is frozen once sent: sender, network, receiver and every clone of the cluster share it,
// and nobody writes to it again. What it carries is a request or a response of Kafka's protocol, or the news
// that a connection is closed.
//
// Order of delivery: time of arrival, then link (by the order in which sender and receiver were added
// to the network), then the sequence of sending. Nothing overtakes on a link, as on a TCP connection.
//
// A client has one connection to each server, and its responses come back on it. TCP loses no single message:
// what a cut link holds is sent again once it is healed, and where a message is lost the connection is lost
// with it. Both ends then forget what was under way on it. Connections are numbered, so that what belongs to
// an older one is recognised and lost ([Stale]).
//
// Simplified: a link takes any number of bytes at once; a connection is opened in no time, and there is one
// where Kafka's brokers and consumers have several.
//
// Simplified: where a message is dropped, both ends learn of the lost connection at once.
//
// Simplified: a message can be doubled. TCP never does that; it stands for a proxy or a client that sends
// again.
//
// Example: two nodes 10 ms apart.
//
//	net := simnet.New(10, []kafka.NodeID{"b1", "p0"})
//	net.Send(0, "p0", simnet.Send{To: "b1", Request: request, Correlation: 1})
//	due, ok := net.NextDue() // 10, true
package simnet
