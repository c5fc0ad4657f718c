package figures

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Log is the log of a local cloud's functions, added up as it grows. It is safe for concurrent use.
type Log struct {
	path    string
	options Options

	mu      sync.Mutex
	file    *os.File
	figures *Figures
	// read is how much of the log is added up.
	read int64
}

// OpenLog opens the log of the local cloud on a data folder. If none has run there, the error is fs.ErrNotExist. The
// caller closes it.
func OpenLog(data string, o Options) (*Log, error) {
	l := &Log{path: filepath.Join(data, "logs", "functions.log"), options: o}
	return l, l.open()
}

// open begins with the first line.
func (l *Log) open() error {
	file, err := os.Open(l.path)
	if err != nil {
		return err
	}
	l.file, l.figures, l.read = file, New(l.options), 0
	return nil
}

// Snapshot adds up what was logged since the last call, and returns the figures of all. If there is another log in the
// place of the one before, because somebody has begun anew on the folder, only that one counts.
func (l *Log) Snapshot(now time.Time) (Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isReplaced() {
		_ = l.file.Close() // it was only read
		if err := l.open(); err != nil {
			return Snapshot{}, err
		}
	}
	n, err := l.figures.Read(io.NewSectionReader(l.file, l.read, 1<<62))
	l.read += n
	if err != nil {
		return Snapshot{}, err
	}
	return l.figures.Snapshot(now), nil
}

// isReplaced reports whether the file at the path is another one than the one that is read, or is shorter.
func (l *Log) isReplaced() bool {
	now, err := os.Stat(l.path)
	if err != nil {
		return false // the last figures are better than none
	}
	opened, err := l.file.Stat()
	return err == nil && (!os.SameFile(now, opened) || now.Size() < l.read)
}

// Close closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
