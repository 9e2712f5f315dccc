package loglab

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// engineLayers is the engine from top to bottom. A package imports only packages in lower lines.
var engineLayers = [][]string{
	{"engine"},
	{"engine/broker", "engine/client", "engine/controller", "engine/ledger"},
	{"engine/replication", "engine/group", "engine/txn"},
	{"engine/coordinator"},
	{"engine/storage", "engine/metadata", "engine/assignor", "engine/partitioner"},
	{"engine/record", "engine/simdisk", "engine/simnet"},
	{"engine/journal", "engine/command", "engine/prng"},
	{"engine/kafka", "engine/sabotage"},
}

// importRules says what of ours a package outside the engine's layers may import:
//
//	cmd → web → labs/all → labs/<lab> → labs, labs/view → engine
//
// A name ending in "/..." means the packages below it and itself. The first rule that matches a package
// holds.
var importRules = []struct{ pkg, imports string }{
	{".", ""},
	{"cmd/loglab", "..."},
	{"tools/...", ""},
	{"judge", ""},
	{"clienttest", ""},

	{"web", "web/... labs/... engine/kafka engine/command engine/journal content static"},
	{"web/browsertest", "web/... labs/... engine/kafka engine/command engine/journal content static"},
	{"web/export", "web/page web/ui labs/... engine/kafka engine/command engine/journal content static"},
	{"web/preview", "labs/view"},
	{"web/page", "web/ui labs/... engine/kafka engine/command engine/journal content static"},
	{"web/ui", "labs/... engine/kafka engine/command engine/journal content static"},
	{"static", ""},
	{"content", ""},

	{"labs/all", "labs labs/view " + allLabs},
	{"labs", "labs/view engine " + engineForLabs},
	{"labs/view", "engine " + engineForLabs},
	{"labs/scenario", "labs labs/view engine " + engineForLabs},
	{"labs/lesson", "labs labs/scenario labs/view engine " + engineForLabs},
	{"labs/capacity", "labs labs/view " + engineForLabs},
	{"labs/store", "labs " + engineForLabs},
	{"labs/uploads", "labs labs/files labs/view " + engineForLabs},
	{"labs/files", "labs/inspect labs/view engine " + engineForLabs},
	{"labs/inspect", "labs labs/view engine " + engineForLabs},
	{"labs/labtest", "labs labs/view engine/journal"},
	{allLabs, "labs labs/files labs/inspect labs/view engine " + engineForLabs},

	{"engine/enginetest", "engine/..."},
}

const (
	allLabs = "labs/partitions labs/offsets labs/replication labs/rebalance labs/segments labs/delivery labs/sandbox"

	engineForLabs = "engine/kafka engine/command engine/journal engine/record engine/storage engine/partitioner engine/assignor engine/group engine/txn"
)

// TestImports holds every package to engineLayers and importRules. Tests may import anything.
func TestImports(t *testing.T) {
	for _, p := range loadTree(t) {
		allowed, known := allowedImports(p.path)
		if !known {
			t.Errorf("%s is in no table: add it to engineLayers or importRules in arch_test.go", p.path)
			continue
		}
		for _, f := range p.code() {
			for _, i := range f.imports() {
				ours, ok := strings.CutPrefix(i.path, "loglab/")
				if ok && !matchesAny(ours, allowed) {
					t.Errorf("%s: %s may not import %s; it may import: %s", i.at, p.path, ours, allowed)
				}
			}
		}
	}
}

// allowedImports lists what pkg may import, separated by spaces.
func allowedImports(pkg string) (allowed string, known bool) {
	for i, layer := range engineLayers {
		if slices.Contains(layer, pkg) {
			return strings.Join(slices.Concat(engineLayers[i+1:]...), " "), true
		}
	}
	for _, rule := range importRules {
		if matchesAny(pkg, rule.pkg) {
			return rule.imports, true
		}
	}
	return "", false
}

func matchesAny(pkg, patterns string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		dir, below := strings.CutSuffix(pattern, "...")
		return pkg == pattern || below && strings.HasPrefix(pkg+"/", dir)
	})
}

func TestMatchesAny(t *testing.T) {
	for _, test := range []struct {
		pkg, patterns string
		want          bool
	}{
		{"labs", "labs", true},
		{"labs/view", "labs", false},
		{"labs", "labs/...", true},
		{"labs/view", "web labs/...", true},
		{"labsx", "labs/...", false},
		{"engine/broker", "...", true},
		{"labs", "", false},
	} {
		if got := matchesAny(test.pkg, test.patterns); got != test.want {
			t.Errorf("matchesAny(%q, %q) is %v, want %v", test.pkg, test.patterns, got, test.want)
		}
	}
}

// notInEngine lists packages, with those below them, that would let the engine see the machine it runs on.
var notInEngine = []string{
	"time", "math/rand", "crypto/rand", "os", "net", "sync", "log", "context", "runtime", "syscall", "unsafe",
}

// TestEngineIsPure holds the engine to what makes a run a function of its address.
func TestEngineIsPure(t *testing.T) {
	for _, p := range loadTree(t) {
		if !isEngine(p.path) {
			continue
		}
		for _, f := range p.code() {
			for _, i := range f.imports() {
				for _, banned := range notInEngine {
					if i.path == banned || strings.HasPrefix(i.path, banned+"/") {
						t.Errorf("%s: the engine may not import %s", i.at, i.path)
					}
				}
			}
			for _, at := range f.goStatements() {
				t.Errorf("%s: the engine may not start a goroutine", at)
			}
		}
		for _, problem := range p.packageVariables() {
			t.Error(problem)
		}
	}
}

func isEngine(pkg string) bool {
	return matchesAny(pkg, "engine/...") && pkg != "engine/enginetest"
}

// The house style asks for about 500 lines a file and 70 a function. These limits leave some room.
const (
	maxFileLines     = 600
	maxFunctionLines = 90
)

func TestSizes(t *testing.T) {
	for _, p := range loadTree(t) {
		for _, f := range p.files {
			if n := f.lines(); n > maxFileLines && !f.isGenerated() {
				t.Errorf("%s has %d lines, at most %d are allowed: one idea a file", f.name, n, maxFileLines)
			}
		}
		for _, f := range p.code() {
			for _, fn := range f.functions() {
				if fn.lines > maxFunctionLines && !f.isGenerated() {
					t.Errorf("%s: %s has %d lines, at most %d are allowed", fn.at, fn.name, fn.lines, maxFunctionLines)
				}
			}
		}
	}
}

func TestEveryPackageHasDoc(t *testing.T) {
	for _, p := range loadTree(t) {
		doc := p.file("doc.go")
		if doc == nil || doc.syntax.Doc == nil {
			t.Errorf("%s/doc.go must say what the package models, what it leaves out, its invariants, and give an example", p.path)
			continue
		}
		want := fmt.Sprintf("Package %s ", doc.syntax.Name.Name)
		if doc.syntax.Name.Name == "main" {
			want = fmt.Sprintf("Command %s ", path.Base(p.path))
		}
		if !strings.HasPrefix(doc.syntax.Doc.Text(), want) {
			t.Errorf("%s: the comment must begin with %q", doc.name, want)
		}
	}
}
