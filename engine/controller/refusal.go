package controller

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// refusal is the answer no to a part of a request.
//
// Source: ApiError.
type refusal struct {
	err     *kerr.Error
	message string // in Kafka's words
}

func refuse(err *kerr.Error, format string, args ...any) *refusal {
	return &refusal{err, fmt.Sprintf(format, args...)}
}

// parts gives code and message as a response has them: 0 and null if nothing was refused.
func (r *refusal) parts() (code int16, message *string) {
	if r == nil {
		return 0, nil
	}
	if r.message == "" {
		return r.err.Code, nil
	}
	return r.err.Code, &r.message
}
