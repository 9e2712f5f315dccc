package web

import (
	"net/http"
	"regexp"
	"strings"
)

// contentPolicy lets a page load its own files and nothing else: no inline script or style, no eval, no
// other site. In a sandboxed frame, whose origin is opaque, 'self' still is the place the page came from: a
// policy goes by the address of the answer. So the request's Host, which anybody can write, is not needed
// here; a browser test shows it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "

// secure sets the headers that say what a browser must not do with an answer. What is below /embed/, errors
// too, may stand in a frame of any site, and nothing else in any frame.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ancestors := "'none'"
		if strings.HasPrefix(r.URL.Path, "/embed/") {
			ancestors = "*"
		}
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy+ancestors)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), midi=()")
		next.ServeHTTP(w, r)
	})
}

// frameOwnPages lets the page of an answer have frames of this site.
func frameOwnPages(w http.ResponseWriter) {
	const policy = "Content-Security-Policy"
	w.Header().Set(policy, "frame-src 'self'; "+w.Header().Get(policy))
}

// shared lets scripts of every origin read an answer. A sandboxed frame is such an origin to its own server.
// Nothing is given away: no answer depends on who asks.
func shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "Lab-Frame")
		next.ServeHTTP(w, r)
	})
}

// preflight answers a browser that asks whether a script of another origin may send Datastar's header.
func preflight(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "datastar-request")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// hosts are the names and numbers under which a server can be reached, with a port or without.
var hosts = regexp.MustCompile(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// originOf is where the reader reaches the site, for links that leave it: "https://lab.example". It is empty
// where the request does not say so in a form that can be believed; then links have no host. A proxy that
// speaks TLS says so in a header; a reader who writes that himself gets a link that does not work.
func originOf(r *http.Request) string {
	if !hosts.MatchString(r.Host) {
		return ""
	}
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
