package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"time"

	"sluice/client"
	"sluice/shared/ingest/batch"
)

const (
	// partsFrom is the size in bytes from which on a file is uploaded in parts, so that a pause keeps what was sent.
	partsFrom = 16 << 20
	// firstRetryPause and maxRetryPause are the pauses after an upload has broken off: each is twice the one before.
	firstRetryPause = 2 * time.Second
	maxRetryPause   = time.Minute
	// giveUpTimeout is how long the service is tried to be told that an upload is given up.
	giveUpTimeout = 10 * time.Second
)

// upload is the upload of a file and what becomes of its batch. Its fields are those of Files.mu; the request is not
// changed once the upload runs.
type upload struct {
	// asked is what the page has asked for, and request what the service is asked for.
	asked   client.UploadOptions
	request client.UploadOptions
	target  client.Upload
	batchID string
	// inParts means that the file is uploaded in parts, so that what was sent stays sent.
	inParts bool
	// declared means that request says what the file is.
	declared bool
	// attempts is how often sending was begun, and waiting means that it waits for its turn.
	attempts int
	waiting  bool
	// stored is how many bytes the service had when sending was last begun.
	stored int64
	// retry is why and until when a broken upload waits; nil if it does not. retryNow ends the pause.
	retry    *retryState
	retryNow context.CancelFunc
	// uploaded means that the service has the file, and status is the latest one of the batch.
	uploaded bool
	status   *client.Status
	// sending is how long sending took so far, without pauses; it is added up when sending stops.
	sending   time.Duration
	startedAt time.Time
}

// retryState says why an upload has broken off, and when it goes on.
type retryState struct {
	// Answered means that the service was reached, and is busy or failing; otherwise no answer came.
	Answered bool      `json:"answered"`
	Reason   string    `json:"reason"`
	Attempt  int       `json:"attempt"`
	At       time.Time `json:"at"`
}

// uploadState is the upload of a file as the page is told of it.
type uploadState struct {
	Options client.UploadOptions `json:"options"`
	BatchID string               `json:"batch_id,omitempty"`
	// Waiting means that it waits for others to be uploaded.
	Waiting bool  `json:"waiting"`
	Sent    int64 `json:"sent"`
	Total   int64 `json:"total"`
	// AlreadyStored is how much of it the service had when sending was last begun.
	AlreadyStored  int64   `json:"already_stored"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Seconds is how long sending took, without pauses.
	Seconds float64 `json:"seconds"`
	// InParts means that what is sent stays sent when the upload is paused or breaks off.
	InParts bool        `json:"in_parts"`
	Retry   *retryState `json:"retry"`
	// Uploaded means that the service has the file, and Status is the latest status of the batch.
	Uploaded bool           `json:"uploaded"`
	Status   *client.Status `json:"status"`
}

// state returns what the page is told of an upload.
func (u *upload) state(x *file, now time.Time) *uploadState {
	sent, speed := x.sent.read(now)
	s := &uploadState{Options: u.asked, BatchID: u.batchID, Waiting: u.waiting, Sent: sent, Total: x.size,
		AlreadyStored: u.stored, BytesPerSecond: speed, InParts: u.inParts, Retry: u.retry, Uploaded: u.uploaded,
		Status: u.status, Seconds: u.sending.Seconds()}
	if !u.startedAt.IsZero() {
		s.Seconds += now.Sub(u.startedAt).Seconds()
	}
	if u.uploaded {
		s.Sent, s.BytesPerSecond = x.size, float64(x.size-u.stored)/max(s.Seconds, 0.001)
	}
	return s
}

// runUpload uploads a file when it is its turn, and follows its batch to the end.
func (f *Files) runUpload(ctx context.Context, x *file) {
	u := x.upload
	err := f.send(ctx, x, u)
	f.update(func() {
		u.waiting, u.retry = false, nil
		if !u.startedAt.IsZero() {
			u.sending, u.startedAt = u.sending+f.config.Now().Sub(u.startedAt), time.Time{}
		}
		switch cause := context.Cause(ctx); {
		case err == nil:
			u.uploaded, x.state, x.problem = true, stateFollowing, nil
			f.start(x, func(ctx context.Context) { f.follow(ctx, x, u) })
		case errors.Is(cause, errPaused):
			x.state = statePaused
		case cause != nil: // whoever has cancelled it knows what is next
		case u.batchID == "" || isOver(err):
			x.state, x.upload = stateChecked, nil
			x.problem = problemOfUpload(err)
		default:
			x.state, x.problem = statePaused, problemOfUpload(err)
		}
	})
}

// send sends a file until the service has it. After failures that may be temporary it goes on by itself.
func (f *Files) send(ctx context.Context, x *file, u *upload) error {
	f.update(func() { u.waiting = true })
	select {
	case f.uploads <- struct{}{}:
		defer func() { <-f.uploads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	f.update(func() { u.waiting, u.startedAt = false, f.config.Now() })
	for failures := 1; ; failures++ {
		before, _ := x.sent.read(f.config.Now())
		err := f.sendOnce(ctx, x, u)
		if err == nil || ctx.Err() != nil || !isTemporary(err) {
			return err
		}
		if after, _ := x.sent.read(f.config.Now()); after > before {
			failures = 1
		}
		if err := f.pauseBeforeRetry(ctx, u, failures, err); err != nil {
			return err
		}
	}
}

// pauseBeforeRetry waits before something is tried again for an upload, and has the page told why. The page can end the
// pause.
func (f *Files) pauseBeforeRetry(ctx context.Context, u *upload, failures int, cause error) error {
	pause := min(firstRetryPause<<min(failures-1, 10), maxRetryPause)
	waiting, retryNow := context.WithCancel(ctx)
	defer retryNow()
	f.update(func() {
		u.retry = &retryState{Answered: !errors.As(cause, new(*client.UnreachableError)),
			Reason: sentence(cause.Error()), Attempt: failures, At: f.config.Now().Add(pause).UTC()}
		u.retryNow = retryNow
	})
	_ = f.config.Pause(waiting, pause)
	f.update(func() { u.retry, u.retryNow = nil, nil })
	return ctx.Err()
}

// sendOnce creates the batch, unless it exists, and sends what the service does not have of the file.
func (f *Files) sendOnce(ctx context.Context, x *file, u *upload) error {
	if !u.declared {
		if err := u.declare(ctx, x); err != nil {
			return err
		}
		u.declared = true
	}
	u.attempts++
	isExpired := !u.target.ExpiresAt.IsZero() && f.config.Now().After(u.target.ExpiresAt)
	if u.batchID == "" || !u.inParts && isExpired { // the same key has the URL signed anew
		target, err := f.config.Client.CreateUploadWith(ctx, u.request)
		if err != nil {
			return err
		}
		f.update(func() { u.target, u.batchID = target, target.BatchID })
		if len(target.IgnoredParameters) > 0 {
			return &ignoredError{target.IgnoredParameters}
		}
	}
	progress := func(n int64) { x.sent.set(f.config.Now(), n) }
	if !u.inParts {
		err := f.config.Client.UploadFile(ctx, u.target, x.content, x.size, progress)
		if errors.Is(err, client.ErrAlreadyUploaded) { // by an attempt whose answer was lost: nobody else has the URL
			return nil
		}
		return err
	}
	if u.attempts > 1 {
		s, err := f.config.Client.Status(ctx, u.batchID)
		if err != nil {
			return err
		}
		if s.Status != "" || s.Message != client.MessageNotUploaded {
			return nil
		}
	}
	return f.config.Client.UploadParts(ctx, u.batchID, x.content, x.size, client.PartsOptions{
		OnResume: func(stored int64, _ int) {
			x.sent.begin(f.config.Now(), stored)
			f.update(func() { u.stored = stored })
		},
		Progress: progress,
	})
}

// declare adds to the request what will be uploaded: in parts, each with its checksum, or by one PUT of exactly this
// file.
func (u *upload) declare(ctx context.Context, x *file) error {
	u.request.ContentLength = &x.size
	u.request.IdempotencyKey = rand.Text()
	if x.packed != batch.Identity {
		u.request.ContentEncoding = string(x.packed)
	}
	if u.inParts {
		u.request.Upload, u.request.PartChecksums = client.UploadMultipart, true
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, untilDone{ctx, io.NewSectionReader(x.content, 0, x.size)}); err != nil {
		return err
	}
	u.request.ChecksumSHA256 = base64.StdEncoding.EncodeToString(h.Sum(nil))
	return nil
}
