// Package simnet models the links between nodes: a message put on a link arrives after the link's
// latency, and all arrivals of a run have one order.
//
// A message is frozen once sent: sender, network, receiver and every clone of the cluster share it,
// and nobody writes to it again. What it carries is a request or a response of Kafka's protocol.
//
// Order of delivery: time of arrival, then link (by the order in which sender and receiver were added
// to the network), then the sequence of sending. Nothing overtakes on a link, as on a TCP connection.
//
// Simplified: every link has the same latency, takes any number of bytes at once and loses nothing; a
// connection is never opened or closed.
//
// Example: two nodes 10 ms apart.
//
//	net := simnet.New(10, []kafka.NodeID{"b1", "p0"})
//	net.Send(0, "p0", simnet.Send{To: "b1", Request: request, Correlation: 1})
//	due, ok := net.NextDue() // 10, true
package simnet
