// Package content holds what authors write: the glossary, one Markdown file a term. It is embedded in the
// binary and imports nothing of ours; labs/lesson parses it.
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
package content
