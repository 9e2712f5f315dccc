package capacity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/labs"
	"loglab/labs/view"
)

// Path is the page.
const Path = "/capacity"

// maxQuery bounds a query; the longest canonical one has some 200 bytes.
const maxQuery = 2048

// Inputs are the numbers that a reader gives. Make them with [Parse].
type Inputs struct {
	Rate       int // records a second that are written to the topic, on average
	Peak       int // how many times that in the busiest moment
	Size       int // bytes of a record as it stands in the log, after compression
	Retention  int // hours that records are kept
	Replicas   int // replication factor
	Partitions int
	Brokers    int
	Groups     int // consumer groups that read everything
	Consumers  int // of one group
	Speed      int // records a second that one consumer processes
	Away       int // minutes for which a group does not run
}

// input is one of them, as addresses and the form have it.
type input struct {
	name, label string
	least, most int
	standard    int
	help        string
	of          func(*Inputs) *int
}

var inputs = []input{
	{"rate", "Records a second, on average", 1, 10_000_000, 1000, "", func(in *Inputs) *int { return &in.Rate }},
	{"peak", "Times as many at the peak", 1, 100, 3, "", func(in *Inputs) *int { return &in.Peak }},
	{"size", "Bytes a record", 1, 10_000_000, 1000, "As it stands in the log, after compression.", func(in *Inputs) *int { return &in.Size }},
	{"retention", "Hours that records are kept", 1, 87_600, 168, "168 is log.retention.hours, Kafka’s default.", func(in *Inputs) *int { return &in.Retention }},
	{"rf", "Replication factor", 1, 9, 3, "", func(in *Inputs) *int { return &in.Replicas }},
	{"partitions", "Partitions", 1, 100_000, 12, "", func(in *Inputs) *int { return &in.Partitions }},
	{"brokers", "Brokers", 1, 1000, 3, "", func(in *Inputs) *int { return &in.Brokers }},
	{"groups", "Consumer groups", 0, 1000, 2, "Each reads everything.", func(in *Inputs) *int { return &in.Groups }},
	{"consumers", "Consumers in a group", 1, 100_000, 6, "", func(in *Inputs) *int { return &in.Consumers }},
	{"speed", "Records a second that one consumer processes", 1, 10_000_000, 600, "", func(in *Inputs) *int { return &in.Speed }},
	{"away", "Minutes for which a group is away", 1, 525_600, 60, "", func(in *Inputs) *int { return &in.Away }},
}

// Parse reads a query. The error is a [*labs.AddressError].
func Parse(rawQuery string) (in Inputs, err error) {
	for _, i := range inputs {
		*i.of(&in) = i.standard
	}
	if len(rawQuery) > maxQuery {
		return in, &labs.AddressError{Param: "address", Found: fmt.Sprintf("%d bytes long after the question mark", len(rawQuery)), Allowed: fmt.Sprintf("at most %d are allowed", maxQuery)}
	}
	params, err := labs.QueryParams(rawQuery)
	if err != nil {
		return in, err
	}
	seen := map[string]bool{}
	for _, p := range params {
		at := slices.IndexFunc(inputs, func(i input) bool { return i.name == p.Name })
		switch {
		case at < 0:
			return in, &labs.AddressError{Param: "parameter " + strconv.Quote(p.Name), Found: "not known here", Allowed: "allowed are " + strings.Join(names(), ", ")}
		case seen[p.Name]:
			return in, &labs.AddressError{Param: p.Name, Found: strconv.Quote(p.Value), Allowed: "it is there twice; once is allowed"}
		}
		seen[p.Name] = true
		i := inputs[at]
		n, err := strconv.Atoi(p.Value)
		if err != nil || n < i.least || n > i.most {
			return in, &labs.AddressError{Param: p.Name, Found: strconv.Quote(p.Value), Allowed: fmt.Sprintf("a whole number from %d to %d is allowed", i.least, i.most)}
		}
		*i.of(&in) = n
	}
	return in, in.check()
}

// check refuses what no cluster can have.
func (in Inputs) check() error {
	if in.Replicas > in.Brokers {
		return &labs.AddressError{Param: "rf", Found: strconv.Quote(strconv.Itoa(in.Replicas)), Allowed: fmt.Sprintf("at most the number of brokers is allowed, %d: each has one replica of a partition", in.Brokers)}
	}
	return nil
}

func names() (list []string) {
	for _, i := range inputs {
		list = append(list, i.name)
	}
	return list
}

// String gives the canonical address: parameters in fixed order, what is as usual left out.
func (in Inputs) String() string {
	var given []string
	for _, i := range inputs {
		if n := *i.of(&in); n != i.standard {
			given = append(given, i.name+"="+strconv.Itoa(n))
		}
	}
	if len(given) == 0 {
		return Path
	}
	return Path + "?" + strings.Join(given, "&")
}

// Form asks for the numbers.
func (in Inputs) Form() view.Form {
	form := view.Form{ID: "capacity-form", Title: "Your numbers", Action: Path, Submit: "Reckon"}
	for _, i := range inputs {
		form.Fields = append(form.Fields, view.Field{ID: "capacity-" + i.name, Name: i.name, Label: i.label, Kind: view.Number, Value: strconv.Itoa(*i.of(&in)), Min: i.least, Max: i.most, Help: i.help})
	}
	return form
}
