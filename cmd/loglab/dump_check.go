package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"loglab/engine/kafka"
	"loglab/engine/storage"
)

// filesBeside reads the files that belong to a segment, and looks which segment comes next.
func filesBeside(log string) (storage.SegmentFiles, error) {
	files := storage.SegmentFiles{Next: kafka.NoOffset}
	name := strings.TrimSuffix(log, storage.LogSuffix)
	for _, f := range []struct {
		suffix  string
		content *[]byte
	}{
		{storage.OffsetIndexSuffix, &files.OffsetIndex}, {storage.TimeIndexSuffix, &files.TimeIndex},
		{storage.TransactionIndexSuffix, &files.TransactionIndex}, {storage.ProducerSnapshotSuffix, &files.ProducerSnapshot},
	} {
		var err error
		if *f.content, err = readBeside(name + f.suffix); err != nil {
			return files, err
		}
	}
	base, isNumber := baseInName(log)
	if !isNumber {
		return files, nil
	}
	entries, err := os.ReadDir(filepath.Dir(log))
	if err != nil {
		return files, err
	}
	for _, e := range entries {
		other, isNumber := baseInName(e.Name())
		if isNumber && e.Name() == storage.SegmentFileName(other, storage.LogSuffix) && other > base && (files.Next == kafka.NoOffset || other < files.Next) {
			files.Next = other
		}
	}
	return files, nil
}

// baseInName reads the base offset in the name of a .log file.
func baseInName(path string) (kafka.Offset, bool) {
	base, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), storage.LogSuffix), 10, 63)
	return kafka.Offset(base), err == nil
}

// readBeside reads a file of bounded size. It is nil if there is none.
func readBeside(path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, storage.MaxComparedFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > storage.MaxComparedFile {
		return nil, fmt.Errorf("%s has more than %d bytes, which are allowed here", path, storage.MaxComparedFile)
	}
	return content, nil
}

// problemJSON is a finding as --json prints it.
type problemJSON struct {
	Kind     string `json:"kind"`
	File     string `json:"file"`
	Entry    *int   `json:"entry"`
	Byte     *int64 `json:"byte"`
	Offset   *int64 `json:"offset"`
	Found    string `json:"found"`
	Expected string `json:"expected"`
}

// report prints what the comparison finds. The answer is no if that is anything.
func (c *dumpCmd) report(out *printer, comparison *storage.Comparison, fault error) error {
	if fault != nil {
		fault = errors.New(describeFault(fault))
	}
	findings, more := comparison.Finish(fault)
	for _, f := range findings {
		if c.JSON {
			out.Write(marshal(map[string]problemJSON{"problem": toProblemJSON(f)}))
			out.text("\n")
		} else {
			fmt.Fprintf(out, "problem: %s\n", oneLine(f.String()))
		}
	}
	if len(findings) == 0 {
		return nil
	}
	message := filepath.Join(filepath.Dir(c.File), findings[0].String())
	if all := len(findings) + more; all > 1 {
		message += fmt.Sprintf(" (%d problems in all, %d of them listed)", all, len(findings))
	}
	return exitError{Code: exitNo, Msg: message}
}

func toProblemJSON(f storage.Finding) problemJSON {
	j := problemJSON{Kind: f.Kind.String(), File: f.File, Found: f.Found, Expected: f.Expected}
	if f.Entry >= 0 {
		j.Entry = &f.Entry
	}
	if f.Byte >= 0 {
		j.Byte = &f.Byte
	}
	if offset := int64(f.Offset); f.Offset != kafka.NoOffset {
		j.Offset = &offset
	}
	return j
}
