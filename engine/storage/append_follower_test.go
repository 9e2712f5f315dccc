package storage

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/engine/simdisk"
)

// replicate fetches from the leader until the follower has all of it, at most maxBytes at a time.
func replicate(t *testing.T, leader, follower *Log, maxBytes int, now kafka.Timestamp) (answers []Appended) {
	t.Helper()
	for follower.LogEndOffset() < leader.LogEndOffset() {
		read, err := leader.Read(follower.LogEndOffset(), maxBytes, leader.LogEndOffset(), true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := follower.AppendAsFollower(read.Bytes, now)
		if err != nil {
			t.Fatalf("append at %d: %v", follower.LogEndOffset(), err)
		}
		answers = append(answers, got...)
	}
	return answers
}

// A follower that fetches whatever number of bytes ends with the leader's batches and epochs.
func TestFollowerHasTheLeadersBatches(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 5))
		leader := straight(t, nil)
		follower := New(new(simdisk.Disk), "orders-0", cloneConfig(), startTime)
		records := 0
		for step := range 100 {
			randomOp(r, step).do(t, leader)
			if r.IntN(4) == 0 {
				for _, a := range replicate(t, leader, follower, r.IntN(900), startTime) {
					records += int(a.LastOffset-a.BaseOffset) + 1
				}
			}
		}
		for _, a := range replicate(t, leader, follower, 10_000, startTime) {
			records += int(a.LastOffset-a.BaseOffset) + 1
		}
		if diff := cmp.Diff(allBytes(leader), allBytes(follower), sameBytes); diff != "" {
			t.Fatalf("seed %d: batches (-leader +follower):\n%s", seed, diff)
		}
		if diff := cmp.Diff(leader.LeaderEpochs(), follower.LeaderEpochs()); diff != "" {
			t.Fatalf("seed %d: epochs (-leader +follower):\n%s", seed, diff)
		}
		if records != int(leader.LogEndOffset()) || follower.LogEndOffset() != leader.LogEndOffset() {
			t.Fatalf("seed %d: %d records were appended, end offset %d; want %d", seed, records, follower.LogEndOffset(), leader.LogEndOffset())
		}
	}
}

// allBytes is every batch of the log, one after another.
func allBytes(l *Log) (all []byte) {
	for _, s := range l.Segments() {
		all = append(all, s.Bytes...)
	}
	return all
}

// stamped is a batch as a leader stored it.
func stamped(batch []byte, base kafka.Offset, epoch kafka.LeaderEpoch) []byte {
	b := bytes.Clone(batch)
	record.Stamp(b, base, epoch)
	return b
}

// UnifiedLog.appendAsFollower.
func TestAppendAsFollower(t *testing.T) {
	one := func(base kafka.Offset, epoch kafka.LeaderEpoch) []byte {
		return stamped(oneRecord(startTime), base, epoch)
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	torn := one(12, 1)
	spoilt := one(11, 1)
	spoilt[69] ^= 1
	noMagic := one(11, 1)
	noMagic[16] = 3
	for _, tt := range []struct {
		name   string
		bytes  []byte
		change func(*Config)
		end    kafka.Offset
		epochs []EpochEntry
		err    *kerr.Error
	}{
		{"two batches of two epochs", join(one(10, 1), one(11, 3)), nil, 12, []EpochEntry{{0, 0}, {1, 10}, {3, 11}}, nil},
		{"a torn batch at the end", join(one(10, 1), one(11, 1), torn[:69]), nil, 12, []EpochEntry{{0, 0}, {1, 10}}, nil},
		{"nothing but a torn batch", torn[:69], nil, 10, []EpochEntry{{0, 0}}, nil},
		{"nothing", nil, nil, 10, []EpochEntry{{0, 0}}, nil},
		{"a gap, as after cleaning", join(one(15, 0), one(20, 0)), nil, 21, []EpochEntry{{0, 0}}, nil},
		{"larger than max.message.bytes", one(10, 0), func(c *Config) { c.MaxMessageBytes = 69 }, 11, []EpochEntry{{0, 0}}, nil},
		{"below the end", join(one(9, 1), one(10, 1)), nil, 10, []EpochEntry{{0, 0}}, kerr.UnknownServerError},
		{"not rising", join(one(11, 1), one(11, 1)), nil, 10, []EpochEntry{{0, 0}}, kerr.UnknownServerError},
		{"too far from each other", join(one(10, 1), one(11+1<<31, 1)), nil, 10, []EpochEntry{{0, 0}}, kerr.UnknownServerError},
		{"no leader epoch", one(10, -1), nil, 10, []EpochEntry{{0, 0}}, kerr.UnknownServerError},
		{"a flipped bit", join(one(10, 1), spoilt), nil, 10, []EpochEntry{{0, 0}}, kerr.CorruptMessage},
		{"magic 3", join(one(10, 1), noMagic), nil, 10, []EpochEntry{{0, 0}}, kerr.CorruptMessage},
		{"larger than a segment", join(one(10, 1), one(11, 1)), func(c *Config) { c.SegmentBytes = 139 }, 10, []EpochEntry{{0, 0}}, kerr.RecordListTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(tt.change)
			for offset := range kafka.Offset(10) {
				if _, err := l.AppendAsFollower(one(offset, 0), startTime); err != nil {
					t.Fatal(err)
				}
			}
			message, size := bytes.Clone(tt.bytes), l.Size()
			answers, err := l.AppendAsFollower(message, startTime)
			if tt.err != nil {
				if codeOf(err) != tt.err.Code || l.Size() != size || answers != nil {
					t.Errorf("answer is %v, %v, %d bytes; want %s and nothing appended", answers, err, l.Size()-size, tt.err.Message)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if l.LogEndOffset() != tt.end {
				t.Errorf("log end offset is %d, want %d", l.LogEndOffset(), tt.end)
			}
			if diff := cmp.Diff(tt.epochs, l.LeaderEpochs()); diff != "" {
				t.Errorf("epochs (-want +got):\n%s", diff)
			}
			if !bytes.Equal(message, tt.bytes) {
				t.Error("the message was written")
			}
		})
	}
}

// A follower's batches roll together, before the first of them, and are indexed one by one.
func TestFollowerRollsAndIndexes(t *testing.T) {
	l := newLog(func(c *Config) { c.SegmentBytes, c.IndexIntervalBytes = 350, 100 })
	var all []byte
	for offset := range kafka.Offset(4) {
		all = append(all, stamped(oneRecord(startTime+kafka.Timestamp(offset)), offset, 0)...)
	}
	if _, err := l.AppendAsFollower(all[:140], startTime); err != nil {
		t.Fatal(err)
	}
	answers, err := l.AppendAsFollower(append(all[140:280:280], stamped(oneRecord(startTime+4), 4, 0)...), startTime)
	if err != nil {
		t.Fatal(err)
	}
	if answers[0].Roll != nil || answers[0].IndexEntry == nil || *answers[0].IndexEntry != (OffsetEntry{2, 140}) || answers[1].IndexEntry != nil ||
		answers[2].IndexEntry == nil || *answers[2].IndexEntry != (OffsetEntry{4, 280}) {
		t.Errorf("exactly full: %+v", answers)
	}
	answers, err = l.AppendAsFollower(append(stamped(oneRecord(startTime+5), 5, 0), stamped(oneRecord(startTime+6), 6, 0)...), startTime)
	if err != nil {
		t.Fatal(err)
	}
	if answers[0].Roll == nil || answers[0].Roll.Base != 5 || answers[0].Roll.Reason != RollSize || answers[1].Roll != nil || answers[1].SegmentBase != 5 || answers[1].Position != 70 {
		t.Errorf("past segment.bytes: %+v", answers)
	}
	// An empty segment takes nothing that is too far from its base offset.
	far := newLog(nil)
	answers, err = far.AppendAsFollower(stamped(oneRecord(startTime), 1<<31, 0), startTime)
	if err != nil || answers[0].Roll == nil || answers[0].Roll.Reason != RollOffsetRange {
		t.Errorf("offset 2^31 into an empty log: %+v, %v", answers, err)
	}
}
