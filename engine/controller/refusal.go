package controller

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Refusal is the answer no to a part of a request.
//
// Source: ApiError.
type Refusal struct {
	Err     *kerr.Error
	Message string // in Kafka's words
}

func refuse(err *kerr.Error, format string, args ...any) *Refusal {
	return &Refusal{err, fmt.Sprintf(format, args...)}
}

// parts gives code and message as a response has them: 0 and null if nothing was refused.
func (r *Refusal) parts() (code int16, message *string) {
	if r == nil {
		return 0, nil
	}
	if r.Message == "" {
		return r.Err.Code, nil
	}
	return r.Err.Code, &r.Message
}
