package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// abcSHA256 is the SHA-256 of "abc" (FIPS 180-2, appendix B.1).
const abcSHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func oneFile(fetch fetcher) asset {
	return asset{
		name: "letters", pin: "letters@v1", sum: "sum", fetch: fetch,
		files: []file{{from: "in/abc.txt", to: "out/deep/abc.txt", sha256: abcSHA256}},
	}
}

func serve(content string) fetcher {
	return func(pin, sum string, names []string) (map[string][]byte, error) {
		return map[string][]byte{names[0]: []byte(content)}, nil
	}
}

func refuse(pin, sum string, names []string) (map[string][]byte, error) {
	return nil, errors.New("fetched although in place")
}

func TestInstallWritesAndThenFetchesNoMore(t *testing.T) {
	root := t.TempDir()
	if err := oneFile(serve("abc")).install(root); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "out/deep/abc.txt"))
	if err != nil || string(got) != "abc" {
		t.Fatalf("content %q, error %v; want abc", got, err)
	}
	if err := oneFile(refuse).install(root); err != nil {
		t.Fatal(err)
	}
}

func TestInstallReplacesWrongContent(t *testing.T) {
	root := t.TempDir()
	to := filepath.Join(root, "out/deep/abc.txt")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte("ab"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := oneFile(serve("abc")).install(root); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(to); string(got) != "abc" {
		t.Fatalf("content %q, want abc", got)
	}
}

func TestInstallRefusesOtherContent(t *testing.T) {
	root := t.TempDir()
	err := oneFile(serve("abd")).install(root)
	if err == nil || !strings.Contains(err.Error(), "pinned is "+abcSHA256) {
		t.Fatalf("error %v, want one that names the pin", err)
	}
	if _, err := os.Stat(filepath.Join(root, "out/deep/abc.txt")); !os.IsNotExist(err) {
		t.Fatalf("file was written: %v", err)
	}
}

func TestUnpack(t *testing.T) {
	archive := npmArchive(t, map[string]string{"package/abc.txt": "abc", "abc.txt": "outside"})
	sum := sha512.Sum512(archive)
	integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for _, test := range []struct {
		name, integrity, file, want, wantErr string
	}{
		{name: "file of the package", integrity: integrity, file: "abc.txt", want: "abc"},
		{name: "file that is not there", integrity: integrity, file: "abd.txt", wantErr: "archive lacks abd.txt"},
		{name: "other archive", integrity: "sha512-AAAA", file: "abc.txt", wantErr: "pinned is sha512-AAAA"},
	} {
		t.Run(test.name, func(t *testing.T) {
			content, err := unpack(archive, test.integrity, []string{test.file})
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil || string(content[test.file]) != test.want {
				t.Fatalf("content %q, error %v; want %q", content[test.file], err, test.want)
			}
		})
	}
}

func TestMissingNpmSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := run(t.TempDir(), []string{"axe"})
	if err == nil || !strings.Contains(err.Error(), "apt-get install npm") {
		t.Fatalf("error %v, want the package to install", err)
	}
}

func TestUnknownNameListsTheKnown(t *testing.T) {
	for _, names := range [][]string{nil, {"jquery"}} {
		err := run(t.TempDir(), names)
		if err == nil || !strings.Contains(err.Error(), "[datastar axe]") {
			t.Fatalf("%v: error %v, want the names", names, err)
		}
	}
}

func npmArchive(t *testing.T, content map[string]string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	entries := tar.NewWriter(zipped)
	for name, text := range content {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}
		if err := entries.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := entries.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(entries.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}
