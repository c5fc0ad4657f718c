package auth_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/auth"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// processes returns issuers over the same registry and vault, as several functions at once.
func (w *world) processes(n int) []*auth.Issuer {
	var issuers []*auth.Issuer
	for range n {
		i := auth.NewIssuer(w.registry, w.vault, "first", audience, lifetime)
		i.Now = func() time.Time { return w.now }
		issuers = append(issuers, i)
	}
	return issuers
}

func (w *world) issueBy(t *testing.T, i *auth.Issuer) string {
	t.Helper()
	return errtest.Must(i.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID))(t)
}

// All requests of a client within five minutes, to any process, get one token, which one signature makes. Each is told
// an hour, and the token keeps that.
func TestOneSignatureServesAClient(t *testing.T) {
	w := newWorld(t)
	w.now = w.now.Truncate(time.Second)
	issuers := w.processes(5)
	start := w.now
	first := w.issueBy(t, issuers[0])
	var wg sync.WaitGroup
	for _, i := range issuers {
		wg.Go(func() {
			for range 40 {
				difftest.Equal(t, "another token within five minutes", first, w.issueBy(t, i))
			}
		})
	}
	wg.Wait()
	w.now = start.Add(5*time.Minute - time.Second)
	for _, i := range append(issuers, w.processes(1)...) {
		difftest.Equal(t, "another token in the last second", first, w.issueBy(t, i))
	}
	difftest.Equal(t, "signatures for 207 requests", 1, w.vault.signs["first"])
	errtest.Is(t, "an hour after it was handed out for the last time",
		func() error { w.now = w.now.Add(lifetime); return w.verify(t, first) }(), nil)
	w.now = start.Add(5 * time.Minute)
	second := w.issueBy(t, issuers[1])
	if second == first || w.issueBy(t, issuers[0]) != second || w.vault.signs["first"] != 2 {
		t.Errorf("after five minutes: %d signatures, want 2, and one token for all", w.vault.signs["first"])
	}
}

// Of processes that sign at the same time one wins, and all hand out its token.
func TestProcessesThatSignAtOnceAgree(t *testing.T) {
	w := newWorld(t)
	w.issueBy(t, w.issuer) // the key
	w.now = w.now.Add(10 * time.Minute)
	tokens := make(chan string, 8)
	var wg sync.WaitGroup
	for _, i := range w.processes(8) {
		wg.Go(func() { tokens <- w.issueBy(t, i) })
	}
	wg.Wait()
	close(tokens)
	distinct := map[string]bool{}
	for token := range tokens {
		distinct[token] = true
	}
	difftest.Equal(t, "tokens", 1, len(distinct))
}

// A token is not handed out again to another client, for another issuer, without the secret, to a disabled client, or
// once its key does not sign any more.
func TestWhatIsNotReused(t *testing.T) {
	w := newWorld(t)
	first := w.issue(t)
	issue := func(issuer, id, secret, tenant string) (string, error) {
		return w.processes(1)[0].Issue(t.Context(), issuer, id, secret, "tenant/"+tenant)
	}
	if token, err := issue("https://another.test", w.client.ID, w.secret, w.tenant.ID); err != nil || token == first {
		t.Errorf("another issuer: the same token, or %v", err)
	}
	secret, hash := auth.NewSecret()
	other := auth.Client{ID: uuid.NewString(), Tenant: w.tenant.ID, Secret: hash}
	errtest.Fatal(t, w.registry.CreateClient(t.Context(), other))
	if token, err := issue(issuerURL, other.ID, secret, w.tenant.ID); err != nil || token == first {
		t.Errorf("another client: the same token, or %v", err)
	}
	for name, secret := range map[string]string{"another secret": secret, "no secret": ""} {
		for _, i := range []*auth.Issuer{w.issuer, w.processes(1)[0]} {
			errtest.Is(t, name,
				errtest.Of(i.Issue(t.Context(), issuerURL, w.client.ID, secret, "tenant/"+w.tenant.ID)),
				auth.ErrInvalidClient)
		}
	}
	keys, version, err := w.registry.Keys(t.Context())
	errtest.Fatal(t, err)
	next := errtest.Must(auth.NewKey(t.Context(), w.vault, "second"))(t)
	next.ActiveFrom, keys[0].RetireAt = w.now, w.now
	errtest.Fatal(t, w.registry.ReplaceKeys(t.Context(), append(keys, next), version))
	w.now = w.now.Add(time.Minute) // when every process knows of it
	if w.issue(t) == first || w.issueBy(t, w.processes(1)[0]) == first {
		t.Error("a token of a retired key is handed out")
	}
	errtest.Fatal(t, errtest.Of(w.registry.DisableClient(t.Context(), w.client.ID)))
	errtest.Is(t, "a disabled client",
		errtest.Of(w.issuer.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID)),
		auth.ErrInvalidClient)
}

// The stored text gives no token without the secret, and a changed or moved one is not used.
func TestSealedTokens(t *testing.T) {
	w := newWorld(t)
	first := w.issue(t)
	var id string
	for candidate := range maps.Keys(w.registry.Tokens()) {
		id = candidate
	}
	stored := w.registry.Tokens()[id]
	for _, part := range strings.Split(first, ".") {
		if strings.Contains(string(stored.Ciphertext), part) {
			t.Error("the stored token can be read")
		}
	}
	for name, change := range map[string]func(s *auth.SealedToken){
		"a changed byte":  func(s *auth.SealedToken) { s.Ciphertext[20] ^= 1 },
		"a longer time":   func(s *auth.SealedToken) { s.ReuseUntil = s.ReuseUntil.Add(time.Hour) },
		"cut off":         func(s *auth.SealedToken) { s.Ciphertext = s.Ciphertext[:5] },
		"nothing":         func(s *auth.SealedToken) { s.Ciphertext = nil },
		"another's place": func(s *auth.SealedToken) { s.Ciphertext[0] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			changed := stored
			changed.Ciphertext = append([]byte(nil), stored.Ciphertext...)
			change(&changed)
			w.registry.SetToken(changed)
			token := w.issueBy(t, w.processes(1)[0])
			if token == first {
				t.Error("the token is handed out")
			}
			errtest.Fatal(t, w.verify(t, token))
		})
	}
}

// A registry that does not keep tokens costs signatures, and nobody a token.
func TestTokensThatCannotBeStored(t *testing.T) {
	w := newWorld(t)
	w.registry.Fail = func(method string) error {
		if strings.Contains(method, "SealedToken") {
			return errors.New("no answer")
		}
		return nil
	}
	for range 2 {
		errtest.Fatal(t, w.verify(t, w.issue(t)))
	}
	difftest.Equal(t, "signatures", 2, w.vault.signs["first"])
}

func TestReuseTime(t *testing.T) {
	for lifetime, want := range map[time.Duration]time.Duration{
		time.Hour: 5 * time.Minute, 24 * time.Hour: 5 * time.Minute, time.Minute: 5 * time.Second,
		12 * time.Second: time.Second,
		11 * time.Second: 0, time.Second: 0,
	} {
		difftest.Equal(t, fmt.Sprint(lifetime), want, auth.ReuseTime(lifetime))
	}
}
