package journal

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
)

// ConsumerMemberJoined says that a coordinator took a new member into a group of the consumer protocol.
type ConsumerMemberJoined struct {
	Group    string                `json:"group"`
	Member   kafka.MemberID        `json:"member"`
	Instance kafka.GroupInstanceID `json:"instance_id"` // empty: a dynamic member
	From     kafka.NodeID          `json:"from"`
	Topics   []string              `json:"topics"`
	Regex    string                `json:"regex"`   // the pattern that it subscribes to; empty: none
	Classic  bool                  `json:"classic"` // it takes part through the requests of the classic protocol
	Members  int                   `json:"members"` // of the group now
}

// Kind gives the kind's name.
func (ConsumerMemberJoined) Kind() string { return "ConsumerMemberJoined" }

// Text gives the member and what it subscribes to.
func (b ConsumerMemberJoined) Text() string {
	text := fmt.Sprintf("%s %s from=%s", b.Group, b.Member, b.From)
	if b.Instance != "" {
		text += fmt.Sprintf(" instance=%s", b.Instance)
	}
	return text + fmt.Sprintf(" topics=%s regex=%q classic=%t members=%d", strings.Join(b.Topics, ","), b.Regex, b.Classic, b.Members)
}

// Sentence gives the rule.
func (b ConsumerMemberJoined) Sentence() string {
	how := "by a heartbeat with member epoch 0"
	if b.Classic {
		how = "by JoinGroup, as a member that uses the classic protocol"
	}
	return fmt.Sprintf("%s joins group %s %s and subscribes to %s. The group has %s now; nobody else has to do anything before its own next heartbeat.",
		memberName(b.Member, b.From), b.Group, how, subscriptionText(b.Topics, b.Regex), kafka.Count(b.Members, "member"))
}

func subscriptionText(topics []string, regex string) string {
	switch {
	case regex != "" && len(topics) > 0:
		return fmt.Sprintf("%s and the pattern %s", strings.Join(topics, ", "), regex)
	case regex != "":
		return "the pattern " + regex
	case len(topics) == 0:
		return "no topic"
	}
	return strings.Join(topics, ", ")
}

// SubscriptionChanged says that a member of a group of the consumer protocol subscribes to something else.
type SubscriptionChanged struct {
	Group  string         `json:"group"`
	Member kafka.MemberID `json:"member"`
	Topics []string       `json:"topics"`
	Regex  string         `json:"regex"`
	Host   kafka.NodeID   `json:"host"`
}

// Kind gives the kind's name.
func (SubscriptionChanged) Kind() string { return "SubscriptionChanged" }

// Text gives the member and what it subscribes to.
func (b SubscriptionChanged) Text() string {
	return fmt.Sprintf("%s %s topics=%s regex=%q", b.Group, b.Member, strings.Join(b.Topics, ","), b.Regex)
}

// Sentence gives the new subscription.
func (b SubscriptionChanged) Sentence() string {
	return fmt.Sprintf("%s subscribes to %s in group %s now.", memberName(b.Member, b.Host), subscriptionText(b.Topics, b.Regex), b.Group)
}

// GroupEpochBumped says that the group epoch of a group of the consumer protocol has risen.
type GroupEpochBumped struct {
	Group           string           `json:"group"`
	Epoch           kafka.GroupEpoch `json:"group_epoch"`
	AssignmentEpoch kafka.GroupEpoch `json:"assignment_epoch"` // of the target assignment that there is
	Why             string           `json:"why"`              // the rule
}

// Kind gives the kind's name.
func (GroupEpochBumped) Kind() string { return "GroupEpochBumped" }

// Text gives the epochs and the rule.
func (b GroupEpochBumped) Text() string {
	return fmt.Sprintf("%s epoch=%d assignment=%d: %s", b.Group, b.Epoch, b.AssignmentEpoch, b.Why)
}

// Sentence gives the rule and what comes of it.
func (b GroupEpochBumped) Sentence() string {
	s := fmt.Sprintf("The group epoch of %s is %d now: %s.", b.Group, b.Epoch, b.Why)
	if b.AssignmentEpoch < b.Epoch {
		s += fmt.Sprintf(" The target assignment is that of epoch %d: the next heartbeat of a member makes a new one, this one if it is one.", max(b.AssignmentEpoch, 0))
	}
	return s
}

// TargetAssigned says that a coordinator has divided the partitions of a group of the consumer protocol. It is where
// the members are to come to; nobody owns anything else for it yet.
type TargetAssigned struct {
	Group    string           `json:"group"`
	Epoch    kafka.GroupEpoch `json:"assignment_epoch"`
	Assignor string           `json:"assignor"`
	Shares   []MemberShare    `json:"shares"`
	Hosts    []kafka.NodeID   `json:"hosts"` // of the members of the shares
}

// Kind gives the kind's name.
func (TargetAssigned) Kind() string { return "TargetAssigned" }

// Text gives what each member is to own.
func (b TargetAssigned) Text() string {
	words := make([]string, len(b.Shares))
	for i, s := range b.Shares {
		words[i] = string(s.Member) + "=" + partitionsOrNone(s.Partitions)
	}
	return fmt.Sprintf("%s epoch=%d %s %s", b.Group, b.Epoch, b.Assignor, strings.Join(words, " "))
}

// Sentence gives the rule and what each member is to own.
func (b TargetAssigned) Sentence() string {
	words := make([]string, len(b.Shares))
	for i, s := range b.Shares {
		words[i] = fmt.Sprintf("%s is to own %s", b.Hosts[i], partitionsText(s.Partitions))
	}
	return fmt.Sprintf("The coordinator makes the target assignment of group %s for epoch %d with the assignor %s: %s. Each member comes to it with its own heartbeats.",
		b.Group, b.Epoch, b.Assignor, strings.Join(words, "; "))
}

// partitionsOrNone lists partitions in an event's text.
func partitionsOrNone(list []kafka.TopicPartition) string {
	if len(list) == 0 {
		return "none"
	}
	return texts(list, ",")
}

// partitionsText lists partitions in a sentence.
func partitionsText(list []kafka.TopicPartition) string {
	if len(list) == 0 {
		return "no partition"
	}
	return texts(list, ", ")
}

// memberName names a member by its id, or, where that does not tell where it runs, by its host.
func memberName(id kafka.MemberID, host kafka.NodeID) string {
	if host == "" || strings.HasPrefix(string(id), string(host)) {
		return string(id)
	}
	return string(host)
}

// MemberReconciled says that a heartbeat has brought a member of the consumer protocol nearer to its target
// assignment.
type MemberReconciled struct {
	Group            string                 `json:"group"`
	Member           kafka.MemberID         `json:"member"`
	From             string                 `json:"from_state"`
	State            string                 `json:"state"`
	Before           kafka.MemberEpoch      `json:"epoch_before"`
	Epoch            kafka.MemberEpoch      `json:"member_epoch"`
	TargetEpoch      kafka.GroupEpoch       `json:"assignment_epoch"`
	Assigned         []kafka.TopicPartition `json:"assigned"` // what it owns now, without what it is to give up
	Given            []kafka.TopicPartition `json:"given"`    // of it: new
	Released         []kafka.TopicPartition `json:"released"` // it has given up, and anybody may be given
	Revoking         []kafka.TopicPartition `json:"revoking"` // it is to give up
	Waits            []kafka.TopicPartition `json:"waits"`    // it is to get, and others have not given up
	Owners           []kafka.NodeID         `json:"owners"`   // the hosts of those that have not
	RebalanceTimeout kafka.Millis           `json:"rebalance_timeout_ms"`
	Host             kafka.NodeID           `json:"host"` // of the member
}

// Kind gives the kind's name.
func (MemberReconciled) Kind() string { return "MemberReconciled" }

// Text gives state, epoch and partitions.
func (b MemberReconciled) Text() string {
	text := fmt.Sprintf("%s %s %s→%s epoch=%d→%d target=%d owns=%s", b.Group, b.Member, b.From, b.State, b.Before, b.Epoch, b.TargetEpoch, partitionsOrNone(b.Assigned))
	for _, part := range [...]struct {
		name string
		list []kafka.TopicPartition
	}{{"given", b.Given}, {"released", b.Released}, {"revoking", b.Revoking}, {"waits", b.Waits}} {
		if len(part.list) > 0 {
			text += fmt.Sprintf(" %s=%s", part.name, texts(part.list, ","))
		}
	}
	return text
}

// Sentence gives the rule: what is given up first, what is free, and what is waited for.
func (b MemberReconciled) Sentence() string {
	who, s := memberName(b.Member, b.Host), ""
	if len(b.Released) > 0 {
		s = fmt.Sprintf("%s has let go of %s: anybody may be given that now. ", who, texts(b.Released, ", "))
		who = "It"
	}
	if len(b.Revoking) > 0 {
		return s + fmt.Sprintf("%s is to give up %s and goes on reading %s. It stays in member epoch %d until a heartbeat of it lists what it owns without them, and is fenced if that takes longer than max.poll.interval.ms = %s ms.",
			who, texts(b.Revoking, ", "), partitionsText(b.Assigned), b.Epoch, kafka.Thousands(b.RebalanceTimeout))
	}
	if b.Epoch != b.Before {
		s += fmt.Sprintf("%s comes from member epoch %d to %d, that of the target assignment. ", who, b.Before, b.Epoch)
		who = "It"
	}
	if len(b.Given) > 0 {
		s += fmt.Sprintf("%s is given %s, which nobody owns. ", who, texts(b.Given, ", "))
		who = "It"
	}
	if len(b.Waits) > 0 {
		return s + fmt.Sprintf("%s is to get %s too, but %s not let go yet.", who, texts(b.Waits, ", "), haveNot(b.Owners))
	}
	return s + fmt.Sprintf("%s owns %s now, all that it is to.", who, partitionsText(b.Assigned))
}

func haveNot(owners []kafka.NodeID) string {
	if len(owners) == 1 {
		return string(owners[0]) + " has"
	}
	return named(owners, ", ") + " have"
}

// StaticMemberAway says that a static member of the consumer protocol has left and is to come back.
type StaticMemberAway struct {
	Group    string                 `json:"group"`
	Member   kafka.MemberID         `json:"member"`
	Instance kafka.GroupInstanceID  `json:"instance_id"`
	Keeps    []kafka.TopicPartition `json:"keeps"`
	Session  kafka.Millis           `json:"session_timeout_ms"`
}

// Kind gives the kind's name.
func (StaticMemberAway) Kind() string { return "StaticMemberAway" }

// Text gives the member and what it keeps.
func (b StaticMemberAway) Text() string {
	return fmt.Sprintf("%s %s instance=%s keeps=%s session=%d", b.Group, b.Member, b.Instance, partitionsOrNone(b.Keeps), b.Session)
}

// Sentence gives the rule.
func (b StaticMemberAway) Sentence() string {
	return fmt.Sprintf("Static member %s of group %s leaves with member epoch -2: it is to come back. Nobody else is given what it owned, %s, until it is back or its session is over, %s ms after its last heartbeat (group.consumer.session.timeout.ms).",
		b.Instance, b.Group, partitionsText(b.Keeps), kafka.Thousands(b.Session))
}

// StaticMemberReturned says that a static member of the consumer protocol has come back under another member id.
type StaticMemberReturned struct {
	Group    string                 `json:"group"`
	Instance kafka.GroupInstanceID  `json:"instance_id"`
	Old      kafka.MemberID         `json:"old_member"`
	Member   kafka.MemberID         `json:"member"`
	Keeps    []kafka.TopicPartition `json:"keeps"`
	Epoch    kafka.GroupEpoch       `json:"group_epoch"`
}

// Kind gives the kind's name.
func (StaticMemberReturned) Kind() string { return "StaticMemberReturned" }

// Text gives both ids.
func (b StaticMemberReturned) Text() string {
	return fmt.Sprintf("%s instance=%s %s→%s keeps=%s epoch=%d", b.Group, b.Instance, b.Old, b.Member, partitionsOrNone(b.Keeps), b.Epoch)
}

// Sentence gives the rule.
func (b StaticMemberReturned) Sentence() string {
	return fmt.Sprintf("The consumer with group.instance.id = %s is back in group %s: %s takes the place of %s, with its target assignment and %s. If it subscribes to the same as before, the group epoch stays %d.",
		b.Instance, b.Group, b.Member, b.Old, partitionsText(b.Keeps), b.Epoch)
}

// PatternResolved says which topics match a pattern that members of the consumer protocol subscribe to.
type PatternResolved struct {
	Group  string   `json:"group"`
	Regex  string   `json:"regex"`
	Topics []string `json:"topics"`
	Before []string `json:"topics_before"`
}

// Kind gives the kind's name.
func (PatternResolved) Kind() string { return "PatternResolved" }

// Text gives the topics.
func (b PatternResolved) Text() string {
	return fmt.Sprintf("%s %q topics=%s before=%s", b.Group, b.Regex, strings.Join(b.Topics, ","), strings.Join(b.Before, ","))
}

// Sentence gives the topics.
func (b PatternResolved) Sentence() string {
	return fmt.Sprintf("The coordinator has looked at all topics: the pattern %s of group %s matches %s.", b.Regex, b.Group, subscriptionText(b.Topics, ""))
}

// GroupConverted says that a group has changed its protocol.
type GroupConverted struct {
	Group   string `json:"group"`
	To      string `json:"to"`      // "classic" or "consumer"
	Members int    `json:"members"` // that stay members
	Why     string `json:"why"`
}

// Kind gives the kind's name.
func (GroupConverted) Kind() string { return "GroupConverted" }

// Text gives the new protocol and the rule.
func (b GroupConverted) Text() string {
	return fmt.Sprintf("%s→%s members=%d: %s", b.Group, b.To, b.Members, b.Why)
}

// Sentence gives the rule.
func (b GroupConverted) Sentence() string {
	s := fmt.Sprintf("Group %s uses the %s protocol from now on: %s.", b.Group, b.To, b.Why)
	if b.Members > 0 {
		s += fmt.Sprintf(" %s of the classic protocol stay in it (group.consumer.migration.policy).", kafka.Count(b.Members, "member"))
	}
	return s
}
