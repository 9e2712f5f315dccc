package inspect

import (
	"fmt"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/txn"
	"loglab/labs"
	"loglab/labs/view"
)

// transactionRecord shows a record of __transaction_state: what its key and value say, field by field.
func (l Log) transactionRecord(in *view.Inspector, at Location) {
	r := at.Record
	id, err := txn.DecodeKey(r.Key)
	if err != nil {
		in.AddFact("Key", "%v", err)
		return
	}
	in.AddFact("Key", "type %d, transactional.id %s", txn.TypeTransactionLog, id)
	in.AddFact("Value", "%s", transactionWords(id, r.Value))
	keyFields, _ := txn.KeyAnatomy(r.Key)
	valueFields, _ := txn.ValueAnatomy(r.Value)
	l.keptRecord(in, at, keyFields, valueFields)
}

// transactionWords says what a value of __transaction_state says.
func transactionWords(id string, value []byte) string {
	if value == nil {
		return tombstoneWords
	}
	v, err := txn.DecodeValue(id, value)
	if err != nil {
		return err.Error()
	}
	words := fmt.Sprintf("version %d: %s, producer id %d with epoch %d, timeout %s ms", v.Version, v.State, v.ProducerID, v.ProducerEpoch, kafka.Thousands(int64(v.Timeout)))
	if len(v.Partitions) > 0 {
		words += "; of " + strings.Join(labs.PartitionNames(v.Partitions), ", ")
	}
	if v.Start >= 0 {
		words += "; begun " + sinceStart(v.Start)
	}
	return words
}

// transactionRecords lists the last records of a partition of __transaction_state, each of which can be opened.
func (l Log) transactionRecords() view.Table {
	return l.lastRecords("transaction-records", func(r labs.StoredRecord) (key, value string, ok bool) {
		id, err := txn.DecodeKey(r.Key)
		return id, transactionWords(id, r.Value), err == nil
	})
}

// OpenTransactions adds a link to the log that keeps a transactional.id, once there is one.
func (f Frame) OpenTransactions(in *view.Inspector, id string) {
	for _, t := range f.View.Transactions {
		if t.TransactionalID != id {
			continue
		}
		if _, ok := f.LogOf(t.Partition); ok {
			in.Links = append(in.Links, labs.Open(f.Address, "open-transactions", t.Partition.String()+", which keeps its transactions", labs.Target{Kind: labs.PartitionTarget, Partition: t.Partition}))
		}
	}
}
