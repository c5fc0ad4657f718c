package intake_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"sluice/shared/batch"
	"sluice/shared/document"
	"sluice/shared/intake"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

const eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// documentStore is a store with one file, whose first outcome counts.
type documentStore struct{ recorded []document.State }

func (p *documentStore) RecordScan(_ context.Context, tenant, file string, s document.State) error {
	if tenant != "t" || file != "f" {
		return document.ErrNotFound
	}
	if p.recorded = append(p.recorded, s); p.recorded[0] != s {
		return document.ErrScanRecorded
	}
	return nil
}

type documentBucket struct {
	bucket
	deleted []string
}

func (f *documentBucket) Delete(_ context.Context, key string) error {
	f.deleted = append(f.deleted, key)
	return nil
}

// failingScanner fails with its errors in turn, and then scans as documents are scanned.
type failingScanner struct{ scanner }

func (v *failingScanner) Scan(ctx context.Context, r io.Reader) (malware.Threat, error) {
	if len(v.errs) > 0 {
		return v.scanner.Scan(ctx, r)
	}
	return malware.Builtin{}.Scan(ctx, r)
}

func TestFilesOfDocuments(t *testing.T) {
	down := errors.New("scanner is down")
	for name, tt := range map[string]struct {
		key, content string
		size         int64
		errs         []error
		status       document.Status
		code         string
		tagged       int
		deleted      int
	}{
		"clean":         {key: "documents/t/f", content: "x", status: document.Completed},
		"an archive":    {key: "documents/t/f", content: "PK\x03\x04", status: document.Completed},
		"an executable": {key: "documents/t/f", content: "MZ", status: document.Completed},
		"infected": {key: "documents/t/f", content: "z" + eicar, status: document.Infected,
			code: document.InfectedFile, tagged: 1},
		"as large as allowed": {key: "documents/t/f", size: 100, status: document.Completed},
		"too large": {key: "documents/t/f", size: 101, status: document.Failed, code: document.ClientSideError,
			tagged: 1},
		"clean at the third attempt": {key: "documents/t/f", errs: []error{down, down}, status: document.Completed},
		"no answer": {key: "documents/t/f", errs: []error{down, down, down}, status: document.Failed,
			code: document.ServerSideError, tagged: 1},
		"unscannable": {key: "documents/t/f", errs: []error{malware.ErrUnscannable}, status: document.Failed,
			code: document.ServerSideError, tagged: 1},
		"deleted before the scan": {key: "documents/t/gone", deleted: 1},
		"not the key of a file":   {key: "documents/f"},
	} {
		t.Run(name, func(t *testing.T) {
			store, bucket := &documentStore{}, &documentBucket{bucket: bucket{content: tt.content}}
			in := &intake.Intake{Documents: &intake.Documents{Store: store, Files: bucket,
				Scanner:  &failingScanner{scanner{errs: tt.errs}},
				MaxBytes: 100, Retry: intake.RetryPolicy{Attempts: 3}, Log: slog.New(slog.DiscardHandler)}}
			if err := in.Process(t.Context(), batch.Object{Key: tt.key, Size: tt.size}, received); err != nil {
				t.Errorf("%v", err)
			}
			var got document.State
			if len(store.recorded) > 0 {
				got = store.recorded[0]
			}
			if got.Status != tt.status || got.ErrorCode != tt.code || len(bucket.tags) != tt.tagged ||
				len(bucket.deleted) != tt.deleted {
				t.Errorf("got %+v, tags %v, deleted %v, want %s %s, %d tags, %d deleted", got, bucket.tags,
					bucket.deleted, tt.status, tt.code, tt.tagged, tt.deleted)
			}
		})
	}
}

// Events are repeated, late and out of order; the first outcome of a file counts, and malware is unreadable in any
// case.
func TestRepeatedEventsOfDocuments(t *testing.T) {
	down := errors.New("scanner is down")
	for name, tt := range map[string]struct {
		content string
		// errs are the errors of the scanner, by delivery.
		errs   [2][]error
		status document.Status
		tags   int
	}{
		"clean twice":            {content: "x", status: document.Completed},
		"clean, then no scan":    {content: "x", errs: [2][]error{1: {down}}, status: document.Completed},
		"no scan, then clean":    {content: "x", errs: [2][]error{0: {down}}, status: document.Failed, tags: 1},
		"infected twice":         {content: eicar, status: document.Infected, tags: 2},
		"infected, then none":    {content: eicar, errs: [2][]error{1: {down}}, status: document.Infected, tags: 1},
		"no scan, then infected": {content: eicar, errs: [2][]error{0: {down}}, status: document.Failed, tags: 2},
	} {
		t.Run(name, func(t *testing.T) {
			store, bucket := &documentStore{}, &documentBucket{bucket: bucket{content: tt.content}}
			for _, errs := range tt.errs {
				in := &intake.Documents{Store: store, Files: bucket, Scanner: &failingScanner{scanner{errs: errs}},
					MaxBytes: 100, Log: slog.New(slog.DiscardHandler)}
				if err := in.Process(t.Context(), batch.Object{Key: "documents/t/f", Size: 1}); err != nil {
					t.Errorf("%v", err)
				}
			}
			if store.recorded[0].Status != tt.status || len(bucket.tags) != tt.tags || len(bucket.deleted) > 0 {
				t.Errorf("recorded %+v, tags %v, want first %s, %d tags", store.recorded, bucket.tags, tt.status,
					tt.tags)
			}
		})
	}
}

// emptyBucket is a bucket whose object was deleted before the scan.
type emptyBucket struct{ documentBucket }

func (g *emptyBucket) Open(context.Context, string, string, int64, int64) (io.ReadCloser, error) {
	return nil, objects.ErrNotFound
}

func (g *emptyBucket) Tag(context.Context, string, string, string) error { return objects.ErrNotFound }

func TestEventOfADeletedFile(t *testing.T) {
	store := &documentStore{}
	in := &intake.Documents{Store: store, Files: &emptyBucket{}, Scanner: malware.Builtin{}, MaxBytes: 100,
		Log:   slog.New(slog.DiscardHandler),
		Retry: intake.RetryPolicy{Attempts: 9, Pause: time.Hour}}
	if err := in.Process(t.Context(), batch.Object{Key: "documents/t/f", Size: 1}); err != nil ||
		len(store.recorded) > 0 {
		t.Errorf("error %v, recorded %+v, want neither", err, store.recorded)
	}
	if err := in.Process(t.Context(), batch.Object{Key: "documents/t/f", Size: 101}); err != nil ||
		len(store.recorded) != 1 {
		t.Errorf("too large: error %v, recorded %+v, want one outcome", err, store.recorded)
	}
}
