package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// MaxDecompressedBytes is how much the records of one compressed batch may be once they are
// decompressed: 32 MiB. A small block can claim or hold far more.
//
// Simplified: a compressed batch that holds more than 32 MiB of records is refused. Kafka has no such
// limit of its own.
const MaxDecompressedBytes = 32 << 20

// compressor keeps the encoders that are costly to make. The zero value is ready.
//
// Simplified: records are compressed by Go's libraries at their default levels. Any Kafka client reads
// the result, but its size can differ from what the Java client's libraries make of the same records.
type compressor struct {
	gzip *gzip.Writer
	lz4  *lz4.Writer
	zstd *zstd.Encoder
}

// append appends src to dst, compressed at the library's default level.
func (c *compressor) append(dst []byte, codec Codec, src []byte) ([]byte, error) {
	switch codec {
	case None:
		return append(dst, src...), nil
	case Gzip:
		out := bytes.NewBuffer(dst)
		if c.gzip == nil {
			c.gzip = gzip.NewWriter(out)
		}
		c.gzip.Reset(out)
		return finishWriter(c.gzip, out, src)
	case Snappy:
		return appendXerial(dst, src), nil
	case LZ4:
		out := bytes.NewBuffer(dst)
		if c.lz4 == nil {
			c.lz4 = lz4.NewWriter(out)
		}
		c.lz4.Reset(out)
		// As Kafka's Lz4BlockOutputStream: independent blocks of 64 KiB, no content checksum.
		if err := c.lz4.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1)); err != nil {
			return nil, err
		}
		return finishWriter(c.lz4, out, src)
	case Zstd:
		if c.zstd == nil {
			encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
			if err != nil {
				return nil, err
			}
			c.zstd = encoder
		}
		return c.zstd.EncodeAll(src, dst), nil
	}
	return nil, fmt.Errorf("codec is %d, allowed are %d to %d", codec, None, Zstd)
}

// zstdWindow is how far back a zstd block looks for repeats.
const zstdWindow = 1 << 20

// finishWriter writes src through w into out.
func finishWriter(w io.WriteCloser, out *bytes.Buffer, src []byte) ([]byte, error) {
	if _, err := w.Write(src); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// decompressor keeps the decoders that are costly to make, and room for what they give. The zero value is ready.
type decompressor struct {
	gzip *gzip.Reader
	lz4  *lz4.Reader
	zstd *zstd.Decoder
	room []byte // the last answer is in it, unless that is the block itself
}

// decompress gives the record data of a batch. Its errors are ErrCorrupt at the codec bits or at the
// block.
func decompress(codec Codec, src []byte) ([]byte, error) {
	return new(decompressor).decompress(codec, src)
}

// decompress does the same; what it gives is valid until the next call.
func (d *decompressor) decompress(codec Codec, src []byte) ([]byte, error) {
	var (
		out []byte
		err error
	)
	switch codec {
	case None:
		return src, nil
	case Gzip:
		out, err = d.decodeGzip(src)
	case Snappy:
		out, err = decodeSnappy(d.room[:0], src)
	case LZ4:
		if d.lz4 == nil {
			d.lz4 = lz4.NewReader(nil)
		}
		d.lz4.Reset(bytes.NewReader(src))
		out, err = readAtMost(d.room[:0], d.lz4, len(src), MaxDecompressedBytes)
	case Zstd:
		out, err = d.decodeZstd(src)
	default:
		return nil, corruptf(atAttributes, "codec is %d, allowed are %d to %d", codec, None, Zstd)
	}
	if err != nil {
		return nil, corruptf(HeaderSize, "%v block of %d bytes: %v", codec, len(src), err)
	}
	if cap(out) > cap(d.room) {
		d.room = out
	}
	return out, nil
}

func (d *decompressor) decodeGzip(src []byte) (out []byte, err error) {
	if d.gzip == nil {
		d.gzip, err = gzip.NewReader(bytes.NewReader(src))
	} else {
		err = d.gzip.Reset(bytes.NewReader(src))
	}
	if err != nil {
		d.gzip = nil
		return nil, err
	}
	return readAtMost(d.room[:0], d.gzip, len(src), MaxDecompressedBytes)
}

// readAtMost reads to its end what size bytes are decompressed to, into out, which is empty. The room grows with what was
// really read, and begins with four times the size.
func readAtMost(out []byte, r io.Reader, size, limit int) ([]byte, error) {
	if cap(out) == 0 {
		out = make([]byte, 0, min(4*size, limit)+1)
	}
	for {
		if len(out) == cap(out) {
			out = append(make([]byte, 0, min(2*len(out), limit+1)), out...)
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			return nil, fmt.Errorf("it holds more than %d bytes", limit)
		case err == io.EOF:
			return out, nil
		case err != nil:
			return out, err
		}
	}
}

const (
	// zstdMaxWindow is the window of zstd level 22, the largest that a Kafka producer may set.
	// Nothing is allocated for it.
	zstdMaxWindow = 128 << 20

	// zstdMaxRatio bounds what n bytes of zstd can decode to: at best a block of 128 KiB takes 4.
	zstdMaxRatio = 32 << 10
)

// decodeZstd reads zstd frames. The output grows by trying again with four times the room, because
// the library would else go by the size that a frame declares. Any error may mean that there was too
// little room: the library has several for it.
func (d *decompressor) decodeZstd(src []byte) ([]byte, error) {
	if d.zstd == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdMaxWindow), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
		d.zstd = decoder
	}
	most := min(len(src)*zstdMaxRatio, MaxDecompressedBytes)
	for room := min(len(src)*8, most); ; room = min(room*4, most) {
		if cap(d.room) < room {
			d.room = make([]byte, 0, room)
		}
		out, err := d.zstd.DecodeAll(src, d.room[:0:room])
		if room == most || err == nil {
			return out, err
		}
	}
}

// Snappy data in Kafka is written in the framing of the Java library snappy-java:
//
//	┌──────────────────┬───────────┬────────────┬────────┬───────┬────────┬───────┬───
//	│ 82 S N A P P Y 0 │ version 1 │ readable 1 │ length │ block │ length │ block │ …
//	│ 8 bytes          │ int32     │ by, int32  │ int32  │       │ int32  │       │
//	└──────────────────┴───────────┴────────────┴────────┴───────┴────────┴───────┴───
//
// Some clients write one bare block instead; Java reads that too, and so do we.
//
// Source: org.xerial.snappy.SnappyOutputStream, SnappyInputStream.
const xerialHeader = "\x82SNAPPY\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x01"

const (
	xerialMagicSize = 8

	// xerialBlock is how many bytes Java puts in one block.
	xerialBlock = 32 << 10

	// snappyMaxRatio bounds what n bytes of snappy can decode to: at best a copy of 64 bytes takes 3.
	snappyMaxRatio = 22
)

// appendXerial appends src to dst in the Java framing.
func appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	block := make([]byte, snappy.MaxEncodedLen(min(len(src), xerialBlock)))
	for len(src) > 0 {
		n := min(len(src), xerialBlock)
		encoded := snappy.Encode(block, src[:n])
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(encoded)))
		dst = append(dst, encoded...)
		src = src[n:]
	}
	return dst
}

// decodeSnappy reads the Java framing or one bare block, into out, which is empty.
func decodeSnappy(out, src []byte) ([]byte, error) {
	if len(src) < len(xerialHeader) || string(src[:xerialMagicSize]) != xerialHeader[:xerialMagicSize] {
		return appendSnappyBlock(out, src)
	}
	if version := binary.BigEndian.Uint32(src[xerialMagicSize+4:]); version > 1 {
		return nil, fmt.Errorf("it needs version %d of the framing to be read, known is 1", version)
	}
	for at := len(xerialHeader); at < len(src); {
		if len(src)-at < 4 {
			return nil, fmt.Errorf("it ends at byte %d inside a block length", at)
		}
		length := int(binary.BigEndian.Uint32(src[at:]))
		if at += 4; length > len(src)-at {
			return nil, fmt.Errorf("block length at byte %d is %d, %d bytes are left", at-4, length, len(src)-at)
		}
		var err error
		if out, err = appendSnappyBlock(out, src[at:at+length]); err != nil {
			return nil, err
		}
		at += length
	}
	return out, nil
}

// appendSnappyBlock decodes one block behind out.
func appendSnappyBlock(out, block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if n > len(block)*snappyMaxRatio || n > MaxDecompressedBytes-len(out) {
		return nil, fmt.Errorf("a block of %d bytes claims to hold %d, allowed are %d", len(block), n, min(len(block)*snappyMaxRatio, MaxDecompressedBytes-len(out)))
	}
	end := len(out) + n
	if end > cap(out) {
		out = append(make([]byte, 0, end+len(out)), out...) // room for as much again, unless this is the first block
	}
	if _, err := snappy.Decode(out[len(out):end], block); err != nil {
		return nil, err
	}
	return out[:end], nil
}
