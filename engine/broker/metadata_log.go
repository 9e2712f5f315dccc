package broker

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
	"loglab/engine/record"
	"loglab/engine/replication"
	"loglab/engine/sabotage"
	"loglab/engine/storage"
)

// metadataFetcher keeps the broker's copy of the metadata log. The broker is an observer: it fetches what the
// controller has written and has no vote.
//
// Source: KafkaRaftClient.
type metadataFetcher struct {
	log   *storage.Log
	call  call
	retry kafka.Millis // not asked before then
}

func (f *metadataFetcher) due() kafka.Millis {
	if f.call.open() {
		return f.call.deadline
	}
	return f.retry
}

// The times of a metadata fetch.
const (
	metadataFetchWait    kafka.Millis = 500  // KafkaRaftClient.MAX_FETCH_WAIT_MS
	metadataFetchTimeout kafka.Millis = 2000 // controller.quorum.request.timeout.ms, beside the wait
	metadataFetchMax                  = 8 << 20
)

// open opens the copy of the metadata log that is on the disk, or makes one, and applies its records.
func (f *metadataFetcher) open(b *Broker, now kafka.Millis) {
	f.retry = -never
	dir := metadata.LogPartition().String()
	if len(b.disk.List(dir)) == 0 {
		f.log = storage.New(b.disk, dir, storage.DefaultConfig(), b.clock(now))
		return
	}
	f.log, _ = storage.Open(b.disk, dir, storage.DefaultConfig(), b.clock(now), b.clean, 0)
	for _, s := range f.log.Segments() {
		b.image = applyBatches(b.image, s.Bytes)
	}
}

// applyBatches applies the records of whole batches to an image.
func applyBatches(image metadata.Image, data []byte) metadata.Image {
	for {
		batch, err := record.Parse(data)
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			return image
		}
		if err != nil {
			panic(fmt.Sprintf("metadata log: %v", err))
		}
		data = data[batch.Size():]
		if batch.BaseOffset < image.Offset {
			continue
		}
		for s := batch.Scan(); s.Next(); {
			r := s.Record()
			decoded, err := metadata.Decode(r.Value)
			if err != nil {
				panic(fmt.Sprintf("metadata log, offset %d: %v", r.Offset, err))
			}
			image = image.Apply(decoded, r.Offset)
		}
	}
}

// fetchMetadata asks the controller for what comes next.
func (b *Broker) fetchMetadata(t *turn) {
	f := &b.metadata
	if f.call.open() || f.retry > t.now {
		return
	}
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.SessionEpoch = fetchVersion, noSession
	request.ClusterID = &b.config.ClusterID
	request.ReplicaState.ID, request.ReplicaState.Epoch = int32(b.config.ID), b.epoch
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = int32(b.config.MetadataFetchWait), 0, metadataFetchMax
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = int64(f.log.LogEndOffset()), metadataFetchMax
	rp.CurrentLeaderEpoch, rp.LastFetchedEpoch = 0, 0
	if epoch, ok := f.log.LatestEpoch(); ok {
		rp.LastFetchedEpoch = int32(epoch)
	}
	addToFetch(request, metadata.LogTopicID(), rp)
	f.call = b.request(t, b.config.Controller, request, timeout{metadataFetchTimeout + b.config.MetadataFetchWait - metadataFetchWait, "controller.quorum.request.timeout.ms"}, 0)
}

// metadataFetched appends what came to the copy and applies it.
func (b *Broker) metadataFetched(t *turn, response *kmsg.FetchResponse, cause uint64) {
	f := &b.metadata
	f.retry = t.now
	if response.ErrorCode != 0 || len(response.Topics) == 0 || response.Topics[0].Partitions[0].ErrorCode != 0 {
		f.retry = t.now + metadataRetryBackoff
		return
	}
	batches := response.Topics[0].Partitions[0].RecordBatches
	if len(batches) == 0 {
		return
	}
	if _, err := f.log.AppendAsFollower(batches, b.clock(t.now)); err != nil {
		panic(err) // the controller's batches are sound
	}
	from := b.image.Offset
	b.image = applyBatches(b.image, batches)
	if b.config.Sabotage == sabotage.MetadataRunsAhead && t.now > 0 {
		b.image.Offset++
	}
	b.publish(t, t.note(cause, journal.MetadataFollowed{From: from, To: b.image.Offset}))
}

// publish lets the broker act on its metadata, once that holds the registration of the process that runs now.
//
// Source: BrokerMetadataPublisher.onMetadataUpdate.
func (b *Broker) publish(t *turn, cause uint64) {
	self, ok := b.image.Broker(b.config.ID)
	if !ok || self.IncarnationID != b.incarnation || b.epoch == -1 {
		return
	}
	if !b.lifecycle.ready && !b.recovered(t, cause) {
		return
	}
	b.applyPartitions(t, cause)
	b.publishToCoordinators()
	if !b.lifecycle.ready {
		b.lifecycle.ready = true
		if b.state == Starting {
			b.state = Running
		}
		b.heartbeatNow(t)
	}
}

// applyPartitions makes each replica what the metadata says: first those that become leaders, then those that
// follow.
//
// Source: ReplicaManager.applyDelta.
func (b *Broker) applyPartitions(t *turn, cause uint64) {
	var woken []wake
	for _, leaders := range [...]bool{true, false} {
		for _, topic := range b.image.Topics {
			for i := range topic.Partitions {
				p := &topic.Partitions[i]
				if !contains(p.Replicas, b.config.ID) || (p.Leader == b.config.ID) != leaders {
					continue
				}
				tp := kafka.TopicPartition{Topic: topic.Name, Partition: kafka.Partition(i)}
				if !b.inUse(tp) {
					continue
				}
				r := b.replica(tp)
				if r == nil {
					r = b.addReplica(t, tp, topic.ID, cause)
				}
				r.SetConfig(b.partitionConfig(topic.Name))
				if p.PartitionEpoch == r.State().PartitionEpoch && p.LeaderEpoch == r.State().LeaderEpoch {
					continue
				}
				if w := b.become(t, r, *p, cause); w.cause != 0 {
					woken = append(woken, w)
				}
			}
		}
	}
	b.wakeUp(t, woken)
	b.electCoordinators(t, woken)
}

// become takes in one partition's new state.
func (b *Broker) become(t *turn, r *replication.Replica, state metadata.Partition, cause uint64) (w wake) {
	change := r.Become(t.now, state, &b.image)
	tp := r.TopicPartition
	switch {
	case change.Stale:
		return w
	case change.After == replication.Leader && (change.NewEpoch || change.Before != replication.Leader):
		b.unfollow(tp)
		cause = t.note(cause, journal.LeadershipTaken{TopicPartition: tp, LeaderEpoch: state.LeaderEpoch, Start: r.EpochStart(), ISR: state.ISR, HighWatermark: r.HighWatermark()})
		w = wake{r: r, cause: cause, watermark: true}
	case change.After == replication.Follower && change.NewLeader:
		cause = t.note(cause, journal.FollowingBegun{TopicPartition: tp, Leader: state.Leader, LeaderEpoch: state.LeaderEpoch, From: r.Log.LogEndOffset()})
		b.follow(r)
		w = wake{r: r, cause: cause, watermark: true}
	case change.After == replication.Offline && change.Before != replication.Offline:
		b.unfollow(tp)
		cause = t.note(cause, journal.LeaderlessLearned{TopicPartition: tp, LeaderEpoch: state.LeaderEpoch})
		w = wake{r: r, cause: cause, watermark: true}
	}
	if change.After == replication.Leader && r.HighWatermark() != change.HighWatermarkFrom {
		w = wake{r: r, cause: b.noteWatermark(t, r, change.HighWatermarkFrom, cause), watermark: true}
	}
	return w
}

// addReplica opens the log that is on the disk, or makes one.
func (b *Broker) addReplica(t *turn, tp kafka.TopicPartition, id [16]byte, cause uint64) *replication.Replica {
	var log *storage.Log
	if len(b.disk.List(tp.String())) == 0 {
		log = storage.New(b.disk, tp.String(), b.logConfig(tp.Topic), b.clock(t.now))
	} else {
		var found storage.Recovered
		log, found = storage.Open(b.disk, tp.String(), b.logConfig(tp.Topic), b.clock(t.now), b.clean, 0)
		beginAt(log, b.disk, tp)
		t.note(cause, journal.LogOpened{TopicPartition: tp, Clean: b.clean, LogEndOffset: log.LogEndOffset(), DroppedBytes: found.DroppedBytes})
	}
	r := replication.New(b.config.ID, tp, id, log, checkpointedOn(b.disk, storage.ReplicationOffsetCheckpoint, tp))
	at, _ := b.placeOf(tp)
	b.replicas = append(b.replicas[:at:at], append([]*replication.Replica{r}, b.replicas[at:]...)...)
	return r
}

// logDirectories lists the directories of partitions on the disk, the metadata log's apart.
func (b *Broker) logDirectories() []string {
	var list []string
	for _, path := range b.disk.List("") {
		for i := range path {
			if path[i] != '/' {
				continue
			}
			if dir := path[:i]; dir != metadata.LogPartition().String() && (len(list) == 0 || list[len(list)-1] != dir) {
				list = append(list, dir)
			}
			break
		}
	}
	return list
}

// partitionConfig gives the settings of replication that hold for a topic's partitions.
func (b *Broker) partitionConfig(topic string) replication.Config {
	c := replication.Config{MinInsyncReplicas: b.config.MinInsyncReplicas, ReplicaLagTimeMax: b.config.ReplicaLagTimeMax, Sabotage: b.config.Sabotage}
	if text, ok := b.image.TopicSetting(topic, metadata.MinInSyncReplicas); ok {
		c.MinInsyncReplicas = number(text)
	}
	return c
}

// number reads a setting that is a whole number. The controller has checked it.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("a setting in the metadata: %v", err))
	}
	return n
}

func contains(list []kafka.BrokerID, id kafka.BrokerID) bool {
	for _, b := range list {
		if b == id {
			return true
		}
	}
	return false
}
