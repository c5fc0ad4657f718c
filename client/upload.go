package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Send puts size bytes of file to the URL of a new batch. Progress, which may be nil, is told from another goroutine how many
// bytes are on their way; it starts again at 0 when an attempt has failed. When an answer was lost and the next attempt finds
// the file there, the upload has succeeded.
func (c *Client) Send(ctx context.Context, to Upload, file io.ReaderAt, size int64, progress func(sent int64)) error {
	if to.MaxBytes > 0 && size > to.MaxBytes {
		return fmt.Errorf("%w: it has %d bytes, and at most %d are taken; split it into several batches", ErrTooLarge, size, to.MaxBytes)
	}
	if progress == nil {
		progress = func(int64) {}
	}
	lost := false // an attempt may have stored the file
	for attempt := 1; ; attempt++ {
		progress(0)
		err := c.put(ctx, to, file, size, progress)
		var refused *StorageError
		var away *UnreachableError
		again := false
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed:
			if lost {
				return nil
			}
			return ErrAlreadyUploaded
		case errors.As(err, &refused):
			again = refused.mayPass()
			lost = lost || refused.Status >= 500
		case errors.As(err, &away):
			again, lost = true, true
		}
		if !again || attempt >= attempts || ctx.Err() != nil {
			return err
		}
		wait := 500 * time.Millisecond << (attempt - 1)
		if !to.ExpiresAt.IsZero() && c.config.Now().Add(wait).After(to.ExpiresAt) {
			return err
		}
		if err := c.config.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (c *Client) put(ctx context.Context, to Upload, file io.ReaderAt, size int64, progress func(int64)) error {
	body := &counted{r: io.NewSectionReader(file, 0, size), size: size, progress: progress}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to.URL, io.NopCloser(body))
	if err != nil {
		return unreachable(err)
	}
	if size == 0 {
		req.Body = http.NoBody
	}
	req.ContentLength = size
	for name, value := range to.RequiredHeaders {
		req.Header.Set(name, value)
	}
	if size > 1<<20 {
		// A refusal is then told before gigabytes are sent for nothing.
		req.Header.Set("Expect", "100-continue")
	}
	resp, err := c.config.HTTP.Do(req)
	if broken := body.err.Load(); broken != nil {
		if err == nil {
			resp.Body.Close()
		}
		return fmt.Errorf("read the file: %w", *broken)
	}
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	if err != nil {
		return unreachable(err)
	}
	return newStorageError(resp, text)
}

// counted tells how much was read, and keeps a failure of the file apart from one of the connection. The transport may still
// read when it has already answered.
type counted struct {
	r        io.Reader
	n, size  int64
	progress func(int64)
	err      atomic.Pointer[error]
}

var errShrunk = errors.New("it has become shorter meanwhile")

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.progress(c.n)
	if err == io.EOF && c.n < c.size {
		err = errShrunk
	}
	if err != nil && err != io.EOF {
		c.err.Store(&err)
	}
	return n, err
}
