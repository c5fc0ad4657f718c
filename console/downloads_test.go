package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

const testBatch = "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01"

// serveBatch has a service answer for one batch, whose files are at signed addresses of its own.
func (s *fakeService) serveBatch() {
	mux := http.NewServeMux()
	signed := func(name string) string { return s.URL + "/storage/" + name + "?X-Amz-Signature=5555" }
	mux.HandleFunc("GET /base/tm/realtime/api/transactions/batch/validation-result/{id}",
		func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("id") != testBatch {
				w.Header().Set("X-Request-Id", "r-404")
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"message":"Batch not found."}`)
				return
			}
			fmt.Fprintf(w, `{"message":"m","valid":false,"errors_file_url":%q,"errors_csv_url":%q,`+
				`"rejected_file_url":%q,"rejected_left_out":0,"parquet_url":null}`, signed("report"), signed("csv"),
				signed("broken"))
		})
	mux.HandleFunc("GET /base/tm/realtime/api/transactions/batch/screening-result/{id}",
		func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"message":"m","alerts_file_url":%q}`, signed("expired"))
		})
	mux.HandleFunc("GET /base/tm/realtime/api/transactions/batch/receipt/{id}",
		func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "a.b.c")
		})
	mux.HandleFunc("GET /storage/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.URL.RawQuery != "X-Amz-Signature=5555" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch name := r.PathValue("name"); name {
		case "broken":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "a part")
		case "expired":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
		default:
			fmt.Fprint(w, "the "+name)
		}
	})
	s.answer = mux.ServeHTTP
}

func TestDownloads(t *testing.T) {
	service := newFakeService(t)
	service.serveBatch()
	s, cookie := newConsole(t, service)
	for _, test := range []struct {
		kind, id    string
		status      int
		body        string
		disposition string
		contentType string
	}{
		{"report", testBatch, 200, "the report", "attachment; filename=" + testBatch + ".errors.jsonl",
			"application/x-ndjson"},
		{"csv", testBatch, 200, "the csv", "attachment; filename=" + testBatch + ".errors.csv",
			"text/csv; charset=utf-8"},
		{"csv", strings.ToUpper(testBatch), 200, "the csv", "attachment; filename=" + testBatch + ".errors.csv",
			"text/csv; charset=utf-8"},
		{"receipt", testBatch, 200, "a.b.c", "attachment; filename=" + testBatch + ".receipt.jose", "application/jose"},
		{"parquet", testBatch, 404, "", "", "application/problem+json"},
		{"alerts", testBatch, 502, "", "", "application/problem+json"},
		{"other", testBatch, 404, "", "", "application/problem+json"},
		{"report", "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e02", 404, "", "", "application/problem+json"},
		{"report", "..", 404, "", "", "application/problem+json"},
		{"report", `x"; filename=y`, 404, "", "", "application/problem+json"},
	} {
		t.Run(test.kind+" of "+test.id, func(t *testing.T) {
			w := ask(s, http.MethodGet, "/console/batches/x/download/"+test.kind, nil, fromPage(cookie),
				func(r *http.Request) {
					r.URL = r.URL.JoinPath() // a copy
					r.URL.Path = "/console/batches/" + test.id + "/download/" + test.kind
					if test.id == ".." {
						r.URL.RawPath = "/console/batches/%2e%2e/download/" + test.kind
					}
				})
			if test.id == ".." && w.Code == http.StatusMovedPermanently {
				return // it is another path
			}
			if w.Code != test.status || w.Header().Get("Content-Disposition") != test.disposition ||
				w.Header().Get("Content-Type") != test.contentType {
				t.Fatalf("got %d %v %s, want %+v", w.Code, w.Header(), w.Body, test)
			}
			if test.body != "" && w.Body.String() != test.body {
				t.Errorf("got %q, want %q", w.Body, test.body)
			}
			if strings.Contains(w.Body.String(), "5555") || strings.Contains(w.Body.String(), "token-1") {
				t.Errorf("the answer has a secret: %s", w.Body)
			}
		})
	}
}

// A person who follows a link to a file that cannot be had reads why.
func TestDownloadIsExplained(t *testing.T) {
	service := newFakeService(t)
	service.serveBatch()
	s, cookie := newConsole(t, service)
	w := ask(s, http.MethodGet, "/console/batches/"+testBatch+"/download/parquet", nil, fromPage(cookie),
		with("Accept", "text/html"))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "<h1>The batch has no such file</h1>") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// What the service refuses has the ID of its request, by which its operators find it.
func TestRefusalHasItsRequestID(t *testing.T) {
	service := newFakeService(t)
	service.serveBatch()
	s, cookie := newConsole(t, service)
	const other = "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e02"
	for _, path := range []string{"/download/report", "/errors"} {
		w := ask(s, http.MethodGet, "/console/batches/"+other+path, nil, fromPage(cookie))
		if w.Code != http.StatusNotFound || w.Header().Get("X-Request-Id") != "r-404" {
			t.Errorf("%s: got %d %v", path, w.Code, w.Header())
		}
	}
	w := ask(s, http.MethodGet, "/console/batches/"+other+"/download/report", nil, fromPage(cookie),
		with("Accept", "text/html"))
	difftest.Contains(t, "the page does not name the request", w.Body.String(), "Request r-404.")
}

// A file that breaks off is not taken for a whole one: the connection is closed before its end.
func TestBrokenDownload(t *testing.T) {
	service := newFakeService(t)
	service.serveBatch()
	s, cookie := newConsole(t, service)
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the answer ends as if it were complete")
		}
	}()
	ask(s, http.MethodGet, "/console/batches/"+testBatch+"/download/rejected", nil, fromPage(cookie))
}
