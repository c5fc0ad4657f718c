package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"sluice/openapi/wire"
)

const (
	// firstUploadRetryDelay is the pause before the second attempt at an upload; each further pause is twice as long.
	firstUploadRetryDelay = 500 * time.Millisecond
	// expectContinueBytes is the size above which an upload waits for the storage's consent before it sends the body.
	expectContinueBytes = 1 << 20
)

// UploadFile stores the first size bytes of file as the file of the batch to which u belongs. A batch takes one file;
// once UploadFile has returned nil, its validation begins without further calls.
//
// UploadFile repeats temporary failures while u is valid. If the answer to an attempt is lost and the next attempt
// finds a file, the lost attempt has stored it and UploadFile returns nil. Otherwise a file that is there already is
// ErrAlreadyUploaded, and a file larger than u.MaxBytes is ErrTooLarge, before anything is sent.
//
// If progress is not nil, it is called with the number of bytes sent so far, from another goroutine; the number starts
// again at 0 with each attempt.
func (c *Client) UploadFile(
	ctx context.Context, u Upload, file io.ReaderAt, size int64, progress func(sent int64),
) error {
	if u.MaxBytes > 0 && size > u.MaxBytes {
		return fmt.Errorf("%w: it has %d bytes, and a batch may have %d; split it into several batches",
			ErrTooLarge, size, u.MaxBytes)
	}
	if u.URL == "" { // the batch was created by an earlier call with the same key, and awaits no upload any more
		return ErrAlreadyUploaded
	}
	if progress == nil {
		progress = func(int64) {}
	}
	mayBeStored := false // by an attempt whose answer was lost
	for attempt := 1; ; attempt++ {
		progress(0)
		_, err := c.put(ctx, u, file, size, progress)
		var refused *StorageError
		var unreachable *UnreachableError
		retry := false
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed:
			if mayBeStored {
				return nil
			}
			return ErrAlreadyUploaded
		case errors.As(err, &refused):
			retry = refused.isTemporary()
			mayBeStored = mayBeStored || refused.Status >= 500
		case errors.As(err, &unreachable):
			retry, mayBeStored = true, true
		}
		if !retry || attempt >= maxAttempts || ctx.Err() != nil {
			return err
		}
		delay := firstUploadRetryDelay << (attempt - 1)
		if !u.ExpiresAt.IsZero() && c.config.Now().Add(delay).After(u.ExpiresAt) {
			return err
		}
		if err := c.config.Pause(ctx, delay); err != nil {
			return err
		}
	}
}

// put sends the file once and returns its ETag.
func (c *Client) put(ctx context.Context, u Upload, file io.ReaderAt, size int64, progress func(int64)) (etag string,
	err error) {
	body := &progressReader{r: io.NewSectionReader(file, 0, size), size: size, progress: progress}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, u.URL, io.NopCloser(body))
	if err != nil {
		return "", unreachable(err)
	}
	if size == 0 {
		req.Body = http.NoBody
	}
	req.ContentLength = size
	for name, value := range u.RequiredHeaders {
		req.Header.Set(name, value)
	}
	if size > expectContinueBytes {
		// The storage can then refuse before gigabytes are sent in vain.
		req.Header.Set("Expect", "100-continue")
	}
	resp, text, err := c.roundTrip(req, 1<<20)
	if failure := body.failure.Load(); failure != nil {
		return "", fmt.Errorf("read the file: %w", *failure)
	}
	if resp != nil && resp.StatusCode == http.StatusOK {
		return resp.Header.Get("ETag"), nil // even if the rest of the answer is lost
	}
	if err != nil {
		return "", err
	}
	return "", newStorageError(resp, text)
}

// progressReader reports how much was read, and records a failure of the file so that it can be told from one of the
// connection. The transport may still read when the server has answered already.
type progressReader struct {
	r        io.Reader
	n, size  int64
	progress func(int64)
	failure  atomic.Pointer[error]
}

var errFileShrank = errors.New("it has become shorter since the upload began")

// Read reads from the file. The end of the file before size bytes is a failure.
func (p *progressReader) Read(buf []byte) (int, error) {
	n, err := p.r.Read(buf)
	p.n += int64(n)
	p.progress(p.n)
	if err == io.EOF && p.n < p.size {
		err = errFileShrank
	}
	if err != nil && err != io.EOF {
		p.failure.Store(&err)
	}
	return n, err
}

// Upload is the permission to upload the file of a new batch. If the batch awaits no upload any more, because it was
// created by an earlier call with the same UploadOptions.IdempotencyKey, only BatchID, MaxBytes and Message are set.
type Upload = wire.Upload

// SignUpload returns where the file of a batch goes that awaits it by a single PUT, also after the URL of the batch has
// expired. A batch that awaits no upload, or one in parts, is a 409 *Error.
func (c *Client) SignUpload(ctx context.Context, batchID string) (Upload, error) {
	var out Upload
	err := c.call(ctx, http.MethodPost, basePath+"batch/upload-url/"+url.PathEscape(batchID), nil, &out)
	return out, err
}

// CreateUpload creates a batch and returns where its file goes. With rejectOnInvalid, one invalid line rejects the
// whole batch; without, invalid lines are dropped and the others stored. Each call creates another batch, and one only,
// however often it has to be repeated.
func (c *Client) CreateUpload(ctx context.Context, rejectOnInvalid bool) (Upload, error) {
	return c.CreateUploadWith(ctx, UploadOptions{RejectOnInvalid: rejectOnInvalid})
}
