//go:build judge

package judge

import (
	"fmt"

	"loglab/engine/kafka"
	"loglab/engine/prng"
	"loglab/engine/record"
)

// drawnRecord is a record to be put in a batch.
type drawnRecord struct {
	timestamp  kafka.Timestamp
	key, value []byte
	headers    []record.Header
}

// drawRecords gives 1 to most records with timestamps up to spread before and after now.
func drawRecords(rnd *prng.Rand, most int, now kafka.Timestamp, spread int) []drawnRecord {
	records := make([]drawnRecord, 1+rnd.IntN(most))
	for i := range records {
		r := &records[i]
		r.timestamp = now + kafka.Timestamp(rnd.IntN(2*spread+1)-spread)
		r.key, r.value = drawBytes(rnd), drawBytes(rnd)
		if rnd.IntN(3) == 0 {
			for range rnd.IntN(4) {
				key := []string{"", "trace", "schlüssel", "鍵"}[rnd.IntN(4)]
				r.headers = append(r.headers, record.Header{Key: key, Value: drawBytes(rnd)})
			}
		}
	}
	return records
}

// drawBytes is null, empty, noise, or text that compresses well, and seldom long.
func drawBytes(rnd *prng.Rand) []byte {
	length := 1 + rnd.IntN(30)
	switch rnd.IntN(20) {
	case 0, 1:
		return nil
	case 2, 3:
		return []byte{}
	case 4:
		length = rnd.IntN(2000)
	}
	b := make([]byte, length)
	noise := rnd.IntN(3) == 0
	for i := range b {
		b[i] = "order-"[i%6]
		if noise {
			b[i] = byte(rnd.Uint32())
		}
	}
	return b
}

// build puts the records in a batch as a producer does.
func build(records []drawnRecord, options record.Options) []byte {
	builder := record.NewBuilder(options)
	for _, r := range records {
		builder.Append(r.timestamp, r.key, r.value, r.headers...)
	}
	batch, err := builder.Build()
	if err != nil {
		panic(fmt.Sprintf("%d records, %+v: %v", len(records), options, err))
	}
	return batch
}
