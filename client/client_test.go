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
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// pauseRecorder records the pauses that a client would make, and makes none.
type pauseRecorder struct {
	mu     sync.Mutex
	pauses []time.Duration
}

func (p *pauseRecorder) pause(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pauses = append(p.pauses, d)
	return ctx.Err()
}

// newClient returns a client of a new server. The test fails if the client misuses the server.
func newClient(t *testing.T, change ...func(*client.Config)) (*clienttest.Server, *client.Client, *pauseRecorder) {
	t.Helper()
	s := clienttest.New()
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Error(p)
		}
	})
	var p pauseRecorder
	config := s.Config()
	config.Pause = p.pause
	for _, f := range change {
		f(&config)
	}
	c, err := client.New(config)
	errtest.Fatal(t, err)
	return s, c, &p
}

func createUpload(t *testing.T, c *client.Client) client.Upload {
	t.Helper()
	u, err := c.CreateUpload(t.Context(), true)
	errtest.Fatal(t, err)
	return u
}

func uploadText(t *testing.T, c *client.Client, u client.Upload, content string) error {
	t.Helper()
	return c.UploadFile(t.Context(), u, strings.NewReader(content), int64(len(content)), nil)
}

// good is a file with two modifications of one transaction.
const good = `{"transaction_external_id":"t 1/ü","modification":{"external_id":"m1"}}
{"transaction_external_id":"t 1/ü","modification":{"external_id":"m2 +?"}}
`

func TestBatchFromUploadToStoredTransaction(t *testing.T) {
	s, c, _ := newClient(t)
	u := createUpload(t, c)
	if u.Method != "PUT" || u.MaxBytes != s.MaxBytes || time.Until(u.ExpiresAt) <= 0 {
		t.Errorf("upload = %+v, want a PUT of at most %d bytes that has not expired", u, s.MaxBytes)
	}
	before, err := c.Status(t.Context(), u.BatchID)
	if err != nil || before.Status != "" || before.Message != clienttest.NotUploaded || before.IsTerminal() {
		t.Errorf("status before the upload = %+v, %v; want the message %q", before, err, clienttest.NotUploaded)
	}
	errtest.Fatal(t, uploadText(t, c, u, good))

	var statuses []string
	last, err := c.Follow(t.Context(), u.BatchID, client.Gently, func(s client.Status) {
		statuses = append(statuses, s.Status)
	})
	want := []string{"", "VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED", "IN_PROGRESS", "PROCESSED"}
	if diff := cmp.Diff(want, statuses); err != nil || diff != "" {
		t.Errorf("followed with error %v and statuses (-want +got):\n%s", err, diff)
	}
	if n := last.Counts.Ingested; n == nil || *n != 2 || last.BytesTotal != int64(len(good)) || !last.RejectOnInvalid {
		t.Errorf("last status = %+v, want 2 ingested of %d bytes, reject_on_invalid", last, len(good))
	}

	result, err := c.ValidationResult(t.Context(), u.BatchID)
	if err != nil || result.Valid == nil || !*result.Valid || result.ErrorsFileURL != "" {
		t.Errorf("validation result = %+v, %v; want a valid batch without a report", result, err)
	}
	tx, err := c.Transaction(t.Context(), "t 1/ü")
	errtest.Fatal(t, err)
	var lines strings.Builder
	for _, m := range tx.Modifications {
		fmt.Fprintf(&lines, "%s\n", m.Transaction)
	}
	difftest.Equal(t, "stored lines", good, lines.String())
}

func TestOpenReport(t *testing.T) {
	_, c, _ := newClient(t)
	u, err := c.CreateUpload(t.Context(), false)
	errtest.Fatal(t, err)
	errtest.Fatal(t, uploadText(t, c, u, good+"{\n"))
	last, err := c.Follow(t.Context(), u.BatchID, client.Gently, nil)
	if err != nil || last.Status != client.StatusProcessed || last.RejectOnInvalid {
		t.Errorf("last status = %+v, %v; want PROCESSED without reject_on_invalid", last, err)
	}
	result, err := c.ValidationResult(t.Context(), u.BatchID)
	if err != nil || result.Valid == nil || *result.Valid {
		t.Fatalf("validation result = %+v, %v; want an invalid batch", result, err)
	}
	body, err := c.OpenReport(t.Context(), result.ErrorsFileURL)
	errtest.Fatal(t, err)
	text, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(text), `"line":3`) {
		t.Errorf("report = %s, %v; want an error in line 3", text, err)
	}
	body.Close()
	_, err = c.OpenReport(t.Context(), result.ErrorsFileURL+"0")
	var refused *client.StorageError
	if !errors.As(err, &refused) || refused.Status != 403 || refused.Code != "AccessDenied" {
		t.Errorf("altered URL: %v, want a 403 AccessDenied", err)
	}
	if strings.Contains(err.Error(), "Signature") {
		t.Errorf("the message contains the signed URL: %v", err)
	}
}

func TestNewChecksItsConfig(t *testing.T) {
	whole := client.Config{
		APIURL: "https://a", TokenURL: "https://a/t", ClientID: "c", ClientSecret: "s", Scope: "tenant/x",
	}
	errtest.Fatal(t, errtest.Of(client.New(whole)))
	for address, isAllowed := range map[string]bool{
		"http://localhost:8080": true, "http://LOCALHOST.": true, "http://api.localhost": true, "http://[::1]:80": true,
		"http://127.8.9.1": true, "http://x.localhost.localstack.cloud:4566": true, "https://10.0.0.1": true,
		"http://10.0.0.1": false, "http://notlocalhost": false, "http://localhost.example.com": false,
		"http://0.0.0.0": false, "HTTP://example.com": false,
	} {
		config := whole
		config.TokenURL = address
		if _, err := client.New(config); (err == nil) != isAllowed {
			t.Errorf("token URL %s: error %v, want it allowed: %v", address, err, isAllowed)
		}
	}
	for want, spoil := range map[string]func(*client.Config){
		"API URL":       func(c *client.Config) { c.APIURL = "" },
		"token URL":     func(c *client.Config) { c.TokenURL = "" },
		"client ID":     func(c *client.Config) { c.ClientID = "" },
		"client secret": func(c *client.Config) { c.ClientSecret = "" },
		"scope":         func(c *client.Config) { c.Scope = "" },
		"address":       func(c *client.Config) { c.APIURL = "sluice.example" },
	} {
		t.Run(want, func(t *testing.T) {
			config := whole
			spoil(&config)
			if _, err := client.New(config); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("New returned %v, want an error that names the %s", err, want)
			}
		})
	}
}

// countRequests counts the requests that began with a method and path.
func countRequests(s *clienttest.Server, prefix string) int {
	n := 0
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func TestConcurrentCallsShareOneToken(t *testing.T) {
	s, c, _ := newClient(t)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := c.CreateUpload(t.Context(), true); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	wantTokens(t, s, 1)
}

// wantTokens checks how many tokens were fetched.
func wantTokens(t *testing.T, s *clienttest.Server, want int) {
	t.Helper()
	if got := countRequests(s, "POST /oauth2/token"); got != want {
		t.Errorf("%d tokens were fetched, want %d", got, want)
	}
}

func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	var clock atomic.Int64
	s, c, _ := newClient(t, func(c *client.Config) { c.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	for _, step := range []struct {
		seconds int64
		want    int
	}{{0, 1}, {3539, 1}, {3540, 2}, {3540 + 3539, 2}, {3540 + 3540, 3}} {
		clock.Store(step.seconds)
		createUpload(t, c)
		if n := countRequests(s, "POST /oauth2/token"); n != step.want {
			t.Errorf("%d tokens were fetched after %d s, want %d", n, step.seconds, step.want)
		}
	}
}

func TestRefusedTokenIsRenewedOnce(t *testing.T) {
	s, c, _ := newClient(t)
	createUpload(t, c)
	s.Revoke()
	createUpload(t, c)
	wantTokens(t, s, 2)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth2/token" {
			s.Revoke()
		}
		return false
	}
	_, err := c.CreateUpload(t.Context(), true)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("every token is refused: %v, want a 401", err)
	}
	wantTokens(t, s, 3)
}

func TestTokenErrors(t *testing.T) {
	for code, spoil := range map[string]func(*client.Config){
		"invalid_client": func(c *client.Config) { c.ClientSecret = "wrong" },
		"invalid_scope":  func(c *client.Config) { c.Scope = "tenant/other" },
	} {
		t.Run(code, func(t *testing.T) {
			s, c, _ := newClient(t, spoil)
			_, err := c.CreateUpload(t.Context(), true)
			var refused *client.TokenError
			if !errors.As(err, &refused) || refused.Code != code || refused.Status != 400 {
				t.Errorf("CreateUpload returned %v, want a 400 %s", err, code)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}
