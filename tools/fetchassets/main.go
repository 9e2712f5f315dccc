package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// asset is one third-party package and the files taken from it.
type asset struct {
	name  string // what the command line calls it
	pin   string // name@version, as its package manager writes it
	sum   string // checksum of the whole package, as its package manager writes it
	fetch fetcher
	files []file
}

// file is one file of a package.
type file struct {
	from   string // path in the package
	to     string // path below the root of the checkout
	sha256 string // of the content, hexadecimal
}

// fetcher gets the package pin, checks that its checksum is sum, and returns the content of the named
// files by name.
type fetcher func(pin, sum string, names []string) (map[string][]byte, error)

func main() {
	if err := run(".", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fetchassets:", err)
		os.Exit(1)
	}
}

// run installs the named assets below root.
func run(root string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("name what to fetch: %v", assetNames())
	}
	for _, name := range names {
		a, ok := assetNamed(name)
		if !ok {
			return fmt.Errorf("%q is not one of %v", name, assetNames())
		}
		if err := a.install(root); err != nil {
			return fmt.Errorf("%s: %w", a.pin, err)
		}
	}
	return nil
}

// install makes every file of a stand below root with the pinned content. After an error no file of a
// has been written with any other.
func (a asset) install(root string) error {
	if a.isInPlace(root) {
		return nil
	}
	names := make([]string, len(a.files))
	for i, f := range a.files {
		names[i] = f.from
	}
	content, err := a.fetch(a.pin, a.sum, names)
	if err != nil {
		return err
	}
	for _, f := range a.files {
		if got := sha256Hex(content[f.from]); got != f.sha256 {
			return fmt.Errorf("%s has SHA-256 %s, pinned is %s", f.from, got, f.sha256)
		}
		to := filepath.Join(root, f.to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content[f.from], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// isInPlace tells whether every file of a stands below root with the pinned content.
func (a asset) isInPlace(root string) bool {
	for _, f := range a.files {
		b, err := os.ReadFile(filepath.Join(root, f.to))
		if err != nil || sha256Hex(b) != f.sha256 {
			return false
		}
	}
	return true
}

func assetNamed(name string) (asset, bool) {
	for _, a := range assets {
		if a.name == name {
			return a, true
		}
	}
	return asset{}, false
}

func assetNames() []string {
	var names []string
	for _, a := range assets {
		names = append(names, a.name)
	}
	return names
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
