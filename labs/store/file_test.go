package store

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// at gives a store a clock that stands, and the way to move it.
func at(s *Store) *time.Time {
	clock := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return clock }
	return &clock
}

func putFiles(t *testing.T, s *Store, bodies ...[]byte) []string {
	t.Helper()
	hashes, _, err := s.PutFiles(bodies...)
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

// hasFile says whether the store has a file, and checks that the hash leads to it.
func hasFile(t *testing.T, s *Store, hash string, body []byte) bool {
	t.Helper()
	got, _, found, err := s.File(hash)
	if err != nil {
		t.Fatal(err)
	}
	if found && !bytes.Equal(got, body) {
		t.Errorf("%s leads to %d bytes, want %d", hash, len(got), len(body))
	}
	return found
}

func fileRows(t *testing.T, s *Store) (files, bodies int, size int64) {
	t.Helper()
	if err := s.db.QueryRow(`SELECT count(*), (SELECT count(*) FROM file_body), coalesce(sum(size), 0) FROM file`).Scan(&files, &bodies, &size); err != nil {
		t.Fatal(err)
	}
	return files, bodies, size
}

// A file is found for an hour, not a second longer, and reading it does not make that more; putting it again does.
func TestAFileIsKeptForAnHour(t *testing.T) {
	s := open(t, "")
	clock := at(s)
	body, other := []byte("abc"), []byte{}
	hashes, until, err := s.PutFiles(body, other)
	if err != nil || until.Unix() != 1_800_003_600 {
		t.Fatalf("%v, kept until %v, want 1,800,003,600", err, until)
	}
	if hashes[0] != "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0" { // printf abc | sha256sum
		t.Errorf("the hash is %s", hashes[0])
	}
	for range 59 {
		*clock = clock.Add(time.Minute)
		if !hasFile(t, s, hashes[0], body) {
			t.Fatalf("it is gone at %v", clock)
		}
	}
	if _, got, _, _ := s.File(hashes[0]); !got.Equal(until) {
		t.Errorf("after reading it is kept until %v, want %v", got, until)
	}
	putFiles(t, s, other)
	*clock = time.Unix(1_800_003_599, 0)
	if !hasFile(t, s, hashes[0], body) {
		t.Error("it is gone a second too soon")
	}
	*clock = time.Unix(1_800_003_600, 0)
	if hasFile(t, s, hashes[0], body) || !hasFile(t, s, hashes[1], other) {
		t.Error("after an hour the first is there, or the one put again is not")
	}
	if files, _, _ := fileRows(t, s); files != 2 {
		t.Errorf("%d rows, want both until somebody forgets", files)
	}
	if err := s.ForgetFiles(); err != nil {
		t.Fatal(err)
	}
	if files, bodies, _ := fileRows(t, s); files != 1 || bodies != 1 {
		t.Errorf("%d rows and %d bodies are left, want 1", files, bodies)
	}
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	s := open(t, "")
	var size *SizeError
	if _, _, err := s.PutFiles([]byte("small"), make([]byte, MaxFile+1)); !errors.As(err, &size) || size.Found != MaxFile+1 || size.Allowed != MaxFile {
		t.Errorf("%v, want it to name %d and %d", err, MaxFile+1, MaxFile)
	}
	if _, _, err := s.PutFiles(make([]byte, MaxFile), make([]byte, MaxFile), make([]byte, MaxFile), make([]byte, MaxFile)); !errors.As(err, &size) {
		t.Errorf("%v, want that four largest files are too many", err)
	}
	if files, bodies, _ := fileRows(t, s); files+bodies != 0 {
		t.Errorf("%d rows and %d bodies, want none", files, bodies)
	}
	largest := make([]byte, MaxFile)
	if hash := putFiles(t, s, largest)[0]; !hasFile(t, s, hash, largest) {
		t.Error("a file of the largest size is not found")
	}
}

// Beyond the bound the file used longest ago goes first, a read is a use, and what is put together stays together.
func TestFilesUsedLongestAgoGoFirst(t *testing.T) {
	s := open(t, "")
	clock := at(s)
	const each = 10_000
	s.maxFileBytes = 4 * (each + rowBytes)
	body := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, each) }
	var hashes []string
	for i := range 4 {
		hashes = append(hashes, putFiles(t, s, body(i))[0])
		*clock = clock.Add(2 * time.Minute)
	}
	hasFile(t, s, hashes[0], body(0)) // is used once more
	hashes = append(hashes, putFiles(t, s, body(4), body(5))...)
	for i, want := range []bool{true, false, false, true, true, true} {
		if got := hasFile(t, s, hashes[i], body(i)); got != want {
			t.Errorf("file %d is there: %v, want %v", i, got, want)
		}
	}
	*clock = clock.Add(-10 * time.Minute) // set back: what is put is there all the same
	hashes = append(hashes, putFiles(t, s, body(6), body(7), body(8))...)
	for i := 6; i < 9; i++ {
		if !hasFile(t, s, hashes[i], body(i)) {
			t.Errorf("file %d is gone as soon as it is put", i)
		}
	}
	if files, bodies, size := fileRows(t, s); files != 4 || bodies != 4 || size > s.maxFileBytes {
		t.Errorf("%d rows and %d bodies of %d bytes, want 4", files, bodies, size)
	}
}

// Texts and files make no room for each other, and a file is where it was when the store is opened again.
func TestFilesBesideTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "files.db")
	s := open(t, path)
	s.maxBytes, s.maxFileBytes = 2000, 2000
	text, file := put(t, s, "a text"), putFiles(t, s, []byte("a file"))[0]
	for i := range 20 {
		putFiles(t, s, bytes.Repeat([]byte{byte(i)}, 700))
	}
	if !has(t, s, text, "a text") || hasFile(t, s, file, []byte("a file")) {
		t.Error("files have made a text go, or have not made a file go")
	}
	file = putFiles(t, s, []byte("the last"))[0]
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, path); !hasFile(t, again, file, []byte("the last")) {
		t.Error("the file is gone after opening again")
	}
}

func TestACorruptFileIsAnError(t *testing.T) {
	s := open(t, "")
	hash := putFiles(t, s, []byte("as it was"))[0]
	if _, err := s.db.Exec(`UPDATE file_body SET body = CAST('something else' AS BLOB)`); err != nil {
		t.Fatal(err)
	}
	if _, _, found, err := s.File(hash); err == nil || found {
		t.Errorf("found %v, %v: want an error", found, err)
	}
	if hash := putFiles(t, s, []byte("as it was"))[0]; !hasFile(t, s, hash, []byte("as it was")) {
		t.Error("it is not found after putting it again")
	}
}
