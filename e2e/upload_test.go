package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

func TestURLAcceptsOneUpload(t *testing.T) {
	api := begin(t)
	u := api.newUpload(true)
	assert(t, u.Method == "PUT" && u.RequiredHeaders["If-None-Match"] == "*" && len(u.RequiredHeaders) == 1,
		"the upload wants %s with the headers %v, want PUT with If-None-Match: *", u.Method, u.RequiredHeaders)
	assert(t, u.MaxBytes == 2147483647 && u.ExpiresAt.After(time.Now()),
		"the upload has max_bytes %d and ends at %v, want 2147483647 and a time to come", u.MaxBytes, u.ExpiresAt)
	content := jsonLines(validLine())
	expectPut := func(want int, what string, to client.Upload) {
		t.Helper()
		expectPut(t, want, to, content)
	}

	withoutHeaders := u
	withoutHeaders.RequiredHeaders = nil
	expectPut(403, "upload without If-None-Match", withoutHeaders)
	for _, altered := range []struct{ what, url string }{
		{"key", strings.Replace(u.URL, u.BatchID, "0"+u.BatchID[1:], 1) + "&x=1"},
		{"signature", u.URL[:len(u.URL)-4] + "0000"},
		{"lifetime", strings.Replace(u.URL, "X-Amz-Expires=900", "X-Amz-Expires=90000", 1)},
	} {
		require(t, altered.url != u.URL, "the URL has no %s to alter: %s", altered.what, u.URL)
		to := u
		to.URL = altered.url
		expectPut(403, "upload with an altered "+altered.what, to)
	}
	code, _, text := download(t, u.URL)
	assert(t, code == 403, "GET of an upload URL: %d %s, want 403", code, text)
	expectPut(200, "the right upload", u)
	expectPut(412, "a second upload", u)
	api.expectEnd("PROCESSED", u.BatchID)
	expectPut(412, "an upload after the end of the batch", u)
}

// An upload that breaks off leaves nothing: the same URL accepts the next attempt.
func TestAbortedUpload(t *testing.T) {
	api := begin(t)
	u := api.newUpload(true)
	content := jsonLines(validLines(2)...)
	target := ok(url.Parse(u.URL))(t)
	for _, sent := range []int{0, 1, len(content) / 2, len(content) - 1} {
		conn := ok(net.Dial("tcp", target.Host))(t)
		fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: %d\r\n\r\n%s",
			target.RequestURI(), target.Host, len(content), content[:sent])
		must(t, conn.(*net.TCPConn).CloseWrite())
		io.Copy(io.Discard, conn) // until the server has given up, whatever it answers
		conn.Close()
		api.expect(http.StatusAccepted, "GET", transactionsPath+"batch/status/"+u.BatchID, "", "not yet uploaded")
	}
	expectPut(t, 200, u, content)
	if last, _ := api.follow(u.BatchID); last.Status != "PROCESSED" || *last.Counts.Total != 2 {
		t.Errorf("the batch ended with %s (%q) and %d lines, want PROCESSED and 2", last.Status, last.ErrorMessage,
			*last.Counts.Total)
	}
}

// The limit of transactions, 20 million unless set otherwise, holds however small the file is.
func TestTooManyTransactions(t *testing.T) {
	api := narrowCloud.begin(t)
	for _, test := range []struct {
		transactions int
		status       string
	}{
		{narrowTransactions - 1, "PROCESSED"}, {narrowTransactions, "PROCESSED"}, {narrowTransactions + 1,
			"VALIDATION_FAILED"},
	} {
		t.Run(fmt.Sprint(test.transactions), func(t *testing.T) {
			api := api.in(t)
			content := append(jsonLines(validLines(2)...), "\n\n"+strings.Repeat("{}\n\n", test.transactions-2)...)
			last := api.expectProcessWith(test.status, client.UploadOptions{}, content)
			r := api.result(last.BatchID)
			if test.status == "PROCESSED" {
				if *last.Counts.Ingested != 2 || r.ErrorsFileURL == "" {
					t.Errorf("%d lines ingested, validation result %+v; want 2 and a report", *last.Counts.Ingested, r)
				}
				if again := api.result(last.BatchID); again.ErrorsFileURL == r.ErrorsFileURL {
					t.Errorf("two calls gave the same report URL %s, want a new one for each", r.ErrorsFileURL)
				}
				return
			}
			assert(t, r.ErrorsFileURL == "" && r.Valid != nil && !(*r.Valid),
				"validation result %+v, want an invalid one without a report", r)
			const want = "The file contains 1001 transactions; a batch may contain at most 1000. " +
				"Split the file into several batches."
			assert(t, r.Message == want && last.ErrorMessage == want,
				"the validation result says %q and the status %q, want %q", r.Message, last.ErrorMessage, want)
		})
	}
}

// A report that passes its limit goes on with short entries: every invalid line is in it, and the results say so.
func TestReportBeyondItsLimit(t *testing.T) {
	api := narrowCloud.begin(t)
	const lines, limit = narrowTransactions, narrowReport
	file := strings.Repeat("{        }\n", lines) // of several chunks
	last := api.expectProcess("VALIDATION_FAILED", []byte(file))
	r := api.result(last.BatchID)
	assert(t, r.ReportComplete != nil && !(*r.ReportComplete) && *r.Counts.Invalid == lines &&
		*last.Counts.Invalid == lines, "validation result %+v, want %d invalid lines and report_complete false", r,
		lines)
	report := api.report(last.BatchID)
	expectCSV(t, r, report)
	_, _, rejected := download(t, wire.OrZero(r.RejectedFileURL))
	assert(t, rejected == file, "the rejected lines have %d bytes, want those that were sent", len(rejected))
	full, bytesOfFull := 0, 0
	for i, line := range report {
		require(t, line.Line == int64(i+1), "entry %d of the report is of line %d", i+1, line.Line)
		isFull := len(line.Errors) > 0
		require(t, isFull != slices.Contains(line.Codes, "missing") && (!isFull || bytesOfFull < limit),
			"entry of line %d, after %d bytes, is %+v; want it full up to %d bytes, then short with the code missing",
			line.Line, bytesOfFull, line, limit)
		if isFull {
			text := ok(json.Marshal(line))(t)
			full, bytesOfFull = full+1, bytesOfFull+len(text)
		}
	}
	assert(t, len(report) == lines && full != 0,
		"the report has %d entries, %d of them full; want one for each of %d lines, and some full", len(report), full,
		lines)
}

func TestLimitsOfUploads(t *testing.T) {
	api := narrowCloud.begin(t)
	const limit = narrowUpload
	for _, test := range []struct {
		size   int
		status string
	}{
		{limit - 1, "PROCESSED"}, {limit, "PROCESSED"}, {limit + 1, "ERROR"},
	} {
		u := api.newUpload(true)
		assert(t, u.MaxBytes == limit, "max_bytes is %d, want %d", u.MaxBytes, limit)
		content := string(jsonLines(validLine()))
		content += strings.Repeat(" ", test.size-len(content))
		// The client would refuse to send more than max_bytes.
		expectPut(t, 200, u, []byte(content))
		last, _ := api.follow(u.BatchID)
		assert(t, last.Status == test.status && (test.status != "ERROR" || strings.Contains(last.ErrorMessage,
			"20000")), "a batch of %d bytes ended with %s (%q), want %s", test.size, last.Status, last.ErrorMessage,
			test.status)
	}
}

// cutTransport breaks every connection that uploads one part, in the middle of the part.
type cutTransport struct{ part string }

var errCut = errors.New("the connection was cut")

// RoundTrip sends half of the body of that part, and every other request as it is.
func (c cutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut && r.URL.Query().Get("partNumber") == c.part {
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, r.ContentLength/2), failingReader{}))
	}
	return http.DefaultTransport.RoundTrip(r)
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errCut }

// fileOf returns lines that fill a file of a size: one transaction, and white space.
func fileOf(size int) []byte {
	content := jsonLines(validLine())
	blank := append(bytes.Repeat([]byte(" "), 200_000), '\n')
	for len(content)+len(blank) <= size {
		content = append(content, blank...)
	}
	return append(content, bytes.Repeat([]byte("\n"), size-len(content))...)
}

// A large upload that breaks off goes on where it was, also from a file in which a part has changed meanwhile.
func TestResumedUpload(t *testing.T) {
	api := largeCloud.begin(t)
	const partSize, size = smallestPart, 2*smallestPart + 1000
	config := api.config()
	config.HTTP = &http.Client{Transport: cutTransport{"3"}}
	config.Pause = func(context.Context, time.Duration) error { return nil }
	broken := ok(client.New(config))(t)
	content := fileOf(size)
	length := int64(len(content))
	u, err := broken.CreateUploadWith(t.Context(), client.UploadOptions{RejectOnInvalid: true,
		Upload: client.UploadMultipart, ContentLength: &length, PartChecksums: true})
	require(t, err == nil && u.PartCount == 3 && u.PartSize == partSize,
		"the upload is %+v, %v; want three parts of 5 MiB", u, err)
	changed := bytes.Clone(content)
	changed[partSize+7] = '\t'
	err = broken.UploadParts(t.Context(), u.BatchID, bytes.NewReader(changed), length, client.PartsOptions{Parallel: 1})
	require(t, errors.As(err, new(*client.UnreachableError)), "the upload that is cut: %v, want an UnreachableError",
		err)
	path := writeFile(t, "batch.jsonl", content)
	api.runFor(0, []string{"the service has 5.2 MB already", "differ from the file: 1 part", "PROCESSED"},
		"upload", "--resume", u.BatchID, path)
}
