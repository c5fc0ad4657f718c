// Package batchhttp serves the transaction monitoring interface under /tm/realtime: batches and stored transactions.
package batchhttp

import (
	"context"
	"fmt"
	"time"

	"sluice/shared/batch"
	"sluice/shared/httpapi"
	"sluice/shared/intake"
	"sluice/shared/objects"
)

type uploads interface {
	SignPut(ctx context.Context, key string, lifetime time.Duration) (objects.SignedURL, error)
}

type reports interface {
	SignGet(ctx context.Context, key, filename string, lifetime time.Duration) (objects.SignedURL, error)
}

type batches interface {
	Create(ctx context.Context, b batch.Batch) error
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
}

// Batches serves the batch interface (docs/contract/batch.md).
type Batches struct {
	Store            batches
	Uploads          uploads
	Reports          reports
	UploadLifetime   time.Duration
	DownloadLifetime time.Duration
	MaxBytes         int64
	ReportDays       int // that a report is kept; 0: for ever
	Now              func() time.Time
	NewID            func() (batch.ID, error)
	NewKey           func() [16]byte
}

// UploadRequest is the body of generate-upload-url. Other keys are ignored.
type UploadRequest struct {
	RejectOnInvalid *bool `json:"reject_on_invalid"` // absent: true
}

// UploadReply is everything a client needs to upload without reading docs.
type UploadReply struct {
	URL             string            `json:"url"`
	BatchID         batch.ID          `json:"batch_id"`
	Method          string            `json:"method"`
	RequiredHeaders map[string]string `json:"required_headers"`
	ExpiresAt       time.Time         `json:"expires_at"`
	MaxBytes        int64             `json:"max_bytes"`
}

// GenerateUploadURL makes a batch and the URL its file goes to.
func (s *Batches) GenerateUploadURL(ctx context.Context, caller httpapi.Caller, in UploadRequest) (UploadReply, error) {
	id, err := s.NewID()
	if err != nil {
		return UploadReply{}, fmt.Errorf("make batch id: %w", err)
	}
	signed, err := s.Uploads.SignPut(ctx, intake.UploadKey(caller.Tenant, id), s.UploadLifetime)
	if err != nil {
		return UploadReply{}, err
	}
	now := s.Now()
	// The row comes first to be there when the upload's event arrives; a row nobody uploads to costs nothing.
	err = s.Store.Create(ctx, batch.Batch{
		ID: id, Tenant: caller.Tenant, Client: caller.Client, Status: batch.AwaitingUpload,
		RejectOnInvalid: in.RejectOnInvalid == nil || *in.RejectOnInvalid,
		CreatedAt:       now, UpdatedAt: now, UploadBy: signed.Expires,
		Settings: caller.Settings, DigestKey: s.NewKey(),
	})
	if err != nil {
		return UploadReply{}, err
	}
	return UploadReply{signed.URL, id, signed.Method, signed.Headers, signed.Expires, s.MaxBytes}, nil
}
