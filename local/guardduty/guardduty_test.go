package guardduty

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/local/template"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/difftest"
)

var contents = map[string]string{
	"up/clean":    "{}",
	"up/archive":  "PK\x03\x04\x14\x00\x00\x00",
	"up/locked":   "PK\x03\x04\x14\x00\x01\x00",
	"up/infected": `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`,
	"other":       "{}",
	"up/script":   "# scan results: FAILED ACCESS_DENIED THREATS_FOUND\n{}",
}

// startService returns a service and the results that it publishes.
func startService(t *testing.T) (*Service, chan intake.ScanEvent) {
	t.Helper()
	results := make(chan intake.ScanEvent, 16)
	s := New(t.Context(), Config{
		Plans: []template.Plan{{ID: "Plan", Bucket: "b", Prefixes: []string{"up/"}}}, Region: "r", Account: "a",
		Open: func(_ context.Context, bucket, key string) (io.ReadCloser, Object, error) {
			if key == "up/broken" {
				return io.NopCloser(iotest.ErrReader(errors.New("broken"))), Object{ETag: `"e"`}, nil
			}
			text, ok := contents[key]
			if !ok || bucket != "b" {
				return nil, Object{}, errors.New("gone")
			}
			return io.NopCloser(strings.NewReader(text)), Object{ETag: `"e"`, Version: "v"}, nil
		},
		Publish: func(event []byte) error {
			var r intake.ScanEvent
			err := json.Unmarshal(event, &r)
			results <- r
			return err
		},
		NewID: func() string { return "id" }, Now: func() time.Time {
			return time.Date(2026, 1, 2, 3, 4, 5, 6,
				time.UTC)
		},
	})
	t.Cleanup(s.Close)
	return s, results
}

// receive returns the next result.
func receive(t *testing.T, results chan intake.ScanEvent) intake.ScanEvent {
	t.Helper()
	select {
	case r := <-results:
		return r
	case <-time.After(time.Minute):
		t.Fatal("no result within a minute")
		return intake.ScanEvent{}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	s, results := startService(t)
	for key, want := range map[string][]string{
		"up/clean": {"COMPLETED", "NO_THREATS_FOUND"}, "up/archive": {"COMPLETED", "NO_THREATS_FOUND"},
		"up/infected": {"COMPLETED", "THREATS_FOUND", "Eicar-Test-Signature"},
		"up/locked":   {"SKIPPED", "UNSUPPORTED", "PASSWORD_PROTECTED"}, "up/broken": {"FAILED", "FAILED"},
	} {
		s.ScanCreated("b", key)
		r := receive(t, results)
		got := append([]string{r.Detail.ScanStatus, string(r.Detail.Result.Status)}, r.Detail.Result.Reasons...)
		for _, threat := range r.Detail.Result.Threats {
			got = append(got, threat.Name)
		}
		if o := r.Detail.Object; !cmp.Equal(got, want) || o.Key != key || o.Bucket != "b" || o.ETag != "e" ||
			r.Resources[0] != "arn:aws:guardduty:r:a:malware-protection-plan/Plan" {
			t.Errorf("%s: result %v, want %v, for the object and plan: %+v", key, got, want, r)
		}
	}
}

// An object that no plan covers is scanned only on request, and only if its bucket has a plan.
func TestScanRequests(t *testing.T) {
	t.Parallel()
	s, results := startService(t)
	s.ScanCreated("b", "other")
	s.ScanCreated("c", "up/clean")
	s.ScanCreated("b", "up/gone")
	for body, status := range map[string]int{
		`{"s3Object":{"bucket":"b","key":"other"}}`: 200, `{"s3Object":{"bucket":"c","key":"other"}}`: 400,
		`{"s3Object":{"bucket":"b"}}`: 400, `{`: 400,
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", Path, strings.NewReader(body)))
		difftest.Equal(t, "request "+body+": status", status, w.Code)
	}
	if r := receive(t, results); r.Detail.Object.Key != "other" {
		t.Errorf("result for %q, want other", r.Detail.Object.Key)
	}
	s.Close()
	if len(results) > 0 {
		t.Errorf("unexpected result %+v", <-results)
	}
}

// A file can script the results of its scans; after the last of them it is scanned like any other.
func TestScriptedResults(t *testing.T) {
	t.Parallel()
	s, results := startService(t)
	for _, want := range []string{"FAILED FAILED", "SKIPPED ACCESS_DENIED", "COMPLETED THREATS_FOUND",
		"COMPLETED NO_THREATS_FOUND", "COMPLETED NO_THREATS_FOUND"} {
		s.ScanCreated("b", "up/script")
		if r := receive(t, results); r.Detail.ScanStatus+" "+string(r.Detail.Result.Status) != want {
			t.Errorf("result %+v, want %s", r.Detail, want)
		}
	}
}

// An upload that completes while the local cloud is being stopped must not wait for workers that have ended.
func TestRequestsAfterClose(t *testing.T) {
	s, _ := startService(t)
	s.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range maxWaiting + 1 {
			s.ScanCreated("b", "up/clean")
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("ScanCreated waits for a service that is closed")
	}
}
