package auth_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/auth"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestIssuedTokensVerify(t *testing.T) {
	w := newWorld(t)
	w.issuer.NewID = func() string { return "the-id" }
	token := w.issue(t)
	claims := errtest.Must(w.verifier.Verify(t.Context(), issuerURL, token))(t)
	lives := lifetime + auth.ReuseTime(lifetime)
	end := w.now.Truncate(time.Second).Add(lives)
	if claims.Client != w.client.ID || claims.Tenant != w.tenant.ID || !claims.Expires.Equal(end) {
		t.Errorf("%+v", claims)
	}
	header, payload := decodePart(t, token, 0), decodePart(t, token, 1)
	if header["typ"] != "at+jwt" || header["alg"] != "ES256" || header["kid"] == "" || len(header) != 3 {
		t.Errorf("header %v", header)
	}
	for name, want := range map[string]any{
		"iss": issuerURL, "sub": w.client.ID, "client_id": w.client.ID, "scope": "tenant/" + w.tenant.ID,
		"jti": "the-id",
		"iat": float64(w.now.Unix()), "exp": float64(end.Unix()),
	} {
		if payload[name] != want {
			t.Errorf("%s: %v, want %v", name, payload[name], want)
		}
	}
	if fmt.Sprint(payload["aud"]) != "[sluice]" && payload["aud"] != "sluice" || len(payload) != 8 {
		t.Errorf("payload %v", payload)
	}
	for after, valid := range map[time.Duration]bool{lives - time.Second: true, lives - time.Nanosecond: true,
		lives: false, lives + time.Second: false} {
		w.now = end.Add(after - lives)
		if err := w.verify(t, token); valid != (err == nil) || !valid && !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("%v after the start: %v", after, err)
		}
	}
}

func TestWhoGetsAToken(t *testing.T) {
	w := newWorld(t)
	other := auth.Tenant{ID: uuid.NewString()}
	disabled := auth.Client{ID: uuid.NewString(), Tenant: w.tenant.ID, Secret: w.client.Secret, Disabled: true}
	bare := auth.Client{ID: uuid.NewString(), Tenant: w.tenant.ID}
	errtest.Fatal(t, errors.Join(w.registry.CreateTenant(t.Context(), other),
		w.registry.CreateClient(t.Context(), disabled), w.registry.CreateClient(t.Context(), bare)))
	scope := "tenant/" + w.tenant.ID
	tests := []struct {
		name, id, secret, scope string
		want                    error
	}{
		{"all right", w.client.ID, w.secret, scope, nil},
		{"unknown client", uuid.NewString(), w.secret, scope, auth.ErrInvalidClient},
		{"no UUID", "client", w.secret, scope, auth.ErrInvalidClient},
		{"an ID of any length", strings.Repeat("x", 5000), w.secret, scope, auth.ErrInvalidClient},
		{"another form of the ID", "{" + w.client.ID + "}", w.secret, scope, auth.ErrInvalidClient},
		{"wrong secret", w.client.ID, w.secret[1:] + "A", scope, auth.ErrInvalidClient},
		{"secret too short by one", w.client.ID, w.secret[:len(w.secret)-1], scope, auth.ErrInvalidClient},
		{"secret too long by one", w.client.ID, w.secret + "A", scope, auth.ErrInvalidClient},
		{"no secret", w.client.ID, "", scope, auth.ErrInvalidClient},
		{"disabled", disabled.ID, w.secret, scope, auth.ErrInvalidClient},
		{"a client without a hash", bare.ID, "", scope, auth.ErrInvalidClient},
		{"another tenant", w.client.ID, w.secret, "tenant/" + other.ID, auth.ErrInvalidScope},
		{"no scope", w.client.ID, w.secret, "", auth.ErrInvalidScope},
		{"a bare tenant", w.client.ID, w.secret, w.tenant.ID, auth.ErrInvalidScope},
		{"two scopes", w.client.ID, w.secret, scope + " " + scope, auth.ErrInvalidScope},
		{"upper case", w.client.ID, w.secret, strings.ToUpper(scope), auth.ErrInvalidScope},
		{"wrong secret and scope", w.client.ID, "x", "tenant/x", auth.ErrInvalidClient},
	}
	for _, tt := range tests {
		token, err := w.issuer.Issue(t.Context(), issuerURL, tt.id, tt.secret, tt.scope)
		if !errors.Is(err, tt.want) || (token == "") != (tt.want != nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	difftest.Equal(t, "tokens were signed", 1, w.vault.signs["first"])
}

// A failure of the store or of KMS is neither the client's fault nor a token.
func TestOutages(t *testing.T) {
	outage := errors.New("outage")
	for _, method := range []string{"Client", "Keys", "ReplaceKeys"} {
		w := newWorld(t)
		w.registry.Fail = func(m string) error {
			if m == method {
				return outage
			}
			return nil
		}
		errtest.Is(t, method,
			errtest.Of(w.issuer.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID)), outage)
		w.registry.Fail = nil
		w.issue(t) // and nothing of it stays
	}
	w := newWorld(t)
	w.vault.fail = outage
	errtest.Is(t, "KMS",
		errtest.Of(w.issuer.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID)), outage)
	w.vault.fail = nil
	token := w.issue(t)
	w.registry.Fail = func(string) error { return outage }
	if err := w.verify(t, token); !errors.Is(err, outage) || errors.Is(err, auth.ErrInvalidToken) {
		t.Errorf("verifying: %v", err)
	}
}

// Many that ask for the first token at once agree on one key.
func TestFirstKeyIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for range 8 {
		other := auth.NewIssuer(w.registry, w.vault, "first", audience, lifetime) // another process
		other.Now = func() time.Time { return w.now }
		wg.Go(func() {
			token, err := other.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID)
			if err != nil {
				t.Error(err)
				return
			}
			errtest.Is(t, "Verify",
				errtest.Of(auth.NewVerifier(w.registry, audience, other.Now).Verify(t.Context(), issuerURL, token)),
				nil)
		})
	}
	wg.Wait()
	difftest.Equal(t, "keys", 1, w.published(t))
}

// Through a rotation every token works to its end, a cached key set always holds the key that signs, and the old key
// goes.
func TestRotation(t *testing.T) {
	w := newWorld(t)
	kid := func(token string) any { return decodePart(t, token, 0)["kid"] }
	old := w.issue(t)
	errtest.Fatal(t, w.verify(t, old))
	w.now = w.now.Add(time.Minute)
	start := w.now
	w.rotate(t, "second")
	w.now = start.Add(auth.KeySetLifetime - time.Second)
	last := w.issue(t) // the first one is not handed out any more
	if last == old || kid(last) != kid(old) {
		t.Error("the new key signs before every cache knows it")
	}
	difftest.Equal(t, "keys are published during the rotation", 2, w.published(t))
	w.now = start.Add(auth.KeySetLifetime)
	fresh := w.issue(t)
	if kid(fresh) == kid(old) {
		t.Error("the old key still signs")
	}
	for _, token := range []string{old, last, fresh} {
		errtest.Fatal(t, w.verify(t, token))
	}
	lives := lifetime + auth.ReuseTime(lifetime)
	w.now = start.Add(auth.KeySetLifetime - time.Second + lives - time.Second)
	errtest.Is(t, "the last token of the old key, in its last second", w.verify(t, last), nil)
	w.now = start.Add(auth.KeySetLifetime + lives + 2*time.Minute)
	difftest.Equal(t, "keys are published after the rotation", 1, w.published(t))
	if w.vault.signs["first"] != 2 || w.vault.signs["second"] != 1 {
		t.Errorf("signatures by key: %v", w.vault.signs)
	}
}

// A key that is retired ends with its tokens as soon as every cached copy of the keys has expired.
func TestRetirement(t *testing.T) {
	w := newWorld(t)
	w.issue(t)
	retire := func(i int) error {
		keys, version, err := w.registry.Keys(t.Context())
		errtest.Fatal(t, err)
		keys, err = auth.PlanRetirement(keys, keys[i].ID, w.now)
		if err == nil {
			err = w.registry.ReplaceKeys(t.Context(), keys, version)
		}
		return err
	}
	errtest.Is(t, "the only key", retire(0), auth.ErrLastKey)
	w.rotate(t, "second")
	for i, name := range []string{"the key that still signs", "the key that is to follow it"} {
		errtest.Is(t, name, retire(i), auth.ErrLastKey)
	}
	w.now = w.now.Add(auth.KeySetLifetime - time.Second)
	old := w.issue(t)
	w.now = w.now.Add(time.Second)
	fresh := w.issue(t)
	for _, token := range []string{old, fresh} {
		errtest.Fatal(t, w.verify(t, token))
	}
	errtest.Fatal(t, retire(0))
	w.now = w.now.Add(auth.KeySetLifetime)
	errtest.Fails(t, "a token of the retired key is still accepted", w.verify(t, old))
	errtest.Is(t, "a token of the other key", w.verify(t, fresh), nil)
	difftest.Equal(t, "keys are published", 1, w.published(t))
}

func TestTheFirstKeyByRotation(t *testing.T) {
	w := newWorld(t)
	w.rotate(t, "second")
	errtest.Fatal(t, w.verify(t, w.issue(t)))
	if w.vault.signs["second"] != 1 {
		t.Errorf("signatures by key: %v", w.vault.signs)
	}
}

func TestRotatingTwice(t *testing.T) {
	w := newWorld(t)
	w.issue(t)
	w.rotate(t, "second")
	w.now = w.now.Add(time.Minute)
	w.rotate(t, "second")
	for range 20 {
		if err := w.verify(t, w.issue(t)); err != nil {
			t.Fatalf("at %v: %v", w.now, err)
		}
		w.now = w.now.Add(time.Minute)
	}
}

func TestSecrets(t *testing.T) {
	one, hash := auth.NewSecret()
	two, again := auth.NewSecret()
	if one == two || string(hash.Salt) == string(again.Salt) || len(one) < 43 || !hash.Matches(one) ||
		hash.Matches(two) || (auth.SecretHash{}).Matches("") {
		t.Error("secrets do not do")
	}
	if strings.Contains(string(hash.Sum), one) {
		t.Error("the hash holds the secret")
	}
}
