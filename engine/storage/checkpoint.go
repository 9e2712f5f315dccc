package storage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loglab/engine/kafka"
)

// The files of a broker's log directory that tell of all its partitions. Each is replaced in one step.
//
// Source: LogManager, ReplicaManager, CleanShutdownFileHandler.
const (
	// ReplicationOffsetCheckpoint is the name of the file with the high watermarks, written every
	// replica.high.watermark.checkpoint.interval.ms, 5 s.
	ReplicationOffsetCheckpoint = "replication-offset-checkpoint"
	// LogStartOffsetCheckpoint is the name of the file with the log start offsets that lie above the first segment's base
	// offset, written every log.flush.start.offset.checkpoint.interval.ms, 60 s.
	LogStartOffsetCheckpoint = "log-start-offset-checkpoint"
	// CleanerOffsetCheckpoint is the name of the file that says for each compacted log where its dirty part begins,
	// written after each cleaning.
	CleanerOffsetCheckpoint = "cleaner-offset-checkpoint"
	// CleanShutdownFile is the name of the file that a broker leaves when it has closed all logs, and removes
	// when it has loaded them again.
	CleanShutdownFile = ".kafka_cleanshutdown"
)

// PartitionOffset is a line of a checkpoint file.
type PartitionOffset struct {
	TopicPartition kafka.TopicPartition
	Offset         kafka.Offset
}

// FormatOffsetCheckpoint gives the text of a checkpoint file: version 0, the number of lines, and a line
// "topic partition offset" for each, sorted by topic and partition. The slice stays as it is.
//
// Simplified: the lines are sorted. Kafka's order is that of its hash map.
//
// Source: OffsetCheckpointFile, CheckpointFile.write.
func FormatOffsetCheckpoint(offsets []PartitionOffset) []byte {
	sorted := slices.Clone(offsets)
	slices.SortFunc(sorted, func(a, b PartitionOffset) int {
		switch {
		case a.TopicPartition.Less(b.TopicPartition):
			return -1
		case b.TopicPartition.Less(a.TopicPartition):
			return 1
		}
		return 0
	})
	text := fmt.Appendf(nil, "0\n%d\n", len(sorted))
	for _, o := range sorted {
		text = fmt.Appendf(text, "%s %d %d\n", o.TopicPartition.Topic, o.TopicPartition.Partition, o.Offset)
	}
	return text
}

// ParseOffsetCheckpoint reads what FormatOffsetCheckpoint writes, lines in any order. The caller owns the
// slice. An error names the line; an empty file is one.
//
// Source: OffsetCheckpointFile, CheckpointFile.read.
func ParseOffsetCheckpoint(b []byte) ([]PartitionOffset, error) {
	lines, err := checkpointLines(b)
	if err != nil {
		return nil, err
	}
	var offsets []PartitionOffset
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("checkpoint line %d: %q, want topic, partition and offset", i+3, line)
		}
		partition, err := strconv.ParseInt(fields[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("checkpoint line %d: partition: %w", i+3, err)
		}
		offset, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("checkpoint line %d: offset: %w", i+3, err)
		}
		tp := kafka.TopicPartition{Topic: fields[0], Partition: kafka.Partition(partition)}
		offsets = append(offsets, PartitionOffset{tp, kafka.Offset(offset)})
	}
	return offsets, nil
}

// checkpointLines gives the entries of a checkpoint file, after its version and their number.
//
// Source: CheckpointFile.CheckpointReadBuffer.
func checkpointLines(b []byte) ([]string, error) {
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if lines[0] != "0" {
		return nil, fmt.Errorf("checkpoint line 1: version is %q, allowed is 0", lines[0])
	}
	if len(lines) < 2 {
		return nil, fmt.Errorf("checkpoint line 2: the number of entries is missing")
	}
	if count, err := strconv.Atoi(lines[1]); err != nil || count != len(lines)-2 {
		return nil, fmt.Errorf("checkpoint line 2: %q entries are declared, %d lines follow", lines[1], len(lines)-2)
	}
	return lines[2:], nil
}

// cleanShutdown is the content of the clean shutdown file.
type cleanShutdown struct {
	Version     int    `json:"version"`
	BrokerEpoch *int64 `json:"brokerEpoch"`
}

// FormatCleanShutdown gives the content of the clean shutdown file. A broker names the epoch it ran with when
// it registers again; so the controller knows that it stopped cleanly.
//
// Source: CleanShutdownFileHandler.write; KIP-966.
func FormatCleanShutdown(brokerEpoch int64) []byte {
	text, err := json.Marshal(cleanShutdown{BrokerEpoch: &brokerEpoch})
	if err != nil {
		panic(err) // two numbers
	}
	return text
}

// ParseCleanShutdown reads the broker epoch in a clean shutdown file. ok is false if there is none to read.
// That the file is there says that the stop was clean, whatever is in it.
//
// Source: CleanShutdownFileHandler.read.
func ParseCleanShutdown(b []byte) (brokerEpoch int64, ok bool) {
	var content cleanShutdown
	if json.Unmarshal(b, &content) != nil || content.BrokerEpoch == nil {
		return 0, false
	}
	return *content.BrokerEpoch, true
}
