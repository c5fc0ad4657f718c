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
	"sluice/shared/intake"
)

var contents = map[string]string{
	"up/clean":    "{}",
	"up/archive":  "PK\x03\x04\x14\x00\x00\x00",
	"up/locked":   "PK\x03\x04\x14\x00\x01\x00",
	"up/infected": `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`,
	"other":       "{}",
	"up/script":   "# scan results: FAILED ACCESS_DENIED THREATS_FOUND\n{}",
}

func start(t *testing.T) (*Service, chan intake.ScanResult) {
	told := make(chan intake.ScanResult, 16)
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
			var r intake.ScanResult
			err := json.Unmarshal(event, &r)
			told <- r
			return err
		},
		NewID: func() string { return "id" }, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) },
	})
	t.Cleanup(s.Close)
	return s, told
}

func next(t *testing.T, told chan intake.ScanResult) intake.ScanResult {
	t.Helper()
	select {
	case r := <-told:
		return r
	case <-time.After(10 * time.Second):
		t.Fatal("no result")
		return intake.ScanResult{}
	}
}

func TestResults(t *testing.T) {
	s, told := start(t)
	for key, want := range map[string][]string{
		"up/clean": {"COMPLETED", "NO_THREATS_FOUND"}, "up/archive": {"COMPLETED", "NO_THREATS_FOUND"},
		"up/infected": {"COMPLETED", "THREATS_FOUND", "Eicar-Test-Signature"},
		"up/locked":   {"SKIPPED", "UNSUPPORTED", "PASSWORD_PROTECTED"}, "up/broken": {"FAILED", "FAILED"},
	} {
		s.Created("b", key)
		r := next(t, told)
		got := append([]string{r.Detail.ScanStatus, string(r.Detail.Result.Status)}, r.Detail.Result.Reasons...)
		for _, threat := range r.Detail.Result.Threats {
			got = append(got, threat.Name)
		}
		if o := r.Detail.Object; !cmp.Equal(got, want) || o.Key != key || o.Bucket != "b" || o.ETag != "e" ||
			r.Resources[0] != "arn:aws:guardduty:r:a:malware-protection-plan/Plan" {
			t.Errorf("%s: %v, %+v", key, got, r)
		}
	}
}

// What no plan covers is not scanned, unless it is asked for and its bucket has a plan.
func TestWhatIsScanned(t *testing.T) {
	s, told := start(t)
	s.Created("b", "other")
	s.Created("c", "up/clean")
	s.Created("b", "up/gone")
	for body, status := range map[string]int{
		`{"s3Object":{"bucket":"b","key":"other"}}`: 200, `{"s3Object":{"bucket":"c","key":"other"}}`: 400,
		`{"s3Object":{"bucket":"b"}}`: 400, `{`: 400,
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", Path, strings.NewReader(body)))
		if w.Code != status {
			t.Errorf("%s: %d", body, w.Code)
		}
	}
	if r := next(t, told); r.Detail.Object.Key != "other" {
		t.Errorf("%+v", r)
	}
	s.Close()
	if len(told) > 0 {
		t.Errorf("told also %+v", <-told)
	}
}

// A file can say what its scans come to; behind that it is scanned like any other.
func TestScriptedResults(t *testing.T) {
	s, told := start(t)
	for _, want := range []string{"FAILED FAILED", "SKIPPED ACCESS_DENIED", "COMPLETED THREATS_FOUND", "COMPLETED NO_THREATS_FOUND", "COMPLETED NO_THREATS_FOUND"} {
		s.Created("b", "up/script")
		if r := next(t, told); r.Detail.ScanStatus+" "+string(r.Detail.Result.Status) != want {
			t.Errorf("%+v, want %s", r.Detail, want)
		}
	}
}
