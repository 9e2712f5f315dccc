package record

import (
	"errors"
	"fmt"
)

// The three answers to "is there a batch here?" besides yes. They call for different things: a
// reader at the end waits, a log that is recovered cuts a torn tail off, and corrupt bytes are
// neither read nor served. Test for them with errors.Is.
var (
	// ErrEnd says that no bytes are left. It is always returned bare.
	ErrEnd = errors.New("end of the log")

	// ErrTorn says that the bytes end inside a batch, as after a crash in the middle of a write or
	// in a fetch response that was cut to its size limit. Its position is the first byte of the
	// batch, which is where a log is cut.
	ErrTorn = errors.New("torn batch")

	// ErrCorrupt says that bytes can't be what was once written. Its position is the first byte of
	// the field at fault.
	ErrCorrupt = errors.New("corrupt batch")
)

// PositionError is ErrTorn or ErrCorrupt with the place and the reason.
type PositionError struct {
	// Kind is ErrTorn or ErrCorrupt.
	Kind error
	// Position is in bytes from the first byte of the batch. Whoever reads a file adds the position
	// of the batch in it. A fault inside compressed records has the position of the compressed
	// block, and What names the byte of the decompressed data.
	Position int
	// What names the field, what was found and what is allowed.
	What string
}

// Error gives kind, position and reason in one line.
func (e *PositionError) Error() string {
	return fmt.Sprintf("%v: byte %d: %s", e.Kind, e.Position, e.What)
}

// Unwrap gives Kind, so that errors.Is(err, ErrCorrupt) holds.
func (e *PositionError) Unwrap() error { return e.Kind }

func tornf(position int, format string, args ...any) error {
	return &PositionError{Kind: ErrTorn, Position: position, What: fmt.Sprintf(format, args...)}
}

func corruptf(position int, format string, args ...any) error {
	return &PositionError{Kind: ErrCorrupt, Position: position, What: fmt.Sprintf(format, args...)}
}
