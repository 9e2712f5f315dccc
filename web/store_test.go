package web

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/html"

	"loglab/labs/view"
)

// sendBody posts a body.
func sendBody(s *Site, kind string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/store", body)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// sendForm posts fields as a browser does, and files: a name of a field to what the file holds.
func sendForm(t *testing.T, s *Site, fields []view.Param, files ...view.Param) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, f := range fields {
		form.WriteField(f.Name, strings.ReplaceAll(f.Value, "\n", "\r\n"))
	}
	for _, f := range files {
		name := "chosen.txt"
		if f.Value == "" {
			name = "" // what a browser sends where no file was chosen
		}
		part, err := form.CreatePart(map[string][]string{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, f.Name, name)},
			"Content-Type":        {"application/octet-stream"},
		})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, f.Value)
	}
	form.Close()
	return sendBody(s, form.FormDataContentType(), &body)
}

// fieldsOf reads the fields of a form of a page as a browser would send them with its first button, which has
// no name.
func fieldsOf(t *testing.T, page, id string) []view.Param {
	t.Helper()
	var fields []view.Param
	for n := range elementByID(t, page, id).Descendants() {
		if n.Type == html.ElementNode && n.Data != "button" && attribute(n, "name") != "" && attribute(n, "type") != "file" {
			value := attribute(n, "value")
			if n.Data == "textarea" {
				value = strings.Trim(textOf(n), " ")
			}
			fields = append(fields, view.Param{Name: attribute(n, "name"), Value: value})
		}
	}
	return fields
}

// customers are n keys, a line each.
func customers(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("customer-%d@example.com", i*7919))
	}
	return strings.Join(lines, "\n")
}

// seeOther gives where an answer leads, which must be there.
func seeOther(t *testing.T, s *Site, w *httptest.ResponseRecorder) (address, page string) {
	t.Helper()
	address = w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || len(address) > 4096 {
		t.Fatalf("%d to an address of %d bytes, want 303: %s", w.Code, len(address), plainText(t, w.Body.String()))
	}
	answer := ask(s, "GET", address)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: %d", address, answer.Code)
	}
	return address, answer.Body.String()
}

// 500 keys are pasted into the form of the page, and the link that comes of it is a link like any other.
func TestFiveHundredPastedKeys(t *testing.T) {
	s := newSite(t)
	pasted := customers(500)
	fields := fieldsOf(t, ask(s, "GET", start+"&partitions=6&do=4:pause+c1&t=12").Body.String(), "own-keys")
	for i := range fields {
		if fields[i].Name == "keys" {
			fields[i].Value = pasted
		}
	}
	address, page := seeOther(t, s, sendForm(t, s, fields, view.Param{Name: "keys"}))
	if !strings.HasPrefix(address, start+"&from=") || !strings.HasSuffix(address, "&t=12") {
		t.Errorf("the answer leads to %s", address)
	}
	if got := strings.TrimSpace(textOf(elementByID(t, page, "set-own-keys"))); got != pasted {
		t.Errorf("the field holds %.60q", got)
	}
	for _, words := range []string{"so this server keeps a part of it", "Save it as a file", "pause c1"} {
		if !strings.Contains(plainText(t, page), words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if n := len(elements(t, ask(s, "GET", "/frame"+address).Body.String())); n > 1200 {
		t.Errorf("#lab has %d elements", n)
	}
	for _, prefix := range []string{"/frame", "/play"} {
		if w := ask(s, "GET", prefix+address+"&horizon=12"); w.Code != 200 {
			t.Errorf("%s: %d", prefix, w.Code)
		}
	}
	// The same keys are the same link, whichever way they come.
	again := url.Values{"path": {"/lab/partitions"}, "v": {"1"}, "partitions": {"6"}, "do": {"4:pause c1"}, "t": {"12"}, "keys": {pasted}}
	if got, _ := seeOther(t, s, sendBody(s, "application/x-www-form-urlencoded", strings.NewReader(again.Encode()))); got != address {
		t.Errorf("sent as an ordinary form they lead to %s", got)
	}
	fields = fieldsOf(t, page, "own-keys") // from here on the form holds the head
	if got, _ := seeOther(t, s, sendForm(t, s, fields)); got != address {
		t.Errorf("sent once more they lead to %s", got)
	}
}

// What fits into an address is not stored.
func TestAFormThatFitsLeadsToTheShortAddress(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct {
		fields, files []view.Param
		want          string
	}{
		{[]view.Param{{Name: "path", Value: "/lab/partitions"}}, nil, start},
		{[]view.Param{{Name: "keys", Value: "a\nb"}, {Name: "path", Value: "/lab/partitions"}, {Name: "t", Value: "3"}}, nil, start + "&keys=a%0Ab&t=3"},
		{[]view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: "typed"}}, []view.Param{{Name: "keys", Value: "\ufefffrom\r\nfile\r\n"}}, start + "&keys=from%0Afile"},
		{[]view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: "typed"}}, []view.Param{{Name: "keys"}}, start + "&keys=typed"},
		{nil, []view.Param{{Name: "file", Value: "path=/lab/partitions\r\npartitions=6\r\n\r\ndo=4:pause c1\r\nt=5\r\n"}}, start + "&partitions=6&do=4:pause+c1&t=5"},
	} {
		if got, _ := seeOther(t, s, sendForm(t, s, test.fields, test.files...)); got != test.want {
			t.Errorf("%v, files %v: leads to %s, want %s", test.fields, test.files, got, test.want)
		}
	}
}

// A run that is saved as a file opens on a server that has never seen it.
func TestAFileCarriesARunToAnotherServer(t *testing.T) {
	here, there := newSite(t), newSite(t)
	address, _ := seeOther(t, here, sendForm(t, here, []view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: customers(500)}}))
	address += "&do=3:pause+c1&t=7"
	if w := ask(there, "GET", address); w.Code != http.StatusNotFound {
		t.Fatalf("another server answers %d", w.Code)
	}
	page := ask(here, "GET", address).Body.String()
	file := ask(here, "GET", attribute(elementByID(t, page, "save-file"), "href"))
	if file.Code != 200 || file.Header().Get("Content-Type") != "text/plain; charset=utf-8" || file.Header().Get("Content-Disposition") != `attachment; filename="loglab-partitions.txt"` {
		t.Fatalf("%d %v", file.Code, file.Header())
	}
	opened, _ := seeOther(t, there, sendForm(t, there, nil, view.Param{Name: "file", Value: file.Body.String()}))
	if got, want := ask(there, "GET", "/file"+opened).Body.String(), file.Body.String(); got != want {
		t.Errorf("there the file is %.300q, here %.300q", got, want)
	}
}

func TestAHeadThatIsNotHere(t *testing.T) {
	s := newSite(t)
	address := start + "&from=" + strings.Repeat("A", 43)
	for _, prefix := range []string{"", "/frame", "/play", "/file"} {
		w := ask(s, "GET", prefix+address)
		text := plainText(t, w.Body.String())
		if w.Code != http.StatusNotFound || !strings.Contains(text, "not on this server") || !strings.Contains(text, strings.Repeat("A", 43)) || w.Header().Get("Lab-Frame") != "" {
			t.Errorf("%s: %d %s", prefix, w.Code, text)
		}
		if form := elementByID(t, w.Body.String(), "open-file"); attribute(form, "action") != "/store" || attribute(form, "method") != "post" {
			t.Errorf("%s: no form opens a file", prefix)
		}
	}
	// The page that a file leads to may not be framed.
	w := ask(s, "GET", "/embed"+address)
	if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<form") {
		t.Errorf("embedded: %d %s", w.Code, w.Body)
	}
}

// An address that is right and too long offers to keep it, and what that button sends is taken.
func TestAnAddressThatIsTooLongCanBeKept(t *testing.T) {
	s := newSite(t)
	w := ask(s, "GET", start+"&do=2:pause+c1&t=3&keys="+url.QueryEscape(customers(150)))
	if w.Code != http.StatusRequestURITooLong || !strings.Contains(plainText(t, w.Body.String()), "at most 3,500 are allowed") {
		t.Fatalf("%d %s", w.Code, plainText(t, w.Body.String()))
	}
	address, page := seeOther(t, s, sendForm(t, s, fieldsOf(t, w.Body.String(), "keep-run")))
	if !strings.HasSuffix(address, "&t=3") || !strings.Contains(plainText(t, page), "pause c1") {
		t.Errorf("the button leads to %s", address)
	}
}

func TestPostRefuses(t *testing.T) {
	s := newSite(t)
	form := "application/x-www-form-urlencoded"
	parts := "multipart/form-data; boundary=x"
	for _, test := range []struct {
		name, kind, body string
		status           int
		says             []string
	}{
		{"too much", form, "path=/lab/partitions&keys=" + strings.Repeat("a%0A", 100_000), 413, []string{"more than 278,528 bytes", "at most 278,528 bytes"}},
		{"too much in parts", parts, "--x\r\nContent-Disposition: form-data; name=\"keys\"\r\n\r\n" + strings.Repeat("a\n", 200_000), 413, []string{"at most 278,528 bytes"}},
		{"too much in part heads", parts, strings.Repeat("--x\r\nA: b\r\n\r\n\r\n", 30_000), 413, []string{"at most 278,528 bytes"}},
		{"more than is kept", form, "path=/lab/partitions&keys=" + strings.Repeat(strings.Repeat("~", 500)+"%0A", 499) + "&do=" + strings.Repeat("1:produce+p0+"+strings.Repeat("k", 90)+"%0A", 199) + "1:pause+c1", 413, []string{"at most 262,144 bytes"}},
		{"text", "text/plain", "path=/lab/partitions", 415, []string{"text/plain", "multipart/form-data"}},
		{"JSON", "application/json", "{}", 415, []string{"application/json"}},
		{"no type", "", "path=/lab/partitions", 415, []string{"application/x-www-form-urlencoded"}},
		{"no boundary", "multipart/form-data", "--x--", 400, []string{"cannot be read"}},
		{"broken off", parts, "--x\r\nContent-Disposition: form-data; name=\"keys\"\r\n\r\na", 400, []string{"breaks off"}},
		{"no lab", form, "keys=a", 400, []string{"path", `""`, "/lab/NAME", "partitions"}},
		{"two labs", form, "path=/lab/partitions&path=/lab/partitions", 400, []string{"path", "there twice"}},
		{"unknown lab", form, "path=/lab/moon", 400, []string{"/lab/moon", "partitions"}},
		{"another site", form, "path=https://example.com/lab/partitions", 400, []string{"https://example.com/lab/partitions"}},
		{"bad tick", form, "path=/lab/partitions&t=-1", 400, []string{"t", "-1", "0 to 5000"}},
		{"unknown parameter", form, "path=/lab/partitions&colour=red", 400, []string{"colour"}},
		{"not UTF-8", form, "path=/lab/partitions&keys=%ff", 400, []string{"keys", "%ff", "UTF-8"}},
		{"parts not UTF-8", parts, "--x\r\nContent-Disposition: form-data; name=\"keys\"\r\n\r\n\xff\r\n--x--", 400, []string{"keys", "not UTF-8"}},
		{"too many keys", form, "path=/lab/partitions&keys=" + strings.Repeat("a%0A", 501), 400, []string{"keys", "at most 500 keys"}},
		{"a key too long", form, "path=/lab/partitions&keys=" + strings.Repeat("a", 1001), 400, []string{"keys", "at most 1000 bytes", "line 1 has 1001"}},
		{"a head elsewhere", form, "path=/lab/partitions&from=" + strings.Repeat("A", 43), 404, []string{"not on this server"}},
		{"too many commands", form, "path=/lab/partitions&do=" + strings.Repeat("1:wait+1s%0A", 201), 400, []string{"at most 200 commands"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sendBody(s, test.kind, strings.NewReader(test.body))
			if w.Code != test.status {
				t.Errorf("status is %d, want %d", w.Code, test.status)
			}
			for _, word := range test.says {
				if text := plainText(t, w.Body.String()); !strings.Contains(text, word) {
					t.Errorf("the page does not say %q:\n%s", word, text)
				}
			}
		})
	}
	for _, target := range []string{"/store", "/embed/store"} {
		w := ask(s, "GET", target)
		if w.Code != 405 || w.Header().Get("Allow") != "POST" || !strings.Contains(plainText(t, w.Body.String()), "Nothing can be read here") {
			t.Errorf("GET %s: %d, Allow %q, %s", target, w.Code, w.Header().Get("Allow"), plainText(t, w.Body.String()))
		}
	}
}

// Time in this test is virtual.
func TestTooManyFormsAtOnceAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for range maxPosts {
			s.posts.places <- struct{}{}
		}
		w := sendBody(s, "application/x-www-form-urlencoded", strings.NewReader("path=/lab/partitions"))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		<-s.posts.places
		if w := sendBody(s, "application/x-www-form-urlencoded", strings.NewReader("path=/lab/partitions")); w.Code != http.StatusSeeOther {
			t.Errorf("with a place free: %d", w.Code)
		}
	})
}

// However a request with a stored head ends, its place is free again.
func TestPlacesOfStoredHeadsAreGivenBack(t *testing.T) {
	s := newSite(t)
	address, _ := seeOther(t, s, sendForm(t, s, []view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: customers(500)}}))
	for range maxFromHead + 1 {
		for _, target := range []string{address, "/frame" + address, "/file" + address, "/play" + address + "&t=20", address + "&t=-1", address + "&rate=5&t=0", start + "&from=" + strings.Repeat("A", 43)} {
			ask(s, "GET", target)
		}
	}
	if n := len(s.fromHead.places); n != 0 {
		t.Errorf("%d places are held", n)
	}
}

// A page that reads two addresses of a request holds one place for both: else those who have one could wait for each other.
func TestAFrameMadeToMeasureHoldsOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		address, _ := seeOther(t, s, sendForm(t, s, []view.Param{{Name: "path", Value: "/lab/partitions"}, {Name: "keys", Value: customers(500)}}))
		for range maxFromHead - 1 {
			s.fromHead.places <- struct{}{}
		}
		target := "/make-embed?url=" + url.QueryEscape(address)
		if w := ask(s, "GET", target); w.Code != http.StatusOK {
			t.Errorf("with one place left: %d", w.Code)
		}
		s.fromHead.places <- struct{}{}
		for _, target := range []string{target, address} {
			if w := ask(s, "GET", target); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%.40s without a place: %d, Retry-After %q", target, w.Code, w.Header().Get("Retry-After"))
			}
		}
	})
}
