package lesson

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"loglab/labs/scenario"
)

// print gives what a program would print of a group.
func (t *tool) print(s *scenario.State) (string, error) {
	group, err := s.Group(t.group)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, o := range group.Offsets {
		end, err := endOf(s, o)
		if err != nil {
			return "", err
		}
		if t.kind == "lag" && o.Committed < 0 {
			continue // an exporter says nothing where nothing is committed
		}
		rows = append(rows, row(t.kind, t.group, o, end))
	}
	if t.kind == "lag" {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(strings.Join(r, " ") + "\n")
		}
		return b.String(), nil
	}
	return table(append([][]string{{"GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CLIENT-ID"}}, rows...)), nil
}

// endOf gives the end of a partition as a client is told it: its high watermark. A group tool asks for it as
// read_uncommitted.
func endOf(s *scenario.State, o scenario.Offset) (int, error) {
	p, err := s.Partition(fmt.Sprintf("%s-%d", o.Topic, o.Partition))
	if err != nil {
		return 0, err
	}
	for _, r := range p.Replicas {
		if r.Broker == p.Leader {
			return r.HighWatermark, nil
		}
	}
	return 0, fmt.Errorf("%s-%d has no leader whose end could be asked", o.Topic, o.Partition)
}

// row is a line about a partition. A group that has committed nothing there has no lag.
func row(kind, group string, o scenario.Offset, end int) []string {
	committed, lag, owner := "-", "-", "-"
	if o.Committed >= 0 {
		committed, lag = strconv.Itoa(o.Committed), strconv.Itoa(end-o.Committed)
	}
	if o.Owner != "" {
		owner = o.Owner
	}
	if kind == "lag" {
		return []string{fmt.Sprintf("kafka_consumergroup_lag{consumergroup=%q,topic=%q,partition=\"%d\"}", group, o.Topic, o.Partition), lag}
	}
	return []string{group, o.Topic, strconv.Itoa(o.Partition), committed, strconv.Itoa(end), lag, owner}
}

func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	w.Flush()
	return b.String()
}
