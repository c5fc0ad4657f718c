package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/linefile"
)

const (
	// maxNameBytes is the length of the longest name of a file that is kept; of longer ones the end is.
	maxNameBytes = 400
	// maxKeyBytes is the length of the longest key by which the page knows a file that it sends.
	maxKeyBytes = 64
	// receiveBuffer is how many bytes are read at a time.
	receiveBuffer = 1 << 20
)

var (
	errTooLarge = errors.New("the file is too large")
	// errInterrupted means that the browser has not sent the whole file.
	errInterrupted = errors.New("the file was not received completely")
)

// seeds are those of the digests by which a file is recognized that is dropped twice. They are secret, so that nobody
// can make two files look the same.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// receive stores the body of a request as a file and has it checked. The answer comes when all of it is stored.
func (f *Files) receive(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	x := &file{id: strings.ToLower(rand.Text()[:16]), key: query.Get("key"), name: cleanName(query.Get("name")),
		size: r.ContentLength, state: stateReceiving}
	if x.name == "" || len(x.key) > maxKeyBytes {
		writeProblem(w, problem{Status: http.StatusBadRequest, Detail: "The file needs a name, and a key of at most " +
			fmt.Sprint(maxKeyBytes, " bytes.")})
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	j := &job{cancel: cancel, done: make(chan struct{})}
	if p := f.admit(x, j); p != nil {
		writeFileProblem(w, p)
		return
	}
	unblock := http.NewResponseController(w)
	stop := context.AfterFunc(ctx, func() { _ = unblock.SetReadDeadline(time.Unix(1, 0)) })
	err := f.store(ctx, x, r.Body)
	stop()
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errRemoved) {
		err = cause
	}
	if err != nil {
		p := f.problemOfReceiving(x, err)
		f.fail(x, p)
		f.end(x, j)
		writeFileProblem(w, p)
		return
	}
	f.update(func() {
		x.state = stateChecking
		f.start(x, func(ctx context.Context) { f.runCheck(ctx, x) })
	})
	f.end(x, j)
	writeJSON(w, http.StatusCreated, map[string]string{"id": x.id})
}

// admit adds a file to the others, unless there are too many.
func (f *Files) admit(x *file, j *job) *fileProblem {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return &fileProblem{Code: "closing", Title: "The console is ending"}
	case x.size > maxFileBytes:
		return tooLarge()
	case len(f.files) >= f.config.MaxFiles:
		return &fileProblem{Code: "too_many_files", Title: "The console holds too many files",
			Detail: fmt.Sprintf("It holds %d files at most.", f.config.MaxFiles),
			Hint:   "Remove files here that you no longer need, then drop this one again."}
	case f.held+max(x.size, 0) > f.config.MaxBytes:
		return f.problemOf(x, errSpoolFull)
	}
	x.job = j
	f.files = append(f.files, x)
	return nil
}

func tooLarge() *fileProblem {
	return &fileProblem{Code: "too_large", Title: "The file is too large",
		Detail:  fmt.Sprintf("A batch has %d bytes at most, packed and unpacked.", maxFileBytes),
		Hint:    "Split it by lines, then drop the parts.",
		Command: "split --line-bytes=2GB --additional-suffix=.jsonl FILE part-"}
}

// store copies a file into the spool.
func (f *Files) store(ctx context.Context, x *file, body io.Reader) error {
	to, err := f.newFile()
	if err != nil {
		return err
	}
	f.update(func() { x.content, x.lines = to, to })
	var digests [2]maphash.Hash
	for i := range digests {
		digests[i].SetSeed(seeds[i])
	}
	out := f.newWriter(x, to, func(n int) { x.received.Add(int64(n)) })
	buffer := make([]byte, receiveBuffer)
	for isComplete := false; !isComplete; {
		n, err := readFull(body, buffer)
		isComplete = err == io.EOF
		for i := range digests {
			_, _ = digests[i].Write(buffer[:n])
		}
		if x.received.Load()+int64(n) > maxFileBytes {
			return errTooLarge
		}
		if n > 0 {
			if _, err := out.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err != nil && !isComplete || ctx.Err() != nil {
			return errors.Join(errInterrupted, err, ctx.Err())
		}
	}
	if x.size >= 0 && x.received.Load() != x.size {
		return errInterrupted
	}
	f.update(func() {
		x.size = x.received.Load()
		x.digest = [2]uint64{digests[0].Sum64(), digests[1].Sum64()}
	})
	return nil
}

// readFull fills a buffer. The error is that of the reader, io.EOF at its end: unlike io.ReadFull, it tells the end of
// a body from one that breaks off.
func readFull(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = r.Read(buffer[n:])
		n += more
	}
	return n, err
}

// problemOfReceiving explains why a file was not stored.
func (f *Files) problemOfReceiving(x *file, err error) *fileProblem {
	switch {
	case errors.Is(err, errRemoved):
		return &fileProblem{Code: "removed", Title: "The file was removed"}
	case errors.Is(err, errInterrupted):
		arrived := fmt.Sprintf("%d bytes", x.received.Load())
		if x.size >= 0 {
			arrived = fmt.Sprintf("%d of %d bytes", x.received.Load(), x.size)
		}
		return &fileProblem{Code: "interrupted", Title: "The file did not arrive completely",
			Detail: arrived + " arrived: the page was closed or reloaded, or the file changed while the browser " +
				"read it.",
			Hint: "Drop it again."}
	}
	return f.problemOf(x, err)
}

// cleanName returns the name of a file as it is shown: printable, and not longer than names are kept. It may have
// folders.
func cleanName(name string) string {
	name = strings.TrimLeft(linefile.Printable(name), "/")
	for len(name) > maxNameBytes {
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	return name
}

// statusOf are the statuses of problems with files.
var statusOf = map[string]int{
	"too_large": http.StatusRequestEntityTooLarge, "disk_full": http.StatusInsufficientStorage,
	"spool_full": http.StatusInsufficientStorage, "too_many_files": http.StatusConflict,
	"interrupted": http.StatusBadRequest, "removed": http.StatusGone, "closing": http.StatusServiceUnavailable,
}

// writeFileProblem answers a request with a problem of a file.
func writeFileProblem(w http.ResponseWriter, p *fileProblem) {
	writeProblem(w, problem{Status: cmp.Or(statusOf[p.Code], http.StatusInternalServerError), Title: p.Title,
		Detail: strings.TrimSpace(p.Detail + " " + p.Hint), ErrorCode: p.Code})
}

// sentence makes an error a sentence.
func sentence(text string) string {
	text = linefile.Printable(text)
	first, n := utf8.DecodeRuneInString(text)
	if strings.HasSuffix(text, ".") {
		return strings.ToUpper(string(first)) + text[n:]
	}
	return strings.ToUpper(string(first)) + text[n:] + "."
}

// formatGiB writes a number of bytes for people.
func formatGiB(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
