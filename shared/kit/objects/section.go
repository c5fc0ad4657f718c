package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// minPartBytes is the size of the smallest part of an upload that is not its last one.
	minPartBytes = 5 << 20
	// maxCopyBytes is how much one request copies.
	maxCopyBytes = 1 << 30
	// maxCopies is the number of copies of a Writer that run at the same time.
	maxCopies = 8
)

// Section is a range of the bytes of an object, which is opened when it is first read. io.Copy of a Section to a Writer
// lets S3 copy most of it, if the range is large enough. A Section is not safe for concurrent use.
type Section struct {
	ctx      context.Context
	bucket   *Bucket
	key      string
	from, to int64
	body     io.ReadCloser
}

// Section returns the bytes [from, to) of an object.
func (b *Bucket) Section(ctx context.Context, key string, from, to int64) *Section {
	return &Section{ctx: ctx, bucket: b, key: key, from: from, to: to}
}

// Read implements io.Reader. It may return the errors of Bucket.Open.
func (s *Section) Read(p []byte) (int, error) {
	if s.from >= s.to {
		return 0, io.EOF
	}
	if s.body == nil {
		body, err := s.bucket.Open(s.ctx, s.key, "", s.from, s.to)
		if err != nil {
			return 0, err
		}
		s.body = body
	}
	n, err := s.body.Read(p[:min(int64(len(p)), s.to-s.from)])
	if s.from += int64(n); err == io.EOF && s.from < s.to {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close ends reading.
func (s *Section) Close() error {
	if s.body == nil {
		return nil
	}
	err := s.body.Close()
	s.body = nil
	return err
}

// splitOff returns a Section of the next n bytes, which has not been opened, and leaves those that follow.
func (s *Section) splitOff(n int64) *Section {
	taken := s.bucket.Section(s.ctx, s.key, s.from, s.from+n)
	s.from += n
	return taken
}

// ReadFrom writes the content of a reader up to its end. Of a Section, S3 copies all but the bytes that fill a part
// that has been begun, and the bytes do not pass through this process.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	start := w.size
	section, ok := r.(*Section)
	if !ok || section.body != nil {
		_, err := io.Copy(writerOnly{w}, r)
		return w.size - start, err
	}
	missing := int64(0) // in the part that has been begun
	if n := int64(w.buf.Len()); n > 0 && n < minPartBytes {
		missing = minPartBytes - n
	}
	if section.to-section.from >= missing+minPartBytes {
		if err := w.copySection(section, missing); err != nil {
			return w.size - start, err
		}
	}
	rest := section.splitOff(section.to - section.from)
	defer rest.Close()
	_, err := io.Copy(writerOnly{w}, rest)
	return w.size - start, err
}

// writerOnly hides ReadFrom.
type writerOnly struct{ io.Writer }

// copySection writes the first bytes of a section to fill a part, and has S3 copy the others. Less than minPartBytes
// remain.
func (w *Writer) copySection(s *Section, missing int64) error {
	if missing > 0 {
		head := s.splitOff(missing)
		defer head.Close()
		if _, err := io.Copy(writerOnly{w}, head); err != nil {
			return err
		}
	}
	if w.err == nil && w.buf.Len() > 0 {
		w.err = w.sendPart()
	}
	if w.err == nil {
		w.err = w.begin()
	}
	for w.err == nil && s.to-s.from >= minPartBytes {
		n := min(s.to-s.from, maxCopyBytes)
		w.copyPart(s.splitOff(n))
		w.size += n
	}
	return w.err
}

// copies are the copies of a Writer that run beside it.
type copies struct {
	running sync.WaitGroup
	slots   chan struct{}
	mu      sync.Mutex
	err     error
}

// copyPart begins to copy a section as the next part.
func (w *Writer) copyPart(s *Section) {
	if w.copies == nil {
		w.copies = &copies{slots: make(chan struct{}, maxCopies)}
	}
	c, number := w.copies, aws.Int32(int32(len(w.parts)+1))
	part := &types.CompletedPart{PartNumber: number}
	w.parts = append(w.parts, part)
	c.slots <- struct{}{}
	c.running.Go(func() {
		defer func() { <-c.slots }()
		out, err := w.bucket.client.UploadPartCopy(w.ctx, &s3.UploadPartCopyInput{
			Bucket: &w.bucket.name, Key: &w.key, UploadId: w.upload, PartNumber: number,
			CopySource:      aws.String((&url.URL{Path: s.bucket.name + "/" + s.key}).EscapedPath()),
			CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", s.from, s.to-1)),
		})
		if err != nil {
			c.mu.Lock()
			c.err = errors.Join(c.err, fmt.Errorf("copy object: %w", withOutcome(err)))
			c.mu.Unlock()
			return
		}
		part.ETag = out.CopyPartResult.ETag
	})
}

// wait waits until no copy runs, and returns what went wrong.
func (c *copies) wait() error {
	if c == nil {
		return nil
	}
	c.running.Wait()
	return c.err
}
