package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"sluice/client"
	"sluice/shared/ingest/batch"
)

const (
	// maxReports is how many reports of batches are held at a time, unless more are being read.
	maxReports = 8
	// reportPatience is how long a report is held after it was last read.
	reportPatience = 15 * time.Minute
)

// reports holds the validation reports of the batches whose errors the page shows, each in files of the spool. A report
// is fetched once, however many requests ask for pages of it at the same time; the fetch ends early if all of them end.
// It is safe for concurrent use.
type reports struct {
	client *client.Client
	// newFile returns an empty file of the spool, which is gone when it is closed.
	newFile func() (*os.File, error)
	now     func() time.Time

	mu      sync.Mutex
	byBatch map[string]*batchReport
	// sweeper drops reports that nobody reads; nil while there are none.
	sweeper *time.Timer
	closed  bool
	// fetches counts the goroutines.
	fetches sync.WaitGroup
}

// batchReport is the report of a batch.
type batchReport struct {
	cancel context.CancelFunc
	// ready is closed once index and err are set.
	ready chan struct{}
	index *ErrorIndex
	err   error
	// lines are the rejected lines as far as they have been fetched; nil if there are none.
	lines *rejectedLines

	// users is how many requests wait for it or read it, and used when the last one began or ended.
	users int
	used  time.Time
}

func newReports(c *client.Client, newFile func() (*os.File, error)) *reports {
	return &reports{client: c, newFile: newFile, now: time.Now, byBatch: map[string]*batchReport{}}
}

// Reasons for which a batch has no errors to show.
var (
	errNotValidated  = errors.New("the batch is not validated")
	errConsoleCloses = errors.New("the console ends")
)

// get returns the report of a batch. The caller calls release when it has read it.
func (s *reports) get(ctx context.Context, batchID string) (b *batchReport, release func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, nil, errConsoleCloses
	}
	if b = s.byBatch[batchID]; b == nil {
		b = s.start(batchID)
	}
	b.users++
	b.used = s.now()
	s.mu.Unlock()
	release = func() { s.release(batchID, b) }
	select {
	case <-b.ready:
		err = b.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return b, release, nil
}

// start begins to fetch the report of a batch. The caller holds s.mu.
func (s *reports) start(batchID string) *batchReport {
	ctx, cancel := context.WithCancel(context.Background())
	b := &batchReport{cancel: cancel, ready: make(chan struct{})}
	s.byBatch[batchID] = b
	s.fetches.Go(func() {
		result, err := s.fetchReport(ctx, batchID, b)
		if !s.finish(batchID, b, err) {
			cancel()
		} else if b.lines != nil {
			b.lines.fetch(ctx, func() (io.ReadCloser, error) {
				return s.client.OpenRejected(ctx, *result.RejectedFileURL)
			})
		}
	})
	return b
}

// finish has those who wait for a report read it. It returns false if there is none, or nobody waits for it any more.
func (s *reports) finish(batchID string, b *batchReport, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(b.ready)
	isWanted := s.byBatch[batchID] == b
	b.err = err
	switch {
	case err != nil:
		s.forget(batchID, b) // the next request tries again
	case !isWanted:
		b.close()
	}
	return err == nil && isWanted
}

// fetchReport fetches the report of a batch and indexes it.
func (s *reports) fetchReport(ctx context.Context, batchID string, b *batchReport) (client.ValidationResult, error) {
	r, err := s.client.ValidationResult(ctx, batchID)
	if err == nil && r.Pending {
		err = errNotValidated
	}
	if err != nil {
		return r, err
	}
	file, err := s.newFile()
	if err != nil {
		return r, fmt.Errorf("store the report: %w", err)
	}
	if b.index, err = s.indexReport(ctx, r.ErrorsFileURL, file); err != nil {
		return r, errors.Join(err, file.Close())
	}
	if r.RejectedFileURL == nil || r.RejectedLeftOut != nil && *r.RejectedLeftOut > maxLeftOut {
		return r, nil
	}
	if file, err = s.newFile(); err != nil {
		return r, errors.Join(fmt.Errorf("store the rejected lines: %w", err), b.index.Close())
	}
	leftOut, err := entriesLeftOut(ctx, b.index, r)
	if err != nil {
		return r, errors.Join(err, file.Close(), b.index.Close())
	}
	b.lines = newRejectedLines(file, leftOut)
	return r, nil
}

// indexReport stores what a signed address has in a file, and indexes it. Without an address there are no errors.
func (s *reports) indexReport(ctx context.Context, address string, file *os.File) (*ErrorIndex, error) {
	indexer := NewErrorIndexer(file)
	if address == "" {
		return indexer.Finish()
	}
	body, err := s.client.OpenReport(ctx, address)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if _, err := io.Copy(indexer, body); err != nil {
		return nil, fmt.Errorf("fetch the report: %w", err)
	}
	return indexer.Finish()
}

// release ends what get began.
func (s *reports) release(batchID string, b *batchReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.users--
	b.used = s.now()
	select {
	case <-b.ready:
		s.dropIdle()
	default:
		if b.users == 0 { // nobody waits for it any more
			s.forget(batchID, b)
			b.cancel()
		}
	}
}

// forget removes a report from those that are held. The caller holds s.mu.
func (s *reports) forget(batchID string, b *batchReport) {
	if s.byBatch[batchID] == b {
		delete(s.byBatch, batchID)
	}
}

// dropIdle drops what nobody has read for a while, and of more than maxReports those that were read first. It plans to
// look again. The caller holds s.mu.
func (s *reports) dropIdle() {
	for {
		oldest := ""
		for id, b := range s.byBatch {
			if b.users == 0 && (oldest == "" || b.used.Before(s.byBatch[oldest].used)) {
				oldest = id
			}
		}
		if oldest == "" || len(s.byBatch) <= maxReports && s.now().Sub(s.byBatch[oldest].used) < reportPatience {
			break
		}
		s.drop(oldest)
	}
	switch {
	case s.sweeper != nil:
		s.sweeper.Reset(reportPatience)
	case !s.closed:
		s.sweeper = time.AfterFunc(reportPatience, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.dropIdle()
		})
	}
	if len(s.byBatch) == 0 && s.sweeper != nil {
		s.sweeper.Stop()
		s.sweeper = nil
	}
}

// drop closes a report that nobody reads, and with it frees its space. The caller holds s.mu.
func (s *reports) drop(batchID string) {
	b := s.byBatch[batchID]
	delete(s.byBatch, batchID)
	b.cancel()
	b.close()
}

// close closes the files of a report that is complete, or was not fetched at all.
func (b *batchReport) close() {
	if b.index != nil {
		_ = b.index.Close() // it was only read
	}
	if b.lines != nil {
		b.lines.close()
	}
}

// close ends all fetches and drops all reports. No request reads one any more.
func (s *reports) close() {
	s.mu.Lock()
	s.closed = true
	for _, b := range s.byBatch {
		b.cancel()
	}
	s.mu.Unlock()
	s.fetches.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.byBatch {
		s.drop(id)
	}
	if s.sweeper != nil {
		s.sweeper.Stop()
	}
}

// batchErrors answers with a page of the errors of a batch.
func (s *Server) batchErrors(w http.ResponseWriter, r *http.Request) {
	id, err := batch.ParseID(r.PathValue("id"))
	if err != nil {
		writeProblem(w, problem{Status: http.StatusNotFound, Detail: "There is no such batch."})
		return
	}
	b, release, err := s.reports.get(r.Context(), string(id))
	switch {
	case errors.Is(err, errNotValidated):
		writeProblem(w, problem{Status: http.StatusConflict, Title: "The batch is not validated yet",
			Detail: "Its errors can be listed once its validation is complete.", ErrorCode: "not_validated"})
		return
	case isDiskFull(err):
		writeProblem(w, problem{Status: http.StatusInsufficientStorage, Title: "The disk is full",
			Detail: "The report of the batch cannot be stored on this machine.", ErrorCode: "disk_full"})
		return
	case err != nil:
		s.fail(w, r, err)
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), excerptPatience)
	defer cancel()
	serveErrors(w, r, b.index, newExcerpts(ctx, b.lines).describe)
}
