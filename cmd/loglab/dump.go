package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"loglab/engine/record"
	"loglab/engine/storage"
)

// dumpCmd prints the record batches of one segment, ours or a real broker's.
type dumpCmd struct {
	File    string `arg:"" help:"A segment: a .log file of a partition's directory."`
	JSON    bool   `name:"json" help:"Print one JSON object a batch."`
	Anatomy bool   `help:"Print every field of every batch with its offset, width, bytes, value and meaning."`
	Check   bool   `help:"Also hold the .index, .timeindex, .txnindex and .snapshot of the same name, the name itself and where the next segment begins against the log. Each disagreement is a line behind the batches (problem: FILE: entry N: byte N: offset N: found …, expected …), with --json an object {\"problem\": {kind, file, entry, byte, offset, found, expected}} in which entry, byte and offset may be null. Exit status 1 if there is one."`
}

// Help says what bounds a dump.
func (c *dumpCmd) Help() string {
	return fmt.Sprintf("A file may have any size: it is read batch by batch. A batch may have %d MiB, and %d MiB once it is decompressed; "+
		"a file beside the log may have %d MiB. The listing ends at the first batch that is torn, larger or damaged, with exit status 1 and a line that says where.",
		record.MaxReadBatch>>20, record.MaxDecompressedBytes>>20, storage.MaxComparedFile>>20)
}

// Run reads the file batch by batch. It ends at the first batch that is torn or corrupt, with exit
// status 1; what can't be read at all is exit status 2.
func (c *dumpCmd) Run(std *stdio) error {
	file, err := os.Open(c.File)
	if err != nil {
		return badInput("%v", err)
	}
	defer file.Close()
	var comparison *storage.Comparison
	if c.Check {
		beside, err := filesBeside(c.File)
		if err != nil {
			return badInput("%v", err)
		}
		comparison = storage.NewComparison(filepath.Base(c.File), beside)
	}
	out := &printer{w: std.Out}
	err = c.dump(file, out, comparison)
	if out.flush(); out.err != nil {
		return badInput("write: %v", out.err)
	}
	return err
}

// dump prints the batches of r, then what the comparison finds, if there is one. It returns an exitError.
func (c *dumpCmd) dump(r io.Reader, out *printer, comparison *storage.Comparison) error {
	segment := record.NewReader(r)
	for {
		batch, err := segment.Next()
		switch {
		case err == record.ErrEnd:
			return c.finish(out, comparison, segment.Position(), nil)
		case errors.Is(err, record.ErrTorn) || errors.Is(err, record.ErrCorrupt):
			return c.finish(out, comparison, segment.Position(), err)
		case err != nil:
			return badInput("%s: byte %d: %v", c.File, segment.Position(), err)
		}
		// What the batch holds is printed only if it is what was written and can be decoded.
		item := dumpedBatch{Batch: batch, position: segment.Position()}
		err = batch.CheckCRC()
		if err == nil {
			item.crcValid = true
			item.records = segment.Scan(batch)
			err = checkRecords(item.records)
		}
		item.readable = err == nil
		if c.JSON {
			item.writeJSON(out, c.Anatomy)
		} else {
			item.writeText(out, c.Anatomy)
		}
		if err != nil || out.err != nil {
			return c.finish(out, comparison, segment.Position(), err)
		}
		if comparison != nil {
			comparison.Add(batch)
		}
	}
}

// finish ends the listing: at the end of the file, or at the byte where a batch begins that is at fault.
func (c *dumpCmd) finish(out *printer, comparison *storage.Comparison, position int64, fault error) error {
	if comparison != nil {
		return c.report(out, comparison, fault)
	}
	if fault == nil {
		return nil
	}
	return exitError{Code: exitNo, Msg: fmt.Sprintf("%s: byte %d: %s", c.File, position, describeFault(fault))}
}

// describeFault says what is wrong with a batch, and where in it.
func describeFault(err error) string {
	var at *record.PositionError
	switch {
	case !errors.As(err, &at):
		return err.Error()
	case at.Position > 0:
		return fmt.Sprintf("%v: at its byte %d: %s", at.Kind, at.Position, at.What)
	}
	return fmt.Sprintf("%v: %s", at.Kind, at.What)
}

// checkRecords walks over all records.
func checkRecords(s record.Scanner) error {
	for s.Next() {
	}
	return s.Err()
}

// dumpedBatch is one batch on its way to the output.
type dumpedBatch struct {
	record.Batch
	position int64
	crcValid bool
	readable bool           // the records can be decoded
	records  record.Scanner // before the first record; not to be moved, but copied
}

// fields gives the anatomy of the batch and, if it is compressed, of the decompressed records. A batch
// that is not readable has only its header's.
func (b *dumpedBatch) fields() (batch, records []record.Field) {
	batch, _ = record.Anatomy(b.Bytes())
	if !b.readable {
		end := 0
		for end < len(batch) && batch[end].Offset < record.HeaderSize {
			end++
		}
		return batch[:end], nil
	}
	if b.Attributes.Codec() != record.None {
		records, _ = record.RecordsAnatomy(b.Bytes())
	}
	return batch, records
}
