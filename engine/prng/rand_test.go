package prng

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The first five numbers of SplitMix64 for the seed 1234567, as published at Rosetta Code
// ("Pseudo-random numbers/Splitmix64") for Vigna's splitmix64.c, and the first four for the seed 0.
func TestSplitMix64PublishedVectors(t *testing.T) {
	for _, test := range []struct {
		seed uint64
		want []uint64
	}{
		{1234567, []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}},
		{0, []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec}},
	} {
		mixer := splitMix64{state: test.seed}
		for i, want := range test.want {
			if got := mixer.next(); got != want {
				t.Errorf("seed %d, number %d: got %#x, want %#x", test.seed, i, got, want)
			}
		}
	}
}

// The vector that Go publishes for its PCG-DXSM with the state (1, 2): math/rand/v2, TestPCG.
func TestUint64PublishedVector(t *testing.T) {
	r := Rand{hi: 1, lo: 2}
	for i, want := range []uint64{
		0xc4f5a58656eef510, 0x9dcec3ad077dec6c, 0xc8d04605312f8088, 0xcbedc0dcb63ac19a,
		0x3bf98798cae97950, 0x0a8c6d7f8d485abc, 0x7ffa3780429cd279, 0x730ad2626b1c2f8e,
		0x21ff2330f4a0ad99, 0x2f0901a1947094b0, 0xa9735a3cfbe36cef, 0x71ddb0a01a12c84a,
		0xf0e53e77a78453bb, 0x1f173e9663be1e9d, 0x657651da3ac4115e, 0xc8987376b65a157b,
		0xbb17008f5fca28e7, 0x8232bd645f29ed22, 0x12be8f07ad14c539, 0x54908a48e8e4736e,
	} {
		if got := r.Uint64(); got != want {
			t.Errorf("number %d: got %#x, want %#x", i, got, want)
		}
	}
}

// Judge: Go's own PCG-DXSM from the same state.
func TestUint64EqualsGo(t *testing.T) {
	for seed := uint64(0); seed < 200; seed++ {
		r := New(seed)
		judge := rand.NewPCG(r.hi, r.lo)
		for i := range 50 {
			if got, want := r.Uint64(), judge.Uint64(); got != want {
				t.Fatalf("seed %d, number %d: got %#x, want %#x", seed, i, got, want)
			}
		}
	}
}

func TestNameHashEqualsGo(t *testing.T) {
	for _, name := range []string{"", "a", "simnet", "producer-1", "日本"} {
		judge := fnv.New64a()
		judge.Write([]byte(name))
		if got, want := fnv1a64(name), judge.Sum64(); got != want {
			t.Errorf("%q: got %#x, want %#x", name, got, want)
		}
	}
}

func draw(r *Rand, count int) []uint64 {
	numbers := make([]uint64, count)
	for i := range numbers {
		numbers[i] = r.Uint64()
	}
	return numbers
}

func TestCopyIsAClone(t *testing.T) {
	r := New(7)
	draw(r, 3)
	clone := *r
	want := draw(r, 5)
	if diff := cmp.Diff(want, draw(&clone, 5)); diff != "" {
		t.Errorf("the copy draws other numbers (-original +copy):\n%s", diff)
	}
	ahead := *r
	draw(&ahead, 100)
	if ahead == *r {
		t.Error("draws from a copy moved the original")
	}
}

func TestSplitDoesNotDependOnDraws(t *testing.T) {
	fresh, used := New(42), New(42)
	draw(used, 1000)
	if fresh.Split("simnet") != used.Split("simnet") {
		t.Error("a split after 1000 draws differs from a split before any")
	}
	freshChild, usedChild := fresh.Split("client"), used.Split("client")
	draw(&usedChild, 10)
	if freshChild.Split("p0") != usedChild.Split("p0") {
		t.Error("a split of a split depends on draws")
	}
}

func TestSplitStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	record := func(r *Rand, what string) {
		first := r.Uint64()
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s begin with the same number", what, other)
		}
		seen[first] = what
	}
	for seed := uint64(0); seed < 50; seed++ {
		record(New(seed), fmt.Sprintf("seed %d", seed))
		for _, name := range []string{"", "a", "b", "ab", "ba", "simnet", "simdisk", "p0", "p1"} {
			child := New(seed).Split(name)
			grandchild := child.Split(name)
			record(&child, fmt.Sprintf("seed %d split %q", seed, name))
			record(&grandchild, fmt.Sprintf("seed %d split %q twice", seed, name))
		}
	}
}

func TestIntNStaysInRangeAndIsEven(t *testing.T) {
	const seed, perValue = 5, 10_000
	for _, n := range []int{1, 2, 3, 7, 10, 64} {
		r := New(seed)
		counts := make([]int, n)
		for range n * perValue {
			counts[r.IntN(n)]++
		}
		for value, count := range counts {
			// 10,000 expected; the deviation is below 100, and 5 of them are allowed.
			if count < perValue-500 || count > perValue+500 {
				t.Errorf("seed %d: IntN(%d) gave %d %d times, want about %d", seed, n, value, count, perValue)
			}
		}
	}
}

// With n = 3·2^61 a quarter of all draws must be thrown away. A plain remainder of 64 bits would give
// the upper third of the range 2/8 of the results; a multiplication without rejection would give the
// results with remainder 2 by 3 as few.
func TestIntNHasNoBiasForLargeN(t *testing.T) {
	const seed, draws = 11, 30_000
	const n = 3 << 61
	r := New(seed)
	var byRemainder, byThird [3]int
	for range draws {
		value := r.IntN(n)
		byRemainder[value%3]++
		byThird[value>>61]++
	}
	for i := range 3 {
		for _, count := range []int{byRemainder[i], byThird[i]} {
			if count < draws/3-500 || count > draws/3+500 {
				t.Errorf("seed %d: class %d came %d times of %d, want about a third", seed, i, count, draws)
			}
		}
	}
}

func TestIntNPanicsUnlessPositive(t *testing.T) {
	for _, n := range []int{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d) did not panic", n)
				}
			}()
			New(1).IntN(n)
		}()
	}
}

func TestUint32AndFloat64ComeFromTheUpperBits(t *testing.T) {
	const seed = 3
	r := New(seed)
	source := *r
	for i := range 1000 {
		word := source.Uint64()
		if i%2 == 0 {
			if got, want := r.Uint32(), uint32(word>>32); got != want {
				t.Fatalf("seed %d, number %d: Uint32 got %#x, want %#x", seed, i, got, want)
			}
			continue
		}
		got := r.Float64()
		if want := float64(word>>11) * 0x1p-53; got != want || got < 0 || got >= 1 {
			t.Fatalf("seed %d, number %d: Float64 got %v, want %v in [0, 1)", seed, i, got, want)
		}
	}
}

func BenchmarkUint64(b *testing.B) {
	r := New(1)
	for b.Loop() {
		r.Uint64()
	}
}
