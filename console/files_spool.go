package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"sluice/shared/ingest/unpack"
)

// newFile makes a file of the spool. Where the system allows it, it has no name any more, so that it is gone with the
// program however that ends.
func (f *Files) newFile() (*os.File, error) {
	folder, err := f.folder()
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(folder, "")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(out.Name())
	return out, nil
}

// folder returns the folder of the spool, which only the user can read. It is made for the first file, and again if
// something has removed it: systems clear their folder for temporary files of what looks unused.
func (f *Files) folder() (string, error) {
	f.spoolMu.Lock()
	defer f.spoolMu.Unlock()
	if f.spool != "" {
		if info, err := os.Lstat(f.spool); err == nil && info.IsDir() {
			return f.spool, nil
		}
	}
	folder, err := os.MkdirTemp(f.config.Folder, "sluice-console-") // with the mode 0700
	if err != nil {
		return "", fmt.Errorf("make the folder for dropped files: %w", err)
	}
	f.spool = folder
	return folder, nil
}

// spoolWriter writes to a file of the spool, within the limit of all.
type spoolWriter struct {
	files *Files
	of    *file
	to    io.Writer
	count func(n int)
}

// newWriter returns what a file of the spool is written with. Count is called with the number of bytes of each write.
func (f *Files) newWriter(of *file, to *os.File, count func(n int)) io.Writer {
	w := &spoolWriter{files: f, of: of, to: to, count: count}
	if f.writer != nil {
		w.to = f.writer(to)
	}
	return w
}

// errSpoolFull means that the files would take more of the disk than they may.
var errSpoolFull = errors.New("the console holds too much already")

// Write implements io.Writer.
func (w *spoolWriter) Write(p []byte) (int, error) {
	if err := w.files.reserve(w.of, int64(len(p))); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	w.count(n)
	return n, err
}

// reserve counts bytes of the disk as those of a file.
func (f *Files) reserve(x *file, n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held+n > f.config.MaxBytes {
		return errSpoolFull
	}
	f.held, x.held = f.held+n, x.held+n
	return nil
}

// isDiskFull reports whether writing failed because the disk, or the user's share of it, is full.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// fileProblem is what is wrong with a file or its upload, in the words of the page.
type fileProblem struct {
	// Code tells problems apart.
	Code string `json:"code"`
	// Title says what is wrong, Detail why, and Hint what to do.
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Hint   string `json:"hint,omitempty"`
	// Command is a shell command that mends the file; "" if there is none.
	Command string `json:"command,omitempty"`
	// RequestID is that of the service's answer; "" if there is none.
	RequestID string `json:"request_id,omitempty"`
}

// problemOf explains an error of receiving or checking a file.
func (f *Files) problemOf(x *file, err error) *fileProblem {
	var damaged *unpack.Error
	folder, _ := f.folder()
	switch {
	case isDiskFull(err):
		return &fileProblem{Code: "disk_full", Title: "The disk is full",
			Detail: "The console copies dropped files to " + folder + ", and there is no room left.",
			Hint: "Remove files here that you no longer need, or start the console with --spool and a folder that " +
				"has room."}
	case errors.Is(err, errSpoolFull):
		return &fileProblem{Code: "spool_full", Title: "The console holds too many bytes",
			Detail: fmt.Sprintf("All files together may take %s here.", formatGiB(f.config.MaxBytes)),
			Hint:   "Remove files here that you no longer need, then drop this one again."}
	case errors.Is(err, errTooLarge):
		return tooLarge()
	case errors.As(err, &damaged):
		return &fileProblem{Code: "damaged", Title: "The file cannot be unpacked", Detail: sentence(damaged.Error()),
			Hint: "Test it with gzip -t or zstd -t, pack it again, then drop it again."}
	}
	return &fileProblem{Code: "failed", Title: "The file could not be processed", Detail: sentence(err.Error()),
		Hint: "Drop it again."}
}
