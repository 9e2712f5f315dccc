package scenario

import "time"

// LookAgain makes the library look at its directory when it is asked next.
func LookAgain(l *Library) {
	if l != nil {
		l.looked = time.Time{}
	}
}

// MaxOwn is how many files of a directory are read.
const MaxOwn = maxOwn
