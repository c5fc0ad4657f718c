package outbound_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
)

// A token is used until 80 % of its life, measured from the moment it was asked for.
func TestTokenLifetime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, expiresIn string
		want            time.Duration
	}{
		{"number", `, "expires_in": 100`, 80 * time.Second},
		{"string", `, "expires_in": "100"`, 80 * time.Second},
		{"fraction", `, "expires_in": 100.5`, 80400 * time.Millisecond},
		{"absent", ``, 48 * time.Second},
		{"null", `, "expires_in": null`, 48 * time.Second},
		{"a year", `, "expires_in": 31536000`, 24 * time.Hour * 4 / 5},
		{"huge", `, "expires_in": 1e300`, 24 * time.Hour * 4 / 5},
		{"zero", `, "expires_in": 0`, 0},
		{"negative", `, "expires_in": -100`, 0},
		{"not a number", `, "expires_in": "soon"`, 0},
		{"NaN", `, "expires_in": "NaN"`, 0},
		{"an object", `, "expires_in": {"a": 1}`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.issuer.reply = func(w http.ResponseWriter, n int) {
				fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "bearer"%s}`, n, test.expiresIn)
			}
			s.call(t, http.StatusNoContent)
			s.wantCounts(t, 1, 1)
			if test.want > 0 {
				s.now = outboundtest.Now.Add(test.want - time.Millisecond)
				s.call(t, http.StatusNoContent)
				s.wantCounts(t, 1, 2)
				s.now = outboundtest.Now.Add(test.want)
			}
			before := s.receiver.count.Load()
			s.call(t, http.StatusNoContent)
			s.wantCounts(t, 2, before+1)
		})
	}
}

// After a 401 the call is made once more with a new token, and not again.
func TestRetryAfter401(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	revoked := map[string]bool{}
	s.receiver.accepts = func(token string) bool { return !revoked[token] }
	s.call(t, http.StatusNoContent)
	revoked["token-1"] = true
	s.call(t, http.StatusNoContent)
	s.wantCounts(t, 2, 3)
	s.call(t, http.StatusNoContent)
	s.wantCounts(t, 2, 4)
	s.receiver.accepts = func(string) bool { return false }
	s.call(t, http.StatusUnauthorized)
	s.wantCounts(t, 3, 6)
}

// Without a token a 401 is the reply.
func TestNoRetryWithoutToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.configuration.OAuth = nil
	s.call(t, http.StatusUnauthorized)
	s.wantCounts(t, 0, 1)
}

// A configuration that is changed between token and call counts for the retry as a whole: its token, its receiver's
// certificate.
func TestChangeBetweenTokenAndCall(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	changed := s.configuration
	oauth := *changed.OAuth
	oauth.ClientSecret = "a new secret"
	changed.OAuth, changed.Version = &oauth, 2
	s.issuer.reply = func(w http.ResponseWriter, n int) {
		s.configuration = changed // after the first version was read
		fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "Bearer", "expires_in": 100}`, n)
	}
	s.receiver.accepts = func(token string) bool { return token != "token-1" } // revoked with the old secret
	s.call(t, http.StatusNoContent)
	s.wantCounts(t, 2, 2)
	if secrets := []string{s.issuer.forms[0].Get("client_secret"), s.issuer.forms[1].Get("client_secret")}; !cmp.Equal(
		secrets, []string{"the/secret", "a new secret"}) {
		t.Errorf("the token endpoint got the secrets %q", secrets)
	}

	// A token of one version is not used for the next one.
	changed.Version = 3
	s.configuration = changed
	s.call(t, http.StatusNoContent)
	s.wantCounts(t, 3, 3)

	// A pin that was added in the meantime is enforced by the retry.
	changed.Version = 4
	changed.EndpointCertificate = &externalauth.Certificate{Mode: externalauth.PinLeafThumbprint,
		PEM: outboundtest.PEM(outboundtest.NewRoot(t, "other").Certificate.Raw)}
	s.receiver.accepts = func(string) bool {
		s.configuration = changed
		return false
	}
	_, err := s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL, "{}"))
	wantReason(t, err, outbound.CertificateRefused)
	s.wantCounts(t, 4, 4)
}

// How the client authenticates at the token endpoint.
func TestTokenRequest(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	values := []externalauth.NameValue{{Name: "scope", Value: "a b"}, {Name: "audience", Value: "x"},
		{Name: "audience", Value: "y"}, {Name: "grant_type", Value: "password"}, {Name: "client_id", Value: "other"},
		{Name: "client_secret", Value: "other"}}
	headers := []externalauth.NameValue{{Name: "X-Api-Key", Value: "key"},
		{Name: "authorization", Value: "Basic other"}, {Name: "content-type", Value: "text/plain"},
		{Name: "accept", Value: "text/html"}}
	extra := url.Values{"scope": {"a b"}, "audience": {"x", "y"}, "grant_type": {"client_credentials"}}
	with := func(more url.Values) url.Values {
		all := url.Values{}
		for _, m := range []url.Values{extra, more} {
			for name, value := range m {
				all[name] = value
			}
		}
		return all
	}
	for _, test := range []struct {
		name          string
		oauth         externalauth.OAuth
		form          url.Values
		authorization string
	}{
		{"form", externalauth.OAuth{ClientSecret: "the/secret"},
			with(url.Values{"client_id": {"the client"}, "client_secret": {"the/secret"}}), "Basic other"},
		{"form without a secret", externalauth.OAuth{}, with(url.Values{"client_id": {"the client"}}), "Basic other"},
		{"basic", externalauth.OAuth{ClientSecret: "the/secret", UseBasicAuthentication: true}, extra,
			"Basic dGhlK2NsaWVudDp0aGUlMkZzZWNyZXQ="}, // the+client:the%2Fsecret
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			test.oauth.URL, test.oauth.ClientID = s.issuer.URL+"/token?a=1", "the client"
			test.oauth.FormValues, test.oauth.Headers = values, headers
			s.configuration.OAuth = &test.oauth
			s.call(t, http.StatusNoContent)
			difftest.Equal(t, "form", test.form, s.issuer.forms[0])
			h := s.issuer.headers[0]
			got := []string{h.Get("Authorization"), h.Get("Content-Type"), h.Get("Accept"), h.Get("X-Api-Key")}
			if want := []string{test.authorization, form, "application/json", "key"}; !cmp.Equal(got, want) {
				t.Errorf("got the headers %q, want %q", got, want)
			}
		})
	}
}

// Every fault of a token endpoint has a named outcome, which quotes neither the endpoint nor the client's secret.
func TestTokenEndpointFails(t *testing.T) {
	t.Parallel()
	answer := func(status int, text string) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, _ int) {
			w.Header().Set("Location", "https://receiver.test/elsewhere")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	const failed = outbound.TokenFailed
	for _, test := range []struct {
		name  string
		reply func(http.ResponseWriter, int)
		want  outbound.Reason
		text  string
	}{
		{"invalid_client", answer(401, `{"error": "invalid_client", "error_description": "leak"}`), failed,
			"the status 401 and the error invalid_client"},
		{"an error of its own", answer(400, `{"error": "leak"}`), failed, "the status 400."},
		{"500", answer(500, `leak`), failed, "the status 500."},
		{"redirect", answer(307, ``), failed, "the status 307."},
		{"204", answer(204, ``), failed, "the status 204."},
		{"201", answer(201, `{"access_token": "leak", "token_type": "Bearer"}`), failed, "the status 201."},
		{"not JSON", answer(200, `leak`), failed, "not JSON"},
		{"an array", answer(200, `["leak"]`), failed, "not JSON"},
		{"empty", answer(200, ``), failed, "not JSON"},
		{"too long", answer(200, `{"access_token": "leak", "token_type": "Bearer", "x": "`+
			strings.Repeat("x", outbound.DefaultMaxReplyBytes)+`"}`), failed, "too long"},
		{"no token", answer(200, `{"token_type": "Bearer"}`), failed, "access_token"},
		{"a token with a line break", answer(200, `{"access_token": "a\r\nX: leak", "token_type": "Bearer"}`), failed,
			"access_token"},
		{"a token that is too long", answer(200, `{"token_type": "Bearer", "access_token": "`+
			strings.Repeat("a", 16<<10+1)+`"}`), failed, "access_token"},
		{"another type", answer(200, `{"access_token": "leak", "token_type": "mac"}`), failed, "bearer"},
		{"no type", answer(200, `{"access_token": "leak"}`), failed, "bearer"},
		{"resets", func(w http.ResponseWriter, _ int) { raw("", true)(w, nil) }, outbound.ConnectionFailed,
			"At the token endpoint"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.issuer.reply = test.reply
			_, err := s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL, "{}"))
			wantReason(t, err, test.want)
			if text := fmt.Sprint(err); !strings.Contains(text, test.text) || strings.Contains(text, "leak") ||
				strings.Contains(text, "secret") {
				t.Errorf("got the error %q, want one with %q", text, test.text)
			}
			s.wantCounts(t, 1, 0)
		})
	}
}

// FuzzTokenReply reads arbitrary replies of a token endpoint.
func FuzzTokenReply(f *testing.F) {
	for _, seed := range []string{`{"access_token": "a", "token_type": "Bearer", "expires_in": 100}`, `{}`, ``, `[`,
		`{"access_token": "a\n", "token_type": "bearer", "expires_in": "x"}`} {
		f.Add(200, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		value, until, err := outbound.ReadToken(&outbound.Reply{Status: status, Body: body}, outboundtest.Now)
		if err != nil {
			return
		}
		if !json.Valid(body) || value == "" || strings.ContainsAny(value, " \r\n\x00") ||
			until.Before(outboundtest.Now) || until.After(outboundtest.Now.Add(24*time.Hour)) {
			t.Errorf("%q: got the token %q until %v", body, value, until)
		}
	})
}
