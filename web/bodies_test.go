package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Nobody can hold a place by announcing a body that does not come, and one that is announced and empty is none.
func TestBodiesWhereNothingIsSent(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newSite(t).Handler())
	t.Cleanup(server.Close)
	for _, test := range []struct {
		sent   string
		status int
	}{
		{"GET /disk/lab/segments?v=1&t=40 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", 400},
		{"GET /lab/segments?v=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"GET /lab/segments?v=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 400},
		{"GET /glossary HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200},
		{"GET /play/lab/partitions?v=1&t=5&horizon=6&pace=10 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200},
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, test.sent)
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("%q: %v", test.sent, err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != test.status {
				t.Errorf("%q: %d, %v", test.sent, answer.StatusCode, err)
			}
			if test.status == 400 && !strings.Contains(string(body), "Nothing can be sent here") {
				t.Errorf("%q is answered with %.200s", test.sent, body)
			}
		})
	}
}
