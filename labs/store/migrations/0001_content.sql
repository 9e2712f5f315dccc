-- +goose Up
CREATE TABLE content (
    hash TEXT PRIMARY KEY, -- SHA-256 of text, base64url
    size INTEGER NOT NULL, -- what the row counts for, in bytes
    used INTEGER NOT NULL, -- seconds since 1970 at which it was put or read, to ten minutes
    text BLOB NOT NULL
);
CREATE INDEX content_used ON content (used, size);
