package web

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"loglab/labs"
)

// metrics are what /metrics tells.
type metrics struct {
	http.Handler // answers in Prometheus's format
	requests     *prometheus.CounterVec
	frameSeconds prometheus.Histogram
}

// newMetrics makes the metrics; stats and openStreams are read when they are asked for.
func newMetrics(stats func() labs.Stats, openStreams func() int) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "loglab_requests_total", Help: "Requests answered, by route and status.",
		}, []string{"route", "status"}),
		frameSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "loglab_frame_seconds", Help: "Time to replay an address and build its page.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5},
		}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.frameSeconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gauge := func(name, help string, value func() float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	counter := func(name, help string, value func(labs.Stats) int64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value(stats())) }))
	}
	gauge("loglab_streams_open", "Streams being played.", func() float64 { return float64(openStreams()) })
	gauge("loglab_cache_bytes", "Estimate of the memory that replayed runs take.", func() float64 { return float64(stats().CacheBytes) })
	counter("loglab_replays_total", "Runs of the engine for a frame.", func(s labs.Stats) int64 { return s.Replays })
	counter("loglab_cold_replays_total", "Runs of the engine from tick 0.", func(s labs.Stats) int64 { return s.ColdReplays })
	counter("loglab_joined_total", "Requests that waited for another's replay.", func(s labs.Stats) int64 { return s.Joined })
	counter("loglab_ticks_replayed_total", "Ticks that the engine ran.", func(s labs.Stats) int64 { return s.TicksReplayed })
	counter("loglab_page_hits_total", "Pages served from memory.", func(s labs.Stats) int64 { return s.PageHits })
	m.Handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// count counts one request. The route is a pattern, so that what readers ask for adds no series.
func (m *metrics) count(route string, status int) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
}
