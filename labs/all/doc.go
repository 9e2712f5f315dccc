// Package all lists the labs. It is the one place that a new lab is added to.
package all
