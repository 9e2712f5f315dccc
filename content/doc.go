// Package content holds what authors write: the glossary, one Markdown file a term, the lessons, one Markdown file
// each, and the scenarios, one YAML file each. It is embedded in the binary and imports nothing of ours; labs/lesson and labs/scenario parse it.
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
// A lesson's file is named in the same way: /lesson/offsets is lessons/offsets.md.
//
//	---
//	title: Offsets
//	summary: One sentence for the list of lessons.
//	order: 5
//	terms: committed-offset, lag
//	---
//	Paragraphs, lists, tables, quotes, ## and ### headings and code.
//
//	```lab
//	/lab/offsets?v=1&partitions=1&t=9
//	height: 640
//	caption: The group has committed ${group('billing').offsets[0].committed}.
//	check: group('billing').lag == 5
//	```
//
//	```describe
//	billing
//	```
//
// A block lab places a lab at a tick. Below it ${EXPRESSION} stands for what the engine answers there, in captions, text
// and code; the names are those of scenarios. A block describe gives what kafka-consumer-groups would print of a group
// there, a block lag what a lag exporter would. The title of a link to a lab may be "check: EXPRESSION", which has to
// hold there. The first use of each term is made a link. Order 0 is a lesson beside the path.
//
// A scenario's file is named in the same way: /scenario/acks-1-leader-dies is scenarios/acks-1-leader-dies.yaml. What
// may stand in it is printed by "loglab scenario schema", and "loglab scenario check" says what is wrong with one.
package content
