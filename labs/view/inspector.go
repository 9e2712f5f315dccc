package view

// Anatomy is bytes in hexadecimal beside the fields that they make up. To point at a field marks its bytes,
// and to point at bytes marks their field.
type Anatomy struct {
	ID      string // begins the ids of its parts
	Caption string
	Note    string // how the bytes are drawn, where that needs words; empty: nothing to say
	Lines   []HexLine
	Fields  []ByteField
	More    string // fields or bytes left out, in words; empty: none are
}

// HexLine is a line of up to 16 bytes, or says what is left out at its place.
type HexLine struct {
	At    string    // position of its first byte: "0x0010"
	Parts []HexPart // left to right
	Text  string    // the bytes as characters; what cannot be seen is a dot
}

// HexPart is the part of a line that belongs to one field.
type HexPart struct {
	Field int    // its place in Fields; -1: none of them
	Text  string // "00 00 00 2a", or in words what is left out
	First bool   // the first part of its field: the field's line leads here
	Gap   bool   // Text is words
	// Covered says that a CRC in the file is over these bytes.
	Covered bool
}

// ByteField is one field: where it stands, what it holds and what that means.
type ByteField struct {
	At      string // positions of its bytes: "57–60"
	Name    string
	Value   string
	Meaning string
	Steps   string // how the bytes become the value, where that takes steps: a varint's; empty: none
	Link    *Link  // what the field's content can be opened as; nil: nothing
}
