package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const base = "/tm/realtime/api/transactions/"

// door is one client of one tenant, as a customer's program would be.
type door struct {
	t     *testing.T
	home  *Home
	token string
}

// clientOf is what the admin command says of a new client.
type clientOf struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	tenant       string
}

// enter gets a token for the home's own client.
func enter(t *testing.T, h *Home) *door {
	t.Helper()
	return enterAs(t, h, h.ClientID, h.ClientSecret, h.Scope)
}

func enterAs(t *testing.T, h *Home, id, secret, scope string) *door {
	t.Helper()
	resp, err := http.PostForm(h.TokenURL, url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}
	decode(t, resp, http.StatusOK, &body)
	if body.TokenType != "Bearer" || body.ExpiresIn <= 0 {
		t.Fatalf("token reply: %+v", body)
	}
	return &door{t, h, body.AccessToken}
}

// call sends a request with the token and returns the status and the body.
func (d *door) call(method, path, contentType, body string) (int, http.Header, []byte) {
	d.t.Helper()
	req, err := http.NewRequest(method, d.home.APIURL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if d.token != "" {
		req.Header.Set("Authorization", "Bearer "+d.token)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return do(d.t, req)
}

func do(t *testing.T, req *http.Request) (int, http.Header, []byte) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, text
}

// decode reads a JSON reply of the wanted status.
func decode(t *testing.T, resp *http.Response, status int, out any) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, status, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

type upload struct {
	URL             string            `json:"url"`
	BatchID         string            `json:"batch_id"`
	Method          string            `json:"method"`
	RequiredHeaders map[string]string `json:"required_headers"`
	ExpiresAt       time.Time         `json:"expires_at"`
	MaxBytes        int64             `json:"max_bytes"`
}

// newBatch asks for an upload URL. An empty body is sent as none.
func (d *door) newBatch(body string) upload {
	d.t.Helper()
	contentType := ""
	if body != "" {
		contentType = "application/json"
	}
	status, _, text := d.call("POST", base+"batch/generate-upload-url", contentType, body)
	if status != http.StatusOK {
		d.t.Fatalf("generate-upload-url: %d %s", status, text)
	}
	var u upload
	strict(d.t, text, &u)
	return u
}

// put sends a file to a signed URL as curl would.
func put(t *testing.T, u upload, file []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(u.Method, u.URL, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range u.RequiredHeaders {
		req.Header.Set(name, value)
	}
	status, _, text := do(t, req)
	return status, text
}

type counts struct {
	Total    *int64 `json:"total"`
	Accepted *int64 `json:"accepted"`
	Invalid  *int64 `json:"invalid"`
	Ingested *int64 `json:"ingested"`
}

type status struct {
	BatchID         string    `json:"batch_id"`
	Status          string    `json:"status"`
	ErrorMessage    *string   `json:"error_message"`
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
	ReceivedAt      time.Time `json:"received_at"`
	RejectOnInvalid bool      `json:"reject_on_invalid"`
	Counts          counts    `json:"counts"`
	BytesTotal      int64     `json:"bytes_total"`
	BytesDone       int64     `json:"bytes_done"`
}

var final = []string{"PROCESSED", "VALIDATION_FAILED", "ERROR"}

// follow polls a batch to its end and returns the last status and every state that was seen on the way, in order.
func (d *door) follow(id string) (status, []string) {
	d.t.Helper()
	var seen []string
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); <-pace.C {
		code, _, text := d.call("GET", base+"batch/status/"+id, "", "")
		switch code {
		case http.StatusAccepted:
		case http.StatusOK:
			var s status
			strict(d.t, text, &s)
			if len(seen) == 0 || seen[len(seen)-1] != s.Status {
				seen = append(seen, s.Status)
			}
			if slices.Contains(final, s.Status) {
				return s, seen
			}
		default:
			d.t.Fatalf("status: %d %s", code, text)
		}
	}
	d.t.Fatalf("batch %s does not end; seen %v", id, seen)
	return status{}, nil
}

// process uploads a file and follows it to its end.
func (d *door) process(body string, file []byte) status {
	d.t.Helper()
	u := d.newBatch(body)
	if code, text := put(d.t, u, file); code != http.StatusOK {
		d.t.Fatalf("put: %d %s", code, text)
	}
	s, _ := d.follow(u.BatchID)
	return s
}

type result struct {
	Message           string     `json:"message"`
	Valid             *bool      `json:"valid"`
	ErrorsFileURL     string     `json:"errors_file_url"`
	ErrorsFileExpires *time.Time `json:"errors_file_url_expires_at"`
	Counts            *counts    `json:"counts"`
}

func (d *door) result(id string) (int, result) {
	d.t.Helper()
	code, _, text := d.call("GET", base+"batch/validation-result/"+id, "", "")
	var r result
	if code == http.StatusOK || code == http.StatusAccepted {
		strict(d.t, text, &r)
	}
	return code, r
}

type reportLine struct {
	Line                   int64   `json:"line"`
	RequestUUID            *string `json:"request_uuid"`
	TransactionExternalID  *string `json:"transaction_external_id"`
	ModificationExternalID *string `json:"modification_external_id"`
	ErrorsDropped          int     `json:"errors_dropped"`
	Errors                 []struct {
		Loc             []any   `json:"loc"`
		Msg             string  `json:"msg"`
		Type            string  `json:"type"`
		Pointer         string  `json:"pointer"`
		Offset          int64   `json:"offset"`
		OtherLines      []int64 `json:"other_lines"`
		OtherLinesTotal int64   `json:"other_lines_total"`
	} `json:"errors"`
}

// report downloads the validation report of an invalid batch, without a token.
func (d *door) report(id string) []reportLine {
	d.t.Helper()
	code, r := d.result(id)
	if code != http.StatusOK || r.Valid == nil || *r.Valid || r.ErrorsFileURL == "" {
		d.t.Fatalf("validation result: %d %+v", code, r)
	}
	resp, err := http.Get(r.ErrorsFileURL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		d.t.Fatalf("report: %s", resp.Status)
	}
	var lines []reportLine
	for dec := json.NewDecoder(resp.Body); ; {
		var text json.RawMessage
		err := dec.Decode(&text)
		if err == io.EOF {
			return lines
		}
		if err == nil {
			err = api.doc.ValidateJSON("#/components/schemas/ReportLine", text)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		var l reportLine
		strict(d.t, text, &l)
		lines = append(lines, l)
	}
}

// strict decodes a reply that may have no key the test does not know: a new one must be put into the contract's tests.
func strict(t *testing.T, text []byte, out any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func describe(s status) string {
	message := "null"
	if s.ErrorMessage != nil {
		message = *s.ErrorMessage
	}
	return fmt.Sprintf("%s (%s)", s.Status, message)
}
