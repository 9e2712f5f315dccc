// Package lesson reads what authors write about the log and checks it: for now the glossary, whose format
// content/doc.go shows. It renders nothing that an author did not write as Markdown: raw HTML is an error.
//
// Invariants of a [Glossary]: terms are sorted by slug, every slug in [Term.See] and every link to
// /glossary/… leads to one of them. Each error is one line, "file:line: message".
//
//	glossary, err := lesson.LoadGlossary(content.FS)
//	term, ok := glossary.Term("high-watermark")
//	term.Short // "The offset below which records count as committed; consumers see only these."
package lesson
