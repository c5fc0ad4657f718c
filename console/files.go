package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/client"
	"sluice/shared/ingest/batch"
)

// What a console has of files, unless its configuration says otherwise.
const (
	defaultMaxFiles      = 100
	defaultMaxSpoolBytes = 20 << 30
	// maxFileBytes is the size of the largest file that a batch can have.
	maxFileBytes = 1<<31 - 1
	// maxChecks is how many files are checked at a time: a check takes all cores.
	maxChecks = 1
	// maxUploads is how many files are uploaded at a time.
	maxUploads = 3
)

// FilesConfig says where files go. Client is required.
type FilesConfig struct {
	// Client uploads the files.
	Client *client.Client
	// Folder is where the folder of the files is made; "" means the system's folder for temporary files.
	Folder string
	// Flags are those of the connection, for commands that are printed (Flags.Service).
	Flags string
	// MaxFiles and MaxBytes are how many files there may be at a time, and how many bytes they may take together with
	// what is unpacked of them and found in them; 0 means a hundred, and 20 GiB.
	MaxFiles int
	MaxBytes int64
	// Now returns the current time; nil means time.Now. Pause waits, unless ctx ends first; nil means a timer.
	Now   func() time.Time
	Pause func(ctx context.Context, d time.Duration) error
}

// Files are the files that the page has sent: a copy of each is in a temporary folder, is checked at once, and is
// uploaded when the page asks for it. They end with the program. A Files is safe for concurrent use.
type Files struct {
	config FilesConfig
	// checks and uploads bound how many run at a time: each has a value in them while it does.
	checks, uploads chan struct{}
	// partsFrom is the size in bytes from which on a file is uploaded in parts.
	partsFrom int64
	// writer, unless it is nil, replaces what files are written to. Tests make it fail.
	writer func(io.Writer) io.Writer

	mu sync.Mutex
	// files are in the order of their arrival.
	files  []*file
	held   int64
	closed bool

	// spool is the folder of the files; "" until it is made for the first one. Who has mu may lock spoolMu, not the
	// other way.
	spoolMu sync.Mutex
	spool   string
}

// States of a file.
const (
	stateReceiving = "receiving"
	stateChecking  = "checking"
	stateChecked   = "checked"
	stateUploading = "uploading"
	statePaused    = "paused"
	stateFollowing = "following"
	stateDone      = "done"
	stateFailed    = "failed"
)

// file is a file of the page. The fields below changed are those of Files.mu, but what they refer to may be used
// without it by the job that runs.
type file struct {
	id, key, name string
	// size is what the browser has announced, -1 if nothing, and received how many bytes have arrived.
	size     int64
	received atomic.Int64
	progress checkProgress
	sent     meter

	state   string
	problem *fileProblem
	// job is what runs; nil if nothing does.
	job *job
	// removed means that the page has removed it: nothing begins any more.
	removed bool
	// content is the file as it was received; nil until it is, and when it is removed.
	content *os.File
	digest  [2]uint64
	packed  batch.Encoding
	// lines is content itself or, of a packed file, what it unpacks to.
	lines *os.File
	// held is how many bytes of the disk it takes.
	held   int64
	check  *CheckResult
	index  *ErrorIndex
	upload *upload
}

// job is something that runs for a file.
type job struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// NewFiles returns a Files without files. Their folder, which only the user can read, is made for the first one; Close
// removes it.
func NewFiles(c FilesConfig) *Files {
	if c.MaxFiles == 0 {
		c.MaxFiles = defaultMaxFiles
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxSpoolBytes
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pauseFor
	}
	return &Files{
		config: c, partsFrom: partsFrom,
		checks: make(chan struct{}, maxChecks), uploads: make(chan struct{}, maxUploads),
	}
}

// pauseFor waits for d. If ctx ends first it returns its error.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Register adds the paths of the files to those of the console.
func (f *Files) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST /console/files", f.receive)
	mux.HandleFunc("GET /console/files", f.list)
	mux.HandleFunc("GET /console/files/{id}", f.withFile(f.get))
	mux.HandleFunc("DELETE /console/files/{id}", f.withFile(f.remove))
	mux.HandleFunc("GET /console/files/{id}/errors", f.withFile(f.errors))
	mux.HandleFunc("GET /console/files/{id}/report", f.withFile(f.report))
	mux.HandleFunc("POST /console/files/{id}/upload", f.withFile(f.startUpload))
	mux.HandleFunc("POST /console/files/{id}/pause", f.withFile(f.pauseUpload))
	mux.HandleFunc("POST /console/files/{id}/resume", f.withFile(f.resumeUpload))
	mux.HandleFunc("POST /console/files/{id}/cancel", f.withFile(f.cancelUpload))
}

// Close ends everything that runs and removes all files. Uploads that were not complete are in Unfinished afterwards,
// too.
func (f *Files) Close() error {
	f.mu.Lock()
	f.closed = true
	files := slices.Clone(f.files)
	f.mu.Unlock()
	for _, x := range files {
		f.stop(x, errClosing)
	}
	for _, x := range files {
		f.release(x)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spoolMu.Lock()
	defer f.spoolMu.Unlock()
	if f.spool == "" {
		return nil
	}
	return os.RemoveAll(f.spool)
}

// Reasons for which a job is cancelled.
var (
	errClosing   = errors.New("the console ends")
	errRemoved   = errors.New("the file was removed")
	errPaused    = errors.New("the upload was paused")
	errCancelled = errors.New("the upload was cancelled")
)

// start runs something for a file, unless the file was removed or the console ends. The caller holds f.mu.
func (f *Files) start(x *file, run func(ctx context.Context)) {
	if f.closed || x.removed {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	x.job = j
	go func() {
		run(ctx)
		f.end(x, j)
	}()
}

// end marks a job as ended.
func (f *Files) end(x *file, j *job) {
	j.cancel(nil)
	f.mu.Lock()
	if x.job == j {
		x.job = nil
	}
	f.mu.Unlock()
	close(j.done)
}

// stop ends what runs for a file and waits until it has ended. What follows by itself is ended, too.
func (f *Files) stop(x *file, cause error) {
	for {
		f.mu.Lock()
		j := x.job
		f.mu.Unlock()
		if j == nil {
			return
		}
		j.cancel(cause)
		<-j.done
	}
}

// release closes what a file has on the disk, which removes it. No job runs.
func (f *Files) release(x *file) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.lines != nil && x.lines != x.content {
		_ = x.lines.Close()
	}
	if x.content != nil {
		_ = x.content.Close()
	}
	if x.index != nil {
		_ = x.index.Close()
	}
	x.content, x.lines, x.index = nil, nil, nil
	f.held -= x.held
	x.held = 0
}

// update changes a file while nobody reads it.
func (f *Files) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// fail records why nothing more becomes of a file, and frees its disk.
func (f *Files) fail(x *file, p *fileProblem) {
	f.update(func() { x.state, x.problem = stateFailed, p })
	f.release(x)
}
