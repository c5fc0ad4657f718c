//go:build !unix

package main

import (
	"io"
	"os"
)

func mapFile(file *os.File, _ int64) io.ReaderAt { return file }
