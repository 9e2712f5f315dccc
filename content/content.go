package content

import "embed"

// FS holds the directories glossary and scenarios.
//
//go:embed glossary scenarios
var FS embed.FS
