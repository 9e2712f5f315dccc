package metadata

import (
	"github.com/twmb/franz-go/pkg/kbin"

	"loglab/engine/kafka"
)

// RegisterBrokerRecord says that a process runs as this broker, or that it changed what it said of itself. A
// new process starts fenced.
//
// Source: RegisterBrokerRecord.json, version 3.
type RegisterBrokerRecord struct {
	BrokerID             kafka.BrokerID
	IncarnationID        [16]byte // drawn by the process at its start
	BrokerEpoch          int64    // the log end offset of the metadata log when the controller took the request
	EndPoints            []EndPoint
	Features             []SupportedFeature
	Rack                 string // broker.rack; "" is written as null
	Fenced               bool
	InControlledShutdown bool
	LogDirs              [][16]byte // ids of the log directories; nil or empty are the same
}

// EndPoint is an address where a broker listens.
type EndPoint struct {
	Name             string // of the listener
	Host             string // the broker's name on the network
	Port             uint16
	SecurityProtocol int16 // 0 is PLAINTEXT
}

// SupportedFeature is a feature with the levels that a broker can work at, both inclusive.
type SupportedFeature struct {
	Name                                     string
	MinSupportedVersion, MaxSupportedVersion int16
}

// APIKey is 0.
func (RegisterBrokerRecord) APIKey() int16 { return 0 }

// Version is 3.
func (RegisterBrokerRecord) Version() int16 { return 3 }

func (m RegisterBrokerRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendInt32(dst, int32(m.BrokerID))
	dst = kbin.AppendBool(dst, false) // isMigratingZkBroker
	dst = kbin.AppendUuid(dst, m.IncarnationID)
	dst = kbin.AppendInt64(dst, m.BrokerEpoch)
	dst = kbin.AppendCompactArrayLen(dst, len(m.EndPoints))
	for _, e := range m.EndPoints {
		dst = kbin.AppendCompactString(dst, e.Name)
		dst = kbin.AppendCompactString(dst, e.Host)
		dst = kbin.AppendUint16(dst, e.Port)
		dst = kbin.AppendInt16(dst, e.SecurityProtocol)
		dst = appendTags(dst)
	}
	dst = kbin.AppendCompactArrayLen(dst, len(m.Features))
	for _, f := range m.Features {
		dst = kbin.AppendCompactString(dst, f.Name)
		dst = kbin.AppendInt16(dst, f.MinSupportedVersion)
		dst = kbin.AppendInt16(dst, f.MaxSupportedVersion)
		dst = appendTags(dst)
	}
	if m.Rack == "" {
		dst = kbin.AppendCompactNullableString(dst, nil)
	} else {
		dst = kbin.AppendCompactString(dst, m.Rack)
	}
	dst = kbin.AppendBool(dst, m.Fenced)
	dst = kbin.AppendBool(dst, m.InControlledShutdown)
	return appendTags(dst, logDirsTag(0, m.LogDirs))
}

// logDirsTag is the tagged field with the ids of log directories; empty is its default.
func logDirsTag(number uint32, dirs [][16]byte) tag {
	if len(dirs) == 0 {
		return tag{}
	}
	return tag{number, appendUUIDs(nil, dirs)}
}

func readRegisterBroker(r *kbin.Reader) Record {
	m := RegisterBrokerRecord{BrokerID: kafka.BrokerID(r.Int32())}
	r.Bool() // isMigratingZkBroker
	m.IncarnationID, m.BrokerEpoch = r.Uuid(), r.Int64()
	for n := r.CompactArrayLen(); n > 0 && r.Ok(); n-- {
		m.EndPoints = append(m.EndPoints, EndPoint{r.CompactString(), r.CompactString(), r.Uint16(), r.Int16()})
		skipTags(r)
	}
	for n := r.CompactArrayLen(); n > 0 && r.Ok(); n-- {
		m.Features = append(m.Features, SupportedFeature{r.CompactString(), r.Int16(), r.Int16()})
		skipTags(r)
	}
	if rack := r.CompactNullableString(); rack != nil {
		m.Rack = *rack
	}
	m.Fenced, m.InControlledShutdown = r.Bool(), r.Bool()
	readTags(r, func(number uint32, value *kbin.Reader) {
		if number == 0 {
			m.LogDirs = readLogDirs(value)
		}
	})
	return m
}

// UnregisterBrokerRecord says that a broker is no longer part of the cluster.
//
// Source: UnregisterBrokerRecord.json, version 0.
type UnregisterBrokerRecord struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch int64
}

// APIKey is 1.
func (UnregisterBrokerRecord) APIKey() int16 { return 1 }

// Version is 0.
func (UnregisterBrokerRecord) Version() int16 { return 0 }

func (m UnregisterBrokerRecord) appendBody(dst []byte) []byte {
	return appendTags(kbin.AppendInt64(kbin.AppendInt32(dst, int32(m.BrokerID)), m.BrokerEpoch))
}

func readUnregisterBroker(r *kbin.Reader) Record {
	m := UnregisterBrokerRecord{kafka.BrokerID(r.Int32()), r.Int64()}
	skipTags(r)
	return m
}

// Fencing is what a BrokerRegistrationChangeRecord does to a broker's fence. The zero value changes nothing.
//
// Source: BrokerRegistrationFencingChange.
type Fencing int8

// What can happen to the fence.
const (
	Unfence Fencing = -1
	Fence   Fencing = 1
)

// BrokerRegistrationChangeRecord says that a broker was fenced, was unfenced or began a controlled shutdown.
//
// Source: BrokerRegistrationChangeRecord.json, versions 0 to 2.
type BrokerRegistrationChangeRecord struct {
	BrokerID             kafka.BrokerID
	BrokerEpoch          int64
	Fenced               Fencing
	InControlledShutdown bool       // false: no change
	LogDirs              [][16]byte // the directories that are left; nil or empty: no change
}

// APIKey is 17.
func (BrokerRegistrationChangeRecord) APIKey() int16 { return 17 }

// Version is the lowest that has the fields which are set: 0 for the fence, 1 with a controlled shutdown, 2 with
// log directories.
func (m BrokerRegistrationChangeRecord) Version() int16 {
	switch {
	case len(m.LogDirs) > 0:
		return 2
	case m.InControlledShutdown:
		return 1
	}
	return 0
}

func (m BrokerRegistrationChangeRecord) appendBody(dst []byte) []byte {
	dst = kbin.AppendInt64(kbin.AppendInt32(dst, int32(m.BrokerID)), m.BrokerEpoch)
	return appendTags(dst, tag{0, int8Or(int8(m.Fenced), 0)}, tag{1, int8Or(int8Of(m.InControlledShutdown), 0)}, logDirsTag(2, m.LogDirs))
}

func readBrokerRegistrationChange(r *kbin.Reader) Record {
	m := BrokerRegistrationChangeRecord{BrokerID: kafka.BrokerID(r.Int32()), BrokerEpoch: r.Int64()}
	readTags(r, func(number uint32, value *kbin.Reader) {
		switch number {
		case 0:
			m.Fenced = Fencing(value.Int8())
		case 1:
			m.InControlledShutdown = value.Int8() == 1
		case 2:
			m.LogDirs = readLogDirs(value)
		}
	})
	return m
}
