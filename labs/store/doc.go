// Package store keeps texts by the SHA-256 hash of their content, in SQLite: what is too long for an
// address goes here, and the address names it by its hash.
//
// It knows nothing of what the texts mean. A hash leads to that text or to none: never to another one,
// since what is read is hashed again.
//
// Invariants:
//   - A text has at most [MaxText] bytes, all rows together count for at most [MaxBytes]; those used
//     longest ago go first, in the transaction that puts the new one.
//   - The same content is one row, however often it is put.
//   - There is one connection, so writes wait for each other; reading a row writes at most once in ten
//     minutes that it was used.
//
// What is left out: nobody can delete a text, list the texts, or keep one from being dropped.
//
//	s, err := store.Open("loglab.db") // or "": in memory, gone when the program ends
//	hash, err := s.Put("v=1")
//	text, found, err := s.Get(hash)
package store
