package intake_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentintake"
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

func (p *documentStore) Measure(context.Context, string, string, int64) error { return nil }

func (p *documentStore) Uploader(_ context.Context, tenant, file string) (string, error) {
	if tenant != "t" || file != "f" {
		return "", document.ErrNotFound
	}
	return "client", nil
}

type documentBucket struct {
	bucket
	emptied []string
}

func (f *documentBucket) Empty(_ context.Context, key string) error {
	f.emptied = append(f.emptied, key)
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
		// tag is the verdict with which the file is tagged in the end; "" for none.
		tag     string
		emptied int
	}{
		"clean": {key: "documents/t/f", content: "x", size: 1, status: document.Completed, tag: "clean"},
		"an archive": {key: "documents/t/f", content: "PK\x03\x04", size: 4, status: document.Completed,
			tag: "clean"},
		"an executable": {key: "documents/t/f", content: "MZ", size: 2, status: document.Completed, tag: "clean"},
		"infected": {key: "documents/t/f", content: "z" + eicar, size: 69, status: document.Infected,
			code: document.InfectedFile, tag: "refused"},
		"empty": {key: "documents/t/f", status: document.Failed, code: document.ClientSideError,
			tag: "refused"},
		"as large as allowed": {key: "documents/t/f", size: 100, status: document.Completed, tag: "clean"},
		"too large": {key: "documents/t/f", size: 101, status: document.Failed, code: document.ClientSideError,
			emptied: 1},
		"clean at the third attempt": {key: "documents/t/f", size: 1, errs: []error{down, down},
			status: document.Completed, tag: "clean"},
		"no answer": {key: "documents/t/f", size: 1, errs: []error{down, down, down}, status: document.Failed,
			code: document.ServerSideError, tag: "refused"},
		"unscannable": {key: "documents/t/f", size: 1, errs: []error{malware.ErrUnscannable}, status: document.Failed,
			code: document.ServerSideError, tag: "refused"},
		"deleted before the scan": {key: "documents/t/gone", content: "x", size: 1, tag: "clean", emptied: 1},
		"what a deletion leaves":  {key: "documents/t/gone", tag: "refused"},
		"not the key of a file":   {key: "documents/f", size: 1},
	} {
		t.Run(name, func(t *testing.T) {
			store, bucket := &documentStore{}, &documentBucket{bucket: bucket{content: tt.content}}
			in := &intake.Intake{Documents: &documentintake.Documents{Store: store, Registry: &registry{},
				Files: bucket, Scanner: &failingScanner{scanner{errs: tt.errs}},
				MaxBytes: 100, Retry: intake.RetryPolicy{Attempts: 3}, Log: slog.New(slog.DiscardHandler)}}
			errtest.Is(t, "Process", in.Process(t.Context(), batch.Object{Key: tt.key, Size: tt.size}, received), nil)
			var got document.State
			if len(store.recorded) > 0 {
				got = store.recorded[0]
			}
			if got.Status != tt.status || got.ErrorCode != tt.code || bucket.verdict() != tt.tag ||
				len(bucket.emptied) != tt.emptied {
				t.Errorf("got %+v, the verdict %q, emptied %v, want %s %s, the verdict %q, %d emptied", got,
					bucket.verdict(), bucket.emptied, tt.status, tt.code, tt.tag, tt.emptied)
			}
		})
	}
}

// A client that is disabled after it was given the URL uploads in vain; a file that was found clean before stays clean.
func TestFileOfADisabledClient(t *testing.T) {
	for name, tt := range map[string]struct {
		file     string
		recorded []document.State
		want     document.State
		tag      string
		emptied  int
	}{
		"uploaded after disabling": {file: "f", want: document.State{Status: document.Failed,
			ErrorCode:    document.ClientSideError,
			ErrorMessage: "The client that asked for the upload URL has been disabled."}, tag: "refused"},
		"event repeated after disabling": {file: "f", recorded: []document.State{{Status: document.Completed}},
			want: document.State{Status: document.Completed}},
		"deleted document": {file: "gone", tag: "clean", emptied: 1},
	} {
		t.Run(name, func(t *testing.T) {
			store, bucket := &documentStore{recorded: tt.recorded}, &documentBucket{bucket: bucket{content: "x"}}
			in := &documentintake.Documents{Store: store, Registry: &registry{clientDisabled: true}, Files: bucket,
				Scanner: malware.Builtin{}, MaxBytes: 100, Log: slog.New(slog.DiscardHandler)}
			errtest.Fatal(t, in.Process(t.Context(), batch.Object{Key: "documents/t/" + tt.file, Size: 1}))
			var got document.State
			if len(store.recorded) > 0 {
				got = store.recorded[0]
			}
			difftest.Equal(t, "result", []any{tt.want, tt.tag, tt.emptied},
				[]any{got, bucket.verdict(), len(bucket.emptied)})
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
		// tag is the verdict with which the file is tagged in the end.
		tag string
	}{
		"clean twice":         {content: "x", status: document.Completed, tag: "clean"},
		"clean, then no scan": {content: "x", errs: [2][]error{1: {down}}, status: document.Completed, tag: "clean"},
		"no scan, then clean": {content: "x", errs: [2][]error{0: {down}}, status: document.Failed, tag: "refused"},
		"infected twice":      {content: eicar, status: document.Infected, tag: "refused"},
		"infected, then none": {content: eicar, errs: [2][]error{1: {down}}, status: document.Infected,
			tag: "refused"},
		"no scan, then infected": {content: eicar, errs: [2][]error{0: {down}}, status: document.Failed,
			tag: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			store, bucket := &documentStore{}, &documentBucket{bucket: bucket{content: tt.content}}
			for _, errs := range tt.errs {
				in := &documentintake.Documents{Store: store, Registry: &registry{}, Files: bucket,
					Scanner: &failingScanner{scanner{errs: errs}}, MaxBytes: 100, Log: slog.New(slog.DiscardHandler)}
				errtest.Is(t, "Process", in.Process(t.Context(), batch.Object{Key: "documents/t/f", Size: 1}), nil)
			}
			if store.recorded[0].Status != tt.status || bucket.verdict() != tt.tag || len(bucket.emptied) > 0 {
				t.Errorf("recorded %+v, tags %v, emptied %v, want first %s, last %s, none emptied", store.recorded,
					bucket.tags, bucket.emptied, tt.status, tt.tag)
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
	in := &documentintake.Documents{Store: store, Registry: &registry{}, Files: &emptyBucket{},
		Scanner: malware.Builtin{}, MaxBytes: 100, Log: slog.New(slog.DiscardHandler),
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
