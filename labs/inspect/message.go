package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine"
	"loglab/engine/journal"
	"loglab/engine/kafka"
	"loglab/engine/record"
	"loglab/labs"
	"loglab/labs/view"
)

// Message shows a message, with its bytes while it is on its way.
func (f Frame) Message(in *view.Inspector, id uint64) bool {
	var sent, taken *journal.Event
	j := f.Cluster.Journal()
	for e := range j.All() {
		switch b := e.Body.(type) {
		case journal.MessageSent:
			if b.Message == id {
				sent = &e
				kind := "request"
				if b.Response {
					kind = "response"
				}
				if b.API == connectionClosed {
					in.AddFact("Kind", "%s", b.API)
				} else {
					in.AddFact("API", "%s %s (API key %d), version %d, correlation id %d", b.API, kind, apiKey(b.API), b.Version, b.Correlation)
				}
				in.AddFact("From, to", "%s → %s", e.Node, b.To)
				in.AddFact("Sent", "in tick %d; it arrives %d ms later", e.Tick, b.Arrives)
				in.Chain = labs.Causes(f.Frame, e.Seq, CausesShown)
			}
		case journal.MessageDelivered:
			if b.Message == id {
				taken = &e
				in.AddFact("Taken in", "in tick %d by %s", e.Tick, e.Node)
				if led := consequences(f.Frame, e.Seq); led != "" {
					in.AddFact("Led to", "%s", led)
				}
			}
		}
	}
	if sent == nil {
		return false
	}
	for _, m := range f.View.UnderWay {
		if m.ID != id {
			continue
		}
		if m.Message.IsReset() {
			in.AddFact("Bytes", "none of Kafka’s: the machine at the other end says that the connection is gone, as a TCP reset does")
		} else {
			f.dissectMessage(in, m)
		}
		return true
	}
	if taken != nil && sent.Tick < taken.Tick {
		in.Links = append(in.Links, labs.Replace("on-its-way", fmt.Sprintf("its bytes, at tick %d on its way", sent.Tick), f.Address.WithTick(int(sent.Tick))))
	} else {
		in.AddFact("Bytes", "it came and went within one tick; bytes are only shown while a message is on its way")
	}
	return true
}

// apiKey is the number of an API; -1 if none has that name.
func apiKey(name string) int16 {
	for key := range int16(kmsg.MaxKey + 1) {
		if kmsg.NameForKey(key) == name {
			return key
		}
	}
	return -1
}

// consequences says what a message led to directly.
func consequences(f labs.Frame, seq uint64) string {
	j := f.Cluster.Journal()
	n, first := 0, ""
	for e := range j.All() {
		if e.Cause == seq {
			if n++; n == 1 {
				first = e.Body.Sentence()
			}
		}
	}
	if n > 1 {
		first += fmt.Sprintf(" And %s more.", kafka.Count(n-1, "event"))
	}
	return first
}

// dissectMessage takes a message apart, byte by byte: the frame as it would stand on a connection.
//
// Simplified: messages cross the network as decoded values. The size and the header in front of a message
// that is opened are made when it is shown, with the client.id that a Java client makes up for itself.
//
// Source: RequestHeader.json (version 2), ResponseHeader.json (version 1).
func (f Frame) dissectMessage(in *view.Inspector, m engine.MessageView) {
	left := m.DueAt - f.View.Now
	when := fmt.Sprintf("in %d ms, in tick %d", left, f.TickAfter(m.DueAt))
	if m.Held {
		when = "it has arrived and waits for the paused process of " + string(m.To)
	}
	whole, key, flexible := f.FrameOf(m)
	d := newDissector("frame", "The message as it would stand on a connection: size, header, body")
	at := 0
	add := func(width int, name, value, meaning string) {
		d.field(at, whole[at:at+width], view.ByteField{Name: name, Value: value, Meaning: meaning})
		at += width
	}
	add(4, "size", fmt.Sprint(len(whole)-4), "bytes that follow")
	version := "request header version 2"
	if m.Answer {
		version = "response header version 1"
	} else {
		add(2, "request_api_key", fmt.Sprint(key), m.API)
		add(2, "request_api_version", fmt.Sprint(m.Version), "of this API")
	}
	add(4, "correlation_id", fmt.Sprint(m.Message.Correlation), "the response to a request repeats it")
	if !m.Answer {
		id := f.clientID(m)
		meaning := "its length and text; client.id is not set, so the client makes one up"
		if id == string(m.From) {
			meaning = "its length and text"
		}
		add(2+len(id), "client_id", fmt.Sprintf("%q", id), meaning)
	}
	if flexible {
		add(1, "tagged fields", "0", "none; the body follows")
	}
	body := whole[at:]
	in.Facts = append(in.Facts, view.Fact{Name: "Arrives", Value: when},
		view.Fact{Name: "Bytes", Value: fmt.Sprintf("%s: 4 of size, %d of %s, %s of body", kafka.Thousands(len(whole)), at-4, version, kafka.Thousands(len(body)))})

	fields, more, err := labs.WireFields(key, m.Version, m.Answer, body, fieldsShown-len(d.Fields))
	if err != nil {
		d.More = err.Error()
	}
	done := 0
	for _, field := range fields {
		if field.At < done { // a tagged field, which stands elsewhere than in the list
			continue
		}
		d.bytes(at+done, body[done:field.At], -1, false)
		meaning, link := f.meaning(field, m)
		d.field(at+field.At, body[field.At:field.At+field.Width], view.ByteField{Name: lastTwo(field.Schema), Value: field.Value, Meaning: meaning, Link: link})
		done = field.At + field.Width
	}
	switch rest := len(body) - done; {
	case more:
		d.gap(-1, fmt.Sprintf("… %s more …", kafka.Count(rest, "byte")))
		d.More = fmt.Sprintf("The first %d fields are shown.", len(d.Fields))
	case rest <= longField:
		d.bytes(at+done, body[done:], -1, false)
	}
	if d.More == "" {
		d.More = "Bytes that belong to no field are lengths and counts of tagged fields."
	}
	in.Anatomies = []view.Anatomy{d.done()}
}

// FrameOf makes the bytes of a message with size and header in front.
func (f Frame) FrameOf(m engine.MessageView) (whole []byte, key int16, flexible bool) {
	if !m.Answer {
		r := m.Message.Request
		return kmsg.NewRequestFormatter(kmsg.FormatterClientID(f.clientID(m))).AppendRequest(nil, r, m.Message.Correlation), r.Key(), r.IsFlexible()
	}
	r := m.Message.Response
	whole = binary.BigEndian.AppendUint32(make([]byte, 4), uint32(m.Message.Correlation))
	if r.IsFlexible() {
		whole = append(whole, 0) // no tagged fields
	}
	whole = append(whole, m.Message.Body()...)
	binary.BigEndian.PutUint32(whole, uint32(len(whole)-4))
	return whole, r.Key(), r.IsFlexible()
}

// clientID is the client.id that a client makes up for itself: a Java client of its own process, a broker's replica
// fetcher, its copy of the metadata log, or its channel to the controller.
//
// Source: ProducerConfig, ConsumerConfig.maybeOverrideClientId, KafkaAdminClient.generateClientId, ReplicaFetcherManager,
// KafkaRaftManager, NodeToControllerChannelManagerImpl.
func (f Frame) clientID(m engine.MessageView) string {
	for _, g := range f.View.Groups {
		for _, member := range g.Members {
			if g.CoordinatedView != nil && kafka.NodeID(member.ID) == m.From {
				return string(m.From) // it has its own
			}
		}
	}
	switch number := string(m.From[1:]); m.From[0] {
	case 'p':
		return "producer-1"
	case 'c':
		return "consumer-" + f.Group + "-1"
	case 'b':
		switch {
		case m.API != "Fetch":
			return number
		case m.To == f.View.Controller.Node:
			return "raft-client-" + number
		}
		return "broker-" + number + "-fetcher-0"
	}
	return "adminclient-1"
}

// lastTwo shortens a path to its last two parts: "Partitions[2].Records".
func lastTwo(path string) string {
	parts := strings.Split(path, ".")
	return strings.Join(parts[max(len(parts)-2, 0):], ".")
}

// settingOf names the client's setting that a field carries.
var settingOf = map[string]string{
	"Acks": "acks", "MaxWaitMillis": "fetch.max.wait.ms", "MinBytes": "fetch.min.bytes", "MaxBytes": "fetch.max.bytes",
	"PartitionMaxBytes": "max.partition.fetch.bytes", "TimeoutMillis": "request.timeout.ms",
}

// meaning says what a field's value means here, and what can be opened.
func (f Frame) meaning(field labs.WireField, m engine.MessageView) (string, *view.Link) {
	n, _ := field.Content.(int64)
	switch field.Name {
	case "ErrorCode":
		if err := kerr.TypedErrorForCode(int16(n)); err != nil {
			return err.Message, nil
		}
		return "no error", nil
	case "TopicID":
		id, _ := field.Content.([16]byte)
		if topic, ok := f.View.Controller.Image.TopicByID(id); ok {
			return "the id of topic " + topic.Name, nil
		}
		if id == [16]byte{} {
			return "none: the topic is asked for by its name", nil
		}
		return "the id of __cluster_metadata", nil // the one topic that is in no image
	case "Records", "RecordBatches":
		data, _ := field.Content.([]byte)
		return f.batchesIn(data, field, m)
	case "Acks":
		if n == -1 {
			return "acks=all", nil
		}
	case "Timestamp":
		if word := map[int64]string{-1: "the latest offset", -2: "the earliest offset"}[n]; word != "" && m.API == "ListOffsets" {
			return word, nil
		}
	}
	if field.Content == nil && field.Value != "null" {
		return "written as one more, so that 0 is null", nil
	}
	if setting := settingOf[field.Name]; setting != "" {
		return setting, nil
	}
	return "", nil
}

// batchesIn says what batches a field of records holds; the first can be opened if it is in a log. Its
// partition stands in the field before, as both Produce and Fetch have it.
func (f Frame) batchesIn(data []byte, field labs.WireField, m engine.MessageView) (string, *view.Link) {
	if len(data) == 0 {
		return "no batch", nil
	}
	first, err := record.Parse(data)
	if err != nil {
		return err.Error(), nil
	}
	count, records := 0, 0
	for rest := data; ; count++ {
		b, err := record.Parse(rest)
		if errors.Is(err, record.ErrEnd) || errors.Is(err, record.ErrTorn) {
			break
		}
		if err != nil {
			return err.Error(), nil
		}
		rest, records = rest[b.Size():], records+int(b.RecordsCount)
	}
	text := fmt.Sprintf("%s with %s", kafka.Count(count, "batch"), kafka.Count(records, "record"))
	if first.PartitionLeaderEpoch < 0 {
		return text + "; base offset 0, as every producer sends it: no leader has it yet", nil
	}
	var topicIndex, index int
	if _, err := fmt.Sscanf(field.Path, "Topics[%d].Partitions[%d]", &topicIndex, &index); err != nil {
		return text, nil
	}
	response, ok := m.Message.Response.(*kmsg.FetchResponse)
	if !ok {
		return text, nil
	}
	tp := kafka.TopicPartition{Topic: f.Topic, Partition: kafka.Partition(response.Topics[topicIndex].Partitions[index].Partition)}
	link := labs.Open(f.Address, fmt.Sprintf("open-batch-%d", index), fmt.Sprintf("%s from offset %d", tp, first.BaseOffset), labs.Target{Kind: labs.BatchTarget, Partition: tp, Number: int64(first.BaseOffset)})
	return text + ":", &link
}
