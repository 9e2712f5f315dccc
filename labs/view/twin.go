package view

// Twin is what a page shows of a second run beside the first, in which one setting is changed. What is in
// both pages' places is the first run's: [Page.Picture], [Page.Reading], [Page.Events]. What differs
// between the two pictures is marked in both.
type Twin struct {
	Own     string    // heads what is of the first run: "acks = 1"
	Other   string    // the same of the second: "acks = all"
	First   Paragraph // from which tick on the two differ, and by what
	Differs *Mark     // that tick on the scrubber; nil: they do not differ yet, or before what it shows
	OneRun  Link      // the first run alone
	Legend  []Key     // the signs of both pictures
	Picture Picture
	Reading []Paragraph // what is true only of the second; Page.Reading is then what is only of the first
	Both    []Paragraph // what is true of both
	Events  Events
}
