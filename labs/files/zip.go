package files

import (
	"archive/zip"
	"io"
	"time"
)

// zipTime is the time of every file in a zip: the first that the format can hold, so that the same files are the same
// zip.
var zipTime = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// Zip writes the files of a directory, in their order, as a zip: "orders-0/00000000000000000000.log" and so on. The same
// directory gives the same bytes.
func (d Directory) Zip(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, f := range d.Files {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: d.Name + "/" + f.Name, Method: zip.Deflate, Modified: zipTime})
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.Bytes); err != nil {
			return err
		}
	}
	return z.Close()
}
