package console

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// fileRecord is a file as the page is told of it.
type fileRecord struct {
	ID string `json:"id"`
	// Key is by what the page knows a file that it sends.
	Key  string `json:"key,omitempty"`
	Name string `json:"name"`
	// Size is null if the browser has not announced it.
	Size     *int64       `json:"size"`
	Received int64        `json:"received"`
	State    string       `json:"state"`
	Check    *checkRecord `json:"check"`
	Upload   *uploadState `json:"upload"`
	Problem  *fileProblem `json:"problem"`
}

// checkRecord is the check of a file, as far as it is.
type checkRecord struct {
	// Waiting means that the check has not begun, because another file is being checked.
	Waiting bool `json:"waiting"`
	// Progress is how much is done, from 0 to 1. Read is how many bytes are read, of Total; of a packed file, Total is
	// null until it is unpacked, and Unpacked is how many bytes are.
	Progress float64 `json:"progress"`
	Read     int64   `json:"read"`
	// LinesRead is how many transactions those bytes have.
	LinesRead int64  `json:"lines_read"`
	Unpacked  int64  `json:"unpacked"`
	Total     *int64 `json:"total"`
	// Running is how long it takes so far, in seconds.
	Running float64 `json:"running"`
	// CheckResult is what was found; absent until the end.
	*CheckResult
}

// record returns what the page is told of a file. The caller holds f.mu.
func (f *Files) record(x *file) fileRecord {
	r := fileRecord{ID: x.id, Key: x.key, Name: x.name, Received: x.received.Load(), State: x.state, Problem: x.problem}
	if size := x.size; size >= 0 {
		r.Size = &size
	}
	if x.state == stateChecking || x.check != nil {
		r.Check = x.checkRecord(f.config.Now())
	}
	if x.upload != nil {
		r.Upload = x.upload.state(x, f.config.Now())
	}
	return r
}

func (x *file) checkRecord(now time.Time) *checkRecord {
	p := &x.progress
	r := &checkRecord{Waiting: !p.running.Load(), Read: p.read.Load(), LinesRead: p.lines.Load(),
		Unpacked: p.unpacked.Load(), CheckResult: x.check}
	if started := p.started.Load(); started != 0 && x.check == nil {
		r.Running = now.Sub(time.Unix(0, started)).Seconds()
	}
	if total := p.total.Load(); total > 0 {
		r.Total, r.Progress = &total, float64(p.done.Load())/float64(total)
	}
	if x.check != nil {
		r.Progress, r.Running = 1, x.check.Seconds
	}
	return r
}

// list answers with all files, in the order of their arrival, and with what there may be.
func (f *Files) list(w http.ResponseWriter, _ *http.Request) {
	out := struct {
		Files []fileRecord `json:"files"`
		// Limits are what the console holds at most, and Held is how many bytes it holds.
		Limits struct {
			Files     int   `json:"files"`
			Bytes     int64 `json:"bytes"`
			FileBytes int64 `json:"file_bytes"`
		} `json:"limits"`
		Held int64 `json:"held"`
	}{Files: []fileRecord{}}
	out.Limits.Files, out.Limits.Bytes, out.Limits.FileBytes = f.config.MaxFiles, f.config.MaxBytes, maxFileBytes
	f.update(func() {
		out.Held = f.held
		for _, x := range f.files {
			out.Files = append(out.Files, f.record(x))
		}
	})
	writeJSON(w, http.StatusOK, out)
}

// withFile returns a handler of requests about one file.
func (f *Files) withFile(handle func(http.ResponseWriter, *http.Request, *file)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		f.mu.Lock()
		i := slices.IndexFunc(f.files, func(x *file) bool { return x.id == id && !x.removed })
		var x *file
		if i >= 0 {
			x = f.files[i]
		}
		f.mu.Unlock()
		if x == nil {
			refuseGone(w)
			return
		}
		handle(w, r, x)
	}
}

// refuseGone answers a request about a file that there is not.
func refuseGone(w http.ResponseWriter) {
	writeProblem(w, problem{Status: http.StatusNotFound, Title: "The console does not have this file",
		Detail: "It was removed, or it was dropped into a console that has ended.", ErrorCode: "file_gone"})
}

// get answers with one file.
func (f *Files) get(w http.ResponseWriter, _ *http.Request, x *file) { f.answer(w, http.StatusOK, x) }

func (f *Files) answer(w http.ResponseWriter, status int, x *file) {
	f.mu.Lock()
	record := f.record(x)
	f.mu.Unlock()
	writeJSON(w, status, record)
}

// remove removes a file. What it is doing ends; an upload that is not complete is given up. A batch that the service
// has is left alone.
func (f *Files) remove(w http.ResponseWriter, r *http.Request, x *file) {
	f.update(func() { x.removed = true })
	f.stop(x, errRemoved)
	f.update(func() { f.files = slices.DeleteFunc(f.files, func(y *file) bool { return x == y }) })
	f.giveUp(r.Context(), x)
	f.release(x)
	w.WriteHeader(http.StatusNoContent)
}

// errors answers with a page of what is wrong with the lines of a file.
func (f *Files) errors(w http.ResponseWriter, r *http.Request, x *file) {
	var index *ErrorIndex
	var lines io.ReaderAt
	f.update(func() {
		if index = x.index; x.lines != nil {
			lines = x.lines
		}
	})
	if index == nil {
		refuseUnchecked(w)
		return
	}
	serveErrors(w, r, index, func(e *LineError) { describeError(lines, e) })
}

// refuseUnchecked answers a request for what the check of a file has found, if there is nothing.
func refuseUnchecked(w http.ResponseWriter) {
	writeProblem(w, problem{Status: http.StatusConflict, Title: "The file is not checked",
		Detail: "There are no errors of it to show, yet or any more.", ErrorCode: "not_checked"})
}

// serveErrors answers with the page of errors that a request asks for.
func serveErrors(w http.ResponseWriter, r *http.Request, index *ErrorIndex, describe func(*LineError)) {
	q, err := ParseErrorQuery(r.URL.Query())
	if err != nil {
		writeProblem(w, problem{Status: http.StatusBadRequest, Detail: sentence(err.Error())})
		return
	}
	page, err := index.Page(r.Context(), q, describe)
	if err != nil {
		if r.Context().Err() == nil {
			writeProblem(w, problem{Status: http.StatusInternalServerError, Detail: sentence(err.Error())})
		}
		return
	}
	writeJSON(w, http.StatusOK, page)
}

// report answers with everything that is wrong with the lines of a file, as the service reports it.
func (f *Files) report(w http.ResponseWriter, _ *http.Request, x *file) {
	f.mu.Lock()
	index := x.index
	f.mu.Unlock()
	if index == nil {
		refuseUnchecked(w)
		return
	}
	name := strings.TrimSuffix(path.Base(x.name), path.Ext(x.name)) + ".errors.jsonl"
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	w.Header().Set("Content-Length", fmt.Sprint(index.end))
	_, _ = io.Copy(w, io.NewSectionReader(index.file, 0, index.end))
}

// refuseState answers a request that a file in its state cannot be asked for.
func refuseState(w http.ResponseWriter, state string) {
	writeProblem(w, problem{Status: http.StatusConflict, Title: "This cannot be done now",
		Detail: "The file is in the state " + state + ".", ErrorCode: "wrong_state"})
}
