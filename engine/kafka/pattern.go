package kafka

import "regexp"

// WholePattern reads a regular expression that has to match the whole of a name. What is none by itself is refused, though
// it may be one between the brackets that hold it together here.
func WholePattern(text string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(text); err != nil {
		return nil, err
	}
	return regexp.Compile(`\A(?:` + text + `)\z`)
}
