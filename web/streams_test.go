package web

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

func TestAClientHasAtMostSoManyStreams(t *testing.T) {
	s := newStreams()
	var release func()
	for range maxStreamsOfAddress {
		var ok bool
		if release, ok = s.admit("a"); !ok {
			t.Fatal("refused below the bound")
		}
	}
	if _, ok := s.admit("a"); ok {
		t.Error("admitted one more than the bound")
	}
	if _, ok := s.admit("b"); !ok {
		t.Error("another client was refused")
	}
	release()
	if _, ok := s.admit("a"); !ok {
		t.Error("refused although one had ended")
	}
}

func TestTheServerHasAtMostSoManyStreams(t *testing.T) {
	s := newStreams()
	for i := range maxStreams {
		if _, ok := s.admit(strconv.Itoa(i)); !ok {
			t.Fatal("refused below the bound")
		}
	}
	if _, ok := s.admit("one more"); ok {
		t.Error("admitted one more than the bound")
	}
	if got := s.count(); got != maxStreams {
		t.Errorf("count is %d, want %d", got, maxStreams)
	}
}

// Of many streams only so many frames are made at once, and who has gone does not wait.
func TestStreamsTakeTurns(t *testing.T) {
	s := newStreams()
	var done func()
	for range cap(s.turns) {
		var err error
		if done, err = s.turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.turn(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("one more at once: %v", err)
	}
	done()
	if _, err := s.turn(t.Context()); err != nil {
		t.Errorf("after one is done: %v", err)
	}
}

func TestStreamsThatEndedTakeNoMemory(t *testing.T) {
	s := newStreams()
	for i := range 1000 {
		release, ok := s.admit(strconv.Itoa(i))
		if !ok {
			t.Fatal("refused")
		}
		release()
	}
	if len(s.open) != 0 || s.count() != 0 {
		t.Errorf("%d clients and %d streams are left", len(s.open), s.count())
	}
}

func TestAClientIsItsAddressWithoutThePort(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.1:5000": "192.0.2.1", "[2001:db8::1]:80": "2001:db8::1", "pipe": "pipe"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		if got := clientOf(r); got != want {
			t.Errorf("clientOf(%q) = %q, want %q", remote, got, want)
		}
	}
}

func TestThePacerSkipsToTheTickThatIsDue(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := pacer{begin: begin, first: 5, last: 20, interval: 500 * time.Millisecond}
	for _, test := range []struct {
		after time.Duration
		want  int
	}{{0, 5}, {499 * time.Millisecond, 5}, {500 * time.Millisecond, 6}, {2250 * time.Millisecond, 9}, {time.Hour, 20}} {
		if got := p.due(begin.Add(test.after)); got != test.want {
			t.Errorf("after %v tick %d is due, want %d", test.after, got, test.want)
		}
	}
	if got, want := p.dueAt(7), begin.Add(time.Second); !got.Equal(want) {
		t.Errorf("tick 7 is due at %v, want %v", got, want)
	}
}
