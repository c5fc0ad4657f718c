package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document/documentintake"
)

// checkingStore is a store of uploads that checks its arguments, and records nothing.
type checkingStore struct {
	intake.UploadStore
	t *testing.T
}

var errRecorded = errors.New("recorded")

func (c checkingStore) RecordArrival(_ context.Context, o batch.Object, _ time.Time) (intake.Upload, error) {
	c.check(o.Key, o.ETag)
	return intake.Upload{}, errRecorded
}

func (c checkingStore) RecordScan(_ context.Context, s intake.ScanReport) (intake.Upload, error) {
	c.check(s.Key, s.ETag)
	if s.Event == "" || !s.Result.IsKnown() {
		c.t.Errorf("recorded the scan %+v, which has no event or an unknown result", s)
	}
	return intake.Upload{}, errRecorded
}

func (c checkingStore) EachWaiting(context.Context, time.Time, func(intake.Upload) error) error {
	return errRecorded
}

func (c checkingStore) check(key, etag string) {
	if !strings.HasPrefix(key, "uploads/") && !strings.HasPrefix(key, "documents/") {
		c.t.Errorf("recorded the key %q, which is not of an upload", key)
	}
	if len(etag) < 2 || etag[0] != '"' || etag[len(etag)-1] != '"' {
		c.t.Errorf("recorded the ETag %s, which is not quoted", etag)
	}
}

// Called with any event, the function returns an error or records something valid.
func FuzzEvents(f *testing.F) {
	for _, name := range []string{"scan", "scan-result", "scan-schedule"} {
		text := errtest.Must(os.ReadFile("../../../events/" + name + ".json"))(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		in := &intake.Intake{
			GuardDuty: &intake.GuardDuty{Uploads: checkingStore{t: t},
				Now: time.Now}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Documents: &documentintake.Documents{},
		}
		_ = in.Handle(t.Context(), json.RawMessage(event))
	})
}

// GuardDuty reports a plan that does not scan everything; an alarm counts the message.
func TestUnhealthyPlansAreLogged(t *testing.T) {
	event := errtest.Must(os.ReadFile("../../../events/scan-plan.json"))(t)
	var log bytes.Buffer
	in := &intake.Intake{Log: slog.New(slog.NewJSONHandler(&log, nil))}
	errtest.Fatal(t, in.Handle(context.Background(), event))
	for _, want := range []string{
		`"level":"ERROR","msg":"the malware protection plan is not active"`, `"bucket":"sluice-uploads-`,
		`"status":"WARNING"`,
		"INSUFFICIENT_TEST_OBJECT_PERMISSIONS",
	} {
		difftest.Contains(t, "the log", log.String(), want)
	}
	errtest.Fails(t, "an event that cannot be read is accepted",
		in.Handle(context.Background(),
			json.RawMessage(`{"detail-type": "GuardDuty Malware Protection Resource Status Error", "detail": 1}`)))
}
