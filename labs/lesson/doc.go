// Package lesson reads what authors write about the log and checks it: the glossary and the lessons, whose formats
// content/doc.go shows. It renders nothing that an author did not write as Markdown: raw HTML is an error.
//
// Invariants of a [Glossary]: terms are sorted by slug, every slug in [Term.See] and every link to
// /glossary/… leads to one of them. Each error is one line, "file:line: message".
//
// Invariants of a [Lesson]: every link leads to something that there is, an address of a lab is the canonical one, and
// the first use of each of its terms is a link. Numbers of a run are expressions over its state, in the language of
// scenarios, which the engine answers; [Lesson.Check] runs them all, and what the text says has to hold.
//
// What is left out: numbers that an author writes as words, "three records", are checked only where a line check says so.
//
//	glossary, err := lesson.LoadGlossary(content.FS)
//	term, ok := glossary.Term("high-watermark")
//	term.Short // "The offset below which records count as committed; consumers see only these."
//
//	lessons, err := lesson.LoadLessons(content.FS, lesson.Known{Labs: all.Labs(), Terms: glossary})
//	parts, err := lessons.BySlug("offsets").Filled() // text, labs at a tick, what a tool prints
package lesson
