package storage

import (
	"strings"
	"testing"
)

// A file that is not an index is refused with the entry that shows it.
func TestParseIndexNamesTheEntry(t *testing.T) {
	offset := func(b []byte) (int, error) { e, err := ParseOffsetIndex(b, 100); return len(e), err }
	time := func(b []byte) (int, error) { e, err := ParseTimeIndex(b, 100); return len(e), err }
	tests := []struct {
		name    string
		parse   func([]byte) (int, error)
		bytes   string
		entries int
		err     string // "" for none
	}{
		{"empty", offset, "", 0, ""},
		{"filled up with zeros", offset, "00000002 00000046 00000000 00000000 00000000 00000000", 1, ""},
		{"zeros and then more", offset, "00000002 00000046 00000000 00000000 00000003 00000050", 1, "offset index entry 1 (byte 8): offset is 100, must be above 102"},
		{"offset does not rise", offset, "00000002 00000046 00000002 00000050", 1, "offset index entry 1 (byte 8): offset is 102, must be above 102"},
		{"position does not rise", offset, "00000002 00000046 00000003 00000046", 1, "offset index entry 1 (byte 8): position is 70, must be above 70"},
		{"below the base offset", offset, "ffffffff 00000046", 0, "offset index entry 0 (byte 0): offset is 99, must be above 99"},
		{"negative position", offset, "00000002 80000000", 0, "offset index entry 0 (byte 0): position is -2147483648, must be above -1"},
		{"torn", offset, "00000002 00000046 000000", 1, "offset index entry 1 (byte 8): only 3 of 8 bytes"},

		{"empty", time, "", 0, ""},
		{"filled up with zeros", time, "0000018bcfe56805 00000002 0000000000000000 00000000", 1, ""},
		{"timestamp does not rise", time, "0000018bcfe56805 00000002 0000018bcfe56805 00000003", 1,
			"time index entry 1 (byte 12): timestamp is 1700000000005, must be above 1700000000005"},
		{"offset does not rise", time, "0000018bcfe56805 00000002 0000018bcfe56806 00000002", 1, "time index entry 1 (byte 12): offset is 102, must be above 102"},
		{"no timestamp", time, "ffffffffffffffff 00000002", 0, "time index entry 0 (byte 0): timestamp is -1, must be above -1"},
		{"torn", time, "0000018bcfe5", 0, "time index entry 0 (byte 0): only 6 of 12 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, err := tt.parse(unhex(tt.bytes))
			if entries != tt.entries || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%d entries, error %v; want %d, %q", entries, err, tt.entries, tt.err)
			}
		})
	}
}
