package figures

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// maxDurations is how many durations are kept for quantiles: the latest.
const maxDurations = 10_000

// durations are durations in milliseconds.
type durations struct {
	latest   []float64
	next     int
	count    int64
	sum, max float64
}

func (d *durations) add(ms float64) {
	if len(d.latest) < maxDurations {
		d.latest = append(d.latest, ms)
	} else {
		d.latest[d.next] = ms
		d.next = (d.next + 1) % maxDurations
	}
	d.count++
	d.sum += ms
	d.max = max(d.max, ms)
}

// summary returns the quantiles of the latest durations: the smallest value that is not less than the share of them.
func (d *durations) summary() Times {
	t := Times{Count: d.count, SumMS: round(d.sum), MaxMS: round(d.max)}
	if len(d.latest) == 0 {
		return t
	}
	sorted := slices.Sorted(slices.Values(d.latest))
	quantile := func(q float64) float64 {
		return round(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)])
	}
	t.P50MS, t.P99MS = quantile(0.5), quantile(0.99)
	return t
}

// round rounds to a thousandth.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// intervals is the time in which at least one of several runs was in progress. Runs are added in the order of their
// ends, or nearly.
type intervals struct {
	// apart are intervals that do not overlap, in order. total is the length of those before them.
	apart []interval
	total time.Duration
}

type interval struct{ start, end time.Time }

// maxApart is how many intervals are kept. A run that began before them counts from their beginning.
const maxApart = 1000

func (s *intervals) add(start, end time.Time) {
	for n := len(s.apart); n > 0 && !s.apart[n-1].end.Before(start); n = len(s.apart) {
		last := s.apart[n-1]
		if last.start.Before(start) {
			start = last.start
		}
		if last.end.After(end) {
			end = last.end
		}
		s.apart = s.apart[:n-1]
	}
	s.apart = append(s.apart, interval{start, end})
	if len(s.apart) > maxApart {
		s.total += s.apart[0].end.Sub(s.apart[0].start)
		s.apart = slices.Delete(s.apart, 0, 1)
	}
}

// length returns the sum of the intervals.
func (s *intervals) length() time.Duration {
	sum := s.total
	for _, i := range s.apart {
		sum += i.end.Sub(i.start)
	}
	return sum
}

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
