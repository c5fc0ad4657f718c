//go:build !unix

package match

import (
	"io"
	"os"
)

// mapFile reads a file: mappings are made on Unix alone.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	_, err := io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
