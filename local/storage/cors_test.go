package storage

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// preflight asks, as a browser does, whether a page may send a request to a URL.
func preflight(t *testing.T, url, origin, method, headers string) *http.Response {
	t.Helper()
	r := errtest.Must(http.NewRequestWithContext(t.Context(), http.MethodOptions, url, nil))(t)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", method)
	r.Header.Set("Access-Control-Request-Headers", headers)
	resp := errtest.Must(http.DefaultClient.Do(r))(t)
	resp.Body.Close()
	return resp
}

// Browsers learn from preflights what pages may send.
func TestPreflight(t *testing.T) {
	url, _ := presignPut(t, uniqueKey("page"), time.Minute)
	closed := strings.Replace(url, bucket, closedBucket, 1)
	for name, tt := range map[string]struct {
		url, origin, method, headers string
		allowed                      bool
	}{
		"an upload":           {url, page, http.MethodPut, "if-none-match,x-amz-checksum-sha256", true},
		"without headers":     {url, page, http.MethodPut, "", true},
		"another page":        {url, page + ".example.org", http.MethodPut, "if-none-match", false},
		"another method":      {url, page, http.MethodDelete, "", false},
		"another header":      {url, page, http.MethodPut, "if-none-match,cookie", false},
		"a bucket not opened": {closed, page, http.MethodPut, "if-none-match", false},
	} {
		t.Run(name, func(t *testing.T) {
			resp := preflight(t, tt.url, tt.origin, tt.method, tt.headers)
			origin := resp.Header.Get("Access-Control-Allow-Origin")
			exposed := resp.Header.Get("Access-Control-Expose-Headers")
			if !tt.allowed {
				if resp.StatusCode < 400 || origin != "" {
					t.Errorf("status %d for the origin %q, want a refusal without one", resp.StatusCode, origin)
				}
				return
			}
			maxAge := resp.Header.Get("Access-Control-Max-Age")
			difftest.Equal(t, "status", []any{http.StatusOK, page, "ETag", "60"},
				[]any{resp.StatusCode, origin, exposed, maxAge})
		})
	}
}
