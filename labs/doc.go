// Package labs holds what every lab shares: the lab as a value, the address that says everything about
// a run, the replay of an address with its checkpoints, and the parts of a page that are the same in
// all labs (transport, set-up, commands, events, causes, limits).
//
// A lab is a pure function of its address:
//
//	page = build(replay(spec, seed, commands), tick)
//
// [Parse] reads an address, [Address.String] writes its one canonical spelling, and [Runs.Page] gives
// its page. Many commands are compressed (address_long.go, deflate.go); settings and commands that are
// too long all the same stand in a store, and the address names them by their hash ([Heads], head.go). The
// memory of [Runs] is only a cache: dropping all of it changes no answer.
//
// Each lab is a package below this one that makes one [Lab]; labs/all lists them.
//
// A scenario tells a story along such a run (story.go, labs/scenario). Its address says only which frame is shown and what
// was guessed; whoever acts leaves it for the lab's own address of the same frame.
//
// An address can name a twin, the same run with one setting changed (twin.go). Its page shows both: each is an
// ordinary run that its lab draws as it draws any ([Frame]), and what differs between the two drawings is found
// and marked here, for every lab (pair.go, differ.go).
package labs
