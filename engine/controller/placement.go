package controller

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
)

// UsableBroker is a broker that replicas can be placed on. Brokers that shut down are not usable, fenced ones
// are, but not for the first replica.
//
// Source: UsableBroker.
type UsableBroker struct {
	ID     kafka.BrokerID
	Rack   string // "": none, which is a rack like another
	Fenced bool
}

// brokerList hands out brokers in turn. For each partition it begins one broker further.
//
// Source: StripedReplicaPlacer.BrokerList.
type brokerList struct {
	brokers []kafka.BrokerID
	epoch   int // the partition that it was last asked for
	index   int // brokers handed out for that partition
	offset  int // the first of them
}

// next hands out a broker; ok is false when there is none left for this partition.
func (l *brokerList) next(epoch int) (id kafka.BrokerID, ok bool) {
	if len(l.brokers) == 0 {
		return 0, false
	}
	if l.epoch != epoch {
		l.epoch, l.index = epoch, 0
		l.offset = (l.offset + 1) % len(l.brokers)
	}
	if l.index >= len(l.brokers) {
		return 0, false
	}
	id = l.brokers[(l.index+l.offset)%len(l.brokers)]
	l.index++
	return id, true
}

// rack holds the brokers of one rack.
type rack struct {
	name             string
	fenced, unfenced brokerList
}

func (r *rack) next(epoch int) (kafka.BrokerID, bool) {
	if id, ok := r.unfenced.next(epoch); ok {
		return id, true
	}
	return r.fenced.next(epoch)
}

// placer places the replicas of one topic.
//
// Source: StripedReplicaPlacer.RackList.
type placer struct {
	intN            func(n int) int // a draw below n
	racks           []*rack         // in the order in which they are filled
	total, unfenced int             // brokers
	epoch           int             // partitions placed since the last shuffle
	offset          int             // the rack that comes first
}

// PlaceReplicas gives the replicas of so many partitions, the preferred leader first. It refuses with
// INVALID_REPLICATION_FACTOR. Each partition begins one broker and one rack further than the one before, from a
// drawn place on; after as many partitions as there are unfenced brokers the order is drawn anew.
//
// Simplified: the draws come from this run's generator and, at the begin, by rack in the order of names. Kafka
// draws from java.util.Random in the order of a hash table, so it may begin elsewhere.
//
// Source: StripedReplicaPlacer.place.
func PlaceReplicas(partitions, replicationFactor int, brokers []UsableBroker, intN func(n int) int) ([][]kafka.BrokerID, *Refusal) {
	p := newPlacer(brokers, intN)
	switch {
	case replicationFactor <= 0:
		return nil, refuse(kerr.InvalidReplicationFactor, "Invalid replication factor %d: the replication factor must be positive.", replicationFactor)
	case p.unfenced == 0:
		return nil, refuse(kerr.InvalidReplicationFactor, "All brokers are currently fenced.")
	case replicationFactor > p.total:
		return nil, refuse(kerr.InvalidReplicationFactor, "The target replication factor of %d cannot be reached because only %d broker(s) are registered.", replicationFactor, p.total)
	}
	placements := make([][]kafka.BrokerID, partitions)
	for i := range placements {
		placements[i] = p.placeOne(replicationFactor)
	}
	return placements, nil
}

func newPlacer(brokers []UsableBroker, intN func(n int) int) *placer {
	p := &placer{intN: intN, total: len(brokers)}
	for _, b := range brokers {
		at, found := slices.BinarySearchFunc(p.racks, b.Rack, func(r *rack, name string) int { return strings.Compare(r.name, name) })
		if !found {
			p.racks = slices.Insert(p.racks, at, &rack{name: b.Rack})
		}
		list := &p.racks[at].unfenced
		if b.Fenced {
			list = &p.racks[at].fenced
		} else {
			p.unfenced++
		}
		list.brokers = append(list.brokers, b.ID)
	}
	for _, r := range p.racks {
		for _, list := range [...]*brokerList{&r.fenced, &r.unfenced} {
			if len(list.brokers) > 0 {
				slices.Sort(list.brokers)
				list.offset = intN(len(list.brokers))
			}
		}
	}
	if len(p.racks) > 0 {
		p.offset = intN(len(p.racks))
	}
	return p
}

// placeOne gives the replicas of the next partition.
//
// Source: StripedReplicaPlacer.RackList.place.
func (p *placer) placeOne(replicationFactor int) []kafka.BrokerID {
	if p.epoch == p.unfenced && p.unfenced > 1 {
		p.shuffle()
		p.epoch = 0
	}
	if p.offset == len(p.racks) {
		p.offset = 0
	}
	var brokers []kafka.BrokerID
	leaderRack := p.offset
	for {
		if id, ok := p.racks[leaderRack].unfenced.next(p.epoch); ok {
			brokers = append(brokers, id)
			break
		}
		leaderRack = (leaderRack + 1) % len(p.racks)
	}
	at := p.offset
	for len(brokers) < replicationFactor {
		if at == leaderRack {
			leaderRack = -1 // it is skipped once
		} else if id, ok := p.racks[at].next(p.epoch); ok {
			brokers = append(brokers, id)
		}
		at = (at + 1) % len(p.racks)
	}
	p.epoch++
	p.offset++
	return brokers
}

// shuffle draws the order of racks, and of brokers in each rack, anew.
func (p *placer) shuffle() {
	byName := slices.Clone(p.racks)
	slices.SortFunc(byName, func(a, b *rack) int { return strings.Compare(a.name, b.name) })
	shuffle(p.racks, p.intN)
	for _, r := range byName {
		shuffle(r.fenced.brokers, p.intN)
		shuffle(r.unfenced.brokers, p.intN)
	}
}

// shuffle puts a list into a drawn order.
//
// Source: java.util.Collections.shuffle.
func shuffle[T any](list []T, intN func(n int) int) {
	for i := len(list); i > 1; i-- {
		k := intN(i)
		list[i-1], list[k] = list[k], list[i-1]
	}
}
