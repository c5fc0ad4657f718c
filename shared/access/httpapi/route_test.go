package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sluice/shared/access/httpapi"
)

// Of routes that match the same path, the one whose fixed segment comes first is served, as by API Gateway.
func TestFixedSegmentsComeFirst(t *testing.T) {
	var routes []httpapi.Route
	for _, path := range []string{"/a/{id}/clone", "/a/error/{id}", "/a/{id}", "/a/product/{id}",
		"/a/product/{id}/clone", "/a/{id}/part/{part}/copy", "/a/deal/{id}/part/{part}"} {
		routes = append(routes, httpapi.Route{Method: "PUT", Path: path, Public: true,
			Endpoint: func(_ context.Context, _ httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
				return httpapi.Reply{Body: path + " " + r.PathValue("id")}, nil
			}})
	}
	h := httpapi.API{Routes: routes, Errors: httpapi.MonitoringErrors, Log: slog.New(slog.DiscardHandler),
		Now: time.Now}.Handler()
	for path, want := range map[string]string{
		"/a/7": "/a/{id} 7", "/a/7/clone": "/a/{id}/clone 7", "/a/error/7": "/a/error/{id} 7",
		"/a/error/clone":   "/a/error/{id} clone",
		"/a/product/clone": "/a/product/{id} clone", "/a/product/7/clone": "/a/product/{id}/clone 7",
		"/a/product": "/a/{id} product", "/a/7/part/8/copy": "/a/{id}/part/{part}/copy 7",
		"/a/deal/part/part/copy": "/a/deal/{id}/part/{part} part",
	} {
		t.Run(path, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("PUT", path, nil))
			if w.Body.String() != `"`+want+`"` {
				t.Errorf("got %d %s, want %q", w.Code, w.Body, want)
			}
		})
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest("PUT", "/a/7/other", nil)); w.Code != 404 {
		t.Errorf("a path of no route: got %d, want 404", w.Code)
	}
}
