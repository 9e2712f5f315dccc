package command

import "loglab/engine/kafka"

// BeginTransaction makes a transactional producer's application begin a transaction; what is handed in by [Produce]
// afterwards goes into it.
type BeginTransaction struct{ Producer kafka.NodeID }

// CommitTransaction makes a transactional producer's application commit its transaction.
type CommitTransaction struct{ Producer kafka.NodeID }

// AbortTransaction makes a transactional producer's application abort its transaction.
type AbortTransaction struct{ Producer kafka.NodeID }

func parseBeginTransaction(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return BeginTransaction{n} })
}

func parseCommitTransaction(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return CommitTransaction{n} })
}

func parseAbortTransaction(words []word) (Command, error) {
	return ofNode(words, func(n kafka.NodeID) Command { return AbortTransaction{n} })
}

// Verb gives "begin-transaction".
func (BeginTransaction) Verb() string { return "begin-transaction" }

// String gives the canonical text.
func (c BeginTransaction) String() string { return "begin-transaction " + string(c.Producer) }

// Verb gives "commit-transaction".
func (CommitTransaction) Verb() string { return "commit-transaction" }

// String gives the canonical text.
func (c CommitTransaction) String() string { return "commit-transaction " + string(c.Producer) }

// Verb gives "abort-transaction".
func (AbortTransaction) Verb() string { return "abort-transaction" }

// String gives the canonical text.
func (c AbortTransaction) String() string { return "abort-transaction " + string(c.Producer) }
