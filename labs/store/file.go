package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// Bounds of the files in a store.
const (
	MaxFile      = 16 << 20  // bytes of one file
	MaxFileBytes = 64 << 20  // bytes of all, in memory too
	FileLife     = time.Hour // how long a file is kept after it was put last

	touchFileEvery = time.Minute // how old "last used" gets before a read writes it anew
)

// PutFiles keeps files until the time given, and gives their hashes. They are together within the bound, so that none of
// them makes room for another. The error is a [*SizeError] or the database's; then none is kept.
func (s *Store) PutFiles(bodies ...[]byte) (hashes []string, until time.Time, err error) {
	sum := 0
	for _, body := range bodies {
		if len(body) > MaxFile {
			return nil, until, &SizeError{len(body), MaxFile}
		}
		sum += len(body) + rowBytes
	}
	if sum > MaxFileBytes {
		return nil, until, &SizeError{sum, MaxFileBytes}
	}
	now := s.now()
	until = now.Add(FileLife).Truncate(time.Second)
	tx, err := s.db.Begin()
	if err != nil {
		return nil, until, err
	}
	defer tx.Rollback()
	if err := forgetFiles(tx, now); err != nil {
		return nil, until, err
	}
	for _, body := range bodies {
		hash := hashOfBytes(body)
		hashes = append(hashes, hash)
		if body == nil {
			body = []byte{} // nil would be NULL
		}
		const insert = `
			INSERT INTO file (hash, size, used, until)
			VALUES (?1, ?2, max(?3, coalesce((SELECT max(used) FROM file), 0) + 1), ?4)
			ON CONFLICT (hash) DO UPDATE SET used = excluded.used, until = max(until, excluded.until)`
		if _, err := tx.Exec(insert, hash, len(body)+rowBytes, now.UnixNano(), until.Unix()); err != nil {
			return nil, until, err
		}
		if _, err := tx.Exec(`INSERT INTO file_body (hash, body) VALUES (?1, ?2) ON CONFLICT (hash) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`, hash, body); err != nil {
			return nil, until, err
		}
	}
	const drop = `
		DELETE FROM file WHERE hash IN (
			SELECT hash FROM (SELECT hash, sum(size) OVER (ORDER BY used DESC) AS kept FROM file) WHERE kept > ?1
		)`
	if _, err := tx.Exec(drop, s.maxFileBytes); err != nil {
		return nil, until, err
	}
	return hashes, until, tx.Commit()
}

// File gives the file of a hash and until when it is kept; found is false where the store has none, or no more. A body
// that is not that of its hash is an error.
func (s *Store) File(hash string) (body []byte, until time.Time, found bool, err error) {
	now := s.now()
	var used, seconds int64
	err = s.db.QueryRow(`SELECT body, used, until FROM file JOIN file_body USING (hash) WHERE hash = ?1 AND until > ?2`, hash, now.Unix()).Scan(&body, &used, &seconds)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, until, false, nil
	case err != nil:
		return nil, until, false, err
	}
	if hashOfBytes(body) != hash {
		return nil, until, false, fmt.Errorf("the file kept as %s is not what was put there", hash)
	}
	if now.Sub(time.Unix(0, used)) >= touchFileEvery {
		// That it was used is worth no failed read.
		s.db.Exec(`UPDATE file SET used = max(?2, (SELECT max(used) FROM file) + 1) WHERE hash = ?1`, hash, now.UnixNano())
	}
	return body, time.Unix(seconds, 0).UTC(), true, nil
}

// ForgetFiles removes the files whose time is over. They are no longer found before, too.
func (s *Store) ForgetFiles() error { return forgetFiles(s.db, s.now()) }

func forgetFiles(db interface {
	Exec(query string, args ...any) (sql.Result, error)
}, now time.Time) error {
	_, err := db.Exec(`DELETE FROM file WHERE until <= ?`, now.Unix())
	return err
}

func hashOfBytes(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
