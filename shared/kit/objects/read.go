package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
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
	if n := int64(w.buffered()); n > 0 && n < minPartBytes {
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
	if w.err == nil && w.buffered() > 0 {
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

// Download says how storage sends an object that is downloaded by a signed URL. It is always an attachment, which a
// browser stores and does not show, and it is not cached.
type Download struct {
	// FileName is the name under which the file is stored, made safe by SafeFileName.
	FileName string
	// MediaType is the Content-Type; "" means application/octet-stream.
	MediaType string
}

// disposition returns the value of Content-Disposition (RFC 6266), with the name as RFC 8187 encodes it.
func (d Download) disposition() string {
	var b strings.Builder
	b.WriteString("attachment; filename*=UTF-8''")
	for _, c := range []byte(SafeFileName(d.FileName)) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
			strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// SafeFileName returns a name with which a file can be stored without a surprise: path separators, control characters
// and the invisible characters by which a name shows another end than it has (such as U+202E, right-to-left override)
// become "_". So does a dot at the beginning, which hides a file, and a dot or a space at the end, which some systems
// drop.
func SafeFileName(name string) string {
	safe := []rune(strings.Map(func(r rune) rune {
		if !IsSafeInFileName(r) {
			return '_'
		}
		return r
	}, name))
	if len(safe) == 0 {
		return "file"
	}
	if safe[0] == '.' {
		safe[0] = '_'
	}
	if last := len(safe) - 1; safe[last] == '.' || safe[last] == ' ' {
		safe[last] = '_'
	}
	return string(safe)
}

// FileNameProblem returns why a name must not be that of a file, for the client; "" if it may: it hides what kind of
// file it is of, or where it is stored.
func FileNameProblem(name string) string {
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !IsSafeInFileName(r) }):
		return "The value must not contain slashes, backslashes, control characters or characters that change the " +
			"direction of writing."
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "The value must not end with a dot or a space."
	}
	return ""
}

// IsSafeInFileName reports whether a character may be in a file name. Characters that join others, as some scripts
// need, may.
func IsSafeInFileName(r rune) bool {
	return r != '/' && r != '\\' && r != utf8.RuneError && !disguisesText(r)
}

// TextProblem returns why a text must not be shown to people beside others, for the client; "" if it may: it looks
// other than it is.
func TextProblem(text string) string {
	if strings.ContainsFunc(text, disguisesText) {
		return "The value must not contain control characters or characters that change the direction of writing."
	}
	return ""
}

// disguisesText reports whether a character makes a text look other than it is: a control character, or an invisible
// one that changes the direction of writing or breaks the line.
func disguisesText(r rune) bool {
	return r == '\uFEFF' || unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// addNonce adds a random parameter to the URLs of a client. S3 ignores parameters whose names begin with x- (they are
// for its access logs), but the signature covers them.
func addNonce(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Build.Add(middleware.BuildMiddlewareFunc("sluice:nonce", func(
			ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
		) (middleware.BuildOutput, middleware.Metadata, error) {
			if r, ok := in.Request.(*smithyhttp.Request); ok {
				query := r.URL.Query()
				query.Set("x-nonce", rand.Text())
				r.URL.RawQuery = query.Encode()
			}
			return next.HandleBuild(ctx, in)
		}), middleware.After)
	})
}
