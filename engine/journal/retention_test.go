package journal

import (
	"testing"

	"loglab/engine/kafka"
)

// The other forms of events that have more than one.
func TestOtherForms(t *testing.T) {
	for _, test := range []struct {
		body           Body
		text, sentence string
	}{
		{ClockSet{-1000}, "skew=-1000", "The clock of the producer's machine is 1,000 ms behind the brokers' now. Its records say so unless the topic has message.timestamp.type = LogAppendTime: a producer writes its own time into them."},
		{ClockSet{}, "skew=0", "The clock of the producer's machine is right again."},
		{SegmentsDeleted{orders3, []kafka.Offset{3}, 70, "retention.bytes", "size 70 - retention.bytes 0 = 70 ≥ 70 bytes of the segment", 3, 4, 4, 0},
			"orders-3 segments=3 70B retention.bytes start=3→4: size 70 - retention.bytes 0 = 70 ≥ 70 bytes of the segment",
			"orders-3 let go of 1 segment (70 bytes: 3) by retention.bytes: size 70 - retention.bytes 0 = 70 ≥ 70 bytes of the segment. The log begins at offset 4 now, it did at 3; a fetch from below is answered with OFFSET_OUT_OF_RANGE. The files stay with the suffix .deleted for file.delete.delay.ms = 0. As all segments went, the empty one at offset 4 was begun first."},
	} {
		if got := test.body.Text(); got != test.text {
			t.Errorf("text\n got %s\nwant %s", got, test.text)
		}
		if got := test.body.Sentence(); got != test.sentence {
			t.Errorf("sentence\n got %s\nwant %s", got, test.sentence)
		}
	}
}
