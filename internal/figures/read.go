package figures

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// timeFormat is that of the times in the log of a local cloud.
const timeFormat = "2006-01-02T15:04:05.000Z"

// maxLineBytes is the length above which a line of the log is ignored.
const maxLineBytes = 1 << 20

// Read adds the lines of the log of a local cloud: each has the time, the function, the request ID and the text. It
// returns the number of bytes of whole lines, so that what is appended later can be read from there.
func (f *Figures) Read(log io.Reader) (int64, error) {
	var read int64
	lines := bufio.NewReaderSize(log, maxLineBytes)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == nil:
			f.addLogged(line)
		case errors.Is(err, bufio.ErrBufferFull): // no record is as long
		case errors.Is(err, io.EOF):
			return read, nil // the rest is still being written
		default:
			return read, err
		}
		read += int64(len(line))
	}
}

// addLogged adds one line of the log.
func (f *Figures) addLogged(line []byte) {
	parts := bytes.SplitN(bytes.TrimRight(line, "\n"), []byte(" "), 4)
	if len(parts) < 4 {
		return
	}
	if at, err := time.Parse(timeFormat, string(parts[0])); err == nil {
		f.Add(at, string(parts[1]), parts[3])
	}
}
