package all

import (
	"strings"

	"loglab/labs"
	"loglab/labs/delivery"
	"loglab/labs/offsets"
	"loglab/labs/partitions"
	"loglab/labs/rebalance"
	"loglab/labs/replication"
	"loglab/labs/sandbox"
	"loglab/labs/segments"
)

// list holds every lab in the order of the home page.
var list = []*labs.Lab{
	partitions.Lab(),
	offsets.Lab(),
	rebalance.Lab(),
	replication.Lab(),
	segments.Lab(),
	delivery.Lab(),
	sandbox.Lab(),
}

// Labs gives every lab in the order of the home page.
func Labs() []*labs.Lab { return list }

// Names lists the labs' names in addresses, separated by commas, for messages.
func Names() string {
	var names []string
	for _, lab := range list {
		names = append(names, lab.Name)
	}
	return strings.Join(names, ", ")
}

// ByName gives the lab of that name in addresses.
func ByName(name string) (*labs.Lab, bool) {
	for _, lab := range list {
		if lab.Name == name {
			return lab, true
		}
	}
	return nil, false
}
