package labtest

import (
	"errors"
	"strings"
	"testing"

	"loglab/labs"
)

// CheckRefused fails where a query is taken, or where what is said of it lacks the words that tell what is allowed. The
// queries are the keys of refused, the words its values.
func CheckRefused(t *testing.T, lab *labs.Lab, refused map[string]string) {
	t.Helper()
	for query, allowed := range refused {
		a, err := labs.Parse(lab, labs.Pages, query)
		if err == nil {
			_, err = labs.Replay(a)
		}
		var address *labs.AddressError
		if !errors.As(err, &address) || !strings.Contains(address.Error(), allowed) {
			t.Errorf("%s: %v, want a mistake in the address that says %q", query, err, allowed)
		}
	}
}
