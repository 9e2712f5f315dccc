package journal

import (
	"fmt"

	"loglab/engine/kafka"
)

// BrokerStarted says that a broker's process runs.
type BrokerStarted struct {
	Clean bool `json:"clean"` // the process before had ended in an orderly way
	Logs  int  `json:"logs"`  // partitions on its disk
}

// Kind gives the kind's name.
func (BrokerStarted) Kind() string { return "BrokerStarted" }

// Text gives what it found.
func (b BrokerStarted) Text() string { return fmt.Sprintf("clean=%t logs=%d", b.Clean, b.Logs) }

// Sentence gives what it found.
func (b BrokerStarted) Sentence() string {
	switch {
	case b.Logs == 0:
		return "The broker starts with an empty disk and registers with the controller."
	case b.Clean:
		return fmt.Sprintf("The broker starts and registers with the controller. On its disk are %s and the sign of an orderly end.", kafka.Count(b.Logs, "partition"))
	}
	return fmt.Sprintf("The broker starts and registers with the controller. On its disk %s %s, but not the sign of an orderly end: it checks the logs.",
		are(b.Logs), kafka.Count(b.Logs, "partition"))
}

// BrokerStopped says that a broker ended in an orderly way.
type BrokerStopped struct {
	Unrecovered bool `json:"unrecovered"` // it had found logs of an unclean end and not come to recover them
}

// Kind gives the kind's name.
func (BrokerStopped) Kind() string { return "BrokerStopped" }

// Text says if the next start has to recover the logs.
func (b BrokerStopped) Text() string {
	if b.Unrecovered {
		return "unrecovered"
	}
	return ""
}

// Sentence says what was done.
func (b BrokerStopped) Sentence() string {
	if b.Unrecovered {
		return "The broker stopped in an orderly way, but before it had recovered the logs that the process before had left uncleanly: no file says that they are in order, and the next start recovers them."
	}
	return "The broker stopped in an orderly way: logs and checkpoints are on its disk, and a file with its broker epoch says so."
}

// ShutdownBegun says that a broker asks the controller to move its leaders before it stops.
type ShutdownBegun struct{}

// Kind gives the kind's name.
func (ShutdownBegun) Kind() string { return "ShutdownBegun" }

// Text is empty: the node says it.
func (ShutdownBegun) Text() string { return "" }

// Sentence says what comes next.
func (ShutdownBegun) Sentence() string {
	return "The broker wants to shut down: its heartbeats say so until the controller has moved its leaders and lets it go."
}

// ProcessKilled says that a process ended at once.
type ProcessKilled struct {
	Wiped bool `json:"wiped"` // its disk is empty now
}

// Kind gives the kind's name.
func (ProcessKilled) Kind() string { return "ProcessKilled" }

// Text gives what became of the disk.
func (b ProcessKilled) Text() string {
	if b.Wiped {
		return "wiped"
	}
	return ""
}

// Sentence says what is gone and what is not.
func (b ProcessKilled) Sentence() string {
	if b.Wiped {
		return "The disk was wiped, and the process ended with it. The machine tells the other ends of its connections."
	}
	return "The process was killed. What it had written is in the machine's page cache and stays. The machine tells the other ends of its connections."
}

// DiskWiped says that the disk of a broker that was down was emptied.
type DiskWiped struct{}

// Kind gives the kind's name.
func (DiskWiped) Kind() string { return "DiskWiped" }

// Text is empty: the node says it.
func (DiskWiped) Text() string { return "" }

// Sentence says what is gone.
func (DiskWiped) Sentence() string { return "The disk was wiped: every log on it is gone." }

// PowerLost says that a machine lost power.
type PowerLost struct {
	Bytes int          `json:"bytes"` // that were not on the disk yet
	Age   kafka.Millis `json:"writeback_ms"`
}

// Kind gives the kind's name.
func (PowerLost) Kind() string { return "PowerLost" }

// Text gives what is gone.
func (b PowerLost) Text() string { return fmt.Sprintf("bytes=%d", b.Bytes) }

// Sentence gives what is gone and the rule.
func (b PowerLost) Sentence() string {
	return fmt.Sprintf("Power failed. What stood in the page cache for less than os.writeback.ms = %s ms and was not synced is gone: %s. Nobody is told: others wait for answers until their time-outs.",
		kafka.Thousands(b.Age), kafka.Count(b.Bytes, "byte"))
}

// DiskSpeedChanged says how long each write of a broker takes now.
type DiskSpeedChanged struct {
	Delay kafka.Millis `json:"delay_ms"`
}

// Kind gives the kind's name.
func (DiskSpeedChanged) Kind() string { return "DiskSpeedChanged" }

// Text gives the time.
func (b DiskSpeedChanged) Text() string { return fmt.Sprintf("delay=%d", b.Delay) }

// Sentence gives the time.
func (b DiskSpeedChanged) Sentence() string {
	if b.Delay == 0 {
		return "The disk writes at once again."
	}
	return fmt.Sprintf("The disk is slow: each write takes %s ms, one after another.", kafka.Thousands(b.Delay))
}

// RegistrationFailed says that the controller did not take a broker in.
type RegistrationFailed struct {
	Error string       `json:"error"`
	Retry kafka.Millis `json:"retry_in_ms"`
}

// Kind gives the kind's name.
func (RegistrationFailed) Kind() string { return "RegistrationFailed" }

// Text gives the error.
func (b RegistrationFailed) Text() string { return fmt.Sprintf("%s retry=%d", b.Error, b.Retry) }

// Sentence gives the error and why.
func (b RegistrationFailed) Sentence() string {
	s := fmt.Sprintf("The controller answered the registration with %s; the broker tries again in %s ms.", b.Error, kafka.Thousands(b.Retry))
	if b.Error == "DUPLICATE_BROKER_REGISTRATION" {
		s += " It still counts the process before as alive, until broker.session.timeout.ms have passed without a heartbeat."
	}
	return s
}

// MetadataFollowed says that a broker applied new records of the metadata log.
type MetadataFollowed struct {
	From kafka.Offset `json:"from"` // next offset before
	To   kafka.Offset `json:"to"`   // next offset now
}

// Kind gives the kind's name.
func (MetadataFollowed) Kind() string { return "MetadataFollowed" }

// Text gives the offsets.
func (b MetadataFollowed) Text() string { return fmt.Sprintf("%d→%d", b.From, b.To) }

// Sentence gives the offsets.
func (b MetadataFollowed) Sentence() string {
	return fmt.Sprintf("The broker applied %s of the metadata log; it has read up to offset %d.", kafka.Count(int(b.To-b.From), "record"), b.To-1)
}

// LogOpened says that a starting broker opened the log of a partition that it found on its disk.
type LogOpened struct {
	TopicPartition kafka.TopicPartition `json:"topic_partition"`
	Clean          bool                 `json:"clean"`
	LogEndOffset   kafka.Offset         `json:"log_end_offset"`
	DroppedBytes   int                  `json:"dropped_bytes"` // of a torn batch at the end
}

// Kind gives the kind's name.
func (LogOpened) Kind() string { return "LogOpened" }

// Text gives the end.
func (b LogOpened) Text() string {
	return fmt.Sprintf("%s clean=%t leo=%d dropped=%dB", b.TopicPartition, b.Clean, b.LogEndOffset, b.DroppedBytes)
}

// Sentence gives the end and what was dropped.
func (b LogOpened) Sentence() string {
	switch {
	case b.Clean:
		return fmt.Sprintf("%s: the log on the disk ends at offset %d.", b.TopicPartition, b.LogEndOffset)
	case b.DroppedBytes > 0:
		return fmt.Sprintf("%s: the log was checked batch by batch and ends at offset %d; %s of a torn batch behind it were dropped.", b.TopicPartition, b.LogEndOffset, kafka.Count(b.DroppedBytes, "byte"))
	}
	return fmt.Sprintf("%s: the log was checked batch by batch and ends at offset %d.", b.TopicPartition, b.LogEndOffset)
}

// RecoveryBegun says that a broker reads its logs from their beginning before it opens them, which its slow disk takes
// some time for.
type RecoveryBegun struct {
	Logs     int          `json:"logs"`
	Segments int          `json:"segments"`
	Span     kafka.Millis `json:"span_ms"` // that it takes
}

// Kind gives the kind's name.
func (RecoveryBegun) Kind() string { return "RecoveryBegun" }

// Text gives the work and the time.
func (b RecoveryBegun) Text() string {
	return fmt.Sprintf("logs=%d segments=%d %dms", b.Logs, b.Segments, b.Span)
}

// Sentence gives the work and the time.
func (b RecoveryBegun) Sentence() string {
	return fmt.Sprintf("The broker reads %s of %s from the beginning, drops what is torn and writes the indexes anew. On its slow disk that takes %s ms; until then it stays fenced and leads nothing.",
		kafka.Count(b.Segments, "segment"), kafka.Count(b.Logs, "partition"), kafka.Thousands(b.Span))
}
