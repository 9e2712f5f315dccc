package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Bounds of a store.
const (
	MaxText  = 256 << 10 // bytes of one text
	MaxBytes = 100 << 20 // bytes of all rows

	memoryBytes = 25 << 20 // of all rows of a store in memory

	rowBytes   = 256              // what a row counts for beside its text, so that rows are bounded too
	touchEvery = 10 * time.Minute // how old "last used" gets before a read writes it anew
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a set of texts and of files. Make one with [Open]; it is safe for concurrent use.
type Store struct {
	db           *sql.DB
	maxBytes     int64 // of texts
	maxFileBytes int64
	now          func() time.Time
}

// Open opens the store in a file, which it makes where there is none. An empty path is a store in
// memory, which ends with the program.
func Open(path string) (*Store, error) {
	name := ":memory:"
	if path != "" {
		name = url.PathEscape(path)
	}
	// The page count is a stop behind the count of bytes: a short row takes a page of 4 KiB all the same.
	const maxPages = (3*MaxBytes + 2*MaxFileBytes) / 4096
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=secure_delete(1)"+
		"&_pragma=journal_size_limit(%d)&_pragma=max_page_count(%d)", name, 4<<20, maxPages))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // a store in memory lives as long as its connection
	db.SetMaxIdleConns(1)
	if err := migrate(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{db: db, maxBytes: MaxBytes, maxFileBytes: MaxFileBytes, now: time.Now}
	if path == "" {
		s.maxBytes = memoryBytes
	}
	return s, nil
}

// migrate brings the tables of the file to the newest form.
func migrate(db *sql.DB) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, steps)
	if err != nil {
		return err
	}
	_, err = provider.Up(context.Background())
	return err
}

// Close ends the store.
func (s *Store) Close() error { return s.db.Close() }

// SizeError says that a text or a file is too long to be kept.
type SizeError struct{ Found, Allowed int }

// Error names what was found and what is allowed.
func (e *SizeError) Error() string {
	return fmt.Sprintf("there are %d bytes: at most %d are allowed", e.Found, e.Allowed)
}

// Put keeps a text and gives its hash. The error is a [*SizeError] or the database's.
func (s *Store) Put(text string) (hash string, err error) {
	if len(text) > MaxText {
		return "", &SizeError{len(text), MaxText}
	}
	hash = hashOf(text)
	tx, err := s.db.Begin()
	if err != nil {
		return "", err
	}
	defer tx.Rollback()
	// Should the clock have been set back, the new row is still the newest.
	now := s.now().Unix()
	const insert = `
		INSERT INTO content (hash, size, used, text)
		VALUES (?1, ?2, max(?3, coalesce((SELECT max(used) FROM content), 0)), ?4)
		ON CONFLICT (hash) DO UPDATE SET used = excluded.used, text = excluded.text
		WHERE used <= ?3 - ?5 OR text <> excluded.text`
	if _, err := tx.Exec(insert, hash, len(text)+rowBytes, now, []byte(text), int64(touchEvery.Seconds())); err != nil {
		return "", err
	}
	if err := s.evict(tx, hash); err != nil {
		return "", err
	}
	return hash, tx.Commit()
}

// evict drops the rows used longest ago until the rest is within the bound; the row of hash stays.
func (s *Store) evict(tx *sql.Tx, hash string) error {
	var total int64
	if err := tx.QueryRow(`SELECT sum(size) FROM content`).Scan(&total); err != nil || total <= s.maxBytes {
		return err
	}
	const drop = `
		DELETE FROM content WHERE rowid IN (
			SELECT rowid FROM (
				SELECT rowid, sum(size) OVER (ORDER BY hash = ?1 DESC, used DESC, rowid DESC) AS kept FROM content
			) WHERE kept > ?2
		)`
	_, err := tx.Exec(drop, hash, s.maxBytes)
	return err
}

// Get gives the text of a hash; found is false where the store has none. A row whose text is not that of
// its hash is an error.
func (s *Store) Get(hash string) (text string, found bool, err error) {
	var raw []byte
	var used int64
	err = s.db.QueryRow(`SELECT text, used FROM content WHERE hash = ?`, hash).Scan(&raw, &used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	if text = string(raw); hashOf(text) != hash {
		return "", false, fmt.Errorf("the text kept as %s is not what was put there", hash)
	}
	if now := s.now(); now.Sub(time.Unix(used, 0)) >= touchEvery {
		// That it was used is worth no failed read.
		s.db.Exec(`UPDATE content SET used = ? WHERE hash = ?`, now.Unix(), hash)
	}
	return text, true, nil
}

func hashOf(text string) string {
	return hashOfBytes([]byte(text))
}
