package main

import (
	"fmt"

	"loglab/engine"
)

// violations looks at a run and keeps what it finds: at most maxViolations, since what does not hold in one tick mostly
// does not hold in the next.
type violations struct {
	checker engine.Checker
	list    []engine.Violation
	all     int
}

const maxViolations = 100

func (v *violations) look(c *engine.Cluster) {
	found := c.Check(&v.checker)
	v.all += len(found)
	v.list = append(v.list, found[:min(len(found), maxViolations-len(v.list))]...)
}

// err is the end of a run that was looked at; nil if every invariant held.
func (v *violations) err() error {
	if v.all == 0 {
		return nil
	}
	return exitError{exitNo, fmt.Sprintf("an invariant of the engine does not hold, which is a fault of Log Lab: %s (%d in all)", v.list[0], v.all)}
}
