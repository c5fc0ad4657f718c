package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/client/clienttest"
)

// pauses records the pauses that a client would make.
type pauses struct {
	mu   sync.Mutex
	made []time.Duration
}

func (p *pauses) pause(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, d)
	return ctx.Err()
}

// setup returns a client of a new server, whose misuse fails the test.
func setup(t *testing.T, change ...func(*client.Config)) (*clienttest.Server, *client.Client, *pauses) {
	t.Helper()
	s := clienttest.New()
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Error(p)
		}
	})
	var p pauses
	config := client.Config{
		APIURL: s.URL, TokenURL: s.URL + "/oauth2/token", ClientID: clienttest.ClientID, ClientSecret: clienttest.ClientSecret,
		Scope: clienttest.Scope, Pause: p.pause,
	}
	for _, f := range change {
		f(&config)
	}
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s, c, &p
}

func newUpload(t *testing.T, c *client.Client) client.Upload {
	t.Helper()
	u, err := c.NewUpload(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func send(t *testing.T, c *client.Client, u client.Upload, content string) error {
	t.Helper()
	return c.Send(t.Context(), u, strings.NewReader(content), int64(len(content)), nil)
}

const good = `{"transaction_external_id":"t 1/ü","modification":{"external_id":"m1"}}` + "\n" + `{"transaction_external_id":"t 1/ü","modification":{"external_id":"m2 +?"}}` + "\n"

func TestALife(t *testing.T) {
	s, c, _ := setup(t)
	u := newUpload(t, c)
	if u.Method != "PUT" || u.MaxBytes != s.MaxBytes || time.Until(u.ExpiresAt) <= 0 {
		t.Errorf("%+v", u)
	}
	before, err := c.Status(t.Context(), u.BatchID)
	if err != nil || before.Status != "" || before.Message != "Batch not yet uploaded completely." || before.Final() {
		t.Errorf("before the upload: %+v %v", before, err)
	}
	if err := send(t, c, u, good); err != nil {
		t.Fatal(err)
	}
	var states []string
	last, err := c.Follow(t.Context(), u.BatchID, client.Gently, func(s client.Status) { states = append(states, s.Status) })
	want := []string{"", "VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED", "IN_PROGRESS", "PROCESSED"}
	if diff := cmp.Diff(want, states); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if n := last.Counts.Ingested; n == nil || *n != 2 || last.BytesTotal != int64(len(good)) || !last.RejectOnInvalid {
		t.Errorf("%+v", last)
	}
	result, err := c.ValidationResult(t.Context(), u.BatchID)
	if err != nil || result.Valid == nil || !*result.Valid || result.ErrorsFileURL != "" {
		t.Errorf("%+v %v", result, err)
	}
	tx, err := c.Transaction(t.Context(), "t 1/ü")
	if err != nil || len(tx.Modifications) != 2 || string(tx.Modifications[0].Transaction)+"\n"+string(tx.Modifications[1].Transaction)+"\n" != good {
		t.Errorf("%+v %v", tx, err)
	}
}

func TestReport(t *testing.T) {
	_, c, _ := setup(t)
	u, err := c.NewUpload(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := send(t, c, u, good+"{\n"); err != nil {
		t.Fatal(err)
	}
	last, err := c.Follow(t.Context(), u.BatchID, client.Gently, func(client.Status) {})
	if err != nil || last.Status != client.Processed || last.RejectOnInvalid {
		t.Errorf("%+v %v", last, err)
	}
	result, err := c.ValidationResult(t.Context(), u.BatchID)
	if err != nil || result.Valid == nil || *result.Valid {
		t.Fatalf("%+v %v", result, err)
	}
	body, err := c.Report(t.Context(), result.ErrorsFileURL)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(text), `"line":3`) {
		t.Errorf("%s %v", text, err)
	}
	body.Close()
	_, err = c.Report(t.Context(), result.ErrorsFileURL+"0")
	var refused *client.StorageError
	if !errors.As(err, &refused) || refused.Status != 403 || refused.Code != "AccessDenied" || strings.Contains(err.Error(), "Signature") {
		t.Errorf("altered URL: %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	whole := client.Config{APIURL: "http://a", TokenURL: "http://a/t", ClientID: "c", ClientSecret: "s", Scope: "tenant/x"}
	for name, spoil := range map[string]func(*client.Config){
		"API URL": func(c *client.Config) { c.APIURL = "" }, "token URL": func(c *client.Config) { c.TokenURL = "" },
		"client id": func(c *client.Config) { c.ClientID = "" }, "client secret": func(c *client.Config) { c.ClientSecret = "" },
		"scope": func(c *client.Config) { c.Scope = "" }, "address": func(c *client.Config) { c.APIURL = "sluice.example" },
	} {
		config := whole
		spoil(&config)
		if _, err := client.New(config); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
}

func count(s *clienttest.Server, prefix string) int {
	n := 0
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func TestOneTokenServesManyCalls(t *testing.T) {
	s, c, _ := setup(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.NewUpload(t.Context(), true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := count(s, "POST /oauth2/token"); n != 1 {
		t.Errorf("%d tokens were fetched", n)
	}
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	var clock atomic.Int64
	s, c, _ := setup(t, func(c *client.Config) { c.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	for _, step := range []struct {
		at   int64
		want int
	}{{0, 1}, {3539, 1}, {3540, 2}, {3540 + 3539, 2}, {3540 + 3540, 3}} {
		clock.Store(step.at)
		newUpload(t, c)
		if n := count(s, "POST /oauth2/token"); n != step.want {
			t.Errorf("%d tokens after %d s, want %d", n, step.at, step.want)
		}
	}
}

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	s, c, _ := setup(t)
	newUpload(t, c)
	s.Revoke()
	newUpload(t, c)
	if n := count(s, "POST /oauth2/token"); n != 2 {
		t.Errorf("%d tokens were fetched", n)
	}
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth2/token" {
			s.Revoke()
		}
		return false
	}
	_, err := c.NewUpload(t.Context(), true)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("every token is refused: %v", err)
	}
	if n := count(s, "POST /oauth2/token"); n != 3 {
		t.Errorf("%d tokens were fetched", n)
	}
}

func TestTokenRefusals(t *testing.T) {
	for code, spoil := range map[string]func(*client.Config){
		"invalid_client": func(c *client.Config) { c.ClientSecret = "wrong" },
		"invalid_scope":  func(c *client.Config) { c.Scope = "tenant/other" },
	} {
		s, c, _ := setup(t, spoil)
		_, err := c.NewUpload(t.Context(), true)
		var refused *client.TokenError
		if !errors.As(err, &refused) || refused.Code != code || refused.Status != 400 {
			t.Errorf("%s: %v", code, err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests", code, n)
		}
	}
}

// failing makes the first n requests to a path end in a status.
func failing(s *clienttest.Server, path string, n int, status int, header http.Header) {
	var seen atomic.Int64
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, path) || seen.Add(1) > int64(n) {
			return false
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"message":"not now"}`)
		return true
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for _, path := range []string{"/oauth2/token", "generate-upload-url"} {
		for _, status := range []int{500, 502, 503, 504} {
			s, c, p := setup(t)
			failing(s, path, 3, status, nil)
			newUpload(t, c)
			if diff := cmp.Diff([]time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}, p.made); diff != "" {
				t.Errorf("%s %d: %s", path, status, diff)
			}
		}
	}
	s, c, p := setup(t)
	failing(s, "generate-upload-url", 1, 429, http.Header{"Retry-After": {"7"}})
	newUpload(t, c)
	if diff := cmp.Diff([]time.Duration{7 * time.Second}, p.made); diff != "" {
		t.Error("429:", diff)
	}
}

func TestWhatStaysIsTold(t *testing.T) {
	for status, requests := range map[int]int{403: 1, 404: 1, 422: 1, 503: 4} {
		s, c, _ := setup(t)
		failing(s, "generate-upload-url", 100, status, nil)
		_, err := c.NewUpload(t.Context(), true)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != status || refused.Message != "not now" {
			t.Errorf("%d: %v", status, err)
		}
		if n := count(s, "POST /tm"); n != requests {
			t.Errorf("%d: %d requests, want %d", status, n, requests)
		}
	}
	s, c, _ := setup(t)
	if _, err := c.Status(t.Context(), "no-uuid"); err == nil || !strings.Contains(err.Error(), "path.batch_id: Not a UUID.") {
		t.Errorf("details of a 422: %v", err)
	}
	s.Close()
	var away *client.UnreachableError
	if _, err := c.NewUpload(t.Context(), true); !errors.As(err, &away) || !strings.HasPrefix(s.URL, "http://"+away.Host) {
		t.Errorf("a server that is gone: %v", err)
	}
}

func TestGentlyStaysBelowTheLimit(t *testing.T) {
	for from := range 40 {
		var took time.Duration
		for n := from + 1; n <= from+120; n++ {
			took += client.Gently(n)
		}
		if took < time.Minute {
			t.Errorf("120 readings from the %d-th on take %v", from+1, took)
		}
	}
}

func TestAnEndedContextEndsTheCall(t *testing.T) {
	s, c, p := setup(t)
	failing(s, "generate-upload-url", 100, 503, nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.After = func(*http.Request) bool { cancel(); return false }
	if _, err := c.NewUpload(ctx, true); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(p.made) > 0 {
		t.Errorf("pauses %v", p.made)
	}
}
