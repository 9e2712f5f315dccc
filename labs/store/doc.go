// Package store keeps texts by the SHA-256 hash of their content, in SQLite: what is too long for an
// address goes here, and the address names it by its hash.
//
// Files that a reader uploads are kept in the same way, in tables of their own, but for an hour only.
//
// It knows nothing of what the texts and files mean. A hash leads to that text or to none: never to another one,
// since what is read is hashed again.
//
// Invariants:
//   - A text has at most [MaxText] bytes, all rows together count for at most [MaxBytes], in memory for a
//     quarter of it; those used longest ago go first, in the transaction that puts the new one.
//   - A file has at most [MaxFile] bytes, all together [MaxFileBytes], in memory too; those used longest ago go first. It is
//     found for [FileLife] after it was put last, however often it is read, and its bytes are then overwritten: in the same
//     minute where somebody calls [Store.ForgetFiles] each minute.
//   - The same content is one row, however often it is put.
//   - There is one connection, so writes wait for each other; reading a row writes at most once in ten
//     minutes that it was used.
//
// What is left out: nobody can delete a text or a file, list them, or keep one from being dropped.
//
//	s, err := store.Open("loglab.db") // or "": in memory, gone when the program ends
//	hash, err := s.Put("v=1")
//	text, found, err := s.Get(hash)
//	hashes, until, err := s.PutFiles(log, index)
//	body, until, found, err := s.File(hashes[0])
package store
