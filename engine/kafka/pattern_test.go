package kafka

import "testing"

func TestWholePattern(t *testing.T) {
	for _, text := range []string{"a)|(?:b", "(", "[", "*"} {
		if _, err := WholePattern(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	for _, test := range []struct {
		text, name string
		want       bool
	}{{"a|ab", "ab", true}, {"a", "ab", false}, {"b", "ab", false}, {"orders|payments", "payments", true}, {"orders.*", "orders-eu", true}, {"", "", true}, {"a\n?", "a\n", true}} {
		p, err := WholePattern(test.text)
		if err != nil || p.MatchString(test.name) != test.want {
			t.Errorf("%q matches %q: want %t, %v", test.text, test.name, test.want, err)
		}
	}
}
