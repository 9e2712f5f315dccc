// Package scenario reads stories that step through a run of a lab: what is said when, what a reader predicts before
// the tick that decides, what can be brought about by oneself, and what has to hold when.
//
// A scenario is a file ([File]) that builds on a lab: its settings and commands are those of the lab's address, so
// picture, transport and inspector are the lab's. [Parse] refuses what is wrong with a file by its line; what can only
// be seen by running it is found by [Scenario.Check]: an answer that no choice holds, an expectation that fails, a goal
// that its solution does not reach.
//
// Questions, goals and expectations are expressions over the state of the run ([State]), in the names that
// "loglab run --json" prints, so the engine gives every answer and no text can go stale. An expression is bounded in
// length, parts, nesting and memory (expression.go); it has no loops of its own, no variables and no powers.
//
// Invariants:
//   - What a scenario shows depends on its file and the tick alone; a guess is a part of the address.
//   - Ticks ascend, and nothing lies behind the end of the story.
//   - A file costs a few milliseconds to read, however it is written: its size, its brackets and its expressions are
//     bounded, and it has no aliases.
//
// What is left out: scores. A page says what was guessed and what happened, and why.
//
//	s, err := scenario.Parse("acks-one.yaml", source, scenario.Known{Labs: all.Labs()})
//	err = s.Check("acks-one.yaml")
package scenario
