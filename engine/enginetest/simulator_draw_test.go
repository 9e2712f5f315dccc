package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"loglab/engine"
	"loglab/engine/kafka"
)

// simulation is a run drawn from a seed: a spec and a plan of faults.
type simulation struct {
	seed     uint64
	restarts kafka.Millis // how long a member stays down whose application has ended, in the end; 0: not at all
	spec     *engine.Spec
	settings []string             // as in an address
	ticks    int                  // of the phase with faults
	commands map[int][]string     // by tick
	order    []int                // the ticks that have commands
	ambushes []ambush             // that have not sprung
	held     map[string]heldState // of the transactional.ids, as far as the journal was followed
	followed uint64

	cluster    *engine.Cluster
	checker    engine.Checker
	violations []engine.Violation // the last that were found
	played     int                // ticks
	outputs    int                // of the records that applications read, each with one, in the end
	healed     kafka.Millis       // when every fault was undone
	excuse     string             // why a partition has no leader in the end, "" if all have
}

// chance draws for one simulation.
type chance struct{ *rand.Rand }

func (c chance) between(least, most int) int { return least + c.IntN(most-least+1) }
func (c chance) oneIn(n int) bool            { return c.IntN(n) == 0 }

func pickOne[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

// drawSimulation makes a run of a seed. Seeds are as different as can be: each option is drawn anew.
func drawSimulation(seed uint64) *simulation {
	c := chance{rand.New(rand.NewPCG(seed, 4))}
	s := &simulation{seed: seed, commands: map[int][]string{}}
	s.drawSpec(c)
	s.drawPlan(c)
	s.drawGroups(chance{rand.New(rand.NewPCG(seed, 5))})
	s.drawProtocols(chance{rand.New(rand.NewPCG(seed, 6))})
	s.drawUpkeep(chance{rand.New(rand.NewPCG(seed, 7))})
	s.drawTransactions(chance{rand.New(rand.NewPCG(seed, 8))})
	s.drawApplications(chance{rand.New(rand.NewPCG(seed, 9))})
	return s
}

func (s *simulation) set(name string, value any) {
	s.settings = append(s.settings, fmt.Sprintf("%s=%v", name, value))
}

func (s *simulation) drawSpec(c chance) {
	spec := orders(c.between(1, 3), c.between(0, 2))
	s.spec = spec
	spec.TickMillis = pickOne[kafka.Millis](c, 20, 50, 100, 200)
	spec.Latency = kafka.Millis(c.between(1, int(spec.TickMillis)))
	spec.Cluster = engine.DefaultCluster(c.between(1, 5))
	cluster, topic := &spec.Cluster, &spec.Topic
	topic.ReplicationFactor = c.between(1, cluster.Brokers)
	topic.MinInsyncReplicas = c.between(1, topic.ReplicationFactor)
	cluster.ELR, cluster.UncleanElection = !c.oneIn(3), c.oneIn(5)
	cluster.SessionTimeout = pickOne[kafka.Millis](c, 3000, 6000, 9000)
	cluster.HeartbeatInterval = cluster.SessionTimeout / 4
	cluster.ReplicaLagTimeMax = pickOne[kafka.Millis](c, 2000, 5000, 10000, 30000)
	cluster.RackAware = c.oneIn(4)
	if racks := c.IntN(4); racks > 0 {
		for i := range cluster.Brokers {
			cluster.Racks = append(cluster.Racks, fmt.Sprintf("r%d", i%racks))
		}
		spec.Group.Config.ClientRack = "r0"
	}
	topic.Config.SegmentBytes = c.between(300, 3000)
	spec.Group.Config.MetadataMaxAge = kafka.Millis(c.between(500, 30000))
	for _, name := range []struct {
		text  string
		value any
	}{
		{"tick.ms", spec.TickMillis}, {"latency", spec.Latency}, {"brokers", cluster.Brokers}, {"partitions", topic.Partitions}, {"rf", topic.ReplicationFactor}, {"min.insync.replicas", topic.MinInsyncReplicas},
		{"elr", cluster.ELR}, {"unclean", cluster.UncleanElection}, {"session", cluster.SessionTimeout}, {"lag", cluster.ReplicaLagTimeMax}, {"racks", strings.Join(cluster.Racks, "/")},
		{"rack.aware", cluster.RackAware}, {"segment.bytes", topic.Config.SegmentBytes}, {"consumers", spec.Group.Consumers},
	} {
		s.set(name.text, name.value)
	}
	spec.Producers = nil
	for i := range c.between(1, 2) {
		s.drawProducer(c, i)
	}
}

func (s *simulation) drawProducer(c chance, i int) {
	p := engine.ProducerSpec{Config: engine.DefaultProducerConfig("orders")}
	config := &p.Config
	config.Acks = pickOne[int16](c, -1, -1, -1, 1, 0)
	config.EnableIdempotence = pickOne(c, engine.IdempotenceUnset, engine.IdempotenceOff)
	config.MaxInFlight, config.BatchSize, config.Linger = c.between(1, 5), c.between(80, 400), kafka.Millis(c.between(0, 50))
	config.RequestTimeout = pickOne[kafka.Millis](c, 1000, 3000, 10000, 30000)
	config.DeliveryTimeout = config.RequestTimeout + config.Linger + kafka.Millis(c.between(0, 40000))
	config.MetadataMaxAge = kafka.Millis(c.between(500, 60000))
	p.Workload = engine.Workload{Rate: c.between(1, 3), Every: kafka.Millis(c.between(1, 20)) * s.spec.TickMillis, Turn: i, Turns: 2}
	for k := range c.IntN(5) {
		p.Workload.Entities = append(p.Workload.Entities, fmt.Sprintf("k%d", k))
	}
	s.spec.Producers = append(s.spec.Producers, p)
	s.set(fmt.Sprintf("p%d", i), fmt.Sprintf("acks:%d,idempotence:%d,in.flight:%d,batch.size:%d,linger:%d,request.timeout:%d,delivery.timeout:%d,rate:%d/%dms,keys:%d",
		config.Acks, config.EnableIdempotence, config.MaxInFlight, config.BatchSize, config.Linger, config.RequestTimeout, config.DeliveryTimeout, p.Workload.Rate, p.Workload.Every, len(p.Workload.Entities)))
}

// command adds a command to the plan.
func (s *simulation) command(at int, text string) {
	if len(s.commands[at]) == 0 {
		s.order = append(s.order, at)
	}
	s.commands[at] = append(s.commands[at], text)
}

// drawPlan draws the faults: some runs have few, some many, and they come in bursts.
func (s *simulation) drawPlan(c chance) {
	s.ticks = c.between(20, 60) * 1000 / int(s.spec.TickMillis)
	gap := s.ticks / pickOne(c, 2, 5, 10, 20, 40)
	at := c.IntN(s.ticks / 4)
	for range c.between(1, 80) {
		if !c.oneIn(3) { // else in the same tick as the one before
			at += c.IntN(gap)
		}
		if at >= s.ticks {
			break
		}
		s.command(at, s.drawFault(c))
	}
}

// drawFault draws one command; one that cannot apply then is only an event.
func (s *simulation) drawFault(c chance) string {
	b := fmt.Sprintf("b%d", c.between(1, s.spec.Cluster.Brokers))
	client := pickOne(c, "p0", "p1", "c0", "c1")
	any := pickOne(c, b, b, client, "controller")
	other := pickOne(c, "controller", "p0", "c0", fmt.Sprintf("b%d", c.between(1, s.spec.Cluster.Brokers)))
	if other == b {
		other = "controller"
	}
	partition := c.IntN(s.spec.Topic.Partitions)
	return pickOne(c,
		"kill "+b, "kill "+b, "kill "+client, "start "+b, "start "+b, "start "+b, "start "+client, "power-loss "+b, "wipe "+b, "shut-down "+b, "shut-down "+b,
		"pause "+any, "pause "+any, "resume "+any, "resume "+any, fmt.Sprintf("slow-disk %s %dms", b, c.IntN(3)*200),
		"cut "+b+" "+other, "cut "+b+" "+other, "cut-one-way "+b+" "+other, "cut-one-way "+other+" "+b, "heal "+b+" "+other, "heal "+b+" "+other,
		fmt.Sprintf("delay %s %s %dms", b, other, c.IntN(1500)), "drop-next "+b+" "+other, "drop-next "+other+" "+b, "double-next "+b+" "+other, "double-next "+other+" "+b,
		fmt.Sprintf("elect-preferred orders %d", partition), fmt.Sprintf("elect-unclean orders %d", partition),
		fmt.Sprintf("alter-config orders min.insync.replicas %d", c.between(1, s.spec.Topic.ReplicationFactor)),
		fmt.Sprintf("alter-config orders unclean.leader.election.enable %t", c.oneIn(2)), fmt.Sprintf("add-partitions orders to %d", c.between(1, 4)),
		"produce p0 by-hand", "wait 2s", "stop-sending "+pickOne(c, "p0", "p1"), "start-sending p0",
	)
}

// String gives the run in two parts: the settings, then the commands at their ticks.
func (s *simulation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed=%d&%s", s.seed, strings.Join(s.settings, "&"))
	slices.Sort(s.order)
	for _, at := range s.order {
		for _, text := range s.commands[at] {
			fmt.Fprintf(&b, "\n  do=%d:%s", at, text)
		}
	}
	return b.String()
}
