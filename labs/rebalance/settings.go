package rebalance

import (
	"fmt"
	"slices"
	"strings"

	"loglab/labs"
	"loglab/labs/view"
)

// The choices of the settings.
const (
	on, off = "on", "off"
	clash   = "clash" // static members, of which the last one has the first one's group.instance.id

	eager       = "eager"
	cooperative = "cooperative"
	consumer    = "consumer"

	byDefault = "default" // the assignor that Kafka uses under a protocol if nothing is set

	same      = "same" // members that start later list what the others do
	alone     = "cooperative-sticky"
	bothFirst = "both-first" // as many as run at the start list it before what the others do, those after them list it alone

	automatic = "auto"
	perBatch  = "after-batch"
	perRecord = "after-record"

	all = "all"
)

// protocols are the ways in which a group comes from one assignment to the next, with the assignors that each allows.
var protocols = []protocol{
	{name: eager, assignors: []string{"range", "roundrobin", "sticky"}, usual: []string{"range", "cooperative-sticky"}},
	{name: cooperative, assignors: []string{"cooperative-sticky"}, usual: []string{"cooperative-sticky"}},
	{name: consumer, assignors: []string{"uniform", "server-range"}, remote: true},
}

// protocol is one way of a group.
type protocol struct {
	name      string
	assignors []string // allowed beside the default
	usual     []string // what the default is: partition.assignment.strategy, or empty where the broker chooses
	remote    bool     // the coordinator divides: group.protocol = consumer
}

// protocolOf gives the protocol that a run has.
func protocolOf(v labs.Values) protocol {
	at := slices.IndexFunc(protocols, func(p protocol) bool { return p.name == v.Text("protocol") })
	return protocols[at]
}

// strategy is the value of partition.assignment.strategy, or of group.remote.assignor; empty: the broker chooses.
func strategy(v labs.Values) []string {
	if name := v.Text("assignor"); name != byDefault {
		return []string{name}
	}
	return protocolOf(v).usual
}

// strategyOf is strategy of a member by its place: those that do not run at the start can have another.
func strategyOf(v labs.Values, i int) []string {
	later, first := v.Text("later"), v.Int("members")
	switch {
	case later == same || i < first:
		return strategy(v)
	case later == bothFirst && i < 2*first:
		return append([]string{alone}, slices.DeleteFunc(slices.Clone(strategy(v)), func(name string) bool { return name == alone })...)
	}
	return []string{alone}
}

// checkAssignor refuses an assignor that the protocol cannot use.
func checkAssignor(v labs.Values) error {
	p, name := protocolOf(v), v.Text("assignor")
	if v.Text("later") != same && p.name != eager {
		return &labs.AddressError{Param: "later", Found: v.Text("later") + ", with protocol = " + p.name, Allowed: "with that protocol: " + same}
	}
	if name == byDefault || slices.Contains(p.assignors, name) {
		return nil
	}
	return &labs.AddressError{Param: "assignor", Found: name + ", with protocol = " + p.name,
		Allowed: "with that protocol: " + strings.Join(append([]string{byDefault}, p.assignors...), ", ")}
}

// names lists what each protocol gives, without what was there before.
func names(of func(protocol) []string) (list []string) {
	for _, p := range protocols {
		for _, name := range of(p) {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

const maxMillis = 3_600_000

// topicSettings are those of the topics and of who reads them.
func topicSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "topics", Label: "Topics", Default: "1", Min: 1, Max: len(topicNames), Help: strings.Join(topicNames[:], ", ")},
		{Name: "partitions", Label: "Partitions of each", Default: "6", Min: 1, Max: 64},
		{Name: "rate", Label: "Records a tick", Default: "6", Min: 0, Max: 25, Help: "in each topic, to its partitions in turn"},
		{Name: "subscribe", Label: "Who reads what", Default: all, Canonical: canonicalSubscriptions, OneLine: true,
			Help: "all, or for billing-01, -02 … the first letters of their topics: o,op,s. The others read all."},
	}
}

// groupSettings are those of the group.
func groupSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "members", Label: "Members", Default: "3", Min: 0, Max: memberCount, Help: fmt.Sprintf("at the start; %d can join", memberCount)},
		{Name: "protocol", Label: "Protocol", Default: eager, Options: names(func(p protocol) []string { return []string{p.name} })},
		{Name: "assignor", Label: "Assignor", Default: byDefault, Options: append([]string{byDefault}, names(func(p protocol) []string { return p.assignors })...),
			Help: "default: with eager the list range, cooperative-sticky; with cooperative cooperative-sticky; with consumer the broker’s, uniform"},
		{Name: "later", Label: "Assignor of later members", Default: same, Options: []string{same, alone, bothFirst},
			Help: "eager: what members list alone that do not run at the start; both-first: as many as run at the start list it with what the others do, and only those after them alone"},
		{Name: "static", Label: "group.instance.id", Default: off, Options: []string{off, on, clash}, Help: "on: static members; clash: billing-16 has the id of billing-01"},
	}
}

// timeSettings are the group's timeouts.
func timeSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "session-timeout", Label: "session.timeout.ms", Default: "6000", Min: 6000, Max: 1_800_000, Help: "eager and cooperative; Kafka’s default is 45000"},
		{Name: "heartbeat", Label: "heartbeat.interval.ms", Default: "3000", Min: 100, Max: maxMillis, Help: "eager and cooperative; less than session.timeout.ms"},
		{Name: "consumer-session", Label: "group.consumer.session.timeout.ms", Default: "45000", Min: 45_000, Max: 60_000, Help: "consumer: the broker’s"},
		{Name: "consumer-heartbeat", Label: "group.consumer.heartbeat.interval.ms", Default: "5000", Min: 5000, Max: 15_000, Help: "consumer: the broker’s"},
		{Name: "poll-interval", Label: "max.poll.interval.ms", Default: "300000", Min: 1000, Max: maxMillis, Help: "also the rebalance timeout"},
		{Name: "initial-delay", Label: "group.initial.rebalance.delay.ms", Default: "3000", Min: 0, Max: 60_000, Help: "eager and cooperative: how long an empty group waits for more members; the broker’s"},
		{Name: "metadata-age", Label: "metadata.max.age.ms", Default: "10000", Min: 1000, Max: maxMillis, Help: "eager and cooperative: when a consumer notices more partitions; with consumer the broker does. Kafka’s default is 300000"},
	}
}

// appSettings are those of the application around each consumer.
func appSettings() []labs.Setting {
	return []labs.Setting{
		{Name: "process", Label: "Processed a tick", Default: "10", Min: 1, Max: 100, Help: "by each member"},
		{Name: "slow", Label: "Slow member", Default: "0", Min: 0, Max: memberCount, Help: "its number; 0: none"},
		{Name: "slow-work", Label: "It takes, ms", Default: "5000", Min: 1, Max: maxMillis, Help: "for each record"},
		{Name: "poll-records", Label: "max.poll.records", Default: "500", Min: 1, Max: 500},
		{Name: "commit", Label: "Commit", Default: automatic, Options: []string{automatic, perBatch, perRecord}, Help: automatic + ": enable.auto.commit; the others: the application commits"},
		{Name: "auto-interval", Label: "auto.commit.interval.ms", Default: "5000", Min: 100, Max: maxMillis, Help: "with commit = " + automatic},
	}
}

func allSettings() []labs.Setting {
	return slices.Concat(topicSettings(), groupSettings(), timeSettings(), appSettings())
}

// settingsForms makes the forms of the set-up.
func settingsForms(a labs.Address) []view.Form {
	form := func(id, title string, settings []labs.Setting) view.Form {
		return labs.SettingsForm(a, id, title, "Apply", labs.NamesOf(settings)...)
	}
	group := form("setup", "Group", groupSettings())
	group.Links = pairs(a)
	return []view.Form{
		group, form("topics", "Topics", topicSettings()), form("timeouts", "Timeouts", timeSettings()), form("application", "Application", appSettings()),
	}
}

// pairs show this run beside one in which one thing that matters is otherwise.
func pairs(a labs.Address) (links []view.Link) {
	add := func(id, text, setting, own, other string) {
		if a.Values.Text(setting) == other {
			own, other = other, own
		}
		to := a.WithValue(setting, own)
		if setting == "protocol" { // an assignor goes with its protocol
			to = to.WithValue("assignor", byDefault)
		}
		links = append(links, view.Link{ID: id, Text: text, Href: to.WithTwin(setting, other).String(), Go: "push"})
	}
	add("pair-eager", "Eager | cooperative", "protocol", eager, cooperative)
	add("pair-both", "Eager | consumer", "protocol", eager, consumer)
	add("pair-consumer", "Cooperative | consumer", "protocol", cooperative, consumer)
	add("pair-static", "Dynamic | static", "static", off, on)
	return links
}
