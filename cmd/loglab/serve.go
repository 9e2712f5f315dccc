package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	"loglab/labs/store"
	"loglab/web"
)

// serveCmd serves the pages until it is interrupted. It writes no file that it was not told to: a lab starts
// wherever the binary runs, and only links that are too long for an address need a file to outlive it.
type serveCmd struct {
	Addr      string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on. An empty host, as in :8080, means every address of this machine."`
	Scenarios string `placeholder:"DIR" help:"Serve the scenario files of this directory too, NAME.yaml, and read them again when they change."`
	Data      string `placeholder:"FILE" help:"Keep what is too long for an address in this file, made where there is none. Without it such links end with the server."`
}

// memoryLimit is what the collector of garbage keeps the server within: 256 MiB of cached runs and pages, a
// long replay on every core but one with 100 MB each, the answers under way, and room so that garbage need
// not be collected all the time. GOMEMLIMIT sets another.
const memoryLimit = 640 << 20

// Run prints the addresses the server can be reached at on std.Out, and one line a request on std.Err.
func (c *serveCmd) Run(std *stdio) error {
	texts, err := store.Open(c.Data)
	if err != nil {
		return badInput("--data %s: %v", c.Data, err)
	}
	defer texts.Close()
	site, err := web.New(slog.New(slog.NewTextHandler(std.Err, nil)), texts)
	if err != nil {
		return exitError{Code: exitNo, Msg: err.Error()}
	}
	if c.Scenarios != "" {
		if err := site.AddScenarios(c.Scenarios); err != nil {
			return badInput("--scenarios %s: %v", c.Scenarios, err)
		}
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(memoryLimit)
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return badInput("--addr %s: %v", c.Addr, cause(err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fmt.Fprintln(std.Out, "Log Lab can be reached at")
	for _, url := range reachable(listener.Addr()) {
		fmt.Fprintln(std.Out, "  "+url)
	}
	if err := site.Serve(ctx, listener); err != nil {
		return exitError{Code: exitNo, Msg: err.Error()}
	}
	return nil
}

// cause drops what the message around an error would say twice: the operation and the address.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// reachable lists the URLs at which a listener answers: its own address, or, where it listens on all,
// one for each address of this machine that another machine could use, loopback first.
func reachable(listening net.Addr) []string {
	at, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return []string{listening.String()}
	}
	if !at.Addr().IsUnspecified() {
		return []string{pageURL(at.Addr(), at.Port())}
	}
	urls := []string{"http://localhost:" + strconv.Itoa(int(at.Port())) + "/"}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return urls
	}
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			urls = append(urls, pageURL(prefix.Addr(), at.Port()))
		}
	}
	return urls
}

func pageURL(addr netip.Addr, port uint16) string {
	return "http://" + netip.AddrPortFrom(addr.Unmap(), port).String() + "/"
}
