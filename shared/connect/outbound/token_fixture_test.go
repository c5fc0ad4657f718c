package outbound_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// issuer is a token endpoint that issues token-1, token-2, ...
type issuer struct {
	*outboundtest.Server
	// count is the number of requests.
	count atomic.Int32

	mu sync.Mutex
	// reply writes the answer to the n-th request; nil issues a token for 100 seconds.
	reply func(w http.ResponseWriter, n int)
	// forms and headers belong to the requests.
	forms   []url.Values
	headers []http.Header
}

func newIssuer(t *testing.T, certificate tls.Certificate, options ...func(*tls.Config)) *issuer {
	i := &issuer{}
	i.Server = outboundtest.NewServer(t, certificate, i, options...)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := int(i.count.Add(1))
	_ = r.ParseForm()
	i.mu.Lock()
	i.forms, i.headers = append(i.forms, r.PostForm), append(i.headers, r.Header)
	reply := i.reply
	i.mu.Unlock()
	if reply != nil {
		reply(w, n)
		return
	}
	fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "Bearer", "expires_in": 100}`, n)
}

// receiver answers 204 to every request with an access token that it accepts, and 401 otherwise.
type receiver struct {
	*outboundtest.Server
	count atomic.Int32
	// accepts reports whether a request with a token is answered 204; nil accepts all.
	accepts func(token string) bool
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.count.Add(1)
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || s.accepts != nil && !s.accepts(token) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// scene is a client whose configuration has an OAuth client, with its receiver and its token endpoint.
type scene struct {
	client        *outbound.Client
	receiver      *receiver
	issuer        *issuer
	configuration externalauth.Configuration
	// now is the client's clock.
	now time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	root := outboundtest.NewRoot(t, "root")
	certificate := root.Issue(outboundtest.Leaf{})
	s := &scene{receiver: &receiver{}, issuer: newIssuer(t, certificate), now: outboundtest.Now}
	s.receiver.Server = outboundtest.NewServer(t, certificate, s.receiver)
	s.configuration = externalauth.Configuration{ID: "c", Tenant: tenant, URL: s.receiver.URL, Version: 1,
		OAuth: &externalauth.OAuth{URL: s.issuer.URL + "/token", ClientID: "the client", ClientSecret: "the/secret"}}
	s.client = newClient(t)
	s.client.PublicCAs = outboundtest.Pool(root)
	s.client.Now = func() time.Time { return s.now }
	s.client.Configurations = s
	return s
}

// ForURL returns the scene's configuration as it is now.
func (s *scene) ForURL(_ context.Context, t, url string) (externalauth.Configuration, bool, error) {
	return externalauth.Choose([]externalauth.Configuration{s.configuration}, url)
}

// call makes a call that must end with a status.
func (s *scene) call(t *testing.T, want int) {
	t.Helper()
	reply := errtest.Must(s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL+"/event", "{}")))(t)
	difftest.Equal(t, "status", want, reply.Status)
}

// wantCounts checks how often token endpoint and receiver were called.
func (s *scene) wantCounts(t *testing.T, issuer, receiver int32) {
	t.Helper()
	difftest.Equal(t, "times that token endpoint and receiver were called", [2]int32{issuer, receiver},
		[2]int32{s.issuer.count.Load(), s.receiver.count.Load()})
}
