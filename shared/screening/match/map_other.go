//go:build !unix

package match

import (
	"io"
	"os"
)

// mapFile reads a file: mappings are made on Unix alone.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	_, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = nil
	}
	return data, func() error { return nil }, err
}
