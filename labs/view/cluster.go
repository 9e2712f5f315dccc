package view

// Cluster is nodes beside each other: clients, brokers with their replicas, the controller.
type Cluster struct {
	Clients    []Node
	Brokers    []Node
	Controller *Node // nil: none drawn
	Columns    int   // brokers beside each other where there is room
}

// Node is one node, with the messages that are on their way to it and, on a broker, its replicas.
type Node struct {
	ID       string   // element id
	Name     string   // "b1"
	At       string   // value of "at" that opens it
	State    string   // "up", "down" or "stopped" (it runs and does nothing); decides how it is drawn
	Words    string   // its state in words: "running", "paused; fenced"
	Lines    []string // what it does or believes, in words
	Faults   []string // what is wrong with the links that lead to it, in words
	Inbox    []Message
	More     string // messages not drawn, in words
	Replicas []Replica

	Differs bool // State, Words, Lines or Faults do, or the other picture has no such node
}

// Replica is one replica of a partition.
type Replica struct {
	Strip           // of its log; ID is the element's, Owner is empty
	Role     string // "leader", "follower" or "offline": decides how it is drawn
	RoleText string // "Leader"
	Epoch    string // that its broker knows: "epoch 2"; of a broker that is down: "on its disk"
	Sync     string // "in", "out" or "eligible"
	SyncText string // "in sync"
	Note     string // what else there is to say: "believes that it leads"; empty: nothing
}

// Count is one number of the ledger with the records that it counts.
type Count struct {
	Name    string // "acknowledged"
	Number  string
	Text    string // what it means, in a few words
	Warn    bool   // it should be 0
	Records []Link // the records, each with what says so
	More    string // records not listed, in words; empty: all are
	Differs bool
}
