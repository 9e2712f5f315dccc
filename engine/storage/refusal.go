package storage

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Refusal is the answer no: what a broker puts into a response as an error code. The log is as it
// was before. errors.Is(err, kerr.MessageTooLarge) and the like hold for the code.
type Refusal struct {
	// Err is Kafka's error.
	Err *kerr.Error
	// Exception is the name of Kafka's exception, where that has no code of its own and matters.
	Exception string
	// Why is a sentence without a full stop: the rule, the numbers, the setting.
	Why string
}

// UnexpectedAppendOffset is the exception for fetched batches that begin below the log end offset.
const UnexpectedAppendOffset = "UnexpectedAppendOffsetException"

// Error gives the name of the code and the sentence.
func (r *Refusal) Error() string { return r.Err.Message + ": " + r.Why }

// Unwrap gives Err.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(err *kerr.Error, format string, args ...any) *Refusal {
	return &Refusal{Err: err, Why: fmt.Sprintf(format, args...)}
}
