package content

import "embed"

// FS holds the directory glossary.
//
//go:embed glossary
var FS embed.FS
