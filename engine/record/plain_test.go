package record

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The short way through a record gives what the long way gives, or steps aside; also on damaged bytes.
func TestPlainAndFullDecodingAgree(t *testing.T) {
	taken := 0
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		var data []byte
		text := func() []byte {
			if rnd.IntN(6) == 0 {
				return nil
			}
			return make([]byte, rnd.IntN(200)/(1+rnd.IntN(3)))
		}
		var headers []Header
		for range rnd.IntN(5) / 3 {
			headers = append(headers, Header{Key: "h", Value: text()})
		}
		data = appendRecord(data, int32(rnd.IntN(9_000)), rnd.Int64N(18_000)-9_000, text(), text(), headers)
		for range rnd.IntN(4) / 3 {
			data[rnd.IntN(min(len(data), 12))] = byte(rnd.Uint32())
		}
		if rnd.IntN(3) == 0 {
			data = data[:len(data)-rnd.IntN(2)]
		} else {
			data = append(data, make([]byte, rnd.IntN(3))...)
		}
		plain := Scanner{batch: Batch{BaseOffset: 7, BaseTimestamp: 1000}, data: data}
		full := plain
		if !plain.decodePlain() {
			if diff := cmp.Diff(Scanner{batch: full.batch, data: data}.record, plain.record); diff != "" || plain.at != 0 {
				t.Fatalf("seed %d: the short way stepped aside but changed the scanner: at %d\n%s", seed, plain.at, diff)
			}
			continue
		}
		taken++
		if err := full.decode(); err != nil {
			t.Fatalf("seed %d: the short way read what the long way refuses: %v", seed, err)
		}
		if diff := cmp.Diff(full.record, plain.record); diff != "" || full.at != plain.at {
			t.Fatalf("seed %d: (-long +short), at %d and %d:\n%s", seed, full.at, plain.at, diff)
		}
	}
	if taken < 4000 {
		t.Errorf("the short way was taken %d times in 20,000", taken)
	}
}
