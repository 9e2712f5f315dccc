package replication

import (
	"slices"

	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// FollowerView is what a leader knows of a follower: an immutable value.
type FollowerView struct {
	ID           kafka.BrokerID `json:"broker"`
	LogEndOffset kafka.Offset   `json:"log_end_offset"`    // of its last fetch; -1: unknown
	Epoch        int64          `json:"broker_epoch"`      // of its last fetch; -1: unknown
	HasFetched   bool           `json:"has_fetched"`       // in this leader epoch, or in the one before from the same leader, in sync
	LastCaughtUp kafka.Millis   `json:"last_caught_up_ms"` // virtual time
	EverCaughtUp bool           `json:"ever_caught_up"`    // false: LastCaughtUp says nothing
	CaughtUp     bool           `json:"caught_up"`
	InSync       bool           `json:"in_sync"` // in the committed in-sync replicas
	Eligible     bool           `json:"eligible"`
}

// Followers gives what a leader knows of the others; nil for one that does not lead.
func (r *Replica) Followers(now kafka.Millis, image *metadata.Image) []FollowerView {
	var list []FollowerView
	for i := range r.followers {
		f := &r.followers[i]
		v := FollowerView{ID: f.id, LogEndOffset: f.logEndOffset, Epoch: f.brokerEpoch, HasFetched: f.lastFetch > longAgo, EverCaughtUp: f.lastCaughtUp > longAgo, CaughtUp: r.caughtUp(f, now), InSync: slices.Contains(r.state.ISR, f.id), Eligible: eligible(f, image)}
		if v.EverCaughtUp {
			v.LastCaughtUp = f.lastCaughtUp
		}
		list = append(list, v)
	}
	return list
}
