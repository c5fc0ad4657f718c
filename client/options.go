package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"sluice/openapi/wire"
)

// UploadOptions say how a batch is processed.
type UploadOptions struct {
	// RejectOnInvalid means that one invalid line rejects the whole batch; otherwise invalid lines are dropped. With
	// MaxRejected it must be false.
	RejectOnInvalid bool `json:"reject_on_invalid"`
	// MaxRejected is how many invalid transactions the batch may have; more reject it. Nil means that RejectOnInvalid
	// alone decides.
	MaxRejected *RejectLimit `json:"max_rejected,omitempty"`
	// ValidateOnly means that the batch ends with its validation. If it would be accepted, its status is
	// StatusProcessed, and nothing of it is stored.
	ValidateOnly bool `json:"validate_only,omitempty"`
	// OnDuplicate is what becomes of the batch if another one with the same file was processed within 30 days:
	// AcceptDuplicate, which is the default, RejectDuplicate or RejectOpenDuplicate. Status.DuplicateOf names the other
	// one in each case.
	OnDuplicate string `json:"on_duplicate,omitempty"`
	// Name and Metadata are shown in everything that is told about the batch. A name has 1 to 128 characters, or is
	// left out. There may be 16 metadata; their keys have 1 to 64 letters, digits, underscores, dots and hyphens, their
	// values up to 512 characters.
	Name     string            `json:"name,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// ContentEncoding is how the file is packed: EncodingIdentity, EncodingGzip or EncodingZstd. A file that is packed
	// in another way is refused. If it is "", the service recognises gzip and zstd.
	ContentEncoding string `json:"content_encoding,omitempty"`
	// ContentLength is the size of the file in bytes, and ChecksumSHA256 its SHA-256 in base64. What is given is
	// checked: another file is refused. Nil and "" mean that they are not known.
	ContentLength  *int64 `json:"content_length,omitempty"`
	ChecksumSHA256 string `json:"checksum_sha256,omitempty"`
	// Upload is how the file is uploaded: UploadSingle, which is the default, for UploadFile, or UploadMultipart for
	// UploadParts, which needs ContentLength.
	Upload string `json:"upload,omitempty"`
	// PartChecksums has the SHA-256 of each part checked and listed by storage. It is for UploadMultipart.
	PartChecksums bool `json:"part_checksums,omitempty"`
	// Screening asks for the names of unknown entities to be screened; they are not if it is nil.
	Screening *Screening `json:"screen_unknown,omitempty"`
	// IdempotencyKey names the request for 24 hours: calls with the same key and the same options return the same
	// batch. If it is "", the call makes a key of its own, so that its repetitions after lost answers create one batch.
	IdempotencyKey string `json:"-"`
}

// Values of UploadOptions.Upload.
const (
	UploadSingle    = "single"
	UploadMultipart = "multipart"
)

// Values of UploadOptions.OnDuplicate.
const (
	AcceptDuplicate = "accept"
	RejectDuplicate = "reject"
	// RejectOpenDuplicate also rejects a batch while another one with its file is being processed.
	RejectOpenDuplicate = "reject_open"
)

// The values of UploadOptions.ContentEncoding and Status.ContentEncoding. EncodingIdentity means that a file is not
// packed.
const (
	EncodingIdentity = "identity"
	EncodingGzip     = "gzip"
	EncodingZstd     = "zstd"
)

// RejectLimit is how many invalid transactions a batch may have: a number of them, or their share of all transactions.
type RejectLimit = wire.RejectLimit

// ParseRejectLimit returns the limit that a text gives: a whole number, or a share, which the service checks.
func ParseRejectLimit(text string) RejectLimit {
	if lines, err := strconv.ParseInt(text, 10, 64); err == nil {
		return RejectLimit{Lines: lines}
	}
	return RejectLimit{Share: text}
}

// CreateUploadWith is CreateUpload with further options. An option that the service does not accept is a 422 *Error.
func (c *Client) CreateUploadWith(ctx context.Context, o UploadOptions) (Upload, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Upload{}, err
	}
	var out Upload
	err = c.send(ctx, http.MethodPost, basePath+"batch/generate-upload-url", body, keyHeader(o.IdempotencyKey), &out)
	return out, err
}
