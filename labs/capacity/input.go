package capacity

import (
	"fmt"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/labs"
)

// Path is the page.
const Path = "/capacity"

// maxQuery is how long a query may be: one with every field at its largest has some 200 bytes.
const maxQuery = 2048

// Input is a load and the cluster that has to carry it.
type Input struct {
	Rate       int64 // records written a second, on average
	Size       int64 // bytes of a record before compression
	Compressed int64 // what compression leaves of it, in percent
	Peak       int64 // the rate at the peak, in percent of the average
	Retention  int64 // hours
	Replicas   int64 // replication factor
	Partitions int64
	Brokers    int64
	Groups     int64 // consumer groups that read everything
	Consumers  int64 // in each group
	Speed      int64 // records a second that one consumer processes
	Downtime   int64 // minutes that a group is away
}

// Field is one number of an [Input].
type Field struct {
	Name           string // in the address
	Label, Help    string
	Min, Max, Left int64 // Left is the default, which an address leaves out
	of             func(*Input) *int64
}

// Fields are all numbers of an input, in the order of an address.
var Fields = []Field{
	{"rate", "Records/s", "written, on average", 1, 10_000_000, 10_000, func(in *Input) *int64 { return &in.Rate }},
	{"size", "Record size, B", "key, value and headers, before compression", 1, 1_048_576, 1_000, func(in *Input) *int64 { return &in.Size }},
	{"compressed", "Compressed to, %", "of that size; 50 is a compression ratio of 2, 100 is none", 1, 100, 50, func(in *Input) *int64 { return &in.Compressed }},
	{"peak", "Peak, %", "of the average; 200 is twice as many records/s", 100, 10_000, 200, func(in *Input) *int64 { return &in.Peak }},
	{"retention", "Retention, h", "retention.ms in hours; Kafka's default is 168", 1, 87_600, 168, func(in *Input) *int64 { return &in.Retention }},
	{"rf", "Replication factor", "copies of each partition, on different brokers", 1, 9, 3, func(in *Input) *int64 { return &in.Replicas }},
	{"partitions", "Partitions", "of all topics of this load", 1, 200_000, 12, func(in *Input) *int64 { return &in.Partitions }},
	{"brokers", "Brokers", "controllers apart", 1, 1_000, 3, func(in *Input) *int64 { return &in.Brokers }},
	{"groups", "Consumer groups", "each reads every record once", 0, 1_000, 2, func(in *Input) *int64 { return &in.Groups }},
	{"consumers", "Consumers a group", "members of each group", 1, 100_000, 12, func(in *Input) *int64 { return &in.Consumers }},
	{"speed", "Consumer speed, records/s", "what one consumer reads and processes", 1, 10_000_000, 2_000, func(in *Input) *int64 { return &in.Speed }},
	{"downtime", "Downtime, min", "that a group is away and has to catch up from", 1, 43_200, 60, func(in *Input) *int64 { return &in.Downtime }},
}

// Defaults is the input of an address without parameters.
func Defaults() Input {
	var in Input
	for _, f := range Fields {
		*f.of(&in) = f.Left
	}
	return in
}

// Wrong is what is wrong with fields, by name.
type Wrong map[string]Mistake

// Mistake is a value that a field cannot take: its text, and an error that says what was found and what is allowed.
type Mistake struct {
	Text string
	Err  *labs.AddressError
}

// Parse reads a query. Fields that cannot be taken have their defaults in the input and an error in wrong. The error
// is a [*labs.AddressError] of what belongs to no field.
func Parse(query string) (in Input, wrong Wrong, err error) {
	in, wrong = Defaults(), Wrong{}
	if len(query) > maxQuery {
		return in, wrong, &labs.AddressError{Param: "address", Found: fmt.Sprintf("%d bytes", len(query)), Allowed: fmt.Sprintf("at most %d are allowed", maxQuery)}
	}
	params, err := labs.QueryParams(query)
	if err != nil {
		return in, wrong, err
	}
	seen := map[string]bool{}
	for _, p := range params {
		field, known := fieldNamed(p.Name)
		switch {
		case !known:
			return in, wrong, labs.Refuse(fmt.Sprintf("parameter %q", cut(p.Name)), p.Value, names()+" are allowed")
		case seen[p.Name]:
			wrong[p.Name] = Mistake{p.Value, labs.Refuse(p.Name, p.Value, "it is there twice; once is allowed")}
		default:
			if e := field.read(&in, p.Value); e != nil {
				wrong[p.Name] = Mistake{p.Value, e}
			}
		}
		seen[p.Name] = true
	}
	if wrong["brokers"].Err == nil && wrong["rf"].Err == nil && in.Replicas > in.Brokers {
		text := strconv.FormatInt(in.Replicas, 10)
		wrong["rf"] = Mistake{text, labs.Refuse("rf", text,
			fmt.Sprintf("at most as many as brokers are allowed, here %s: a broker holds one copy of a partition", kafka.Thousands(in.Brokers)))}
	}
	return in, wrong, nil
}

// read takes a number from its text.
func (f Field) read(in *Input, text string) *labs.AddressError {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < f.Min || n > f.Max {
		return labs.Refuse(f.Name, text, "a whole number "+f.Span()+" is allowed")
	}
	*f.of(in) = n
	return nil
}

// Of is the field's number in an input.
func (f Field) Of(in Input) int64 { return *f.of(&in) }

// Span is what is allowed: "from 1 to 1,000".
func (f Field) Span() string {
	return "from " + kafka.Thousands(f.Min) + " to " + kafka.Thousands(f.Max)
}

func fieldNamed(name string) (Field, bool) {
	for _, f := range Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// names lists the fields: "rate, size, … and downtime".
func names() string {
	var list []string
	for _, f := range Fields {
		list = append(list, f.Name)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// cut shortens a name that a reader may have made up.
func cut(name string) string {
	const most = 40
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// Address is the one address of an input, path and query.
func (in Input) Address() string {
	var pairs []string
	for _, f := range Fields {
		if n := f.Of(in); n != f.Left {
			pairs = append(pairs, f.Name+"="+strconv.FormatInt(n, 10))
		}
	}
	if len(pairs) == 0 {
		return Path
	}
	return Path + "?" + strings.Join(pairs, "&")
}
