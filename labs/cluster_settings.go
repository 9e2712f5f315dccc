package labs

import (
	"fmt"
	"strconv"

	"loglab/engine/kafka"
)

// AcksNumber gives the text of acks as the producer has it: -1 is all.
func AcksNumber(text string) int16 {
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return -1 // all
	}
	return int16(n)
}

// PlaceInOrder gives partition p the brokers p+1, p+2, … and, after the last, 1 again.
func PlaceInOrder(partitions, rf, brokers int) [][]kafka.BrokerID {
	list := make([][]kafka.BrokerID, partitions)
	for p := range list {
		for i := range rf {
			list[p] = append(list[p], kafka.BrokerID((p+i)%brokers+1))
		}
	}
	return list
}

// CheckReplicas refuses a replication factor, the setting rf, that is greater than the number of brokers.
func CheckReplicas(rf, brokers int) error {
	if rf <= brokers {
		return nil
	}
	return &AddressError{
		Param: "rf", Found: fmt.Sprintf("%d, with %s", rf, kafka.Count(brokers, "broker")),
		Allowed: fmt.Sprintf("a replication factor of at most %d: every replica needs a broker of its own. Kafka answers INVALID_REPLICATION_FACTOR", brokers),
	}
}
