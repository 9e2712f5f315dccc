package record

import "loglab/engine/kafka"

// Scanner walks over the records of a batch:
//
//	s := batch.Scan()
//	for s.Next() {
//		r := s.Record()
//	}
//	if err := s.Err(); err != nil {
//
// The zero value has no records.
type Scanner struct {
	batch      Batch
	data       []byte
	compressed bool
	at         int
	seen       int32
	record     Record
	err        error
}

// Scan starts a walk over the records in their order. A compressed batch is decompressed at once, up
// to MaxDecompressedBytes; of an uncompressed one nothing is copied, and only records with headers
// make Next allocate. The CRC is not checked. Records are read until the first fault, so those before
// it have been given out when Err speaks of it.
func (b Batch) Scan() Scanner {
	return b.scan(new(decompressor))
}

func (b Batch) scan(d *decompressor) Scanner {
	s := Scanner{batch: b, compressed: b.Attributes.Codec() != None}
	if len(b.bytes) > HeaderSize {
		s.data, s.err = d.decompress(b.Attributes.Codec(), b.bytes[HeaderSize:])
	}
	if s.err == nil && b.RecordsCount < 0 {
		s.err = corruptf(atRecordsCount, "recordsCount is %d, allowed are 0 and more", b.RecordsCount)
	}
	return s
}

// Records decodes all records of the batch. If one can't be decoded, those before it are returned
// with the error, which is ErrCorrupt: a count or length that does not fit, more bytes than
// recordsCount says, data that its codec can't have written, or more than MaxDecompressedBytes of it.
func (b Batch) Records() ([]Record, error) {
	s := b.Scan()
	// The count is only a hint: no more room than the bytes that are there can fill.
	records := make([]Record, 0, max(0, min(int(b.RecordsCount), len(s.data)/minRecordSize)))
	for s.Next() {
		records = append(records, s.record)
	}
	return records, s.Err()
}

// Next goes to the next record. False means that there is none or that it can't be decoded: see
// Err.
func (s *Scanner) Next() bool {
	if s.err != nil {
		return false
	}
	if s.seen == s.batch.RecordsCount {
		if s.at != len(s.data) {
			s.err = s.corrupt(s.at, "%d bytes follow the last of %d records", len(s.data)-s.at, s.seen)
		}
		return false
	}
	if s.at == len(s.data) {
		s.err = s.corrupt(s.at, "the records end after %d of %d", s.seen, s.batch.RecordsCount)
		return false
	}
	if !s.decodePlain() {
		if s.err = s.decode(); s.err != nil {
			return false
		}
	}
	s.seen++
	return true
}

// decodePlain reads the record at s.at and moves on if it is one of the usual kind: no headers, and no
// number of more than two bytes. Nearly all are, and this takes half the time of decode. It reports false
// and changes nothing where it does not know its way, be the record unusual or damaged.
func (s *Scanner) decodePlain() bool {
	d := s.data
	length, at := shortVarint(d, s.at)
	end := at + int(length)
	if at == 0 || length < minRecordSize-1 || end > len(d) {
		return false
	}
	d = d[:end]
	timestampDelta, at := shortVarint(d, at+1) // behind the attributes
	if at == 0 {
		return false
	}
	offsetDelta, at := shortVarint(d, at)
	if at == 0 {
		return false
	}
	key, at := shortBytes(d, at)
	if at == 0 {
		return false
	}
	value, at := shortBytes(d, at)
	if at == 0 || at != end-1 || d[at] != 0 { // what is left is a header count of 0
		return false
	}
	s.fill(s.at, end, int64(timestampDelta), offsetDelta, key, value, nil)
	return true
}

// shortVarint reads a zigzag varint of one or two bytes, with at least one byte behind the first; next is 0
// where there is none.
func shortVarint(d []byte, at int) (v int32, next int) {
	if at+1 >= len(d) {
		return 0, 0
	}
	u := uint32(d[at])
	if u < 0x80 {
		return int32(u>>1) ^ -int32(u&1), at + 1
	}
	high := uint32(d[at+1])
	if high >= 0x80 {
		return 0, 0
	}
	u = u&0x7f | high<<7
	return int32(u>>1) ^ -int32(u&1), at + 2
}

// shortBytes reads a length of one or two bytes and as many bytes; next is 0 where it cannot.
func shortBytes(d []byte, at int) (b []byte, next int) {
	length, at := shortVarint(d, at)
	if at == 0 || length < -1 || int(length) > len(d)-at {
		return nil, 0
	}
	if length == -1 {
		return nil, at
	}
	next = at + int(length)
	return d[at:next:next], next
}

// fill makes the record between two positions the current one and moves on behind it.
func (s *Scanner) fill(start, end int, timestampDelta int64, offsetDelta int32, key, value []byte, headers []Header) {
	r := &s.record
	r.Offset = s.batch.BaseOffset + kafka.Offset(offsetDelta)
	r.OffsetDelta, r.TimestampDelta = offsetDelta, timestampDelta
	r.Timestamp = s.batch.BaseTimestamp + kafka.Timestamp(timestampDelta)
	if s.batch.Attributes&logAppendTimeBit != 0 {
		r.Timestamp = s.batch.MaxTimestamp
	}
	r.Key, r.Value, r.Headers = key, value, headers
	r.Position, r.Size = start, end-start
	s.at = end
}

// Record gives the record that Next went to.
func (s *Scanner) Record() Record { return s.record }

// Current is Record without a copy of it: it holds until Next and must not be changed.
func (s *Scanner) Current() *Record { return &s.record }

// Err is nil unless a record could not be decoded or the record data holds more or less than
// recordsCount says.
func (s *Scanner) Err() error { return s.err }

// decode reads the record at s.at into s.record and moves on.
func (s *Scanner) decode() error {
	start := s.at
	length, err := s.varint("length")
	if err != nil {
		return err
	}
	if length < 0 || int(length) > len(s.data)-s.at {
		return s.corrupt(start, "length of record %d is %d, %d bytes are left", s.seen, length, len(s.data)-s.at)
	}
	end := s.at + int(length)
	if length == 0 {
		return s.corrupt(start, "length of record %d is 0, at least %d is needed", s.seen, minRecordSize-1)
	}
	s.at++ // attributes: unused
	timestampDelta, n, err := varlong(s.data[s.at:])
	if err != nil {
		return s.corrupt(s.at, "timestampDelta of record %d: %v", s.seen, err)
	}
	s.at += n
	offsetDelta, err := s.varint("offsetDelta")
	if err != nil {
		return err
	}
	key, err := s.bytes("key")
	if err != nil {
		return err
	}
	value, err := s.bytes("value")
	if err != nil {
		return err
	}
	headers, err := s.headers()
	if err != nil {
		return err
	}
	if s.at != end {
		return s.corrupt(start, "length of record %d is %d, its fields take %d", s.seen, length, int(length)+s.at-end)
	}
	s.fill(start, end, timestampDelta, offsetDelta, key, value, headers)
	return nil
}

// varint reads the field called name.
func (s *Scanner) varint(name string) (int32, error) {
	v, n, err := varint(s.data[s.at:])
	if err != nil {
		return 0, s.corrupt(s.at, "%s of record %d: %v", name, s.seen, err)
	}
	s.at += n
	return v, nil
}

// bytes reads a length and as many bytes. Length -1 is null. Kafka takes any negative length for
// null, but writes only this one.
func (s *Scanner) bytes(name string) ([]byte, error) {
	at := s.at
	length, n, err := varint(s.data[at:])
	if err != nil {
		return nil, s.corrupt(at, "%s length of record %d: %v", name, s.seen, err)
	}
	if length == -1 {
		s.at += n
		return nil, nil
	}
	if left := len(s.data) - at - n; length < 0 || int(length) > left {
		return nil, s.corrupt(at, "%s length of record %d is %d, allowed are -1 (null) to %d", name, s.seen, length, left)
	}
	s.at = at + n + int(length)
	return s.data[at+n : s.at : s.at], nil
}

// headers reads the header count and the headers.
func (s *Scanner) headers() ([]Header, error) {
	at := s.at
	count, err := s.varint("header count")
	if err != nil || count == 0 {
		return nil, err
	}
	if most := (len(s.data) - s.at) / minHeaderSize; count < 0 || int(count) > most {
		return nil, s.corrupt(at, "header count of record %d is %d, allowed are 0 to %d", s.seen, count, most)
	}
	headers := make([]Header, 0, min(int(count), 8))
	for range count {
		at := s.at
		key, err := s.bytes("header key")
		if err != nil {
			return nil, err
		}
		if key == nil {
			return nil, s.corrupt(at, "header key length of record %d is -1, a header key can't be null", s.seen)
		}
		value, err := s.bytes("header value")
		if err != nil {
			return nil, err
		}
		headers = append(headers, Header{Key: string(key), Value: value})
	}
	return headers, nil
}

// corrupt makes the error for a fault at a position of the record data.
func (s *Scanner) corrupt(at int, format string, args ...any) error {
	if s.compressed {
		return corruptf(HeaderSize, "byte %d of the decompressed records: "+format, append([]any{at}, args...)...)
	}
	return corruptf(HeaderSize+at, format, args...)
}
