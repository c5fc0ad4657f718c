package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// documentService is a service of documents with its storage.
type documentService struct {
	*fakeService
	// create and put answer requests for a document and for its file.
	create, put http.HandlerFunc

	mu sync.Mutex
	// calls are the requests with their bodies.
	calls []string
}

func newDocumentService(t *testing.T) *documentService {
	s := &documentService{fakeService: newFakeService(t)}
	s.create = func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"data":{"id":"d 1","signedUrlToUpload":%q,"requiredHeaders":{"If-None-Match":"*"}},"messages":[{"message":"m"}]}`,
			s.URL+"/storage?X-Amz-Signature=secret")
	}
	s.put = func(http.ResponseWriter, *http.Request) {}
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.calls = append(s.calls, r.Method+" "+r.URL.EscapedPath()+" "+r.Header.Get("X-Tenant-Id")+r.Header.Get("If-None-Match")+
			" "+string(body))
		s.mu.Unlock()
		switch {
		case r.Method == http.MethodPost:
			s.create(w, r)
		case r.Method == http.MethodPut:
			s.put(w, r)
		}
	}
	return s
}

// uploadDocument is the address of the console for a new document with a description.
func uploadDocument(description string) string {
	return "/console/documents?document=" + url.QueryEscape(description)
}

// A document is created as it is described, and its file goes to the storage; the page is not told where that is.
func TestDocumentIsUploaded(t *testing.T) {
	t.Parallel()
	service := newDocumentService(t)
	s, cookie := newConsole(t, service.fakeService)
	const description = `{"fileName":"a b.pdf","entityId":"é/1"}`
	w := ask(s, http.MethodPost, uploadDocument(description), strings.NewReader("content"), fromPage(cookie))
	if want := `{"id":"d 1","messages":[{"message":"m"}]}`; w.Code != http.StatusCreated || strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("the answer is %d %s, want 201 %s", w.Code, w.Body, want)
	}
	want := []string{"POST /base" + documentsPath + ` t {"data":` + description + "}", "PUT /storage * content"}
	if !slices.Equal(service.calls, want) {
		t.Errorf("the service was asked\n%q, want\n%q", service.calls, want)
	}
	if s.files.held != 0 {
		t.Errorf("%d bytes are held", s.files.held)
	}
}

// What the service refuses is told in its words, and nothing is stored.
func TestDocumentIsRefused(t *testing.T) {
	t.Parallel()
	service := newDocumentService(t)
	service.create = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "r-1")
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"data":[{"propertyName":"fileName"}],"messages":[]}`)
	}
	s, cookie := newConsole(t, service.fakeService)
	w := ask(s, http.MethodPost, uploadDocument(`{}`), strings.NewReader("content"), fromPage(cookie))
	if w.Code != http.StatusBadRequest || w.Body.String() != `{"data":[{"propertyName":"fileName"}],"messages":[]}` ||
		w.Header().Get("X-Request-Id") != "r-1" || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("the answer is %d %v %s", w.Code, w.Header(), w.Body)
	}
	if len(service.calls) != 1 {
		t.Errorf("the service was asked %q", service.calls)
	}
}

// A document whose file the storage does not take is deleted again, and no signed address is shown.
func TestDocumentWithoutFileIsDeleted(t *testing.T) {
	t.Parallel()
	service := newDocumentService(t)
	service.put = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	s, cookie := newConsole(t, service.fakeService)
	w := ask(s, http.MethodPost, uploadDocument(`{"fileName":"a"}`), strings.NewReader("content"), fromPage(cookie))
	if p := problemOf(t, w); p.ErrorCode != codeStorage || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the answer is %d %s", w.Code, w.Body)
	}
	if last := service.calls[len(service.calls)-1]; last != "DELETE /base"+documentsPath+"/d%201 t " {
		t.Errorf("the service was last asked %q", last)
	}
}

// Requests without a description are refused, and those that do not come from the page.
func TestDocumentNeedsADescription(t *testing.T) {
	t.Parallel()
	service := newDocumentService(t)
	s, cookie := newConsole(t, service.fakeService)
	for _, description := range []string{"", "null", "[]", "{", `{"a":"` + strings.Repeat("x", maxDocumentBytes) + `"}`} {
		w := ask(s, http.MethodPost, uploadDocument(description), strings.NewReader("content"), fromPage(cookie))
		if p := problemOf(t, w); p.Status != http.StatusBadRequest {
			t.Errorf("%.20s: the answer is %d", description, w.Code)
		}
	}
	w := ask(s, http.MethodPost, uploadDocument(`{}`), strings.NewReader("content"), withCookie(cookie))
	if w.Code != http.StatusForbidden {
		t.Errorf("without the header of the page the answer is %d, want 403", w.Code)
	}
	if len(service.calls) > 0 {
		t.Errorf("the service was asked %q", service.calls)
	}
}
