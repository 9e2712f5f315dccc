package inspect

import (
	"fmt"
	"strings"

	"loglab/engine/record"
)

// isVarint says whether a field is a zigzag varint: of a record all are that but attributes, keys and values.
func isVarint(f record.Field) bool {
	switch f.Name {
	case "length", "timestampDelta", "offsetDelta", "keyLength", "valueLength", "headerCount", "headerKeyLength", "headerValueLength":
		return f.Record >= 0
	}
	return false
}

// VarintSteps writes how the bytes of a zigzag varint become its value, for example for d8 04
//
//	d8 04 → 1·1011000 0·0000100 → 0000100·1011000 = 600 → even: 600 / 2 = 300
//
// The first bit of a byte says that another follows; the other seven are a group, the lowest group first. The number that
// they make is even for 0 and more and odd for less: -1 is 1, 1 is 2, -2 is 3. The result is empty where the bytes are no
// varint.
//
// Source: org.apache.kafka.common.utils.ByteUtils.readVarint, readVarlong.
func VarintSteps(raw []byte) string {
	if len(raw) == 0 || len(raw) > 10 {
		return ""
	}
	var u uint64
	read, joined := make([]string, len(raw)), make([]string, len(raw))
	for i, c := range raw {
		if more := c >= 0x80; more != (i < len(raw)-1) {
			return ""
		}
		u |= uint64(c&0x7f) << (7 * i)
		read[i] = fmt.Sprintf("%d·%07b", c>>7, c&0x7f)
		joined[len(raw)-1-i] = fmt.Sprintf("%07b", c&0x7f)
	}
	steps := fmt.Sprintf("% x → %s → ", raw, strings.Join(read, " "))
	if len(raw) > 1 {
		steps += strings.Join(joined, "·") + " = "
	}
	if u%2 == 0 {
		return steps + fmt.Sprintf("%d → even: %d / 2 = %d", u, u, u/2)
	}
	return steps + fmt.Sprintf("%d → odd: −(%d + 1) / 2 = −%d", u, u, u/2+1)
}

// varintNote says how the steps are to be read.
const varintNote = "→ shows how a varint is read: the first bit of each byte says whether another follows, the other seven are a group, the lowest group first; zigzag makes a number even that is 0 or more, and odd one that is less."
