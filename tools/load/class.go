package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// apart is the distance in ticks between one client of the class and the next, so that each shows frames
// that no other has asked for.
const apart = 40

// times are how long answers took.
type times []time.Duration

// errBusy is the server's 503.
var errBusy = errors.New("the server is busy")

// class opens one address at thirty ticks, calls opened, and steps with all thirty clients until ctx is
// done: three steps forward and one back, over and over; with think, as fast as a person presses.
//
// Busy is how many steps were answered with 503; they are asked for again.
func class(ctx context.Context, s *server, think bool, opened func()) (all times, busy int, failed error) {
	var mu sync.Mutex
	var open sync.WaitGroup
	open.Add(classSize)
	go func() { open.Wait(); opened() }()
	var clients sync.WaitGroup
	// A part must not find the frames of the one before.
	seed := rand.Uint32()
	for i := range classSize {
		clients.Go(func() {
			took, refused, err := step(ctx, s, seed, i*apart, think, &open)
			mu.Lock()
			defer mu.Unlock()
			all, busy, failed = append(all, took...), busy+refused, errors.Join(failed, err)
		})
	}
	clients.Wait()
	slices.Sort(all)
	if failed == nil && len(all) == 0 {
		failed = errors.New("no step was answered")
	}
	return all, busy, failed
}

// step is one client. Opening its first frame is no step.
func step(ctx context.Context, s *server, seed uint32, tick int, think bool, open *sync.WaitGroup) (took times, busy int, err error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n := 0; ; n++ {
		begin := time.Now()
		err := frame(ctx, client, fmt.Sprintf("%s/frame/lab/partitions?v=1&seed=%d&t=%d", s.url, seed, tick))
		if ctx.Err() != nil {
			return took, busy, nil
		}
		if errors.Is(err, errBusy) {
			busy++
			n--
			pause(ctx, time.Second)
			continue
		}
		if err != nil {
			return took, busy, err
		}
		if n > 0 {
			took = append(took, time.Since(begin))
		} else {
			open.Done()
			open.Wait()
		}
		if think {
			pause(ctx, 500*time.Millisecond+rand.N(500*time.Millisecond))
		}
		if tick++; n%4 == 3 {
			tick -= 2
		}
	}
}

// frame asks for a frame and reads it whole.
func frame(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip") // set here, it is not unpacked
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusServiceUnavailable {
		return errBusy
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("%s: %s, encoding %q", url, answer.Status, answer.Header.Get("Content-Encoding"))
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func pause(ctx context.Context, span time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(span):
	}
}

// at gives a percentile of sorted times.
func (t times) at(percent int) time.Duration { return t[(len(t)-1)*percent/100] }

func (t times) print(name string, span time.Duration, busy int) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Printf("%-34s %7d %8.0f %8.1f %8.1f %8.1f %8.1f %6d\n", name, len(t), float64(len(t))/span.Seconds(),
		ms(t.at(50)), ms(t.at(95)), ms(t.at(99)), ms(t.at(100)), busy)
}
