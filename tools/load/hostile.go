package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// How many hostile clients there are of each kind.
const (
	greedy      = 100 // ask for the largest runs, each a new one
	deaf        = 80  // open streams and read nothing
	slow        = 200 // send a request's head a byte at a time
	owing       = 100 // announce a body that does not come
	afterBusy   = 100 * time.Millisecond
	slowEvery   = time.Second
	giveUpAfter = 30 * time.Second
)

// attack is what hostile clients do and what they got.
type attack struct {
	mu      sync.Mutex
	answers map[string]times // by kind of client and what the answer was
	wrong   []string         // answers that should not be
	clients sync.WaitGroup
}

func newAttack() *attack { return &attack{answers: map[string]times{}} }

// run starts the clients, which end soon after ctx is done. A nil attack is none.
func (a *attack) run(ctx context.Context, s *server) {
	if a == nil {
		return
	}
	for i := range greedy {
		a.clients.Go(func() { a.askForMuch(ctx, s, i) })
	}
	for range deaf {
		a.clients.Go(func() { a.readNothing(ctx, s) })
	}
	for range slow {
		a.clients.Go(func() { a.sendSlowly(ctx, s) })
	}
	for range owing {
		a.clients.Go(func() { a.oweBody(ctx, s) })
	}
}

// wait waits until all clients have ended.
func (a *attack) wait() {
	if a != nil {
		a.clients.Wait()
	}
}

// largest are queries that cost the most, each in its own way. The seed is left out.
var largest = []string{
	"partitions=64&consumers=64&keys=1000&rate=100&t=5000",                                                                   // past the bound of events
	"partitions=64&consumers=64&keys=1000&rate=8&t=5000",                                                                     // long and within it
	"partitions=64&consumers=64&keys=1000&rate=100&t=400",                                                                    // much on one page
	"keys=" + url.QueryEscape(manyLines(500, func(i int) string { return fmt.Sprint("k", i) })) + "&rate=3&t=5000",           // own keys
	"do=" + url.QueryEscape(manyLines(200, func(i int) string { return fmt.Sprintf("%d:wait 1s", i*20) })) + "&t=5000",       // commands
	"consumers=64&partitions=64&rate=100&t=300&at=segment:orders-0:0", "consumers=64&partitions=64&rate=100&t=300&why=90000", // inspectors
	"rate=100&partitions=1&t=600&at=batch:orders-0:5000",
}

func manyLines(n int, line func(int) string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(i)
	}
	return strings.Join(lines, "\n")
}

// askForMuch asks for one of the largest runs after another, each with a new seed; every third client
// goes away before the answer.
func (a *attack) askForMuch(ctx context.Context, s *server, i int) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n := i; ctx.Err() == nil; n++ {
		patience := giveUpAfter
		if i%3 == 2 {
			patience = 200 * time.Millisecond
		}
		begin := time.Now()
		got, wrong := a.ask(ctx, client, patience, fmt.Sprintf("%s/frame/lab/partitions?v=1&%s&seed=%d", s.url, largest[n%len(largest)], rand.Uint32()))
		if ctx.Err() != nil {
			return
		}
		if got == "gone before the answer" && patience == giveUpAfter {
			wrong = fmt.Sprintf("no answer in %v", giveUpAfter)
		}
		a.count("asks for much: "+got, time.Since(begin), wrong)
		if got != "200" {
			pause(ctx, afterBusy)
		}
	}
}

// ask gives the status of an answer, and what is wrong with it.
func (a *attack) ask(ctx context.Context, client *http.Client, patience time.Duration, url string) (got, wrong string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "no request", err.Error()
	}
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := client.Do(request)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	switch {
	case ctx.Err() != nil:
		return "gone before the answer", ""
	case err != nil:
		return "no answer", err.Error()
	}
	status := fmt.Sprint(answer.StatusCode)
	switch answer.StatusCode {
	case http.StatusOK, http.StatusUnprocessableEntity:
	case http.StatusServiceUnavailable:
		if answer.Header.Get("Retry-After") == "" {
			wrong = "503 without Retry-After"
		}
	default:
		wrong = fmt.Sprintf("%s: %s", answer.Status, url[:min(len(url), 200)])
	}
	return status, wrong
}

// readNothing opens a long stream and reads nothing of it. The server gives up on it in its own time.
func (a *attack) readNothing(ctx context.Context, s *server) {
	for ctx.Err() == nil {
		a.onWire(ctx, s, "reads nothing", func(c net.Conn) {
			c.(*net.TCPConn).SetReadBuffer(4096)
			fmt.Fprintf(c, "GET /play/lab/partitions?v=1&seed=%d&horizon=5000&pace=10&rate=20 HTTP/1.1\r\nHost: x\r\n\r\n", rand.Uint32())
			pause(ctx, giveUpAfter)
		})
	}
}

// sendSlowly sends the head of a request, a byte a second, until the server hangs up.
func (a *attack) sendSlowly(ctx context.Context, s *server) {
	for ctx.Err() == nil {
		a.onWire(ctx, s, "sends slowly", func(c net.Conn) {
			fmt.Fprint(c, "GET /lab/partitions HTTP/1.1\r\nHost: x\r\nX-Long: ")
			for ctx.Err() == nil {
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
				pause(ctx, slowEvery)
			}
		})
	}
}

// oweBody asks for one of the few things at once and announces a body that does not come, until the server hangs up.
func (a *attack) oweBody(ctx context.Context, s *server) {
	for ctx.Err() == nil {
		a.onWire(ctx, s, "owes a body", func(c net.Conn) {
			fmt.Fprint(c, "GET /disk/lab/segments?v=1&t=400 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
			c.SetReadDeadline(time.Now().Add(giveUpAfter))
			io.Copy(io.Discard, c)
		})
	}
}

// onWire does something on a connection of its own.
func (a *attack) onWire(ctx context.Context, s *server, name string, do func(net.Conn)) {
	begin := time.Now()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		a.count(name+": no connection", time.Since(begin), "")
		pause(ctx, time.Second)
		return
	}
	defer c.Close()
	do(c)
	if ctx.Err() == nil {
		a.count(name+": connections", time.Since(begin), "")
	}
}

func (a *attack) count(what string, took time.Duration, wrong string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[what] = append(a.answers[what], took)
	if wrong != "" {
		a.wrong = append(a.wrong, wrong)
	}
}

// print says what the clients got, and whether all of it was as it should be.
func (a *attack) print() (ok bool) {
	var names []string
	for name, took := range a.answers {
		names = append(names, name)
		slices.Sort(took)
	}
	slices.Sort(names)
	fmt.Println("hostile clients:")
	for _, name := range names {
		took := a.answers[name]
		fmt.Printf("  %-42s %6d, p50 %.2f s, max %.2f s\n", name, len(took), took.at(50).Seconds(), took.at(100).Seconds())
	}
	for i, wrong := range a.wrong {
		if i == 5 {
			fmt.Printf("  and %d more\n", len(a.wrong)-i)
			break
		}
		fmt.Println("  wrong:", wrong)
	}
	return len(a.wrong) == 0
}
