package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/kit/difftest"
)

// partsCall makes a call about an upload in parts, which must be answered with a status, and decodes the reply.
func (s *session) partsCall(status int, method, path string, in, out any) {
	s.t.Helper()
	body := ""
	if in != nil {
		body = jsonText(in)
	}
	s.expectReply(status, method, transactionsPath+"batch/"+path, body, out)
}

// refusal is the reply to a call that is refused.
type refusal struct{ Message string }

// signPart asks for the URL of a part, which takes exactly the content if its checksum is given.
func (s *session) signPart(batchID string, number int, checksum string) client.Upload {
	s.t.Helper()
	in := map[string]any{"part_numbers": []int{number}}
	if checksum != "" {
		in["checksums_sha256"] = []string{checksum}
	}
	var out struct{ Parts []client.Upload }
	s.partsCall(http.StatusOK, http.MethodPost, "upload-parts/"+batchID, in, &out)
	out.Parts[0].Method = http.MethodPut
	return out.Parts[0]
}

// A file of one part is received when its upload is completed, and processed like any other.
func TestUploadOfOnePart(t *testing.T) {
	api := begin(t)
	content := jsonLines(validLines(2)...)
	sum := sha256.Sum256(content)
	checksum := base64.StdEncoding.EncodeToString(sum[:])
	var u client.Upload
	api.partsCall(http.StatusOK, http.MethodPost, "generate-upload-url", map[string]any{"upload": "multipart",
		"content_length": len(content), "checksum_sha256": checksum, "part_checksums": true}, &u)
	require(t, u.PartCount == 1 && u.UploadID != "" && u.URL == "" && u.ExpiresAt.After(time.Now().Add(24*time.Hour)),
		"the upload is %+v, want one part, no URL and more than a day", u)
	parts, complete := "upload-parts/"+u.BatchID, "complete-upload/"+u.BatchID
	target := api.signPart(u.BatchID, 1, checksum)
	for what, other := range map[string][]byte{"shorter": content[1:], "another": bytes.ToUpper(content)} {
		if code, text := put(t, target, other); code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("a %s part: %d %s, want it refused", what, code, text)
		}
	}
	expectPut(t, 200, target, content)
	var stored struct {
		Parts []struct {
			Number   int    `json:"part_number"`
			Size     int    `json:"size"`
			ETag     string `json:"etag"`
			Checksum string `json:"checksum_sha256"`
		}
	}
	api.partsCall(http.StatusOK, http.MethodGet, parts, nil, &stored)
	require(t, len(stored.Parts) == 1 && stored.Parts[0].Size == len(content) && stored.Parts[0].Checksum == checksum,
		"the stored parts are %+v, want one with the checksum %s", stored.Parts, checksum)
	list := func(etag string) any {
		return map[string]any{"parts": []any{map[string]any{"part_number": 1, "etag": etag}}}
	}
	var refused refusal
	api.partsCall(http.StatusConflict, http.MethodPost, complete, list("0123"), &refused)
	before := time.Now().Add(-time.Second)
	var done struct {
		BatchID string `json:"batch_id"`
	}
	for range 2 {
		api.partsCall(http.StatusOK, http.MethodPost, complete, list(stored.Parts[0].ETag), &done)
	}
	last, _ := api.follow(u.BatchID)
	assert(t, last.Status == "PROCESSED" && *last.Counts.Ingested == 2 && !last.ReceivedAt.Before(before),
		"the batch ended with %s (%q), received %v; want PROCESSED, received after %v", last.Status, last.ErrorMessage,
		last.ReceivedAt, before)
	api.partsCall(http.StatusOK, http.MethodPost, complete, list(stored.Parts[0].ETag), &done)
	api.partsCall(http.StatusConflict, http.MethodGet, parts, nil, &refused)
	api.partsCall(http.StatusConflict, http.MethodDelete, parts, nil, &refused)
}

// An upload whose parts are not all there cannot be completed, and ends when the client gives it up or cancels it.
func TestIncompleteUpload(t *testing.T) {
	api := begin(t)
	begin := func() string {
		var u client.Upload
		api.partsCall(http.StatusOK, http.MethodPost, "generate-upload-url",
			map[string]any{"upload": "multipart", "content_length": 16<<20 + 5}, &u)
		require(t, u.PartCount == 2 && u.PartSize == 16<<20, "the upload is %+v, want two parts", u)
		return u.BatchID
	}
	id := begin()
	target := api.signPart(id, 2, "")
	expectPut(t, 200, target, []byte("{}\n{}"))
	var refused refusal
	api.partsCall(http.StatusConflict, http.MethodPost, "complete-upload/"+id,
		map[string]any{"parts": []any{map[string]any{"part_number": 2, "etag": "x"}}}, &refused)
	difftest.Equal(t, "the completion says", "Part 1 is not uploaded. Part 2 was uploaded with another ETag.",
		refused.Message)
	api.expect(http.StatusAccepted, http.MethodGet, transactionsPath+"batch/status/"+id, "", "not yet uploaded")
	for range 2 {
		var done map[string]any
		api.partsCall(http.StatusOK, http.MethodDelete, "upload-parts/"+id, nil, &done)
	}
	last, _ := api.follow(id)
	difftest.Equal(t, "the batch ended", []any{"ERROR", "The upload was given up by the client."},
		[]any{last.Status, last.ErrorMessage})
	expectPut(t, http.StatusNotFound, target, []byte("{}\n{}"))
	cancelled := begin()
	target = api.signPart(cancelled, 2, "")
	api.expect(http.StatusOK, http.MethodPost, transactionsPath+"batch/cancel/"+cancelled, "")
	expectPut(t, http.StatusNotFound, target, []byte("{}\n{}"))
}

// What is declared of a single PUT is what storage takes.
func TestDeclaredUpload(t *testing.T) {
	api := begin(t)
	content := jsonLines(validLines(1)...)
	sum := sha256.Sum256(content)
	var u client.Upload
	api.partsCall(http.StatusOK, http.MethodPost, "generate-upload-url", map[string]any{"content_length": len(content),
		"checksum_sha256": base64.StdEncoding.EncodeToString(sum[:])}, &u)
	for what, other := range map[string][]byte{"shorter": content[1:], "another": bytes.ToUpper(content)} {
		if code, text := put(t, u, other); code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("a %s file: %d %s, want it refused", what, code, text)
		}
	}
	expectPut(t, 200, u, content)
	api.expectEnd("PROCESSED", u.BatchID)
	var refused struct{ Detail []client.Detail }
	api.partsCall(http.StatusUnprocessableEntity, http.MethodPost, "generate-upload-url",
		map[string]any{"content_length": 2147483648}, &refused)
	want := "The file has 2147483648 bytes; at most 2147483647 are allowed. Split it into several batches."
	assert(t, len(refused.Detail) == 1 && refused.Detail[0].Msg == want, "a file that is too large: %+v, want %q",
		refused.Detail, want)
}

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
	api := begin(t, functionLog) // a local cloud, with UploadOrigins
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
