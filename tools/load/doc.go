// Command load measures a server under load: it starts the binary on a free port, steps through one
// address with thirty clients as a class would, then once more among hostile clients, and prints how long
// a step's answer took, what the hostile clients got and how much memory the server held.
//
// The clients run on the same machine, so they take part of its cores. A step is the request that
// static/lab.js makes: the frame of the next tick, compressed, on a connection that stays open.
//
// It exits with status 1 when an aim is missed: 50 ms for 95 of 100 steps, 200 ms among hostile clients,
// and no answer to a hostile client but a page, a refusal that says why, or 503 with Retry-After.
//
// What is left out: the network between class and server, browsers, and floods of requests that cost the
// server next to nothing each, which are a matter for whatever stands in front of it.
//
//	go run ./tools/load -bin bin/loglab -for 1m
package main
