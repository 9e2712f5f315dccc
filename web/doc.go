// Package web serves Log Lab over HTTP: pages, single frames of a lab, and streams of frames while
// playing.
//
// routes.go lists every path, top to bottom. A handler writes its answer or returns an error; one adapter
// (problem.go) turns an error into a status and a page that names what was wrong, what was found and what
// is allowed. Nothing is kept between requests but the cache of replayed runs, so any server can answer any
// address, and the store of what is too long for an address (store.go): an address with "from" needs the
// server that has its head.
//
// /file is where a reader sends a segment of a real broker, and /file/segment shows it (file.go, labs/uploads): plain pages
// of links and forms, without a transport, since nothing runs. The path is that of files, beside /file/lab, which gives an
// address as one; what is sent is kept for an hour in the same store, and such an address needs the server that has the
// files. Under /disk a lab that shows the files of a simulated broker gives them as they are at an address (disk.go).
//
// /capacity is a form whose state is its address (capacity.go, labs/capacity). What a field cannot take is answered 400 with
// the form, and stands at the field.
//
// Invariants:
//   - A page under /lab or /embed/lab, and /capacity, has exactly its canonical address; another spelling is answered 307. Paths
//     under /frame and /play never redirect: the canonical address stands in data-address.
//   - What is under /embed/ may stand in a frame of any site, and nothing else in any frame (secure.go). No
//     answer depends on who asks: no cookie, no session.
//   - The element #lab of a page and the frame of the same address are the same bytes.
//   - No answer holds inline script or style, and no text of a reader reaches one as anything but text.
//   - No carriage return is sent in a stream: a client ends a line there, so it could forge an event.
//   - The bytes of a reader's file are shown as text or sent as an attachment, and the name it had is on no page.
//   - A stream ends at the horizon of its address, when the client goes, and when the server stops.
//
// A scenario is served by the handlers of labs: its address begins where the scenario says instead of where a lab does
// (lab.go, scenario.go). Those of a teacher's directory are read again while the server runs, and a file that is wrong
// is an error page with its lines.
//
// A lesson is a page of text with still frames of labs inside, drawn by the server as any frame is; the live frame of the
// same address takes the place of one when its reader asks (lesson.go, static/lesson.js).
//
//	site, err := web.New(slog.Default(), texts)
//	err = site.Serve(ctx, listener) // until ctx is done
package web
