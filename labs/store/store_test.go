package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, text string) string {
	t.Helper()
	hash, err := s.Put(text)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// has says whether the store has a hash, and checks that it leads to the text.
func has(t *testing.T, s *Store, hash, text string) bool {
	t.Helper()
	got, found, err := s.Get(hash)
	if err != nil {
		t.Fatal(err)
	}
	if found && got != text {
		t.Errorf("%s leads to %.40q, want %.40q", hash, got, text)
	}
	return found
}

func rows(t *testing.T, s *Store) (n int, bytes int64) {
	t.Helper()
	if err := s.db.QueryRow(`SELECT count(*), coalesce(sum(size), 0) FROM content`).Scan(&n, &bytes); err != nil {
		t.Fatal(err)
	}
	return n, bytes
}

// The hash is that of SHA-256: what `printf abc | sha256sum` says, in base64url.
func TestTheHashIsSHA256(t *testing.T) {
	if got, want := put(t, open(t, ""), "abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"; got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
}

func TestATextIsFoundByItsHash(t *testing.T) {
	s := open(t, "")
	for _, text := range []string{"", "v=1", "\x00\xff not UTF-8", strings.Repeat("x", MaxText)} {
		if hash := put(t, s, text); !has(t, s, hash, text) {
			t.Errorf("%.20q is not found", text)
		}
	}
	for _, hash := range []string{"", "x", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0", "' OR 1=1 --"} {
		if has(t, s, hash, "") {
			t.Errorf("%q is found, which nobody has put there", hash)
		}
	}
}

func TestATextThatIsTooLongIsRefused(t *testing.T) {
	s := open(t, "")
	_, err := s.Put(strings.Repeat("x", MaxText+1))
	var size *SizeError
	if !errors.As(err, &size) || size.Found != MaxText+1 || size.Allowed != MaxText {
		t.Errorf("%v, want it to name %d and %d", err, MaxText+1, MaxText)
	}
	if n, _ := rows(t, s); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}

func TestTheSameContentIsOneRow(t *testing.T) {
	s := open(t, "")
	if a, b := put(t, s, "same"), put(t, s, "same"); a != b {
		t.Errorf("one text has the hashes %s and %s", a, b)
	}
	if n, _ := rows(t, s); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

// Beyond the bound the text used longest ago goes first, and a read is a use.
func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	s := open(t, "")
	const each = 10_000
	s.maxBytes = 5 * (each + rowBytes)
	clock := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return clock }
	text := func(i int) string { return strings.Repeat(string(rune('a'+i)), each) }
	var hashes []string
	for i := range 5 {
		hashes = append(hashes, put(t, s, text(i)))
		clock = clock.Add(time.Hour)
	}
	has(t, s, hashes[0], text(0)) // a is used once more
	clock = clock.Add(time.Hour)
	put(t, s, text(1)) // and b is put once more
	clock = clock.Add(time.Hour)
	for i := 5; i < 7; i++ {
		hashes = append(hashes, put(t, s, text(i)))
		clock = clock.Add(time.Hour)
	}
	for i, want := range []bool{true, true, false, false, true, true, true} {
		if got := has(t, s, hashes[i], text(i)); got != want {
			t.Errorf("text %c is there: %v, want %v", 'a'+i, got, want)
		}
	}
}

// The row that is put stays, even when the clock has been set back.
func TestWhatIsPutIsThere(t *testing.T) {
	s := open(t, "")
	s.maxBytes = 2 * (MaxText + rowBytes)
	clock := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return clock }
	for i := range 20 {
		text := strings.Repeat(string(rune('a'+i)), MaxText)
		if !has(t, s, put(t, s, text), text) {
			t.Errorf("text %d is gone as soon as it is put", i)
		}
		if n, bytes := rows(t, s); bytes > s.maxBytes {
			t.Errorf("%d rows count for %d bytes, at most %d are allowed", n, bytes, s.maxBytes)
		}
		clock = clock.Add(-time.Hour)
	}
}

// Reading writes at most once in ten minutes.
func TestReadingWritesSeldom(t *testing.T) {
	s := open(t, "")
	clock := time.Unix(1_800_000_000, 0)
	s.now = func() time.Time { return clock }
	hash := put(t, s, "read often")
	changes := func() (n int) {
		if err := s.db.QueryRow(`SELECT total_changes()`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := changes()
	for range 3600 { // an hour
		has(t, s, hash, "read often")
		clock = clock.Add(time.Second)
	}
	if n := changes() - before; n < 1 || n > 6 {
		t.Errorf("3,600 reads in an hour wrote %d times, want 1 to 6", n)
	}
}

// Many at once put and read, and the bound holds all the while.
func TestConcurrentUse(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "concurrent.db"))
	s.maxBytes = 40 * (1000 + rowBytes)
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 25 {
				text := fmt.Sprintf("%0*d", 1000, (worker%4)*25+i) // two workers put the same
				hash, err := s.Put(text)
				if err != nil {
					t.Error(err)
					return
				}
				if got, found, err := s.Get(hash); err != nil || found && got != text {
					t.Errorf("%v, %.20q", err, got)
				}
			}
		})
	}
	wait.Wait()
	if n, bytes := rows(t, s); n != 40 || bytes > s.maxBytes {
		t.Errorf("%d rows of %d bytes, want 40 of %d", n, bytes, s.maxBytes)
	}
}

// A file is the same store when it is opened again, also by two at once.
func TestAFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c%d#.db")
	first := open(t, path)
	var mode string
	if err := first.db.QueryRow(`PRAGMA journal_mode`).Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal mode %q, %v; want wal: a reader must not wait for another process's writer", mode, err)
	}
	hash := put(t, first, "kept")
	second := open(t, path)
	if !has(t, second, hash, "kept") {
		t.Error("a second one does not see what the first has put")
	}
	other := put(t, second, "from the second")
	if !has(t, first, other, "from the second") {
		t.Error("the first one does not see what the second has put")
	}
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file has another name: %v", err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("the write-ahead log is left after closing")
	}
	if !has(t, open(t, path), hash, "kept") {
		t.Error("the text is gone after opening again")
	}
}

// However many short texts are put, the file stays within its bound.
func TestTheFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bounded.db")
	s := open(t, path)
	s.maxBytes = 1 << 20
	for i := range 1200 {
		put(t, s, fmt.Sprintf("%0*d", 4000, i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 3*s.maxBytes {
		t.Errorf("the file has %d bytes for rows of at most %d", info.Size(), s.maxBytes)
	}
}

// A row that was changed behind the store's back is an error, and putting the text again mends it.
func TestACorruptRowIsAnError(t *testing.T) {
	s := open(t, "")
	hash := put(t, s, "as it was")
	if _, err := s.db.Exec(`UPDATE content SET text = 'something else'`); err != nil {
		t.Fatal(err)
	}
	if text, _, err := s.Get(hash); err == nil || !strings.Contains(err.Error(), hash) {
		t.Errorf("%q, %v: want an error that names the hash", text, err)
	}
	put(t, s, "as it was")
	if !has(t, s, hash, "as it was") {
		t.Error("the text is not found after putting it again")
	}
}

func TestAFileThatIsNoStoreIsAnError(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, garbage, filepath.Join(dir, "none", "x.db")} {
		if s, err := Open(path); err == nil {
			s.Close()
			t.Errorf("%s is opened as a store", path)
		}
	}
}
