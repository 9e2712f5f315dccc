// Package engine runs one cluster: brokers, clients and the network between them, one tick at a time.
// It is the only package that joins the others.
//
// A cluster is a pure function of its spec, its seed and the commands given at its ticks: the same
// three give the same journal, byte for byte, on every machine, from zero and from any clone. There is
// no clock, no goroutine and no randomness but the generator seeded at the start.
//
//	c, err := engine.New(spec, seed) // frame 0: the clients have found their topic
//	c.Apply(cmd)                     // commands of tick 0
//	c.Tick()                         // frame 1
//	v := c.View()                    // an immutable value
//
// Time. Virtual time counts in milliseconds from tick 0. Tick t+1 covers tick.ms
// milliseconds, from the time of frame t on, its end excluded. Before tick 0, which is time 0, stands the
// prologue: in the time below 0 the brokers register, the topic is created, the clients ask for metadata,
// producer ids and positions and send their first fetch, groups form, and the spec's own commands are carried out; its
// events are those of tick 0. The workload begins with tick 1.
//
// Order. Within a tick time goes from one due moment to the next. What falls due at the same moment
// happens in this order, which is stated here and nowhere else:
//
//  1. commands, in the order of the address
//  2. deliveries, by link, then by sequence of sending
//  3. timers of the controller, then of brokers by number; a slow disk is a timer of its broker
//  4. timers of clients: consumers by number, members of groups by group and number, then producers by number, then the
//     administrator's
//
// A paused node takes no delivery and fires no timer; at resume it takes what has arrived in order. A process
// that was killed has lost its memory and its connections; a broker keeps its disk. faults.go has all that can
// be done to a node or a link.
//
// From outside, without any effect on the run, [Cluster.Ledger] says what became of every record, and [Cluster.Check]
// which invariants do not hold.
//
// Every run is bounded: past a bound Tick, Apply and New answer with a [*LimitError] and the run is
// over; nothing is dropped silently.
package engine
