package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// A Reader gives what Parse gives batch by batch, and fails with the same error at the same byte, however
// few bytes a read brings.
func TestReaderAgreesWithParse(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	var log []byte
	for i := range 40 {
		log = append(log, drawBatch(t, rng, Codec(i%5)).raw...)
	}
	cut := func(n int) []byte { return log[:len(log)-n] }
	bad := func(tail ...byte) []byte { return append(bytes.Clone(log), tail...) }
	for name, b := range map[string][]byte{
		"whole": log, "empty": nil, "torn by a byte": cut(1), "torn by 100": cut(100), "a byte more": bad(0), "16 bytes more": bad(make([]byte, 16)...),
		"zeros behind": bad(make([]byte, 200)...), "old magic behind": bad(append(make([]byte, 11), 60, 0, 0, 0, 0, 1, 0)...),
		"negative length behind": bad(0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0),
	} {
		for _, stream := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)), iotest.DataErrReader(bytes.NewReader(b))} {
			reader, at := NewReader(stream), 0
			for {
				want, wantErr := Parse(b[at:])
				got, err := reader.Next()
				if !sameError(wantErr, err) || reader.Position() != int64(at) {
					t.Fatalf("%s: byte %d: %v, want byte %d: %v", name, reader.Position(), err, at, wantErr)
				}
				if err != nil {
					break
				}
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("%s: byte %d: another batch", name, at)
				}
				at += want.Size()
			}
			_, first := Parse(b[at:])
			if _, err := reader.Next(); !sameError(first, err) {
				t.Errorf("%s: after the error comes %v, want %v again", name, err, first)
			}
		}
	}
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Error() == b.Error()
}

// endless is a stream of equal batches; it counts what is read from it.
type endless struct {
	batch []byte
	read  int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.batch[e.read%int64(len(e.batch)):])
	e.read += int64(n)
	return n, nil
}

// However much is read, a Reader holds one batch, or 128 KiB if that is more, and reads no further ahead.
func TestReaderMemoryIsOneBatch(t *testing.T) {
	for name, valueSize := range map[string]int{"small": 10, "16 KiB": 16 << 10, "1 MiB": 1 << 20, "5 MiB": 5 << 20} {
		b := NewBuilder(Options{})
		b.Append(T, nil, make([]byte, valueSize))
		batch, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		stream := &endless{batch: batch}
		reader := NewReader(stream)
		most := max(readSize, len(batch))
		for reader.Position() < 300<<20 {
			if _, err := reader.Next(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ahead := stream.read - reader.Position(); ahead > int64(most) || cap(reader.buffer) > most {
				t.Fatalf("%s: byte %d: %d bytes read ahead, room for %d, allowed are %d", name, reader.Position(), ahead, cap(reader.buffer), most)
			}
		}
	}
}

// A length that is only declared costs nothing; one above the bound is not waited for.
func TestReaderBounds(t *testing.T) {
	header := func(length int) []byte {
		b := make([]byte, HeaderSize)
		binary.BigEndian.PutUint32(b[atBatchLength:], uint32(length))
		b[atMagic] = Magic
		return b
	}
	reader := NewReader(bytes.NewReader(header(MaxReadBatch - lengthOverhead)))
	if _, err := reader.Next(); !errors.Is(err, ErrTorn) || cap(reader.buffer) > readSize {
		t.Errorf("%v with room for %d, want %v and at most %d", err, cap(reader.buffer), ErrTorn, readSize)
	}
	stream := &endless{batch: header(MaxReadBatch - lengthOverhead + 1)}
	_, err := NewReader(stream).Next()
	var at *PositionError
	if !errors.As(err, &at) || at.Kind != ErrCorrupt || at.Position != atBatchLength || stream.read > readSize {
		t.Errorf("%v after %d bytes, want %v at byte %d after at most %d", err, stream.read, ErrCorrupt, atBatchLength, readSize)
	}
	broken := errors.New("disk broken")
	if _, err := NewReader(io.MultiReader(bytes.NewReader(header(100)), iotest.ErrReader(broken))).Next(); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
}

// Decoders that have met other batches, damaged ones too, decode as new ones do, with the same errors.
func TestReaderScansAsBatchesDo(t *testing.T) {
	rng := rand.New(rand.NewSource(12))
	var reader Reader
	failed := 0
	for i := range 2000 {
		raw := drawBatch(t, rng, Codec(rng.Intn(5))).raw
		if rng.Intn(2) == 0 {
			for range 1 + rng.Intn(3) {
				raw[HeaderSize+rng.Intn(len(raw)-HeaderSize)] ^= byte(1 + rng.Intn(255))
			}
		}
		batch, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		want, got := batch.Scan(), reader.Scan(batch)
		for want.Next() {
			if !got.Next() || !sameRecord(want.Record(), got.Record()) {
				t.Fatalf("batch %d, %v: %+v, want %+v", i, batch.Attributes.Codec(), got.Record(), want.Record())
			}
		}
		if got.Next() || !sameError(want.Err(), got.Err()) {
			t.Fatalf("batch %d, %v: %v, want %v", i, batch.Attributes.Codec(), got.Err(), want.Err())
		}
		if got.Err() != nil {
			failed++
		}
	}
	if failed < 300 {
		t.Errorf("only %d of 2000 batches could not be decoded", failed)
	}
}

func sameRecord(a, b Record) bool { return cmp.Equal(a, b, sameBytes) }
