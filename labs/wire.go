package labs

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/kafka"
)

// WireField is one field of a request's or response's body and the bytes that hold it.
type WireField struct {
	Path    string // where it stands in kmsg's type: "Topics[0].Partitions[2].RecordBatches"
	Schema  string // the same by the names of Kafka's schema: "Responses[0].Partitions[2].Records"
	Name    string // its last part, without an index: "FetchOffset"
	Value   string // the number, the text, "null", "3 entries" or "70 bytes"
	At      int    // position in the body of its first byte; of a list or of something empty, of its length
	Width   int    // bytes, at least 1
	Content any    // the value itself: int64, bool, string, []byte, [16]byte; nil for a list or null
}

// WireFields decodes a body of Kafka's protocol and gives its fields in the order of their bytes, at most
// most of them; more says that there are others. Fields that this version does not have, and those that a
// message leaves out because they have their default, are not listed. The bytes between the fields are
// lengths and the counts of tagged fields.
//
// Which bytes a field takes is found out by changing it and encoding again, so it is true of the encoding
// itself and not of a second description of it.
func WireFields(key, version int16, response bool, body []byte, most int) (fields []WireField, more bool, err error) {
	var m message
	if response {
		m = kmsg.ResponseForKey(key)
	} else {
		m = kmsg.RequestForKey(key)
	}
	if reflect.ValueOf(m).Kind() != reflect.Pointer {
		return nil, false, fmt.Errorf("API key %d is not known", key)
	}
	m.SetVersion(version)
	if err := m.ReadFrom(bytes.Clone(body)); err != nil {
		return nil, false, fmt.Errorf("the body cannot be decoded: %w", err)
	}
	w := wireWalk{message: m, body: body, most: most}
	w.walk(reflect.ValueOf(m).Elem(), "", "")
	return w.fields, w.more, nil
}

// message is what requests and responses have in common.
type message interface {
	SetVersion(int16)
	IsFlexible() bool
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}

// wireWalk walks over a message of its own, whose fields it changes and puts back.
type wireWalk struct {
	message message
	body    []byte
	most    int
	fields  []WireField
	more    bool
}

// walk looks at a struct, a list or a single value.
func (w *wireWalk) walk(v reflect.Value, path, schema string) {
	switch {
	case w.more:
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name == "UnknownTags" || path == "" && name == "Version" {
				continue
			}
			inner, named := name, wireName(v.Type().Name(), name)
			if path != "" {
				inner, named = path+"."+inner, schema+"."+named
			}
			w.walk(v.Field(i), inner, named)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		w.walk(v.Elem(), path, schema)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		w.list(v, path, schema)
		for i := range v.Len() {
			w.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s[%d]", schema, i))
		}
	default:
		w.single(v, path, schema)
	}
}

// list adds the length of a list.
func (w *wireWalk) list(v reflect.Value, path, schema string) {
	longer := reflect.Append(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()+1), v), reflect.Zero(v.Type().Elem()))
	if at, ok := w.lengthAt(v, longer, v.Len()+1); ok {
		value := kafka.Count(v.Len(), "entry")
		if w.message.IsFlexible() && w.body[at] == 0 {
			value = "null"
		}
		w.add(WireField{Path: path, Schema: schema, Value: value, At: at, Width: 1})
	}
}

// lengthAt finds the byte that says how long something is, by making it longer.
func (w *wireWalk) lengthAt(v, longer reflect.Value, length int) (at int, ok bool) {
	changed := w.with(v, longer)
	for at < len(w.body) && at < len(changed) && changed[at] == w.body[at] {
		at++
	}
	if at == len(w.body) {
		return 0, false
	}
	// A compact length is one more than what it counts. Where the message has left the field out, it is the
	// count of tagged fields that rises.
	return at, !w.message.IsFlexible() || length > 126 || int(changed[at]) == length+1
}

// single adds a number, a text or bytes.
func (w *wireWalk) single(v reflect.Value, path, schema string) {
	f := WireField{Path: path, Schema: schema}
	var tries []reflect.Value
	try := func(x any) { tries = append(tries, reflect.ValueOf(x).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Bool:
		f.Content, f.Value = v.Bool(), strconv.FormatBool(v.Bool())
		try(!v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.Content, f.Value = v.Int(), strconv.FormatInt(v.Int(), 10)
		for _, x := range []int64{^v.Int(), v.Int() ^ 0x5555555555555555} {
			changed := reflect.New(v.Type()).Elem()
			changed.SetInt(x << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
			tries = append(tries, changed)
		}
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.Content, f.Value = int64(v.Uint()), strconv.FormatUint(v.Uint(), 10)
		changed := reflect.New(v.Type()).Elem()
		changed.SetUint(^v.Uint() << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
		tries = append(tries, changed)
	case reflect.String:
		f.Content, f.Value = v.String(), strconv.Quote(v.String())
		if v.Len() == 0 {
			w.empty(v, reflect.ValueOf("x").Convert(v.Type()), f)
			return
		}
		try(string(flipped([]byte(v.String()))))
	case reflect.Pointer: // null
		f.Value = "null"
		if v.Type().Elem().Kind() == reflect.String {
			x := "x"
			w.empty(v, reflect.ValueOf(&x), f)
		}
		return
	case reflect.Slice:
		f.Content, f.Value = v.Bytes(), kafka.Count(v.Len(), "byte")
		if v.Len() == 0 {
			w.empty(v, reflect.ValueOf([]byte("x")), f)
			return
		}
		try(flipped(v.Bytes()))
	case reflect.Array:
		id, ok := v.Interface().([16]byte)
		if !ok {
			return
		}
		f.Content, f.Value = id, base64.RawURLEncoding.EncodeToString(id[:])
		try([16]byte(flipped(id[:])))
	default:
		return
	}
	for _, changed := range tries {
		if at, width, ok := w.differs(w.with(v, changed)); ok {
			f.At, f.Width = at, width
			w.add(f)
			return
		}
	}
}

// empty adds something without bytes of its own at its length.
func (w *wireWalk) empty(v, longer reflect.Value, f WireField) {
	if at, ok := w.lengthAt(v, longer, 1); ok {
		f.At, f.Width = at, 1
		w.add(f)
	}
}

// with encodes the message with one value changed, and puts it back.
func (w *wireWalk) with(v, changed reflect.Value) []byte {
	kept := reflect.New(v.Type()).Elem()
	kept.Set(v)
	v.Set(changed)
	encoded := w.message.AppendTo(nil)
	v.Set(kept)
	return encoded
}

// differs gives the stretch in which another encoding of the same length differs from the body.
func (w *wireWalk) differs(other []byte) (at, width int, ok bool) {
	if len(other) != len(w.body) {
		return 0, 0, false
	}
	at, last := -1, -1
	for i := range other {
		if other[i] != w.body[i] {
			if at < 0 {
				at = i
			}
			last = i
		}
	}
	return at, last - at + 1, at >= 0
}

// add adds a field, as long as there is room.
func (w *wireWalk) add(f WireField) {
	if len(w.fields) == w.most {
		w.more = true
		return
	}
	f.Name = f.Path[strings.LastIndexByte(f.Path, '.')+1:]
	w.fields = append(w.fields, f)
}

// flipped changes every byte.
func flipped(b []byte) []byte {
	c := make([]byte, len(b))
	for i := range b {
		c[i] = b[i] ^ 0xff
	}
	return c
}
