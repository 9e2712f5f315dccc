// Package content holds what authors write: the glossary, one Markdown file a term, and the scenarios, one
// YAML file each. It is embedded in the binary and imports nothing of ours; labs/lesson and labs/scenario parse it.
//
// A term's file is named after its address: /glossary/high-watermark is glossary/high-watermark.md.
//
//	# High watermark
//
//	The offset below which records count as committed; consumers see only these.
//
//	See: log-end-offset, in-sync-replicas
//	Source: Partition.maybeIncrementLeaderHW
//
// The first line is the title, then come one to four short sentences, then the names of related terms (may be
// left out) and where the facts come from.
//
// A scenario's file is named in the same way: /scenario/acks-1-leader-dies is scenarios/acks-1-leader-dies.yaml. What
// may stand in it is printed by "loglab scenario schema", and "loglab scenario check" says what is wrong with one.
package content
