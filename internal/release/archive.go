package main

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"time"
)

// archived is a file of an archive: its content is given, or that of another file.
type archived struct {
	name    string
	file    string
	content []byte
	mode    int64
}

// writeArchive writes a .tar.gz whose files are in one folder and have one time.
func writeArchive(path, folder string, at time.Time, files []archived) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	compressed := gzip.NewWriter(out)
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		content := f.content
		if f.file != "" {
			if content, err = os.ReadFile(f.file); err != nil {
				return err
			}
		}
		header := &tar.Header{
			Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(content)), ModTime: at, Format: tar.FormatPAX,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}
