package client

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sluice/openapi/wire"
)

const (
	// defaultParallelParts is how many parts are sent at the same time.
	defaultParallelParts = 4
	// maxPartAttempts is how often a part is sent in all when its failures may be temporary: for about a minute.
	maxPartAttempts = 8
)

// ErrOtherFile means that a file cannot be that of an upload which is to be resumed.
var ErrOtherFile = errors.New("it is not the file of this upload")

// PartsOptions say how the parts of a file are sent.
type PartsOptions struct {
	// Parallel is the number of parts that are sent at the same time; 0 means four.
	Parallel int
	// OnResume, unless it is nil, is called before anything is sent, with the number of bytes of the file that are
	// stored already, and the number of stored parts that differ from the file and will be replaced.
	OnResume func(stored int64, replaced int)
	// Progress, unless it is nil, is called with the number of bytes of the file that are stored or sent so far, from
	// several goroutines. The number falls when a part has to be sent again.
	Progress func(sent int64)
	// OnComplete, unless it is nil, is called when all parts are stored, before the service is asked to complete the
	// upload.
	OnComplete func()
}

// UploadParts stores the first size bytes of file as the file of a batch that CreateUploadWith has created with
// UploadMultipart. It sends only the parts that are not stored yet, or differ from the file, so that it also
// resumes an upload that broke off, in this program or in another one. It repeats temporary failures of each part; once
// it has returned nil, the validation of the batch begins without further calls.
//
// A file of another size than the one announced is ErrOtherFile, before anything is sent. An upload that is complete,
// was given up or has expired is a 409 *Error.
func (c *Client) UploadParts(ctx context.Context, batchID string, file io.ReaderAt, size int64, o PartsOptions) error {
	var stored wire.StoredParts
	if err := c.call(ctx, http.MethodGet, partsPath(batchID), nil, &stored); err != nil {
		return err
	}
	if stored.ContentLength != size {
		return fmt.Errorf("%w: it has %d bytes, and the upload was begun for %d", ErrOtherFile, size,
			stored.ContentLength)
	}
	if stored.PartSize < 1 {
		return errors.New("the service has answered with parts of no size")
	}
	u := partsUpload{client: c, batchID: batchID, file: file, size: size, stored: stored, options: o}
	etags, err := u.send(ctx)
	if err != nil {
		return err
	}
	if o.OnComplete != nil {
		o.OnComplete()
	}
	return c.completeUpload(ctx, batchID, etags)
}

// GiveUpUpload ends a batch whose upload in parts is not complete; its parts are deleted. An upload that is complete is
// a 409 *Error.
func (c *Client) GiveUpUpload(ctx context.Context, batchID string) error {
	var out struct{}
	return c.call(ctx, http.MethodDelete, partsPath(batchID), nil, &out)
}

func partsPath(batchID string) string {
	return basePath + "batch/upload-parts/" + url.PathEscape(batchID)
}

// completeUpload has the service make the file of its parts, whose ETags are in the order of the parts.
func (c *Client) completeUpload(ctx context.Context, batchID string, etags []string) error {
	var in wire.UploadCompletion
	for i, etag := range etags {
		in.Parts = append(in.Parts, wire.CompletedPart{PartNumber: int64(i + 1), ETag: etag})
	}
	var out struct{}
	return c.call(ctx, http.MethodPost, basePath+"batch/complete-upload/"+url.PathEscape(batchID), in, &out)
}

// partsUpload is one call of UploadParts.
type partsUpload struct {
	client  *Client
	batchID string
	file    io.ReaderAt
	size    int64
	stored  wire.StoredParts
	options PartsOptions
	// done is the number of bytes that are stored or sent.
	done atomic.Int64
}

// send sends the parts that are missing and returns the ETags of all.
func (u *partsUpload) send(ctx context.Context) ([]string, error) {
	etags := make([]string, u.stored.PartCount)
	var mu sync.Mutex
	replaced := 0
	err := u.inParallel(ctx, u.stored.Parts, func(ctx context.Context, p wire.StoredPart) error {
		if p.PartNumber < 1 || p.PartNumber > u.stored.PartCount {
			return fmt.Errorf("the service has answered with part %d of %d", p.PartNumber, u.stored.PartCount)
		}
		same, err := u.isStored(p)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			return err
		case same:
			etags[p.PartNumber-1] = p.ETag
			u.done.Add(p.Size)
		default:
			replaced++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if u.options.OnResume != nil {
		u.options.OnResume(u.done.Load(), replaced)
	}
	var missing []wire.StoredPart
	for i, etag := range etags {
		if etag == "" {
			missing = append(missing, wire.StoredPart{PartNumber: int64(i + 1)})
		}
	}
	return etags, u.inParallel(ctx, missing, func(ctx context.Context, p wire.StoredPart) error {
		etag, err := u.sendPart(ctx, p.PartNumber)
		etags[p.PartNumber-1] = etag
		return err
	})
}

// inParallel calls do for parts, some at the same time, until one fails.
func (u *partsUpload) inParallel(ctx context.Context, parts []wire.StoredPart,
	do func(context.Context, wire.StoredPart) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan wire.StoredPart, len(parts))
	for _, p := range parts {
		queue <- p
	}
	close(queue)
	var workers sync.WaitGroup
	for range min(cmp.Or(max(u.options.Parallel, 0), defaultParallelParts), len(parts)) {
		workers.Go(func() {
			for p := range queue {
				if ctx.Err() != nil {
					return
				}
				if err := do(ctx, p); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// section returns the bytes of a part.
func (u *partsUpload) section(number int64) *io.SectionReader {
	from := (number - 1) * u.stored.PartSize
	return io.NewSectionReader(u.file, from, max(0, min(u.stored.PartSize, u.size-from)))
}

// isStored reports whether a stored part is that of the file: by its SHA-256 or, if it was sent without, by its ETag,
// which is then the MD5 of the part.
func (u *partsUpload) isStored(p wire.StoredPart) (bool, error) {
	section := u.section(p.PartNumber)
	if p.Size != section.Size() {
		return false, nil
	}
	if p.ChecksumSHA256 != nil {
		sum, err := digest(sha256.New(), section)
		return base64.StdEncoding.EncodeToString(sum) == *p.ChecksumSHA256, err
	}
	etag := strings.Trim(p.ETag, `"`)
	if _, err := hex.DecodeString(etag); err != nil || len(etag) != 2*md5.Size {
		return false, nil
	}
	sum, err := digest(md5.New(), section)
	return hex.EncodeToString(sum) == etag, err
}

func digest(h hash.Hash, r io.Reader) ([]byte, error) {
	if _, err := io.Copy(h, r); err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return h.Sum(nil), nil
}

// sendPart sends a part until it is stored and returns its ETag. Each attempt has a URL of its own.
func (u *partsUpload) sendPart(ctx context.Context, number int64) (etag string, err error) {
	for attempt := 1; ; attempt++ {
		p := partProgress{upload: u}
		etag, err = u.putPart(ctx, number, p.update)
		if err == nil {
			p.end(u.section(number).Size())
			return etag, nil
		}
		p.end(0)
		var refused *StorageError
		var unreachable *UnreachableError
		isTemporary := errors.As(err, &unreachable) ||
			errors.As(err, &refused) && (refused.isTemporary() || refused.isExpired())
		if !isTemporary || attempt >= maxPartAttempts || ctx.Err() != nil {
			return "", err
		}
		if err := u.client.config.Pause(ctx, firstUploadRetryDelay<<min(attempt-1, 5)); err != nil {
			return "", err
		}
	}
}

// partProgress counts the bytes of one attempt at a part. The transport may still read when the attempt has ended.
type partProgress struct {
	upload *partsUpload
	mu     sync.Mutex
	sent   int64
	ended  bool
}

func (p *partProgress) update(sent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	done := p.upload.done.Add(sent - p.sent)
	p.sent = sent
	if p.upload.options.Progress != nil {
		p.upload.options.Progress(done)
	}
}

// end ends the attempt, of which a number of bytes count.
func (p *partProgress) end(sent int64) {
	p.update(sent)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// putPart asks for the URL of a part and sends it once.
func (u *partsUpload) putPart(ctx context.Context, number int64, progress func(int64)) (etag string, err error) {
	in := wire.UploadParts{PartNumbers: []int64{number}}
	section := u.section(number)
	if u.stored.PartChecksums {
		sum, err := digest(sha256.New(), section)
		if err != nil {
			return "", err
		}
		in.ChecksumsSHA256 = []string{base64.StdEncoding.EncodeToString(sum)}
	}
	var out wire.SignedParts
	if err := u.client.call(ctx, http.MethodPost, partsPath(u.batchID), in, &out); err != nil {
		return "", err
	}
	if len(out.Parts) != 1 {
		return "", fmt.Errorf("the service has answered with %d URLs for one part", len(out.Parts))
	}
	part := Upload{URL: out.Parts[0].URL, RequiredHeaders: out.Parts[0].RequiredHeaders}
	return u.client.put(ctx, part, section, section.Size(), progress)
}

// isExpired reports whether a signed URL has expired.
func (e *StorageError) isExpired() bool {
	return e.Status == http.StatusForbidden &&
		(slices.Contains([]string{"ExpiredToken", "RequestExpired"}, e.Code) || strings.Contains(e.Message, "expired"))
}
