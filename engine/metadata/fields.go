package metadata

import (
	"github.com/twmb/franz-go/pkg/kbin"

	"loglab/engine/kafka"
)

// appendIDs appends an array of broker ids; a nil one is null.
func appendIDs(dst []byte, ids []kafka.BrokerID) []byte {
	dst = kbin.AppendCompactNullableArrayLen(dst, len(ids), ids == nil)
	for _, id := range ids {
		dst = kbin.AppendInt32(dst, int32(id))
	}
	return dst
}

// appendPresentIDs appends an array of broker ids that is never null.
func appendPresentIDs(dst []byte, ids []kafka.BrokerID) []byte {
	if ids == nil {
		ids = []kafka.BrokerID{}
	}
	return appendIDs(dst, ids)
}

// readIDs reads an array of broker ids: nil for null, else not nil.
func readIDs(r *kbin.Reader) []kafka.BrokerID {
	n := r.CompactArrayLen()
	if n < 0 || !r.Ok() {
		return nil
	}
	ids := make([]kafka.BrokerID, n)
	for i := range ids {
		ids[i] = kafka.BrokerID(r.Int32())
	}
	return ids
}

// appendUUIDs appends an array of UUIDs that is never null.
func appendUUIDs(dst []byte, uuids [][16]byte) []byte {
	dst = kbin.AppendCompactArrayLen(dst, len(uuids))
	for _, uuid := range uuids {
		dst = kbin.AppendUuid(dst, uuid)
	}
	return dst
}

// readUUIDs reads an array of UUIDs: nil for null, else not nil.
func readUUIDs(r *kbin.Reader) [][16]byte {
	n := r.CompactArrayLen()
	if n < 0 || !r.Ok() {
		return nil
	}
	uuids := make([][16]byte, n)
	for i := range uuids {
		uuids[i] = r.Uuid()
	}
	return uuids
}

// readLogDirs reads ids of log directories, of which none and an empty list are the same.
func readLogDirs(r *kbin.Reader) [][16]byte {
	if dirs := readUUIDs(r); len(dirs) > 0 {
		return dirs
	}
	return nil
}

// tag is a tagged field that is there.
type tag struct {
	number uint32
	value  []byte
}

// appendTags appends the tagged fields, which are in the order of their numbers; those without a value have
// their default and are left out.
func appendTags(dst []byte, tags ...tag) []byte {
	count := uint32(0)
	for _, t := range tags {
		if t.value != nil {
			count++
		}
	}
	dst = kbin.AppendUvarint(dst, count)
	for _, t := range tags {
		if t.value != nil {
			dst = kbin.AppendUvarint(dst, t.number)
			dst = kbin.AppendUvarint(dst, uint32(len(t.value)))
			dst = append(dst, t.value...)
		}
	}
	return dst
}

// readTags hands each tagged field to set, which reads its value or leaves it.
func readTags(r *kbin.Reader, set func(number uint32, value *kbin.Reader)) {
	for count := r.Uvarint(); count > 0 && r.Ok(); count-- {
		number, size := r.Uvarint(), r.Uvarint()
		set(number, &kbin.Reader{Src: r.Span(int(size))})
	}
}

// skipTags reads tagged fields of which none is known.
func skipTags(r *kbin.Reader) { readTags(r, func(uint32, *kbin.Reader) {}) }

// idsOr gives the value of a tagged array of ids, nil if it is null, its default.
func idsOr(ids []kafka.BrokerID) []byte {
	if ids == nil {
		return nil
	}
	return appendIDs(nil, ids)
}

// int8Or gives the value of a tagged byte, nil if it is its default.
func int8Or(v, normal int8) []byte {
	if v == normal {
		return nil
	}
	return []byte{byte(v)}
}

// int8Of is 1 for true and 0 for false.
func int8Of(b bool) int8 {
	if b {
		return 1
	}
	return 0
}
