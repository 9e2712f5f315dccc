package rebalance

import (
	"fmt"
	"strings"

	"loglab/labs"
)

// topicNames are the topics of a run, as many as it has. Each begins with a letter of its own.
var topicNames = [...]string{"orders", "payments", "shipments", "returns", "invoices", "carts", "visits", "emails", "logins", "tickets"}

// letters are the first letters of all topics, in their order.
var letters = firstLetters()

func firstLetters() (letters string) {
	for _, name := range topicNames {
		letters += name[:1]
	}
	return letters
}

// canonicalSubscriptions gives the one spelling of who reads what: a word for each member, with the first letters of
// its topics in their order; "all" for a member that reads all, and for all behind the last word.
func canonicalSubscriptions(raw string) (string, error) {
	if bare := strings.Join(strings.Fields(raw), ""); strings.HasPrefix(bare, ",") || strings.Contains(bare, ",,") {
		return "", fmt.Errorf("%q leaves a member out; write all for one that reads all topics, as in o,all,p", raw)
	}
	words := strings.FieldsFunc(raw, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) > memberCount {
		return "", fmt.Errorf("%d words are given, and there are %d members", len(words), memberCount)
	}
	for i, word := range words {
		if word == all {
			continue
		}
		topics := ""
		for _, letter := range letters {
			if strings.ContainsRune(word, letter) {
				topics += string(letter)
			}
		}
		if len(topics) != len(word) {
			return "", fmt.Errorf("%q is no list of first letters, each once; allowed are %s, the first letters of %s, one word a member, as in o,op,all", word, letters, strings.Join(topicNames[:], ", "))
		}
		if words[i] = topics; topics == letters {
			words[i] = all
		}
	}
	for len(words) > 0 && words[len(words)-1] == all {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return all, nil
	}
	return strings.Join(words, ","), nil
}

// topicsOf lists the topics of a run.
func topicsOf(v labs.Values) []string { return topicNames[:v.Int("topics")] }

// subscriptionOf lists the topics that a member reads, by its place.
func subscriptionOf(v labs.Values, member int) (list []string) {
	words := strings.Split(v.Text("subscribe"), ",")
	for _, name := range topicsOf(v) {
		if member >= len(words) || words[member] == all || strings.Contains(words[member], name[:1]) {
			list = append(list, name)
		}
	}
	return list
}

// checkSubscriptions refuses a member that reads none of the run's topics.
func checkSubscriptions(v labs.Values) error {
	for i := range memberCount {
		if len(subscriptionOf(v, i)) == 0 {
			return &labs.AddressError{Param: "subscribe", Found: fmt.Sprintf("%s, with topics = %d", v.Text("subscribe"), v.Int("topics")),
				Allowed: fmt.Sprintf("%s has to read at least one of the topics that there are: %s", memberName(i), strings.Join(topicsOf(v), ", "))}
		}
	}
	return nil
}
