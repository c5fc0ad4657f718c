package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// pageOrigin is the origin of the web pages that may upload to the shared local cloud.
const pageOrigin = "https://app.example.com"

// sendFromPage sends a request as a browser does for a page, and returns the response with its body read.
func sendFromPage(t *testing.T, origin, method, url, body string, headers map[string]string) *http.Response {
	t.Helper()
	r := ok(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	r.Header.Set("Origin", origin)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	resp := ok(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	ok(io.Copy(io.Discard, resp.Body))(t)
	return resp
}

// A page of UploadOrigins uploads a file from a browser and reads its ETag. Other pages are refused by the preflight.
func TestUploadFromAPage(t *testing.T) {
	// a local cloud, with UploadOrigins
	api := begin(t, functionLog)
	u := api.newUpload(true)
	var names []string
	for name := range u.RequiredHeaders {
		names = append(names, strings.ToLower(name))
	}
	asked := map[string]string{
		"Access-Control-Request-Method":  http.MethodPut,
		"Access-Control-Request-Headers": strings.Join(names, ","),
	}
	refused := sendFromPage(t, "https://other.example.com", http.MethodOptions, u.URL, "", asked)
	if got := refused.Header.Get("Access-Control-Allow-Origin"); refused.StatusCode < 400 || got != "" {
		t.Errorf("preflight of another page: status %d for the origin %q, want a refusal", refused.StatusCode, got)
	}
	allowed := sendFromPage(t, pageOrigin, http.MethodOptions, u.URL, "", asked)
	if got := allowed.Header.Get("Access-Control-Allow-Origin"); allowed.StatusCode != 200 || got != pageOrigin ||
		!strings.Contains(allowed.Header.Get("Access-Control-Allow-Methods"), http.MethodPut) {
		t.Fatalf("preflight: status %d with the headers %v, want 200 for %s and PUT", allowed.StatusCode,
			allowed.Header, pageOrigin)
	}
	put := sendFromPage(t, pageOrigin, http.MethodPut, u.URL, string(jsonLines(validLines(1)...)), u.RequiredHeaders)
	require(t, put.StatusCode == 200 && put.Header.Get("Access-Control-Allow-Origin") == pageOrigin &&
		strings.Contains(put.Header.Get("Access-Control-Expose-Headers"), "ETag") && put.Header.Get("ETag") != "",
		"PUT: status %d with the headers %v, want 200, %s and an ETag that is exposed", put.StatusCode, put.Header,
		pageOrigin)
	api.expectEnd("PROCESSED", u.BatchID)
}
