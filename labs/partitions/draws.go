package partitions

import (
	"fmt"
	"math"
	"strconv"

	"loglab/engine"
	"loglab/labs"
)

// The ways in which the entities of the events are chosen.
const (
	drawInTurn  = "in-turn"
	drawUniform = "uniform"
	drawZipf    = "zipf"
	drawHot     = "hot-key"
)

// draws lists them.
func draws() []string { return []string{drawInTurn, drawUniform, drawZipf, drawHot} }

// zipfExponents are the exponents that can be chosen.
func zipfExponents() []string { return []string{"0.5", "0.8", "1.0", "1.2", "1.5", "2.0"} }

// workload is what the producers' applications send under these values.
func workload(v labs.Values) engine.Workload {
	entities, counts := entitiesOf(v.Text("keys"))
	w := engine.Workload{Entities: entities, KeyBy: engine.KeyBy(v.Text("key-by")), Rate: v.Int("rate"), Every: tickMillis}
	if len(entities) == 0 {
		return w
	}
	switch v.Text("draw") {
	case drawInTurn:
		w.Weights = counts
	case drawUniform:
		w.Weights = uniform(len(entities))
	case drawZipf:
		w.Weights = zipf(len(entities), v.Text("zipf"))
	case drawHot:
		w.Weights = hot(len(entities), v.Int("hot"))
	}
	return w
}

// uniform gives each of n entities the same weight.
func uniform(n int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

// zipf gives the entity number i, from 1, a weight in proportion to 1/i^exponent, in millionths of the
// first's.
func zipf(n int, exponent string) []int {
	s, err := strconv.ParseFloat(exponent, 64)
	if err != nil {
		panic(err) // one of zipfExponents
	}
	weights := make([]int, n)
	for i := range weights {
		weights[i] = max(int(math.Round(1e6*math.Pow(float64(i+1), -s))), 1)
	}
	return weights
}

// hot gives the first of n entities that many percent and the others equal parts of the rest.
func hot(n, percent int) []int {
	weights := make([]int, n)
	for i := range weights {
		weights[i] = 100 - percent
	}
	weights[0] = percent * max(n-1, 1)
	return weights
}

// drawSentence says how entities are chosen, for the reading.
func drawSentence(v labs.Values) string {
	switch _, counts := entitiesOf(v.Text("keys")); v.Text("draw") {
	case drawUniform:
		return "Each event’s entity is drawn, all with the same chance."
	case drawZipf:
		return "Each event’s entity is drawn by Zipf’s law: the i-th with a chance in proportion to 1/i^" + v.Text("zipf") + "."
	case drawHot:
		return fmt.Sprintf("Each event’s entity is drawn: the first in %d %% of the cases, the others equally often.", v.Int("hot"))
	default:
		if counts != nil {
			return "Each event’s entity is drawn in proportion to its count."
		}
		return "The events’ entities come in turn."
	}
}
