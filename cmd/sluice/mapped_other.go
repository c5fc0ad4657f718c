//go:build !unix

package main

import (
	"os"

	"sluice/shared/chunk"
)

func sourceOf(file *os.File) chunk.Source { return chunk.NewSource(file) }
