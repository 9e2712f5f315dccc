package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/labs"
)

// State is what an expression can name: the state of a run after a tick and its commands. The names of what comes
// from the engine are those that "loglab run --json" prints, and a test holds them to that.
type State struct {
	Tick         int           `json:"tick" expr:"tick"`
	Now          int           `json:"now_ms" expr:"now_ms"`
	Brokers      []Broker      `json:"brokers" expr:"brokers"`
	Partitions   []Partition   `json:"partitions" expr:"partitions"`
	Groups       []Group       `json:"groups" expr:"groups"`
	Producers    []Producer    `json:"producers" expr:"producers"`
	Transactions []Transaction `json:"transactions" expr:"transactions"`
	Source       Source        `json:"source" expr:"source"`
	Destination  Destination   `json:"destination" expr:"destination"`
	Ledger       Ledger        `json:"ledger" expr:"ledger"`

	Settings map[string]string `json:"-" expr:"settings"` // of the lab, by the names that an address has
	Vs       *State            `json:"-" expr:"vs"`       // the second run; only a scenario with vs has one

	// Each finds one of a kind by its name; the error says that there is none.
	Broker    func(name string) (Broker, error)      `json:"-" expr:"broker"`
	Partition func(name string) (Partition, error)   `json:"-" expr:"partition"`
	Group     func(name string) (Group, error)       `json:"-" expr:"group"`
	Member    func(name string) (Member, error)      `json:"-" expr:"member"`
	Producer  func(name string) (Producer, error)    `json:"-" expr:"producer"`
	TxnOf     func(name string) (Transaction, error) `json:"-" expr:"transaction"`
	// Records gives the records of a partition as its leader has them; the error says that it has more than maxRecords.
	Records func(partition string) ([]Record, error) `json:"-" expr:"records"`
	// Events counts what the journal holds of a kind whose line has a text in it; maxCounts different counts at most.
	Events func(kind, text string) (int, error) `json:"-" expr:"events"`
}

// Broker is one broker.
type Broker struct {
	ID     int    `json:"id" expr:"id"`
	Node   string `json:"node" expr:"node"`
	Rack   string `json:"rack" expr:"rack"`
	State  string `json:"state" expr:"state"`
	Paused bool   `json:"paused" expr:"paused"`
	Fenced bool   `json:"fenced" expr:"fenced"`
}

// Partition is one partition as the controller has it.
type Partition struct {
	Topic          string    `json:"topic" expr:"topic"`
	Partition      int       `json:"partition" expr:"partition"`
	Leader         int       `json:"leader" expr:"leader"` // -1: none
	LeaderEpoch    int       `json:"leader_epoch" expr:"leader_epoch"`
	PartitionEpoch int       `json:"partition_epoch" expr:"partition_epoch"`
	ISR            []int     `json:"isr" expr:"isr"`
	ELR            []int     `json:"eligible_leader_replicas" expr:"eligible_leader_replicas"`
	LastKnownELR   []int     `json:"last_known_eligible_leader_replicas" expr:"last_known_eligible_leader_replicas"`
	MinISR         int       `json:"min_insync_replicas" expr:"min_insync_replicas"`
	Replicas       []Replica `json:"replicas" expr:"replicas"`
}

// Replica is one replica.
type Replica struct {
	Broker           int    `json:"broker" expr:"broker"`
	Online           bool   `json:"online" expr:"online"`
	Role             string `json:"role" expr:"role"`
	LogStartOffset   int    `json:"log_start_offset" expr:"log_start_offset"`
	LogEndOffset     int    `json:"log_end_offset" expr:"log_end_offset"`
	HighWatermark    int    `json:"high_watermark" expr:"high_watermark"`
	LastStableOffset int    `json:"last_stable_offset" expr:"last_stable_offset"`
	Segments         int    `json:"segments" expr:"segments"`
	Bytes            int    `json:"log_bytes" expr:"log_bytes"`
}

// Group is one consumer group. What only a coordinator knows is empty where the lab's groups have none.
type Group struct {
	ID               string   `json:"id" expr:"id"`
	Assignor         string   `json:"assignor" expr:"assignor"`
	Coordinator      string   `json:"coordinator" expr:"coordinator"`             // empty: no broker is
	OffsetsPartition int      `json:"offsets_partition" expr:"offsets_partition"` // of __consumer_offsets
	State            string   `json:"state" expr:"state"`
	Generation       int      `json:"generation" expr:"generation"`
	Members          []Member `json:"members" expr:"members"`
	Offsets          []Offset `json:"offsets" expr:"offsets"`
	Lag              int      `json:"lag" expr:"lag"`
	Sink             Sink     `json:"sink" expr:"sink"`
}

// Member is one member of a group.
type Member struct {
	ID          string     `json:"id" expr:"id"`
	Alive       bool       `json:"alive" expr:"alive"`
	Paused      bool       `json:"paused" expr:"paused"`
	State       string     `json:"member_state" expr:"member_state"`
	MemberEpoch int        `json:"member_epoch" expr:"member_epoch"`
	Cooperative bool       `json:"cooperative" expr:"cooperative"` // it keeps reading while it rebalances
	Assignment  []Position `json:"assignment" expr:"assignment"`
}

// Position is how far a member has read a partition.
type Position struct {
	Topic     string `json:"topic" expr:"topic"`
	Partition int    `json:"partition" expr:"partition"`
	Position  int    `json:"position" expr:"position"`
	Read      int    `json:"records_read" expr:"records_read"`
	Lag       int    `json:"lag" expr:"lag"`
}

// Offset is how far a group is in a partition.
type Offset struct {
	Topic      string `json:"topic" expr:"topic"`
	Partition  int    `json:"partition" expr:"partition"`
	Owner      string `json:"owner" expr:"owner"`
	Committed  int    `json:"committed" expr:"committed"` // -1: nothing
	Position   int    `json:"position" expr:"position"`   // -1: none
	Lag        int    `json:"lag" expr:"lag"`
	RecordsLag int    `json:"records_lag" expr:"records_lag"`
}

// Sink is where the application of a group puts its effects.
type Sink struct {
	Delivered      int `json:"delivered" expr:"delivered"`
	DeliveredAgain int `json:"delivered_again" expr:"delivered_again"`
	Processed      int `json:"processed" expr:"processed"`
	ProcessedAgain int `json:"processed_again" expr:"processed_again"`
	Effects        int `json:"effects" expr:"effects"`
	Ignored        int `json:"ignored" expr:"ignored"`
	Doubled        int `json:"doubled" expr:"doubled"`
	OutOfOrder     int `json:"out_of_order" expr:"out_of_order"`
	DeadLettered   int `json:"dead_lettered" expr:"dead_lettered"`
}

// Producer is one producer.
type Producer struct {
	ID           string `json:"id" expr:"id"`
	Alive        bool   `json:"alive" expr:"alive"`
	Paused       bool   `json:"paused" expr:"paused"`
	Produced     int    `json:"produced" expr:"produced"`
	Waiting      int    `json:"waiting" expr:"waiting"`
	Acknowledged int    `json:"acknowledged" expr:"acknowledged"`
	Failed       int    `json:"failed" expr:"failed"`
}

// Transaction is a transactional.id.
type Transaction struct {
	ID   string          `json:"transactional_id" expr:"transactional_id"`
	Held HeldTransaction `json:"held" expr:"held"` // empty where no coordinator has it
}

// HeldTransaction is what the coordinator has of a transactional.id.
type HeldTransaction struct {
	State         string `json:"state" expr:"state"`
	ProducerEpoch int    `json:"producer_epoch" expr:"producer_epoch"`
}

// Source is what the applications of the producers have handed out.
type Source struct {
	Records int `json:"records" expr:"records"`
}

// Destination is what the applications of consumers without a coordinator have written.
type Destination struct {
	Records   int `json:"records" expr:"records"`
	Processed int `json:"processed" expr:"processed"`
	Late      int `json:"late" expr:"late"`
	Refused   int `json:"refused" expr:"refused"`
}

// Ledger counts what became of the records.
type Ledger struct {
	Sent         int `json:"sent" expr:"sent"`
	Acknowledged int `json:"acknowledged" expr:"acknowledged"`
	Failed       int `json:"failed" expr:"failed"`
	Dropped      int `json:"dropped" expr:"dropped"`
	Unpromised   int `json:"unpromised" expr:"unpromised"`
	Waiting      int `json:"waiting" expr:"waiting"`
	Visible      int `json:"visible" expr:"visible"`
	Unavailable  int `json:"unavailable" expr:"unavailable"`
	Removed      int `json:"removed" expr:"removed"`
	Processed    int `json:"processed" expr:"processed"`
	Lost         int `json:"lost" expr:"lost"`
	Duplicated   int `json:"duplicated" expr:"duplicated"`
	Reordered    int `json:"reordered" expr:"reordered"`
}

// Record is one record of a log.
type Record struct {
	Offset      int    `json:"offset" expr:"offset"`
	Key         string `json:"key" expr:"key"`
	Value       string `json:"value" expr:"value"`
	LeaderEpoch int    `json:"leader_epoch" expr:"leader_epoch"`
	Control     bool   `json:"control" expr:"control"` // a marker of a transaction: key and value are not text
}

// Bounds of what expressions can ask a state for. What they have asked for is remembered, so that one that asks for each
// item of a list costs no more than one that asks once.
const (
	maxRecords = 500 // that records gives
	maxCounts  = 20  // different counts of events
)

// stateOf gives what expressions can name of a run.
func stateOf(a labs.Address, c *engine.Cluster) (*State, error) {
	view := c.View()
	text, err := json.Marshal(struct {
		engine.View
		Ledger engine.LedgerReport `json:"ledger"`
	}{view, c.Ledger()})
	if err != nil {
		return nil, err
	}
	s := &State{Settings: map[string]string{}}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	for _, setting := range a.Lab.Settings {
		s.Settings[setting.Name] = a.Values.Text(setting.Name)
	}
	s.Broker = finder("broker", s.Brokers, func(b Broker) string { return b.Node })
	s.Partition = finder("partition", s.Partitions, Partition.name)
	s.Group = finder("group", s.Groups, func(g Group) string { return g.ID })
	s.Producer = finder("producer", s.Producers, func(p Producer) string { return p.ID })
	s.TxnOf = finder("transactional.id", s.Transactions, func(t Transaction) string { return t.ID })
	var members []Member
	for _, g := range s.Groups {
		members = append(members, g.Members...)
	}
	s.Member = finder("member", members, func(m Member) string { return m.ID })
	records := map[string][]Record{}
	s.Records = func(name string) ([]Record, error) {
		if list, known := records[name]; known {
			return list, nil
		}
		list, err := recordsOf(&view, name)
		if err == nil {
			records[name] = list
		}
		return list, err
	}
	type question struct{ kind, text string }
	counts := map[question]int{}
	s.Events = func(kind, text string) (int, error) {
		asked := question{kind, text}
		if n, known := counts[asked]; known {
			return n, nil
		}
		if len(counts) == maxCounts {
			return 0, fmt.Errorf("events are counted in more than %d ways at one tick: at most so many are allowed", maxCounts)
		}
		n, err := eventsOf(c.Journal(), kind, text)
		if err == nil {
			counts[asked] = n
		}
		return n, err
	}
	return s, nil
}

func (p Partition) name() string { return fmt.Sprintf("%s-%d", p.Topic, p.Partition) }

// finder makes the function that finds one of a kind by its name.
func finder[T any](kind string, list []T, name func(T) string) func(string) (T, error) {
	return func(wanted string) (found T, err error) {
		var names []string
		for _, one := range list {
			if name(one) == wanted {
				return one, nil
			}
			names = append(names, name(one))
		}
		if len(names) == 0 {
			return found, fmt.Errorf("there is no %s %q, and none at all in this run", kind, wanted)
		}
		return found, fmt.Errorf("there is no %s %q: there are %s", kind, wanted, strings.Join(names, ", "))
	}
}

// recordsOf gives the records of a partition's leader, oldest first.
func recordsOf(v *engine.View, name string) ([]Record, error) {
	at := slices.IndexFunc(v.Partitions, func(p engine.PartitionView) bool { return p.TopicPartition.String() == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no partition %q", name)
	}
	log := v.Partitions[at].Log
	found := labs.RecordsFrom(log.Segments, log.LogStartOffset, maxRecords+1)
	if len(found) > maxRecords {
		return nil, fmt.Errorf("%s has more than %d records: records gives at most so many", name, maxRecords)
	}
	list := []Record{}
	for _, r := range found {
		one := Record{Offset: int(r.Offset), LeaderEpoch: int(r.LeaderEpoch), Control: r.Control}
		if !r.Control {
			one.Key, one.Value = string(r.Key), string(r.Value)
		}
		list = append(list, one)
	}
	return list, nil
}

// eventsOf counts events of a kind.
func eventsOf(j *journal.Journal, kind, text string) (int, error) {
	if !slices.Contains(journal.Kinds(), kind) {
		return 0, fmt.Errorf("there is no kind of event %q: the first words of the lines of \"loglab run\" are kinds, as in HighWatermarkAdvanced", kind)
	}
	n := 0
	for e := range j.All() {
		if e.Body.Kind() == kind && strings.Contains(e.Line(), text) {
			n++
		}
	}
	return n, nil
}
