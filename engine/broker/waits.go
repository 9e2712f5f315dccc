package broker

import (
	"fmt"

	"loglab/engine/kafka"
)

// NextTimer is when the broker's next timer fires and what it then does, in words; ok is false when none
// is set.
func (b *Broker) NextTimer() (due kafka.Millis, does string, ok bool) {
	due, ok = b.NextDue()
	for _, p := range b.parked {
		if p.deadline == due {
			return due, fmt.Sprintf("answers the fetch of %s, which has then waited fetch.max.wait.ms", p.message.From), ok
		}
	}
	return due, "", ok
}
