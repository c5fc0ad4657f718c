package intake

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/metric"
)

// A packed upload is unpacked to an object of its own, which takes its place in everything that follows: only a file
// that can be entered anywhere can be divided into chunks. Which copy is the batch's is decided by one conditional
// write, after which it is scanned like any upload. Copies of other attempts are never read, and expire.

// unpackedPrefix begins the key of every unpacked copy: unpacked/<tenant>/<batch id>/<attempt>.
const unpackedPrefix = "unpacked/"

// unpackedKey returns the object key of the copy that an attempt at unpacking makes.
func unpackedKey(b batch.Batch, attempt string) string {
	return unpackedPrefix + b.Tenant + "/" + string(b.ID) + "/" + attempt
}

// unpackedBatchID returns the batch of whose upload the object with the given key is an unpacked copy.
func unpackedBatchID(key string) (id batch.ID, ok bool) {
	rest, hasPrefix := strings.CutPrefix(key, unpackedPrefix)
	parts := strings.Split(rest, "/")
	if !hasPrefix || len(parts) != 3 {
		return "", false
	}
	id, err := batch.ParseID(parts[1])
	return id, err == nil
}

// findByCopy returns the batch of an unpacked copy. It returns the zero batch if the copy is not the one that counts.
func (in *Intake) findByCopy(ctx context.Context, id batch.ID, object batch.Object) (batch.Batch, error) {
	b, err := in.Batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Content.Key != object.Key {
		return batch.Batch{}, nil
	}
	return b, err
}

// inspectCopy returns the refusal of an unpacked copy that is not clean or not scannable.
func (in *Intake) inspectCopy(ctx context.Context, b batch.Batch) (*refusal, error) {
	if in.GuardDuty != nil {
		// S3 reports the arrival of uploads only. The result of the scan may be known already.
		if _, err := in.GuardDuty.Uploads.RecordArrival(ctx, b.Content, in.Now()); err != nil {
			return nil, err
		}
	}
	return in.scanFile(ctx, b, b.Content)
}

// unpack commits the unpacked copy of a packed file and returns the batch with it, or the refusal of a file that cannot
// be unpacked. It returns the batch as it is if its file is not packed, or if it has ended meanwhile.
func (in *Intake) unpack(ctx context.Context, b batch.Batch) (batch.Batch, *refusal, error) {
	for attempt := 1; ; attempt++ {
		packed, content, err := in.unpackOnce(ctx, b)
		var refused *refusal
		switch {
		case err == nil && packed == batch.Identity:
			return b, nil, nil
		case err == nil:
			b, err = in.Batches.CommitContent(ctx, b.ID, packed, content)
			return b, nil, err
		case errors.As(err, &refused):
			return b, refused, nil
		case !isRetryable(err):
			return b, in.unscannable(ctx, b, err), nil
		case attempt >= in.Retry.Attempts || ctx.Err() != nil:
			return b, nil, err
		}
		in.Log.WarnContext(ctx, "unpacking failed", "batch", b.ID, "error", err)
		_ = in.Retry.wait(ctx, attempt) // if the context ends, so does the next attempt
	}
}

// unpackOnce makes a copy of a file if it is packed, and says how it is packed. Its error is a *refusal if that cannot
// be done however often.
func (in *Intake) unpackOnce(ctx context.Context, b batch.Batch) (batch.Encoding, batch.Object, error) {
	head, err := in.readHead(ctx, b.Object)
	if err != nil {
		return "", batch.Object{}, err
	}
	packed := unpack.Recognize(head)
	switch declared := b.Declared.Encoding; {
	case declared != "" && declared != packed:
		err = &refusal{message: misdeclaredMessage(declared, packed)}
	case packed == batch.Identity:
		return packed, batch.Object{}, checkKind(head, executableMessage, archiveMessage)
	}
	var content batch.Object
	if err == nil {
		content, err = in.writeCopy(ctx, b, packed)
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		refused.packed = packed
	}
	return packed, content, err
}

// writeCopy unpacks a file into an object of its own, as a stream. After an error there is no object.
func (in *Intake) writeCopy(ctx context.Context, b batch.Batch, packed batch.Encoding) (batch.Object, error) {
	started := in.Now()
	body, err := in.Uploads.Open(ctx, b.Object.Key, b.Object.ETag, 0, -1)
	if err != nil {
		return batch.Object{}, err
	}
	defer body.Close()
	digest := sha256.New()
	var file io.Reader = body
	isDigestDue := b.Multipart != nil && b.Declared.SHA256 != nil // of a single PUT, storage compares it
	if isDigestDue {
		file = io.TeeReader(body, digest)
	}
	unpacked := unpack.NewReader(file, packed, b.Object.Size, unpack.Limits{MaxBytes: in.MaxBytes,
		MaxRatio: in.MaxRatio})
	defer unpacked.Close()
	content := bufio.NewReaderSize(unpacked, copyBytes)
	head, err := content.Peek(malware.HeadBytes)
	if err == nil || err == io.EOF {
		err = checkKind(head, packedExecutableMessage, packedArchiveMessage)
	}
	if err != nil {
		return batch.Object{}, asRefusal(err)
	}
	key := unpackedKey(b, in.NewAttempt())
	info, err := in.Uploads.StoreObject(ctx, key, func(w io.Writer) error {
		if _, err := content.WriteTo(w); err != nil {
			return asRefusal(err)
		}
		if isDigestDue && !bytes.Equal(digest.Sum(nil), b.Declared.SHA256) {
			return &refusal{message: batch.OtherFile}
		}
		return nil
	})
	if err != nil {
		return batch.Object{}, err
	}
	metric.SetProperty(ctx, "encoding", string(packed))
	metric.SetProperty(ctx, "unpacked_bytes", info.Size)
	in.Log.InfoContext(ctx, "upload unpacked", "batch", b.ID, "encoding", packed, "bytes", b.Object.Size, "unpacked",
		info.Size, "seconds", in.Now().Sub(started).Round(time.Millisecond).Seconds())
	return batch.Object{Key: key, ETag: info.ETag, Version: info.Version, Size: info.Size}, nil
}

// asRefusal returns the refusal of a file that cannot be unpacked, or else the error itself.
func asRefusal(err error) error {
	if damaged, ok := errors.AsType[*unpack.Error](err); ok {
		return &refusal{message: damaged.Error()}
	}
	return err
}

// copyBytes is how much is unpacked at a time.
const copyBytes = 256 << 10

// readHead returns the first bytes of a file, by which its kind is recognised.
func (in *Intake) readHead(ctx context.Context, o batch.Object) ([]byte, error) {
	if o.Size == 0 {
		return nil, nil // storage refuses a range of an empty object
	}
	head := make([]byte, min(o.Size, malware.HeadBytes))
	body, err := in.Uploads.Open(ctx, o.Key, o.ETag, 0, int64(len(head)))
	if err != nil {
		return nil, err
	}
	n, err := io.ReadFull(body, head)
	return head[:n], errors.Join(err, body.Close())
}

// Messages for files of other kinds, as they were uploaded and inside a packed one.
const (
	executableMessage = "The file is an executable (%s), not JSON Lines."
	archiveMessage    = "The file is an archive (%s); upload the JSON Lines themselves, which may be packed " +
		"with gzip or zstd."
	packedExecutableMessage = "The file unpacks to an executable (%s), not to JSON Lines."
	packedArchiveMessage    = "The file unpacks to an archive (%s); pack the JSON Lines themselves, and once."
)

// checkKind returns the refusal, with one of two messages, of a file that is an executable or an archive by its first
// bytes.
func checkKind(head []byte, executable, archive string) error {
	switch t := malware.Recognize(head); t.Kind {
	case malware.Executable:
		return &refusal{message: fmt.Sprintf(executable, t.Name)}
	case malware.Archive:
		return &refusal{message: fmt.Sprintf(archive, t.Name)}
	}
	return nil
}

// misdeclaredMessage tells the client that a file is not packed as was announced.
func misdeclaredMessage(declared, packed batch.Encoding) string {
	if packed == batch.Identity {
		return fmt.Sprintf("The file was announced as packed with %s, but it does not begin as such a file does.",
			declared)
	}
	if declared == batch.Identity {
		return fmt.Sprintf("The file was announced as not packed, but it is packed with %s.", packed)
	}
	return fmt.Sprintf("The file was announced as packed with %s, but it is packed with %s.", declared, packed)
}
