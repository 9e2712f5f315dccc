// Package command is what a person or a test can do to a cluster. Each command has one line of text,
// and that line parses back to it: addresses, scenario files and tests all carry commands as text.
//
// The grammar is words separated by one space. The first word is the verb, the second, where there is
// one, the node it is done to. A word that holds a space, a quote or a character that does not print
// is written as a Go string literal; the empty word is "".
//
//	produce p0                 producer p0 sends a record without a key
//	produce p0 order-7         a record with the key order-7
//	produce p0 "" paid         an empty key is a key; the value is paid
//	produce p0 - paid          - is no key (null); a key that is a hyphen is written "-"
//	produce-to p0 2 order-7    the record names its partition
//	stop-sending p0            the application of p0 hands in no more records; start-sending p0 goes on
//	begin-transaction p0       the application of p0 begins a transaction; commit-transaction p0 and abort-transaction p0 end it
//	add-partitions orders to 6 the topic has six partitions afterwards
//	pause c1                   the process c1 stands still; what arrives for it waits
//	resume c1
//	crash billing-1            the consumer's process ends at once; with "after processing orders-0 @6" at that point
//	leave billing-1            the consumer closes; start billing-1 starts it again
//	commit billing-1           its application commits what it is done with; with "orders-0 @5" that offset
//	seek billing-1 orders-0 @3 its position moves
//	reset billing to earliest  the offsets of the group are set, which must be empty
//	replay billing from offset 2  its members leave, its offsets are reset, its members start
//	wait 45s                   45 seconds pass before the next tick (ms, s, m, h)
//
// [Parse] and String are inverse: Parse(c.String()) is c, and the text that Parse accepts is, after
// String, the one canonical spelling. Whether a command can apply is for the cluster to say when its
// tick comes; Parse refuses only what is not a command.
package command
