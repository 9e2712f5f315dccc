package main

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestServeRefusesAnAddressItCannotListenOn(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addr := range []string{"127.0.0.1:notaport", "127.0.0.1", taken.Addr().String()} {
		got := runWith(strings.NewReader(""), "serve", "--addr", addr)
		checkBadInput(t, got, "--addr "+addr)
		if got.out != "" {
			t.Errorf("%s: standard output is %q", addr, got.out)
		}
	}
}

func TestServePrintsWhereItCanBeReached(t *testing.T) {
	for _, test := range []struct {
		listening string
		want      []string
	}{
		{"127.0.0.1:8080", []string{"http://127.0.0.1:8080/"}},
		{"[::1]:80", []string{"http://[::1]:80/"}},
	} {
		at, err := net.ResolveTCPAddr("tcp", test.listening)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(at); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.listening, got, test.want)
		}
	}
	all := reachable(&net.TCPAddr{IP: net.IPv6unspecified, Port: 8080})
	if all[0] != "http://localhost:8080/" {
		t.Errorf("on every address: %v, want localhost first", all)
	}
	for _, url := range all[1:] {
		if strings.Contains(url, "127.0.0.1") || strings.Contains(url, "[::1]") || strings.Contains(url, "[fe80:") {
			t.Errorf("%s cannot be used from another machine", url)
		}
	}
}
