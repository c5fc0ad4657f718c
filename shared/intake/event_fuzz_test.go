package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/shared/batch"
	"sluice/shared/intake"
	"sluice/shared/upload"
)

// asked is a store of uploads that only takes note of what it is told.
type asked struct {
	upload.Store
	t *testing.T
}

var errAsked = errors.New("asked")

func (a asked) Arrived(_ context.Context, o batch.Object, _ time.Time) (upload.Upload, error) {
	a.check(o.Key, o.ETag)
	return upload.Upload{}, errAsked
}

func (a asked) Scanned(_ context.Context, s upload.Scanned) (upload.Upload, error) {
	a.check(s.Key, s.ETag)
	if s.Event == "" || !s.Result.Known() {
		a.t.Errorf("%+v", s)
	}
	return upload.Upload{}, errAsked
}

func (a asked) Waiting(context.Context, time.Time, func(upload.Upload) error) error { return errAsked }

func (a asked) check(key, etag string) {
	if !strings.HasPrefix(key, "uploads/") && !strings.HasPrefix(key, "documents/") || len(etag) < 2 || etag[0] != '"' || etag[len(etag)-1] != '"' {
		a.t.Errorf("key %q, ETag %q", key, etag)
	}
}

// Whatever the function is called with, it refuses it or records something sound, and never goes on by itself.
func FuzzEvents(f *testing.F) {
	for _, name := range []string{"scan", "scan-result", "scan-schedule"} {
		text, err := os.ReadFile("../../events/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		in := &intake.Intake{
			Results: &intake.Results{Store: asked{t: t}, Now: time.Now}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Documents: &intake.Documents{},
		}
		_ = in.Handle(t.Context(), json.RawMessage(event))
	})
}
