package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"sluice/shared/batch"
	"sluice/shared/document"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

type documents interface {
	RecordScan(ctx context.Context, tenant, file string, s document.State) error
}

type files interface {
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
	Tag(ctx context.Context, key, name, value string) error
	Delete(ctx context.Context, key string) error
}

// Documents takes in the files of documents: documents/<tenant>/<file id>. A file can be of any kind; only malware is refused.
type Documents struct {
	Store    documents
	Files    files
	Scanner  Scanner
	Results  *Results // in place of Scanner, where GuardDuty scans
	MaxBytes int64    // a larger file is refused
	Patience Patience // with the scanner, before the file counts as unscannable
	Log      *slog.Logger
}

// Take scans a file and settles it. It can be repeated.
func (in *Documents) Take(ctx context.Context, object batch.Object) error {
	tenant, file, ok := strings.Cut(strings.TrimPrefix(object.Key, document.FilePrefix), "/")
	if !ok {
		in.Log.WarnContext(ctx, "not a file of a document", "key", object.Key)
		return nil
	}
	state, err := in.inspect(ctx, object)
	if errors.Is(err, objects.ErrNotFound) {
		in.Log.WarnContext(ctx, "the file is gone again", "key", object.Key)
		return nil
	}
	if err != nil {
		return err
	}
	// Malware is made unreadable before anyone can learn of it.
	if state.Status == document.Infected {
		if err := in.refuse(ctx, object); err != nil {
			return err
		}
	}
	err = in.Store.RecordScan(ctx, tenant, file, state)
	switch {
	case errors.Is(err, document.ErrNotFound):
		// The document was deleted while its upload URL still lived.
		return in.Files.Delete(ctx, object.Key)
	case errors.Is(err, document.ErrScanRecorded):
		// An earlier delivery of the event came to another end, which stands: a scanner that fails now takes no clean file away.
		in.Log.WarnContext(ctx, "settled otherwise before", "key", object.Key, "now", state.Status)
		return nil
	case err == nil && state.Status == document.Failed:
		return in.refuse(ctx, object)
	}
	return err
}

// refuse keeps everyone from reading a file until the lifecycle deletes it.
func (in *Documents) refuse(ctx context.Context, object batch.Object) error {
	err := in.Files.Tag(ctx, object.Key, VerdictTag, Refused)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

func (in *Documents) inspect(ctx context.Context, object batch.Object) (document.State, error) {
	if object.Size > in.MaxBytes {
		return document.State{Status: document.Failed, ErrorCode: document.ClientSideError,
			ErrorMessage: fmt.Sprintf("The file has %d bytes; at most %d are taken.", object.Size, in.MaxBytes)}, nil
	}
	threat, err := look(ctx, in.Results, in.Patience, in.Log, in.Files, in.Scanner, object)
	switch {
	case err == nil && threat.Kind == malware.Clean:
		return document.State{Status: document.Completed}, nil
	case err == nil:
		return document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: refusal(threat)}, nil
	case ctx.Err() != nil, postponed(err), errors.Is(err, objects.ErrNotFound):
		return document.State{}, err
	case errors.Is(err, objects.ErrDenied): // an earlier run has tagged it and was lost before it could say so
		return document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: unnamedRefusal}, nil
	}
	in.Log.ErrorContext(ctx, "cannot be scanned", "key", object.Key, "error", err)
	return document.State{Status: document.Failed, ErrorCode: document.ServerSideError,
		ErrorMessage: "The file could not be scanned for malware. Upload it again as a new document."}, nil
}
