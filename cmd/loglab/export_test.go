package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crash")
	got := runWith(strings.NewReader(""), "export", "crash-before-commit", "--out", dir, "--zip")
	if got.code != exitOK || got.err != "" || !strings.Contains(got.out, filepath.Join(dir, "index.html")) {
		t.Fatalf("status %d, out %q, err %q", got.code, got.out, got.err)
	}
	archive, err := zip.OpenReader(dir + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(archive.File) {
		t.Errorf("%d files in the folder, %d in the zip, %v", len(entries), len(archive.File), err)
	}
	checkBadInput(t, runWith(strings.NewReader(""), "export", "crash-before-commit", "--out", dir), "holds something already")
	checkBadInput(t, runWith(strings.NewReader(""), "export", "crash-before-commit", "--out", dir+"/index.html"), "not a directory")
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other+".zip", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checkBadInput(t, runWith(strings.NewReader(""), "export", "crash-before-commit", "--out", other, "--zip"), "is there already")
	checkBadInput(t, runWith(strings.NewReader(""), "export", "unknown", "--out", other), "allowed are ")
	checkBadInput(t, runWith(strings.NewReader(""), "export", other+".yaml", "--out", other), "no such file")
	if _, err := os.Stat(other); err == nil {
		t.Error("a folder was made although nothing could be written")
	}
}
