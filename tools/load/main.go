package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"
)

// The aims: how long 95 of 100 steps take at most.
const (
	aim        = 50 * time.Millisecond
	hostileAim = 200 * time.Millisecond
)

// classSize is how many clients step.
const classSize = 30

func main() {
	binary := flag.String("bin", "bin/loglab", "the server's binary")
	span := flag.Duration("for", time.Minute, "how long each part takes; the closed loop takes a sixth of it")
	flag.Parse()
	met, err := run(*binary, *span)
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	if !met {
		fmt.Println("An aim was missed.")
		os.Exit(1)
	}
}

// run makes all measurements on one server, one after another.
func run(binary string, span time.Duration) (met bool, err error) {
	s, err := start(binary)
	if err != nil {
		return false, err
	}
	defer s.stop()
	fmt.Printf("%-34s %7s %8s %8s %8s %8s %8s %6s\n", "", "steps", "steps/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "503s")
	met = true
	part := func(name string, span time.Duration, think bool, hostile *attack, aim time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), span)
		defer cancel()
		took, busy, err := class(ctx, s, think, func() { hostile.run(ctx, s) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		hostile.wait()
		took.print(name, span, busy)
		if aim > 0 && (took.at(95) > aim || busy > 0) {
			met = false
		}
		return s.printUse()
	}
	if err := part("thirty, a step each 0.5 to 1 s", span, true, nil, aim); err != nil {
		return false, err
	}
	if err := part("thirty, each step at once", span/6, false, nil, 0); err != nil {
		return false, err
	}
	hostile := newAttack()
	if err := part("thirty among hostile clients", span, true, hostile, hostileAim); err != nil {
		return false, err
	}
	return hostile.print() && met, nil
}
