package storage

import (
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Refusal is the answer no: what a broker puts into a response as an error code. The log is as it
// was before. errors.Is(err, kerr.MessageTooLarge) and the like hold for the code.
type Refusal struct {
	// Err is Kafka's error.
	Err *kerr.Error
	// Why is a sentence without a full stop: the rule, the numbers, the setting.
	Why string
}

// Error gives the name of the code and the sentence.
func (r *Refusal) Error() string { return r.Err.Message + ": " + r.Why }

// Unwrap gives Err.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(err *kerr.Error, format string, args ...any) *Refusal {
	return &Refusal{Err: err, Why: fmt.Sprintf(format, args...)}
}

// grouped writes n with a comma before every third digit: 1,048,588.
func grouped[N ~int | ~int32 | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}
