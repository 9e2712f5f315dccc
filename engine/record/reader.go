package record

import (
	"encoding/binary"
	"io"
)

// Reader reads a log batch by batch from a stream, such as a segment file of any size. It holds one batch,
// or 128 KiB if that is more, and takes room for a large batch only as its bytes really come. Make it with
// NewReader.
//
// Source: org.apache.kafka.common.record.FileLogInputStream.
type Reader struct {
	r        io.Reader
	buffer   []byte // what was read; buffer[start:] has not been given out
	start    int
	size     int   // of the batch that was given out last
	position int64 // of buffer[start] in the stream
	err      error // of r, io.EOF included

	decompressor decompressor
}

// MaxReadBatch is the largest batch, header included, that a Reader reads: 64 MiB. A larger one is reported
// as corrupt. A broker takes batches up to max.message.bytes, which is 1 MiB unless it was raised.
const MaxReadBatch = 64 << 20

// readSize is how much a Reader asks for at once.
const readSize = 128 << 10

// NewReader makes a reader of the batches in r, which begins with the first of them.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Position is the byte of the stream at which the batch of the last Next begins, or at which it failed.
func (r *Reader) Position() int64 { return r.position }

// Next reads the next batch. The batch and all that is decoded from it are valid until the next call.
// Errors: those of Parse, of which ErrEnd says that the stream has ended behind a whole batch; ErrCorrupt
// also for a batch larger than MaxReadBatch; those of the stream, as they are. After an error there is no
// way on: Next gives the same again.
func (r *Reader) Next() (Batch, error) {
	r.start += r.size
	r.position += int64(r.size)
	r.size = 0
	const beforeCRC = atCRC // offset, length, leader epoch and magic: all that says how to go on
	if err := r.fill(beforeCRC); err != nil {
		return Batch{}, err
	}
	if prefix := r.buffer[r.start:]; len(prefix) >= beforeCRC && prefix[atMagic] == Magic {
		// A length that can't be is left to Parse.
		length := int64(int32(binary.BigEndian.Uint32(prefix[atBatchLength:])))
		size := length + lengthOverhead
		if size > MaxReadBatch {
			return Batch{}, corruptf(atBatchLength, "batchLength is %d, allowed here are up to %d", length, MaxReadBatch-lengthOverhead)
		}
		if size >= HeaderSize {
			if err := r.fill(int(size)); err != nil {
				return Batch{}, err
			}
		}
	}
	batch, err := Parse(r.buffer[r.start:])
	if err == nil {
		r.size = batch.Size()
	}
	return batch, err
}

// Scan is what Batch.Scan is, for the batch of the last Next: with the decoders and the room of the batches before, it
// takes less time. What the scanner gives is valid until the next call of Next or Scan.
func (r *Reader) Scan(b Batch) Scanner { return b.scan(&r.decompressor) }

// fill reads until n bytes are there or the stream has ended.
func (r *Reader) fill(n int) error {
	for len(r.buffer)-r.start < n && r.err == nil {
		if len(r.buffer) == cap(r.buffer) {
			r.makeRoom(n)
		}
		var read int
		read, r.err = r.r.Read(r.buffer[len(r.buffer):cap(r.buffer)])
		r.buffer = r.buffer[:len(r.buffer)+read]
	}
	if len(r.buffer)-r.start < n && r.err != io.EOF {
		return r.err
	}
	return nil
}

// makeRoom moves what was not given out to the front. If there is no place left for n bytes, it takes twice
// the room, at most what n needs.
func (r *Reader) makeRoom(n int) {
	rest := r.buffer[r.start:]
	if room := max(readSize, min(n, 2*len(rest))); room > cap(r.buffer) {
		r.buffer = append(make([]byte, 0, room), rest...)
	} else {
		r.buffer = append(r.buffer[:0], rest...)
	}
	r.start = 0
}
