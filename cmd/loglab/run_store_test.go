package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loglab/labs/store"
)

// An address whose beginning is stored runs with the file of its server, and says so without it.
func TestRunOfAnAddressWithAStoredHead(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "loglab.db")
	texts, err := store.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	keys := strings.Repeat("customer%0A", 499) + "lemon"
	hash, err := texts.Put("path=/lab/partitions\nv=1\npartitions=2\nkeys=" + keys + "\ndo=1:pause c1\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := texts.Close(); err != nil {
		t.Fatal(err)
	}
	address := "/lab/partitions?v=1&from=" + hash + "&do=2:wait+1s&t=3"
	nobody := strings.NewReader("")

	got := runWith(nobody, "run", "--data", data, address)
	if got.code != exitOK || !strings.Contains(got.out, "pause c1") || !strings.Contains(got.out, "wait 1s") || !strings.Contains(got.out, "orders-1") || strings.Contains(got.out, "orders-2") {
		t.Errorf("status %d, %s %.300s", got.code, got.err, got.out)
	}
	checkBadInput(t, runWith(nobody, "run", address), hash)
	checkBadInput(t, runWith(nobody, "run", address), "--data FILE opens the file of the server")
	checkBadInput(t, runWith(nobody, "run", "--data", data, strings.Replace(address, hash, strings.Repeat("A", 43), 1)), "not in this store")

	none := filepath.Join(dir, "none.db")
	checkBadInput(t, runWith(nobody, "run", "--data", none, address), "--data "+none)
	if _, err := os.Stat(none); err == nil {
		t.Error("a file was made to read from")
	}
	checkBadInput(t, runWith(nobody, "serve", "--data", dir), "--data "+dir)
}
