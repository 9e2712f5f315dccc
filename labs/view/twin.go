package view

// Twin is what a page shows of a second run beside the first, in which one setting is changed. What stands in
// the places of a page with one run is the first run's: [Page.Picture], [Page.Reading], [Page.Events]. What
// differs between the two pictures is marked in both.
type Twin struct {
	First   Paragraph    // from which tick on the two differ
	By      [2]Paragraph // the first event that is not so in the other: of the first run, of the second; empty: they do not differ
	OneRun  Link         // the first run alone
	Legend  []Key        // the signs of both pictures
	Picture Picture
	Events  Events
	Reading []Paragraph // what is true only of the second; Page.Reading is then what is only of the first
	Both    []Paragraph // what is true of both
}
