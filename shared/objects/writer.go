package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// partSize is what a Writer holds in memory. 10,000 parts of it make 80 GB, more than any object here.
const partSize = 8 << 20

// Writer streams an object into a bucket: small ones as one PUT, larger ones as a multipart upload. The object appears,
// whole, when Close returns nil; until then there is nothing under its key. One of Close and Abort must be called.
type Writer struct {
	ctx    context.Context // of the write as a whole, as an io.Writer has no other way to it
	bucket *Bucket
	key    string
	buf    bytes.Buffer
	upload *string // multipart upload ID, nil before the first part
	parts  []types.CompletedPart
	size   int64
	err    error
}

// Create begins an object.
func (b *Bucket) Create(ctx context.Context, key string) *Writer {
	return &Writer{ctx: ctx, bucket: b, key: key}
}

// Size returns the bytes written so far.
func (w *Writer) Size() int64 { return w.size }

// Write takes over p, sending a part whenever one is full.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	taken := 0
	for taken < len(p) {
		n := min(len(p)-taken, partSize-w.buf.Len())
		w.buf.Write(p[taken : taken+n])
		taken += n
		w.size += int64(n)
		if w.buf.Len() == partSize {
			if w.err = w.sendPart(); w.err != nil {
				return taken, w.err
			}
		}
	}
	return taken, nil
}

func (w *Writer) sendPart() error {
	if w.upload == nil {
		out, err := w.bucket.client.CreateMultipartUpload(w.ctx, &s3.CreateMultipartUploadInput{
			Bucket: &w.bucket.name, Key: &w.key,
		})
		if err != nil {
			return fmt.Errorf("write object: %w", outcome(err))
		}
		w.upload = out.UploadId
	}
	number := aws.Int32(int32(len(w.parts) + 1))
	out, err := w.bucket.client.UploadPart(w.ctx, &s3.UploadPartInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: w.upload, PartNumber: number, Body: bytes.NewReader(w.buf.Bytes()),
	})
	if err != nil {
		return fmt.Errorf("write object: %w", outcome(err))
	}
	w.parts = append(w.parts, types.CompletedPart{ETag: out.ETag, PartNumber: number})
	w.buf.Reset()
	return nil
}

// Close makes the object appear. After an error nothing is left behind.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err != nil {
		return errors.Join(w.err, w.Abort())
	}
	w.upload = nil // nothing is left to abort
	w.err = errors.New("write object: closed")
	return nil
}

// CommitIfWritten closes the writer and returns the key of the object. If nothing was written, it creates no object and returns "".
func (w *Writer) CommitIfWritten() (string, error) {
	if w.size == 0 && w.err == nil {
		return "", nil
	}
	return w.key, w.Close()
}

func (w *Writer) finish() error {
	if w.upload == nil {
		_, err := w.bucket.client.PutObject(w.ctx, &s3.PutObjectInput{
			Bucket: &w.bucket.name, Key: &w.key, Body: bytes.NewReader(w.buf.Bytes()),
		})
		if err != nil {
			return fmt.Errorf("write object: %w", outcome(err))
		}
		return nil
	}
	if w.buf.Len() > 0 {
		if err := w.sendPart(); err != nil {
			return err
		}
	}
	_, err := w.bucket.client.CompleteMultipartUpload(w.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: w.upload,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: w.parts},
	})
	if err != nil {
		return fmt.Errorf("write object: %w", outcome(err))
	}
	return nil
}

// Abort drops what was written. It may be called after Close, and then does nothing.
func (w *Writer) Abort() error {
	if w.upload == nil {
		return nil
	}
	upload := w.upload
	w.upload = nil
	// The context may be what failed; the parts must go all the same.
	_, err := w.bucket.client.AbortMultipartUpload(context.WithoutCancel(w.ctx), &s3.AbortMultipartUploadInput{
		Bucket: &w.bucket.name, Key: &w.key, UploadId: upload,
	})
	return err
}
