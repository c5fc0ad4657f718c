package outbound_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"sluice/shared/kit/errtest"
)

// Calls that need a token at the same time ask for it once; one that is given up does not end the others.
func TestTokenIsAskedForOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	asked, release := make(chan struct{}), make(chan struct{})
	s.issuer.reply = func(w http.ResponseWriter, n int) {
		close(asked)
		<-release
		fmt.Fprint(w, `{"access_token": "token-1", "token_type": "Bearer", "expires_in": 100}`)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := s.client.Do(ctx, tenant, newRequest(t, s.receiver.URL, "{}"))
		first <- err
	}()
	<-asked
	others := make(chan error, 10)
	for range cap(others) {
		go func() {
			_, err := s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL, "{}"))
			others <- err
		}()
	}
	cancel()
	errtest.Is(t, "the call that was given up", <-first, context.Canceled)
	close(release)
	for range cap(others) {
		errtest.Fatal(t, <-others)
	}
	s.wantCounts(t, 1, 10)
}

// Tokens belong to one configuration of one tenant, also if two have the same client and endpoint.
func TestTokensAreNotShared(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, id := range []string{"c", "d", "c", "d"} {
		s.configuration.ID = id
		s.call(t, http.StatusNoContent)
	}
	s.wantCounts(t, 2, 4)
	errtest.Fatal(t, errtest.Of(s.client.Do(t.Context(), "another tenant", newRequest(t, s.receiver.URL, "{}"))))
	s.wantCounts(t, 3, 5)
}

// The number of tokens and of connections that are kept is bounded.
func TestCachesAreBounded(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const many = 260
	for version := range int64(many) {
		s.configuration.Version = version
		s.call(t, http.StatusNoContent)
	}
	if tokens, pools := s.client.CacheSizes(); tokens != 256 || pools != 64 {
		t.Errorf("%d tokens and %d pools of connections are kept, want 256 and 64", tokens, pools)
	}
	s.wantCounts(t, many, many)
}
