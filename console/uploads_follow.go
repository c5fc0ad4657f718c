package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"sluice/client"
)

// follow reads the status of a batch until it has ended. A service that does not answer is tried again.
func (f *Files) follow(ctx context.Context, x *file, u *upload) {
	for failures := 1; ; failures++ {
		_, err := f.config.Client.Follow(ctx, u.batchID, f.followInterval, func(s client.Status) {
			s.Reply = nil
			failures = 1
			f.update(func() { u.status = &s })
		})
		if err != nil && ctx.Err() == nil && isTemporary(err) {
			err = f.pauseBeforeRetry(ctx, u, failures, err)
			if err == nil {
				continue
			}
		}
		f.update(func() {
			switch cause := context.Cause(ctx); {
			case errors.Is(cause, errPaused), errors.Is(cause, errCancelled): // that was meant for the upload
				f.start(x, func(ctx context.Context) { f.follow(ctx, x, u) })
				return
			case cause != nil:
				return
			case err != nil:
				x.problem = &fileProblem{Code: "not_followed", Title: "The batch cannot be followed",
					Detail: sentence(err.Error()), Hint: "It goes on without the console."}
			}
			x.state = stateDone
		})
		return
	}
}

// followInterval is how long to wait after the n-th reading of a status. The tenant's limit of readings is shared by
// all batches that are followed, and by the page.
func (f *Files) followInterval(n int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	following := 0
	for _, x := range f.files {
		if x.state == stateFollowing {
			following++
		}
	}
	if n <= 10 && following <= 2 {
		return 500 * time.Millisecond
	}
	return time.Duration(max(following, 1)) * 2 * time.Second
}

// giveUp tells the service that an upload will not be completed, if there is one.
func (f *Files) giveUp(ctx context.Context, x *file) {
	f.mu.Lock()
	u := x.upload
	isOpen := u != nil && u.batchID != "" && !u.uploaded
	f.mu.Unlock()
	if !isOpen {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	if u.inParts {
		if f.config.Client.GiveUpUpload(ctx, u.batchID) == nil {
			return
		}
	}
	_, _ = f.config.Client.CancelBatch(ctx, u.batchID) // the service forgets it by itself if it does not hear of this
}

// ignoredError means that the service does not know parts of a request.
type ignoredError struct{ parameters []string }

func (e *ignoredError) Error() string {
	return "the service does not know " + strings.Join(e.parameters, ", ") + "; nothing was uploaded"
}

// isTemporary reports whether what has failed may succeed later.
func isTemporary(err error) bool {
	var refused *client.Error
	var storage *client.StorageError
	var token *client.TokenError
	status := 0
	switch {
	case errors.As(err, new(*client.UnreachableError)):
		return true
	case errors.As(err, &refused):
		status = refused.Status
	case errors.As(err, &storage):
		status = storage.Status
	case errors.As(err, &token):
		status = token.Status
	}
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status == http.StatusRequestTimeout
}

// isOver reports whether an upload that was begun cannot be completed any more.
func isOver(err error) bool {
	var refused *client.Error
	return errors.As(err, new(*ignoredError)) || errors.As(err, &refused) &&
		(refused.Status == http.StatusConflict || refused.Status == http.StatusNotFound)
}

// problemOfUpload explains why an upload does not go on.
func problemOfUpload(err error) *fileProblem {
	var refused *client.Error
	p := &fileProblem{Code: "upload_failed", Title: "The upload failed", Detail: sentence(err.Error())}
	switch {
	case errors.As(err, new(*ignoredError)):
		p.Code, p.Title = "refused", "The service does not know one of the options"
	case errors.As(err, &refused) && isOver(err):
		p.Code, p.Title, p.Hint = "upload_over", "The upload is over", "Start it again: it will be another batch."
	case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity:
		p.Code, p.Title, p.Hint = "refused", "The service refuses the options", "Change them and start the "+
			"upload again."
	case errors.As(err, &refused) && refused.Status == http.StatusForbidden:
		p.Code, p.Title, p.Hint = "forbidden", "The client may not upload", "Ask an operator for the permission "+
			"BatchUpload."
	case errors.Is(err, client.ErrTooLarge):
		p.Code, p.Title = "too_large", "The file is too large"
	}
	if p.Hint == "" {
		p.Hint = "Resume it, or cancel it."
	}
	if refused != nil {
		p.RequestID = refused.RequestID
	}
	return p
}

const (
	// meterWindow is the time over which a meter averages, and meterStep that between its samples.
	meterWindow = 5 * time.Second
	meterStep   = 250 * time.Millisecond
)

// meter measures how fast a number of bytes grows. It is safe for concurrent use.
type meter struct {
	mu      sync.Mutex
	bytes   int64
	samples []meterSample
}

type meterSample struct {
	at    time.Time
	bytes int64
}

// begin sets the number and forgets how fast it was.
func (m *meter) begin(now time.Time, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes, m.samples = bytes, append(m.samples[:0], meterSample{now, bytes})
}

// set sets the number. It may fall.
func (m *meter) set(now time.Time, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = bytes
	if n := len(m.samples); n > 0 && now.Sub(m.samples[n-1].at) < meterStep {
		return
	}
	m.samples = append(m.samples, meterSample{now, bytes})
	m.drop(now)
}

// drop forgets samples that are older than the window.
func (m *meter) drop(now time.Time) {
	old := 0
	for old < len(m.samples)-1 && now.Sub(m.samples[old+1].at) >= meterWindow {
		old++
	}
	m.samples = m.samples[old:]
}

// read returns the number and by how many bytes a second it grew of late.
func (m *meter) read(now time.Time) (bytes int64, perSecond float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(now)
	if len(m.samples) == 0 {
		return m.bytes, 0
	}
	elapsed := now.Sub(m.samples[0].at).Seconds()
	if elapsed < meterStep.Seconds() || elapsed > 2*meterWindow.Seconds() {
		return m.bytes, 0
	}
	return m.bytes, float64(max(0, m.bytes-m.samples[0].bytes)) / elapsed
}
