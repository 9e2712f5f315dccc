package web

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"loglab/labs"
	"loglab/labs/capacity"
	"loglab/labs/uploads"
	"loglab/static"
	"loglab/web/page"
)

// Handler gives the site as one handler.
func (s *Site) Handler() http.Handler { return s.routes() }

// routes are all paths of the site. All but the store and the form of files answer GET and HEAD, and those of embedded frames a
// browser's question whether it may ask.
func (s *Site) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(s.observe)
	r.Use(secure)
	r.Use(s.emptyBodies)
	r.Use(middleware.GetHead)
	r.NotFound(s.handle(notFound))
	r.MethodNotAllowed(s.handle(methodNotAllowed))

	r.Get("/healthz", s.handle(s.health))
	r.Get("/metrics", s.metrics.ServeHTTP)
	r.Get(static.Prefix+"*", s.handle(s.file))
	r.With(shared, middleware.Compress(gzipLevel, "text/javascript")).Get(page.ElementPath, s.handle(s.element))
	r.With(shared).Get("/oembed", s.handle(s.oembed))

	// A stream is never compressed: it would be held back, and each would need an encoder's memory.
	for _, frames := range framed {
		r.Get("/"+frames+page.PreviewName, s.handle(s.preview))
		r.Get("/play/"+frames, s.handle(s.play))
		r.With(shared).Get("/play/embed/"+frames, s.handle(s.play))
	}

	r.Post(labs.StorePath, s.handle(s.post))
	r.With(shared).Post(labs.EmbedStorePath, s.handle(s.post))
	r.Get(labs.FilePrefix+"/lab/{name}", s.handle(s.download))
	r.Get(labs.FilePrefix+"/scenario/lab/{name}", s.handle(s.saveScenario))
	r.Get(labs.DiskPrefix+"/lab/{name}", s.handle(s.disk))
	r.Get(labs.DiskPrefix+"/{file}/lab/{name}", s.handle(s.disk))
	r.Post(uploads.FormPath, s.handle(s.upload))
	r.Get(uploads.CopyPath, s.handle(s.copyFile))
	r.Get(uploads.ZipPath, s.handle(s.zipFiles))

	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(gzipLevel, "text/html"))
		r.Get("/", s.handle(s.home))
		for _, frames := range framed {
			r.Get("/"+frames, s.handle(s.lab))
			r.Get("/frame/"+frames, s.handle(s.frame))
			r.With(shared).Get("/embed/"+frames, s.handle(s.lab))
			r.With(shared).Get("/frame/embed/"+frames, s.handle(s.frame))
			r.With(shared).Get("/frame/play/embed/"+frames, s.handle(s.playedFrame))
		}
		r.Get(page.MakeEmbedPath, s.handle(s.makeEmbed))
		for _, frames := range framed {
			r.Get(page.HandoutPath+"/"+frames, s.handle(s.handout))
		}
		r.Get(uploads.FormPath, s.handle(s.uploadForm))
		r.Get(uploads.Path, s.handle(s.ownFile))
		r.Get("/lesson/{lesson}", s.handle(s.lesson))
		r.Get(capacity.Path, s.handle(s.capacity))
		r.Get("/glossary", s.handle(s.glossaryIndex))
		r.Get("/glossary/{term}", s.handle(s.glossaryTerm))
	})
	for _, frames := range framed {
		for _, before := range []string{"/embed/", "/frame/embed/", "/frame/play/embed/", "/play/embed/"} {
			r.With(shared).Options(before+frames, preflight)
		}
	}
	return r
}

// framed are the paths of pages that are made of frames: a lab, and a scenario in one.
var framed = []string{"lab/{name}", "scenario/{story}"}

// gzipLevel saves 2 % against level 5 and still takes a fraction of a millisecond a frame.
const gzipLevel = 7
