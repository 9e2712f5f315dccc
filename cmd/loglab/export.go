package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"loglab/web/export"
)

// exportCmd writes a scenario as files.
type exportCmd struct {
	Scenario string `arg:"" help:"The name of a scenario, or a file NAME.yaml."`
	Out      string `required:"" placeholder:"DIR" help:"The folder to write. It is made where there is none; one that holds anything is left alone."`
	Zip      bool   `help:"Write DIR.zip too, for a learning platform."`
}

// Run writes the folder.
func (c *exportCmd) Run(std *stdio) error {
	told, err := namedScenario(c.Scenario)
	if err != nil {
		return err
	}
	if err := c.free(); err != nil {
		return err
	}
	files, err := export.Files(context.Background(), told)
	if err != nil {
		return exitError{Code: exitNo, Msg: fmt.Sprintf("%s: %v", c.Scenario, err)}
	}
	if err := c.write(files); err != nil {
		return badInput("--out %s: %v", c.Out, err)
	}
	fmt.Fprintf(std.Out, "%s: %d files, open %s\n", c.Out, len(files), filepath.Join(c.Out, "index.html"))
	return nil
}

// zipName is the zip beside the folder.
func (c *exportCmd) zipName() string { return filepath.Clean(c.Out) + ".zip" }

// free refuses to write where something stands already.
func (c *exportCmd) free() error {
	entries, err := os.ReadDir(c.Out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return badInput("--out %s: %v", c.Out, errors.Unwrap(err))
	}
	if len(entries) > 0 {
		return badInput("--out %s: the folder holds something already: an empty or a new one is allowed", c.Out)
	}
	if _, err := os.Lstat(c.zipName()); c.Zip && err == nil {
		return badInput("--zip: %s is there already", c.zipName())
	}
	return nil
}

func (c *exportCmd) write(files []export.File) error {
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(c.Out, f.Name), f.Body, 0o666); err != nil {
			return err
		}
	}
	if !c.Zip {
		return nil
	}
	var archive bytes.Buffer
	if err := export.Zip(&archive, files); err != nil {
		return fmt.Errorf("the zip: %w", err)
	}
	return os.WriteFile(c.zipName(), archive.Bytes(), 0o666)
}
