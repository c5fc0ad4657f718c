package batchhttp

import (
	"context"
	"errors"
	"net/http"

	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/fault"
)

// closer requests the remaining work for a batch that has ended.
type closer interface {
	// LeaveSlots asks for the slots of a batch to be taken back, and for its execution to be told if it waits.
	LeaveSlots(ctx context.Context, id batch.ID) error
}

// Cancel cancels a batch until its ingestion begins, and answers with its status. It can be repeated.
func (s *Batches) Cancel(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	if err := checkNoBody(r); err != nil {
		return httpapi.Reply{}, err
	}
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	b, err = batch.Cancel(ctx, s.Store, b.ID, s.Now)
	if conflict, ok := errors.AsType[*batch.ConflictError](err); ok {
		return httpapi.Reply{}, errNotCancellable(conflict.Current)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	s.askForClose(ctx, b.ID)
	if b.Multipart != nil && b.Object == (batch.Object{}) {
		// If this fails, the lifecycle of the bucket removes the parts.
		if err := s.Uploads.AbortParts(ctx, intake.UploadKey(b.Tenant, b.ID), b.Multipart.UploadID); err != nil {
			s.Log.ErrorContext(ctx, "the parts of a cancelled batch were not removed", "batch", b.ID, "error", err)
		}
	}
	return s.status(ctx, b)
}

// checkNoBody returns an error if a request has a body with anything in it.
func checkNoBody(r *http.Request) error { return decodeStrictly(r, &struct{}{}) }

// askForClose requests the remaining work for a batch that a client has ended. The batch has ended, whether or not this
// succeeds: the sweep will see to it.
func (s *Batches) askForClose(ctx context.Context, id batch.ID) {
	if err := s.Closer.LeaveSlots(ctx, id); err != nil {
		s.Log.ErrorContext(ctx, "the slots of a batch that a client has ended were not asked for", "batch", id, "error",
			err)
	}
}

// errNotCancellable says why a batch cannot be cancelled.
func errNotCancellable(b batch.Batch) error {
	if b.Status.IsTerminal() {
		return fault.Newf(fault.Conflict, "batch_has_ended", "The batch has ended: it is %s.", b.Status)
	}
	return fault.Newf(fault.Conflict, "ingestion_has_begun",
		"The batch is %s: it can be cancelled only until its ingestion begins.", b.Status)
}
