package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// fromNpmPackage is the fetcher for an npm package. The sum is npm's integrity text: "sha512-" and the
// SHA-512 of the archive in base 64. Nothing of the package is installed or run.
func fromNpmPackage(pin, sum string, names []string) (map[string][]byte, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, errors.New("npm is needed once to fetch it and is not installed; on Debian: apt-get install npm")
	}
	dir, err := os.MkdirTemp("", "fetchassets")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(npm, "pack", pin, "--silent", "--ignore-scripts")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	if out, err := cmd.Output(); err != nil {
		return nil, fmt.Errorf("npm pack: %w\n%s", err, out)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		return nil, err
	}
	if len(archives) != 1 {
		return nil, fmt.Errorf("npm pack left %d archives, want 1", len(archives))
	}
	archive, err := os.ReadFile(archives[0])
	if err != nil {
		return nil, err
	}
	return unpack(archive, sum, names)
}

// unpack checks archive against its integrity text and returns the named files. In an npm archive every
// path begins with "package/".
func unpack(archive []byte, integrity string, names []string) (map[string][]byte, error) {
	digest := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(digest[:]); got != integrity {
		return nil, fmt.Errorf("archive has integrity %s, pinned is %s", got, integrity)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	content := make(map[string][]byte, len(names))
	entries := tar.NewReader(unzipped)
	for len(content) < len(names) {
		entry, err := entries.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(names, func(name string) bool { return entry.Name == "package/"+name })
		if i < 0 {
			continue
		}
		if content[names[i]], err = io.ReadAll(entries); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if _, ok := content[name]; !ok {
			return nil, fmt.Errorf("archive lacks %s", name)
		}
	}
	return content, nil
}
