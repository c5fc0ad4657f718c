package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Multipart is an upload in several parts.
type Multipart struct {
	// UploadID is the ID that storage has given to the upload.
	UploadID string
	// PartSize is the number of bytes of each part but the last one.
	PartSize int64
	// PartCount is the number of parts.
	PartCount int64
	// HasChecksums means that every part is sent with its SHA-256.
	HasChecksums bool
	// Completion identifies the parts with which the client has last asked to complete the upload, as CompletionOf
	// returns it; empty if it has not asked. AskedAt is when that was. Storage may not have completed it.
	Completion string
	AskedAt    time.Time
}

// MaxMultipartAge is how long after its creation parts of a batch can be uploaded. Storage deletes the parts of an
// unfinished upload a day later (the lifecycle of the bucket, in template.yaml).
const MaxMultipartAge = 6 * 24 * time.Hour

// PartSizeFor returns the size of the parts of a file of a length: the preferred one, or as many whole mebibytes as it
// takes to have no more than a number of parts.
func PartSizeFor(length, preferred, maxParts int64) int64 {
	const unit = 1 << 20
	least := (length + maxParts - 1) / maxParts
	if least <= preferred {
		return preferred
	}
	return (least + unit - 1) / unit * unit
}

// PartCountFor returns the number of parts of a file of a length. An empty file has one, which is empty.
func PartCountFor(length, partSize int64) int64 { return max(1, (length+partSize-1)/partSize) }

// SizeOf returns the number of bytes of a part, counted from 1, of a file of a length.
func (m Multipart) SizeOf(number, length int64) int64 {
	return min(m.PartSize, length-(number-1)*m.PartSize)
}

// UploadedPart is a part as the client names it when it asks to complete an upload.
type UploadedPart struct {
	// Number counts from 1.
	Number int64
	// ETag is what storage has answered, without quotes.
	ETag string
}

// CompletionOf returns a fingerprint of a list of parts in the order of their numbers.
func CompletionOf(parts []UploadedPart) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", p.Number, p.ETag)
	}
	return hex.EncodeToString(h.Sum(nil))
}
