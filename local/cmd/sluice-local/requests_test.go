package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// batches is the path of the batch interface.
const batches = "/tm/realtime/api/transactions/batch/"

// token returns an access token of the client that the local cloud has made.
func (r *localCloud) token(t *testing.T) string {
	t.Helper()
	resp, err := http.PostForm(r.TokenURL, url.Values{"grant_type": {"client_credentials"}, "client_id": {r.ClientID},
		"client_secret": {r.ClientSecret}, "scope": {r.Scope}})
	errtest.Fatal(t, err)
	var reply struct {
		Token string `json:"access_token"`
	}
	decode(t, resp, &reply)
	return reply.Token
}

// decode reads a reply, which must be JSON.
func decode(t *testing.T, resp *http.Response, into any) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// do sends a request; one without a token if that is "".
func (r *localCloud) do(t *testing.T, method, url, token string, body io.Reader) *http.Response {
	t.Helper()
	req := errtest.Must(http.NewRequest(method, url, body))(t)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPut {
		req.Header.Set("If-None-Match", "*")
	}
	return errtest.Must(http.DefaultClient.Do(req))(t)
}

// status returns the HTTP status of the answer about a batch.
func (r *localCloud) status(t *testing.T, token, id string) int {
	t.Helper()
	resp := r.do(t, http.MethodGet, r.APIURL+batches+"status/"+id, token, nil)
	resp.Body.Close()
	return resp.StatusCode
}

// newUpload is the response to a request for an upload URL.
type newUpload struct {
	ID  string `json:"batch_id"`
	URL string `json:"url"`
}

// newBatch creates a batch and returns the HTTP status of the answer, too.
func (r *localCloud) newBatch(t *testing.T, token string) (int, newUpload) {
	t.Helper()
	resp := r.do(t, http.MethodPost, r.APIURL+batches+"generate-upload-url", token, nil)
	var created newUpload
	decode(t, resp, &created)
	return resp.StatusCode, created
}

// upload sends a file of one invalid line to a signed URL and returns the answer.
func (r *localCloud) upload(t *testing.T, url string) (int, string) {
	t.Helper()
	resp := r.do(t, http.MethodPut, url, "", strings.NewReader("{}\n"))
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(text)
}
