-- +goose Up
CREATE TABLE file (
    hash TEXT PRIMARY KEY,  -- SHA-256 of the body, base64url
    size INTEGER NOT NULL,  -- what the row counts for, in bytes
    used INTEGER NOT NULL,  -- nanoseconds since 1970 at which it was put or read, to a minute; no two rows have the same
    until INTEGER NOT NULL  -- seconds since 1970 from which on it is forgotten
);
-- Apart, so that noting a use does not write the body anew.
CREATE TABLE file_body (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL
);
-- +goose StatementBegin
CREATE TRIGGER file_gone AFTER DELETE ON file BEGIN
    DELETE FROM file_body WHERE hash = OLD.hash;
END;
-- +goose StatementEnd
