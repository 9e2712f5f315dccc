package delivery

import "loglab/labs"

// readyRuns are runs to begin with, one for each thing that the lab shows.
func readyRuns() []labs.Ready {
	return []labs.Ready{}
}
