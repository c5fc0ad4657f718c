package console

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// The file of a document goes to the address that the service has given, with its headers and without a token, and to
// no other address.
func TestStoreAtSignedAddress(t *testing.T) {
	service := newFakeService(t)
	var got *http.Request
	var body string
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/storage/"):
			text, _ := io.ReadAll(r.Body)
			got, body = r, string(text)
			if r.URL.Path == "/storage/full" {
				w.WriteHeader(http.StatusPreconditionFailed)
				fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code><Message>It exists.</Message></Error>")
			}
		case strings.HasSuffix(r.URL.Path, "/upload-url"):
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, `{"data":{"signedUrl":"%s/storage/full?X-Amz-Signature=5555","requiredHeaders":null}}`,
				service.URL)
		case r.URL.Path == "/base/documentmanagementcommand/api/v2/documentmanagement":
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, `{"data":{"signedUrlToUpload":"%s/storage/a?X-Amz-Signature=5555","requiredHeaders":{`+
				`"If-None-Match":"*"}}}`,
				service.URL)
		default:
			fmt.Fprintf(w, `{"data":{"signedUrlToUpload":"%s/storage/b?X-Amz-Signature=5555"}}`, service.URL)
		}
	}
	s, cookie := newConsole(t, service)
	defer closeServer(t, s)
	for _, path := range []string{"/documentmanagementcommand/api/v2/documentmanagement",
		"/screeningcommand/api/v3/batch/b/entity/e/documents/upload-url", "/entitydata/x"} {
		w := ask(s, http.MethodPost, "/api"+path, strings.NewReader(`{}`), fromPage(cookie))
		if w.Code > 202 || !strings.Contains(w.Body.String(), "5555") {
			t.Fatalf("%s answers %d %s, want the answer of the service", path, w.Code, w.Body)
		}
	}
	send := func(address string) (int, string) {
		t.Helper()
		w := ask(s, http.MethodPut, "/console/storage", strings.NewReader("content"), fromPage(cookie),
			with(signedURLHeader, address))
		if strings.Contains(w.Body.String(), "5555") {
			t.Errorf("the answer has the address: %s", w.Body)
		}
		return w.Code, w.Body.String()
	}
	if status, text := send(service.URL + "/storage/a?X-Amz-Signature=5555"); status != http.StatusNoContent ||
		body != "content" ||
		got.Header.Get("If-None-Match") != "*" || got.Header.Get("Authorization") != "" || got.ContentLength != 7 {
		t.Errorf("got %d %s, storage %q with %v", status, text, body, got.Header)
	}
	difftest.Reply(t, "what storage refuses answers", http.StatusBadGateway, "PreconditionFailed")(
		send(service.URL + "/storage/full?X-Amz-Signature=5555"))
	got = nil
	for _, address := range []string{"", "http://attacker.example/", service.URL + "/storage/a",
		service.URL + "/oauth2/token",
		service.URL + "/storage/b?X-Amz-Signature=5555"} { // the last one is not that of a document
		if status, text := send(address); status != http.StatusForbidden || got != nil {
			t.Errorf("%q answers %d %s, want 403", address, status, text)
		}
	}
}

func TestSignedUploadsAreBounded(t *testing.T) {
	var u signedUploads
	for i := range maxSignedUploads + 5 {
		u.add(fmt.Sprint(i), nil)
		u.add(fmt.Sprint(i), nil)
	}
	_, hasOld := u.get("4")
	_, hasOldest := u.get("5")
	difftest.Equal(t, "result", []any{false, true, maxSignedUploads}, []any{hasOld, hasOldest, len(u.headers)})
}
