package group

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"

	"github.com/zeebo/xxh3"

	"loglab/engine/metadata"
)

// metadataHash gives the hash of the topics that a group subscribes to, sorted; of those that there are not it takes no
// notice. A coordinator makes a new target assignment when it changes.
//
// Source: Utils.computeGroupHash: XXH3 with 64 bits of the topics' hashes, each of 8 bytes, little endian.
func metadataHash(topics []string, image *metadata.Image) uint64 {
	var hashes []byte
	for _, name := range topics {
		if t, ok := image.Topic(name); ok {
			hashes = binary.LittleEndian.AppendUint64(hashes, topicHash(&t, image))
		}
	}
	if len(hashes) == 0 {
		return 0
	}
	return xxh3.Hash(hashes)
}

// topicHash gives the hash of one topic: XXH3 with 64 bits of a version 0, the topic's id as two numbers of 8 bytes, its
// name, and the number of its partitions, each with its index and the racks of its replicas, sorted, each behind its
// length. Numbers are little endian, a text is its UTF-16 units and then their number.
//
// Source: Utils.computeTopicHash; hash4j's HashStream.
func topicHash(t *metadata.Topic, image *metadata.Image) uint64 {
	b := []byte{0}
	b = binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(t.ID[:8]))
	b = binary.LittleEndian.AppendUint64(b, binary.BigEndian.Uint64(t.ID[8:]))
	b = appendUnits(b, t.Name)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Partitions)))
	for i, p := range t.Partitions {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		var racks []string
		for _, id := range p.Replicas {
			if broker, ok := image.Broker(id); ok && broker.Rack != "" {
				racks = append(racks, broker.Rack)
			}
		}
		slices.SortFunc(racks, compareUnits)
		for _, rack := range racks {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(utf16.Encode([]rune(rack)))))
			b = appendUnits(b, rack)
		}
	}
	return xxh3.Hash(b)
}

// compareUnits orders texts as Java does, by their UTF-16 units.
func compareUnits(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func appendUnits(b []byte, text string) []byte {
	units := utf16.Encode([]rune(text))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(len(units)))
}
