package adapter

import (
	"context"
	"errors"
	"time"
)

// Upload is the place for a response that is too large for a message. Its file has the text of the member response.
type Upload struct {
	Tenant string
	// ID is a UUID.
	ID        string
	CreatedAt time.Time
	// CreatedBy is the ID of the client that asked for it.
	CreatedBy string
	// Expires is until when a message may name the upload.
	Expires time.Time
	// UsedBy names the message that has used the upload; "" if none has.
	UsedBy string
}

// UploadKey returns the key of an upload's file in the bucket of work files.
func UploadKey(tenant, id string) string { return "answers/" + tenant + "/" + id }

var (
	// ErrNoUpload means that the tenant has no such upload.
	ErrNoUpload = errors.New("adapter: no such upload")
	// ErrUploadUsed means that another message has used the upload.
	ErrUploadUsed = errors.New("adapter: the upload is used")
)

// UploadStore keeps uploads until some time after they have expired. It is safe for concurrent use.
type UploadStore interface {
	// CreateUpload stores a new upload.
	CreateUpload(ctx context.Context, u Upload) error
	// GetUpload reads an upload of a tenant. It returns ErrNoUpload if there is none.
	GetUpload(ctx context.Context, tenant, id string) (Upload, error)
	// UseUpload records the message that uses an upload. Repeating it with the same message is success; it returns
	// ErrUploadUsed if another one has used the upload, and ErrNoUpload if there is none.
	UseUpload(ctx context.Context, tenant, id, message string) error
}
