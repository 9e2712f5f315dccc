package all

import (
	"testing"

	"loglab/labs/labtest"
)

// What a lab offers where one of its ready-made runs stands can be done there.
func TestOfferedCommandsApply(t *testing.T) {
	for _, lab := range Labs() {
		t.Run(lab.Name, func(t *testing.T) {
			t.Parallel()
			for _, r := range lab.Ready {
				labtest.CheckOffered(t, lab, r.Query)
			}
		})
	}
}
