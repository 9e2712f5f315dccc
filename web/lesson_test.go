package web

import (
	"regexp"
	"strings"
	"testing"

	"loglab/web/page"
)

// lessonPages are the addresses of all lessons.
func lessonPages(s *Site) (list []string) {
	for _, l := range s.lessons {
		list = append(list, page.LessonAddress(l.Slug))
	}
	return list
}

// A lesson is read before any script runs: its pictures stand in the page, each name once, and nothing in it is a
// style, a script or a frame.
func TestLessonPages(t *testing.T) {
	s := newSite(t)
	for _, address := range lessonPages(s) {
		w := ask(s, "GET", address)
		body := w.Body.String()
		if w.Code != 200 {
			t.Errorf("%s is %d", address, w.Code)
			continue
		}
		seen := map[string]bool{}
		for _, n := range elements(t, body) {
			if id := attribute(n, "id"); id != "" {
				if seen[id] {
					t.Errorf("%s: two elements are named %q", address, id)
				}
				seen[id] = true
			}
			if n.Data == "iframe" || attribute(n, "style") != "" || n.Data == "script" && attribute(n, "src") == "" {
				t.Errorf("%s has <%s>, or a style or script in it", address, n.Data)
			}
		}
		for _, n := range elements(t, body) {
			for _, key := range []string{"aria-labelledby", "aria-describedby", "for"} {
				for _, id := range strings.Fields(attribute(n, key)) {
					if !seen[id] {
						t.Errorf("%s: %s names %q, which is not there", address, key, id)
					}
				}
			}
		}
		if stills := strings.Count(body, `class="lab still`); stills != strings.Count(body, "data-embed=") {
			t.Errorf("%s has %d pictures of labs", address, stills)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "frame-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: the policy is %s", address, policy)
		}
	}
}

// What a lesson loads first has less than 80 kB as it is sent.
func TestALessonLoadsFast(t *testing.T) {
	const most = 80_000
	s := newSite(t)
	asset := regexp.MustCompile(`"(/static/[^"]+\.(?:css|js|svg))"`)
	for _, address := range lessonPages(s) {
		first := ask(s, "GET", address, "Accept-Encoding", "gzip")
		size := first.Body.Len()
		seen := map[string]bool{}
		for _, m := range asset.FindAllStringSubmatch(ask(s, "GET", address).Body.String(), -1) {
			if !seen[m[1]] {
				size += ask(s, "GET", m[1], "Accept-Encoding", "gzip").Body.Len()
			}
			seen[m[1]] = true
		}
		t.Logf("%s: %d bytes, of which the page %d", address, size, first.Body.Len())
		if first.Header().Get("Content-Encoding") != "gzip" || size > most {
			t.Errorf("%s: %d bytes are loaded first, at most %d are allowed", address, size, most)
		}
	}
}

// Every lab of a lesson can be stepped through where it stands.
func TestTheLabsOfALessonCanBeFramed(t *testing.T) {
	s := newSite(t)
	for _, address := range lessonPages(s) {
		for _, n := range elements(t, ask(s, "GET", address).Body.String()) {
			embed := attribute(n, "data-embed")
			if embed == "" {
				continue
			}
			if w := ask(s, "GET", embed); w.Code != 200 {
				t.Errorf("%s: %s is %d", address, embed, w.Code)
			}
		}
	}
}

func TestNoSuchLesson(t *testing.T) {
	s := newSite(t)
	if w := ask(s, "GET", "/lesson/cooking"); w.Code != 404 || !strings.Contains(w.Body.String(), "There is no such lesson") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// The first page lists the lessons in the order of the path, and each leads to its neighbours.
func TestThePathThroughTheLessons(t *testing.T) {
	s := newSite(t)
	home, at := ask(s, "GET", "/").Body.String(), 0
	for i, l := range s.lessons {
		address := page.LessonAddress(l.Slug)
		next := strings.Index(home, `href="`+address+`"`)
		if next < at {
			t.Errorf("%s stands at %d on the first page, that before it at %d", address, next, at)
		}
		at = next
		if l.Order == 0 || i == 0 || s.lessons[i-1].Order == 0 {
			continue
		}
		if body := ask(s, "GET", address).Body.String(); !strings.Contains(body, `rel="prev" href="`+page.LessonAddress(s.lessons[i-1].Slug)+`"`) {
			t.Errorf("%s does not lead back", address)
		}
	}
}

// Every link of a lesson to a page of this site leads somewhere.
func TestEveryLinkOfALessonLeadsSomewhere(t *testing.T) {
	s := newSite(t)
	for _, address := range lessonPages(s) {
		for _, n := range elements(t, ask(s, "GET", address).Body.String()) {
			link, _, _ := strings.Cut(attribute(n, "href"), "#")
			if !strings.HasPrefix(link, "/") {
				continue
			}
			if w := ask(s, "GET", canonical(s, link)); w.Code != 200 {
				t.Errorf("%s leads to %s: %d", address, link, w.Code)
			}
		}
	}
}

// A scenario leads to its lesson, and the lesson lists it.
func TestLessonsAndScenariosLeadToEachOther(t *testing.T) {
	s := newSite(t)
	if body := ask(s, "GET", story).Body.String(); !strings.Contains(body, `href="/lesson/replication"`) {
		t.Errorf("%s does not lead to its lesson", story)
	}
	list, _ := s.scenarios.All()
	for _, told := range list {
		l := s.lessons.BySlug(told.Lesson)
		if l == nil {
			t.Errorf("%s has no lesson", told.Name)
			continue
		}
		if body := ask(s, "GET", page.LessonAddress(l.Slug)).Body.String(); !strings.Contains(body, `href="/scenario/`+told.Name+`?v=1"`) {
			t.Errorf("%s does not lead to %s", l.Slug, told.Name)
		}
	}
}
