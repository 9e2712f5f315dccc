package content

import "embed"

// FS holds the directories glossary, lessons and scenarios.
//
//go:embed glossary lessons scenarios
var FS embed.FS
