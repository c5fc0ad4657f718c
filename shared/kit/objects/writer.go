package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// partSize is the size of the parts of an upload, one of which a Writer holds in memory. An upload may have 10,000
// parts, which is 80 GB and more than any object here needs.
const partSize = 8 << 20

// Writer streams an object into a bucket: a small one by one PUT, a larger one by a multipart upload. The object exists
// once Close or CommitIfWritten has returned nil; until then its key has no object. One of these methods or Abort must
// be called. A Writer is not safe for concurrent use.
type Writer struct {
	// ctx is the context of the write as a whole: the method of an io.Writer takes none.
	ctx    context.Context
	bucket *Bucket
	key    string
	// buf has the bytes that have not been sent; nil if there were none.
	buf *bytes.Buffer
	// upload is the ID of the multipart upload; nil before the first part.
	upload *string
	parts  []*types.CompletedPart
	// copies are the parts that S3 copies; nil if there are none.
	copies *copies
	size   int64
	// etag and version identify the object, once it exists.
	etag, version string
	err           error
}

// Create returns a writer for an object.
func (b *Bucket) Create(ctx context.Context, key string) *Writer {
	return &Writer{ctx: ctx, bucket: b, key: key}
}

// WriteObject stores what write writes as an object, in the place of one that exists. If write fails, nothing changes.
func (b *Bucket) WriteObject(ctx context.Context, key string, write func(io.Writer) error) error {
	w := b.Create(ctx, key)
	if err := write(w); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close()
}

// StoreObject is WriteObject that returns the metadata of the stored object, except for the time.
func (b *Bucket) StoreObject(ctx context.Context, key string, write func(io.Writer) error) (Info, error) {
	w := b.Create(ctx, key)
	if err := write(w); err != nil {
		return Info{}, errors.Join(err, w.Abort())
	}
	err := w.Close()
	return Info{ETag: w.etag, Version: w.version, Size: w.size}, err
}

// buffers are idle. They take as much memory as the objects of the latest few writers, or parts of them.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Grow prepares for n more bytes, so that their copies are made in one piece.
func (w *Writer) Grow(n int) {
	if w.buf == nil {
		w.buf = buffers.Get().(*bytes.Buffer)
	}
	w.buf.Grow(max(min(n, partSize-w.buf.Len()), 0))
}

// buffered returns the number of bytes that have not been sent.
func (w *Writer) buffered() int {
	if w.buf == nil {
		return 0
	}
	return w.buf.Len()
}

// releaseBuffer lets another writer use the memory, which nothing reads any more.
func (w *Writer) releaseBuffer() {
	if w.buf != nil {
		w.buf.Reset()
		buffers.Put(w.buf)
		w.buf = nil
	}
}

// Size returns the number of bytes written so far.
func (w *Writer) Size() int64 { return w.size }

// Write copies p and uploads each part that is full.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.Grow(0)
	written := 0
	for written < len(p) {
		n := min(len(p)-written, partSize-w.buf.Len())
		if w.buf.Len()+n > w.buf.Cap() && w.buf.Len() >= partSize/8 {
			w.buf.Grow(partSize - w.buf.Len()) // not twice as much as a part needs
		}
		w.buf.Write(p[written : written+n])
		written += n
		w.size += int64(n)
		if w.buf.Len() == partSize {
			if w.err = w.sendPart(); w.err != nil {
				return written, w.err
			}
		}
	}
	return written, nil
}

// begin begins the multipart upload, unless it has begun.
func (w *Writer) begin() error {
	if w.upload != nil {
		return nil
	}
	out, err := w.bucket.client.CreateMultipartUpload(w.ctx, &s3.CreateMultipartUploadInput{
		Bucket: &w.bucket.name, Key: &w.key,
	})
	if err != nil {
		return fmt.Errorf("write object: %w", withOutcome(err))
	}
	w.upload = out.UploadId
	return nil
}

// sendPart uploads the buffer as the next part.
func (w *Writer) sendPart() error {
	if err := w.begin(); err != nil {
		return err
	}
	number := aws.Int32(int32(len(w.parts) + 1))
	out, err := w.bucket.client.UploadPart(w.ctx, &s3.UploadPartInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: w.upload, PartNumber: number,
		Body: bytes.NewReader(w.buf.Bytes()),
	})
	if err != nil {
		return fmt.Errorf("write object: %w", withOutcome(err))
	}
	w.parts = append(w.parts, &types.CompletedPart{ETag: out.ETag, PartNumber: number})
	w.buf.Reset()
	return nil
}

// Close creates the object. After an error there is no object, and the uploaded parts are removed.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	w.upload = nil    // nothing is left to abort
	w.releaseBuffer() // storage has taken all of it, so that no failed request may still read it
	w.err = errors.New("write object: closed")
	return nil
}

// CommitIfWritten closes the writer and returns the key of the object. If nothing was written, it creates no object and
// returns "".
func (w *Writer) CommitIfWritten() (string, error) {
	if w.size == 0 && w.err == nil {
		return "", nil
	}
	return w.key, w.Close()
}

func (w *Writer) finish() error {
	if w.upload == nil {
		w.Grow(0)
		out, err := w.bucket.client.PutObject(w.ctx, &s3.PutObjectInput{
			Bucket: &w.bucket.name, Key: &w.key, Body: bytes.NewReader(w.buf.Bytes()),
		})
		if err != nil {
			return fmt.Errorf("write object: %w", withOutcome(err))
		}
		w.etag, w.version = aws.ToString(out.ETag), versionOf(out.VersionId)
		return nil
	}
	if w.buffered() > 0 {
		if err := w.sendPart(); err != nil {
			return err
		}
	}
	if err := w.copies.wait(); err != nil {
		return err
	}
	parts := make([]types.CompletedPart, len(w.parts))
	for i, part := range w.parts {
		parts[i] = *part
	}
	out, err := w.bucket.client.CompleteMultipartUpload(w.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: w.upload,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return fmt.Errorf("write object: %w", withOutcome(err))
	}
	w.etag, w.version = aws.ToString(out.ETag), versionOf(out.VersionId)
	return nil
}

// Abort removes the uploaded parts, once nothing is being copied any more. After Close it does nothing.
func (w *Writer) Abort() error {
	_ = w.copies.wait() // a part that is stored after the abort would stay
	if w.upload == nil {
		return nil
	}
	upload := w.upload
	w.upload = nil
	// The context may have ended; the parts must be removed all the same.
	_, err := w.bucket.client.AbortMultipartUpload(context.WithoutCancel(w.ctx), &s3.AbortMultipartUploadInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: upload,
	})
	return err
}
