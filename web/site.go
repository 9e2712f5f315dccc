package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"loglab/content"
	"loglab/labs"
	"loglab/labs/lesson"
	"loglab/labs/scenario"
	"loglab/labs/store"
	"loglab/static"
	"loglab/web/page"
)

// cacheBytes is how much memory replayed runs may take.
const cacheBytes = 256 << 20

// Site is the whole site. Make one with [New]; it is safe for concurrent use.
type Site struct {
	runs      *labs.Runs
	glossary  lesson.Glossary
	known     scenario.Known // what a scenario can refer to
	scenarios *scenario.Library
	lessons   lesson.Lessons
	files     *static.Files
	assets    page.Assets
	streams   *streams
	store     *store.Store
	posts     gate // forms that are being read
	fromHead  gate // requests that hold a stored head
	metrics   *metrics
	previews  sync.Map // a picture of each lab and scenario that was asked for, by its path
	log       *slog.Logger

	uploads   gate // readers' files that are being sent
	fileViews gate // that are being taken apart
	copies    gate // that are being sent back
	runCopies gate // runs that are replayed and sent as files or as a scenario
}

// New makes the site; it keeps long addresses in texts, which the caller closes afterwards. It fails when
// the embedded glossary is wrong or the browser bundle is missing; an embedded scenario that is wrong is told to the log.
func New(log *slog.Logger, texts *store.Store) (*Site, error) {
	glossary, err := lesson.LoadGlossary(content.FS)
	if err != nil {
		return nil, err
	}
	known := KnownToScenarios(glossary)
	shipped := shippedScenarios(content.FS, known, log)
	scenarios, err := scenario.NewLibrary(shipped, "", known, log)
	if err != nil {
		return nil, err
	}
	lessons, err := lesson.LoadLessons(content.FS, knownToLessons(glossary, shipped))
	if err != nil {
		return nil, err
	}
	files, err := static.New()
	if err != nil {
		return nil, err
	}
	s := &Site{
		runs:      labs.NewRuns(cacheBytes),
		glossary:  glossary,
		known:     known,
		scenarios: scenarios,
		lessons:   lessons,
		files:     files,
		assets: page.Assets{
			Style:    files.Path("lab.css"),
			Script:   files.Path("lab.js"),
			Bytes:    files.Path("bytes.js"),
			Icon:     files.Path("icon.svg"),
			Datastar: files.Path("datastar.js"),
			Parent:   files.Path("parent.js"),
			Lesson:   files.Path("lesson.js"),
		},
		streams:  newStreams(),
		store:    texts,
		posts:    newGate(maxPosts, errPosts),
		fromHead: newGate(maxFromHead, errHeads),
		log:      log,

		uploads:   newGate(maxUploads, errFiles),
		fileViews: newGate(maxFileViews, errFiles),
		copies:    newGate(maxCopies, errFiles),
		runCopies: newGate(maxCopies, errCopies),
	}
	s.metrics = newMetrics(s.runs.Stats, s.streams.count)
	return s, nil
}

// Bounds of one connection. An answer may take answerTimeout as a whole, so that a client that reads nothing
// holds no place of those that are few; in a stream each event has a bound of its own (play.go).
const (
	readHeaderTimeout = 10 * time.Second
	answerTimeout     = time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
	shutdownTimeout   = 10 * time.Second
	// sendBuffer holds a few frames. The system would take megabytes for a client that does not read.
	sendBuffer = 128 << 10
)

// Serve answers requests on the listener until ctx is done. Then streams end at once, other requests are
// finished, and Serve returns nil.
func (s *Site) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if c, ok := c.(*net.TCPConn); ok {
				c.SetWriteBuffer(sendBuffer) // without it the bounds hold all the same
			}
			return ctx
		},
	}
	server.RegisterOnShutdown(s.streams.stop)
	forgetting, stop := context.WithCancel(ctx)
	defer stop()
	go s.forget(forgetting)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.log.Info("stopping")
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(finish); err != nil {
		return err
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
