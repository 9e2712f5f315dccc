package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"loglab/engine/record"
)

// writeJSON writes the batch as one line. The records are written one by one, not gathered. Keys and their
// order are a contract with scripts.
func (b *dumpedBatch) writeJSON(out *printer, anatomy bool) {
	b.writeHeaderJSON(out)
	if b.readable {
		out.text(`,"records":[`)
		s := b.records
		for comma := ""; s.Next(); comma = "," {
			out.text(comma)
			writeRecordJSON(out, s.Current())
		}
		out.text("]")
	}
	if anatomy {
		fields, inner := b.fields()
		writeFieldsJSON(out, "anatomy", fields)
		if inner != nil {
			writeFieldsJSON(out, "records_anatomy", inner)
		}
	}
	out.text("}\n")
	out.wrote()
}

// writeHeaderJSON writes the part of a batch's object that stands before the records.
func (b *dumpedBatch) writeHeaderJSON(out *printer) {
	out.int(`{"base_offset":`, int64(b.BaseOffset))
	out.int(`,"batch_length":`, int64(b.BatchLength))
	out.int(`,"partition_leader_epoch":`, int64(b.PartitionLeaderEpoch))
	out.int(`,"magic":`, int64(b.Magic))
	out.int(`,"crc32c":`, int64(b.CRC))
	out.bool(`,"crc_valid":`, b.crcValid)
	out.int(`,"attributes":`, int64(b.Attributes))
	out.text(`,"compression":"`)
	out.text(b.Attributes.Codec().String())
	out.bool(`","transactional":`, b.Attributes.Transactional())
	out.bool(`,"control":`, b.Attributes.Control())
	out.int(`,"last_offset_delta":`, int64(b.LastOffsetDelta))
	out.int(`,"base_timestamp":`, int64(b.BaseTimestamp))
	out.int(`,"max_timestamp":`, int64(b.MaxTimestamp))
	out.int(`,"producer_id":`, int64(b.ProducerID))
	out.int(`,"producer_epoch":`, int64(b.ProducerEpoch))
	out.int(`,"base_sequence":`, int64(b.BaseSequence))
	out.int(`,"num_records":`, int64(b.RecordsCount))
}

func writeRecordJSON(out *printer, r *record.Record) {
	b := append(out.b, `{"offset":`...)
	b = out.offsets.append(b, int64(r.Offset))
	b = append(b, `,"timestamp":`...)
	out.b = out.timestamps.append(b, int64(r.Timestamp))
	out.hexOrNull(`,"key_hex":`, r.Key)
	out.hexOrNull(`,"value_hex":`, r.Value)
	out.text(`,"headers":[`)
	for i, h := range r.Headers {
		if i > 0 {
			out.text(",")
		}
		out.text(`{"key":`)
		out.Write(marshal(h.Key))
		out.hexOrNull(`,"value_hex":`, h.Value)
		out.text("}")
	}
	out.text("]}")
	out.wrote()
}

type fieldJSON struct {
	Name    string `json:"name"`
	Offset  int    `json:"offset"`
	Width   int    `json:"width"`
	Hex     string `json:"hex"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
	Record  int    `json:"record"`
}

func writeFieldsJSON(out *printer, name string, fields []record.Field) {
	fmt.Fprintf(out, ",%q:[", name)
	for i, f := range fields {
		if i > 0 {
			out.text(",")
		}
		out.Write(marshal(fieldJSON{
			Name: f.Name, Offset: f.Offset, Width: f.Width, Hex: hex.EncodeToString(f.Raw),
			Value: f.Value, Meaning: f.Meaning, Record: f.Record,
		}))
	}
	out.text("]")
}

// marshal encodes a string or one of our structs, which can't fail.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("loglab dump: %v", err))
	}
	return b
}
