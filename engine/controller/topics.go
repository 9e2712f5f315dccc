package controller

import (
	"encoding/binary"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/metadata"
)

// maxPartitionsPerBatch bounds the partitions of one CreateTopics request.
//
// Source: ReplicationControlManager.MAX_PARTITIONS_PER_BATCH.
const maxPartitionsPerBatch = 10_000

// createTopics makes topics: with as many partitions and replicas as asked for, which the controller places, or
// with replicas as the request places them. Each topic is made or refused by itself.
//
// Simplified: the answer lists only the settings that the request gives, not the defaults too.
//
// Source: ControllerApis.createTopics, ReplicationControlManager.createTopics.
func (c *Controller) createTopics(r *kmsg.CreateTopicsRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.CreateTopicsResponse)
	var op operation
	tooMany := c.checkPartitionCount(r)
	for i, topic := range r.Topics {
		result := kmsg.NewCreateTopicsResponseTopic()
		result.Topic, result.NumPartitions, result.ReplicationFactor = topic.Topic, -1, -1
		refused := tooMany
		switch {
		case refused != nil:
		case duplicateTopic(r.Topics, i):
			refused = refuse(kerr.InvalidRequest, "Duplicate topic name.")
		default:
			refused = c.createTopic(&op, topic, &result)
		}
		result.ErrorCode, result.ErrorMessage = refused.parts()
		response.Topics = append(response.Topics, result)
	}
	if len(op.records) > maxRecordsPerUserOperation {
		for i := range response.Topics {
			response.Topics[i].ErrorCode, response.Topics[i].ErrorMessage = tooManyRecords().parts()
		}
		return response, operation{}
	}
	if r.ValidateOnly {
		return response, operation{}
	}
	return response, op
}

func tooManyRecords() *Refusal {
	return refuse(kerr.PolicyViolation, "Unable to perform excessively large batch operation.")
}

// checkPartitionCount refuses a request that asks for more than maxPartitionsPerBatch.
//
// Source: ReplicationControlManager.validateTotalNumberOfPartitions.
func (c *Controller) checkPartitionCount(r *kmsg.CreateTopicsRequest) *Refusal {
	total := 0
	for _, topic := range r.Topics {
		switch {
		case len(topic.ReplicaAssignment) > 0:
			total += len(topic.ReplicaAssignment)
		case topic.NumPartitions == -1:
			total += c.config.NumPartitions
		case topic.NumPartitions > 0:
			total += int(topic.NumPartitions)
		}
	}
	if total > maxPartitionsPerBatch {
		return refuse(kerr.PolicyViolation, "Excessively large number of partitions per request.")
	}
	return nil
}

func duplicateTopic(topics []kmsg.CreateTopicsRequestTopic, at int) bool {
	for i, other := range topics {
		if i != at && other.Topic == topics[at].Topic {
			return true
		}
	}
	return false
}

// createTopic adds one topic to an operation, or refuses it.
//
// Source: ReplicationControlManager.createTopic.
func (c *Controller) createTopic(op *operation, topic kmsg.CreateTopicsRequestTopic, result *kmsg.CreateTopicsResponseTopic) *Refusal {
	if refused := c.checkTopicName(topic.Topic); refused != nil {
		return refused
	}
	settings, refused := c.creationConfigs(topic)
	if refused != nil {
		return refused
	}
	placements, refused := c.topicPlacements(topic)
	if refused != nil {
		return refused
	}
	id := c.drawTopicID()
	records := []metadata.Record{metadata.TopicRecord{Name: topic.Topic, TopicID: id}}
	records = append(records, settings...)
	for index, replicas := range placements {
		record, refused := c.newPartition(id, kafka.Partition(index), replicas)
		if refused != nil {
			return refused
		}
		records = append(records, record)
	}
	op.records = append(op.records, records...)
	created := journal.TopicCreated{Topic: topic.Topic, Partitions: len(placements), ReplicationFactor: len(placements[0]), Replicas: placements}
	if kafka.IsInternal(topic.Topic) {
		created.Replicas = nil // of 50 partitions of which few are in use
	}
	op.events = append(op.events, created)
	result.TopicID, result.NumPartitions, result.ReplicationFactor = id, int32(len(placements)), int16(len(placements[0]))
	for _, config := range topic.Configs {
		shown := kmsg.NewCreateTopicsResponseTopicConfig()
		shown.Name, shown.Value, shown.Source = config.Name, config.Value, 1 // DYNAMIC_TOPIC_CONFIG
		result.Configs = append(result.Configs, shown)
	}
	return nil
}

// drawTopicID draws a topic's id as Uuid.randomUuid does, which gives version 4.
func (c *Controller) drawTopicID() (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], c.topicIDs.Uint64())
	binary.BigEndian.PutUint64(id[8:], c.topicIDs.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// checkTopicName refuses a name that no topic can have, and one that is taken.
//
// Source: Topic.validate, ReplicationControlManager.validateNewTopicNames.
func (c *Controller) checkTopicName(name string) *Refusal {
	invalid := func(why string) *Refusal {
		return refuse(kerr.InvalidTopicException, "Topic name is invalid: %s", why)
	}
	legal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	switch {
	case name == metadata.TopicName:
		return refuse(kerr.InvalidRequest, "Creation of internal topic %s is prohibited.", name)
	case name == "":
		return invalid("the empty string is not allowed")
	case name == "." || name == "..":
		return invalid("'" + name + "' is not allowed")
	case len(name) > 249:
		return invalid("the length of '" + name + "' is longer than the max allowed length 249")
	case strings.ContainsFunc(name, func(r rune) bool { return !legal(r) }):
		return invalid("'" + name + "' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'")
	}
	for _, t := range c.image.Topics {
		switch {
		case t.Name == name:
			return refuse(kerr.TopicAlreadyExists, "Topic '%s' already exists.", name)
		case strings.ReplaceAll(t.Name, ".", "_") == strings.ReplaceAll(name, ".", "_"):
			return refuse(kerr.InvalidTopicException, "Topic '%s' collides with existing topic: %s", name, t.Name)
		}
	}
	return nil
}

// topicPlacements gives the replicas of each partition of a new topic.
func (c *Controller) topicPlacements(topic kmsg.CreateTopicsRequestTopic) ([][]kafka.BrokerID, *Refusal) {
	if len(topic.ReplicaAssignment) > 0 {
		return c.manualPlacements(topic)
	}
	partitions, factor := int(topic.NumPartitions), int(topic.ReplicationFactor)
	switch {
	case factor < -1 || factor == 0:
		return nil, refuse(kerr.InvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case partitions < -1 || partitions == 0:
		return nil, refuse(kerr.InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	if partitions == -1 {
		partitions = c.config.NumPartitions
	}
	if factor == -1 {
		factor = c.config.DefaultReplicationFactor
	}
	placements, refused := PlaceReplicas(partitions, factor, c.usableBrokers(), c.placement.IntN)
	if refused != nil {
		return nil, refuse(refused.Err, "Unable to replicate the partition %d time(s): %s", factor, refused.Message)
	}
	return placements, nil
}

// manualPlacements checks replicas as a request places them.
func (c *Controller) manualPlacements(topic kmsg.CreateTopicsRequestTopic) ([][]kafka.BrokerID, *Refusal) {
	switch {
	case topic.ReplicationFactor != -1:
		return nil, refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	case topic.NumPartitions != -1:
		return nil, refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	placements := make([][]kafka.BrokerID, len(topic.ReplicaAssignment))
	factor := 0
	for _, a := range topic.ReplicaAssignment {
		if a.Partition < 0 || int(a.Partition) >= len(placements) {
			return nil, refuse(kerr.InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
		if placements[a.Partition] != nil {
			return nil, refuse(kerr.InvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", a.Partition)
		}
		replicas, refused := c.manualPlacement(kafka.Partition(a.Partition), a.Replicas, factor)
		if refused != nil {
			return nil, refused
		}
		placements[a.Partition], factor = replicas, len(replicas)
	}
	return placements, nil
}

// manualPlacement checks the replicas of one partition; factor is the replication factor of the others, 0 if
// there are none.
//
// Source: ReplicationControlManager.validateManualPartitionAssignment.
func (c *Controller) manualPlacement(index kafka.Partition, wanted []int32, factor int) ([]kafka.BrokerID, *Refusal) {
	if len(wanted) == 0 {
		return nil, refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	replicas, active := make([]kafka.BrokerID, len(wanted)), 0
	for i, id := range wanted {
		replicas[i] = kafka.BrokerID(id)
		if _, registered := c.image.Broker(replicas[i]); !registered {
			return nil, refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
		if !validISR(replicas[:i+1], replicas[:i+1]) {
			return nil, refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes the broker %d more than once.", id)
		}
		if c.image.Active(replicas[i]) {
			active++
		}
	}
	switch {
	case factor != 0 && len(replicas) != factor:
		return nil, refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes a partition with %d replica(s), but this is not consistent with previous partitions, which have %d replica(s).", len(replicas), factor)
	case active == 0:
		return nil, refuse(kerr.InvalidReplicaAssignment, "All brokers specified in the manual partition assignment for partition %d are fenced or in controlled shutdown.", index)
	}
	return replicas, nil
}

// usableBrokers lists the brokers that replicas can be placed on.
//
// Source: BrokerHeartbeatManager.usableBrokers.
func (c *Controller) usableBrokers() []UsableBroker {
	var usable []UsableBroker
	for _, b := range c.image.Brokers {
		if entry := c.registrationOf(b.ID); !entry.shuttingDown() {
			usable = append(usable, UsableBroker{b.ID, b.Rack, entry.fenced})
		}
	}
	return usable
}

// newPartition makes the record of a new partition: the active replicas are in sync, the first of them leads.
//
// Source: ReplicationControlManager.buildPartitionRegistration.
func (c *Controller) newPartition(topicID [16]byte, index kafka.Partition, replicas []kafka.BrokerID) (metadata.PartitionRecord, *Refusal) {
	record := metadata.PartitionRecord{PartitionID: index, TopicID: topicID, Replicas: replicas}
	for _, id := range replicas {
		b, _ := c.image.Broker(id)
		if b.Active() {
			record.ISR = append(record.ISR, id)
		}
		directory := [16]byte{15: 1} // DirectoryId.UNASSIGNED: the broker chooses one of several
		if len(b.LogDirs) == 1 {
			directory = b.LogDirs[0]
		}
		record.Directories = append(record.Directories, directory)
	}
	if len(record.ISR) == 0 {
		return record, refuse(kerr.InvalidReplicationFactor, "Unable to replicate the partition %d time(s): All brokers are currently fenced or in controlled shutdown.", len(replicas))
	}
	record.Leader = record.ISR[0]
	return record, nil
}

// createPartitions gives topics more partitions. A topic never gets fewer, and records stay where they are.
//
// Source: ControllerApis.createPartitions, ReplicationControlManager.createPartitions.
func (c *Controller) createPartitions(r *kmsg.CreatePartitionsRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.CreatePartitionsResponse)
	var op operation
	for i, topic := range r.Topics {
		result := kmsg.NewCreatePartitionsResponseTopic()
		result.Topic = topic.Topic
		refused := c.grow(&op, topic)
		for k, other := range r.Topics {
			if k != i && other.Topic == topic.Topic {
				refused = refuse(kerr.InvalidRequest, "Duplicate topic name.")
			}
		}
		result.ErrorCode, result.ErrorMessage = refused.parts()
		response.Topics = append(response.Topics, result)
	}
	if len(op.records) > maxRecordsPerUserOperation {
		for i := range response.Topics {
			response.Topics[i].ErrorCode, response.Topics[i].ErrorMessage = tooManyRecords().parts()
		}
		return response, operation{}
	}
	if r.ValidateOnly {
		return response, operation{}
	}
	return response, op
}

// grow adds the new partitions of one topic to an operation, or refuses them.
func (c *Controller) grow(op *operation, topic kmsg.CreatePartitionsRequestTopic) *Refusal {
	t, known := c.image.Topic(topic.Topic)
	before, count := len(t.Partitions), int(topic.Count)
	switch {
	case !known:
		return refuse(kerr.UnknownTopicOrPartition, "")
	case count == before:
		return refuse(kerr.InvalidPartitions, "Topic already has %d partition(s).", before)
	case count < before:
		return refuse(kerr.InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.", topic.Topic, before, count)
	case topic.Assignment != nil && len(topic.Assignment) != count-before:
		return refuse(kerr.InvalidReplicaAssignment, "Attempted to add %d additional partition(s), but only %d assignment(s) were specified.", count-before, len(topic.Assignment))
	case count-before > maxRecordsPerUserOperation:
		return tooManyRecords()
	}
	factor := len(t.Partitions[0].Replicas)
	var placements [][]kafka.BrokerID
	var refused *Refusal
	for i, a := range topic.Assignment {
		replicas, refused := c.manualPlacement(kafka.Partition(before+i), a.Replicas, factor)
		if refused != nil {
			return refused
		}
		placements = append(placements, replicas)
	}
	if topic.Assignment == nil {
		if placements, refused = PlaceReplicas(count-before, factor, c.usableBrokers(), c.placement.IntN); refused != nil {
			return refused
		}
	}
	var records []metadata.Record
	for i, replicas := range placements {
		record, refused := c.newPartition(t.ID, kafka.Partition(before+i), replicas)
		if refused != nil {
			return refused
		}
		records = append(records, record)
	}
	op.records = append(op.records, records...)
	op.events = append(op.events, journal.PartitionsAdded{Topic: topic.Topic, From: before, To: count})
	return nil
}

// creationConfigs gives the records of a new topic's settings.
//
// Source: ReplicationControlManager.computeConfigChanges.
func (c *Controller) creationConfigs(topic kmsg.CreateTopicsRequestTopic) ([]metadata.Record, *Refusal) {
	var records, clear []metadata.Record
	var null []string
	for _, config := range topic.Configs {
		if config.Value == nil {
			null = append(null, config.Name)
			continue
		}
		if refused := checkSetting(config.Name, *config.Value); refused != nil {
			return nil, refused
		}
		records = append(records, metadata.ConfigRecord{ResourceType: metadata.TopicResource, ResourceName: topic.Topic, Name: config.Name, Value: config.Value})
		if config.Name == metadata.MinInSyncReplicas && c.image.ELREnabled() {
			clear = append(clear, metadata.ClearELRRecord{TopicName: topic.Topic})
		}
	}
	if null != nil {
		return nil, refuse(kerr.InvalidConfig, "Null value not supported for topic configs: %s", strings.Join(null, ","))
	}
	return append(records, clear...), nil
}
