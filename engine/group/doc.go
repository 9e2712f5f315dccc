// Package group is the group coordinator of one partition of __consumer_offsets: the classic protocol of consumer
// groups, and committed offsets.
//
// A coordinator is a state machine. Receive takes a delivered request, Written the news of a write, Tick lets its
// timers fire, NextDue says when the next one does. They return what the coordinator wants done, see [Effects]: the
// broker that leads the partition appends the records and sends the answers. A coordinator never sends and never
// writes by itself. What it holds is the replay of its partition's log: [Coordinator.Load] builds it from there.
package group
