//go:build !unix

package linefile

import (
	"os"

	"sluice/shared/ingest/chunk"
)

// NewSource returns a regular file as validation reads it.
func NewSource(file *os.File) chunk.Source { return chunk.NewSource(file) }
