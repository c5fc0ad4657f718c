package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// newTransport returns the transport of a client of a server that answers with the token and the body that it was sent,
// and refuses the first token, and the address of its API.
func newTransport(t *testing.T) (http.RoundTripper, string) {
	t.Helper()
	tokens := 0
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/token", func(w http.ResponseWriter, _ *http.Request) {
		tokens++
		fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600}`, tokens)
	})
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") == "Bearer token-1" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, "%s %s", r.Header.Get("Authorization"), body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{APIURL: server.URL + "/api/", TokenURL: server.URL + "/oauth2/token",
		ClientID:     "c",
		ClientSecret: "s", Scope: "tenant/t"})
	errtest.Fatal(t, err)
	if got := c.APIURL(); got != server.URL+"/api" {
		t.Errorf("the address of the API is %s", got)
	}
	return c.Transport(), c.APIURL()
}

func TestTransport(t *testing.T) {
	for name, test := range map[string]struct {
		body io.Reader
		// want are the statuses and answers of the first request and of a second one.
		want [2]string
	}{
		"no body":         {nil, [2]string{"200 Bearer token-2 ", "200 Bearer token-2 "}},
		"repeatable body": {strings.NewReader("x"), [2]string{"200 Bearer token-2 x", "200 Bearer token-2 "}},
		"body that can be read once": {io.MultiReader(strings.NewReader("x")),
			[2]string{"401 Bearer token-1 x", "200 Bearer token-2 "}},
	} {
		t.Run(name, func(t *testing.T) {
			transport, api := newTransport(t)
			for i, body := range []io.Reader{test.body, nil} {
				r, err := http.NewRequest(http.MethodPost, api+"/x", body)
				errtest.Fatal(t, err)
				resp, err := transport.RoundTrip(r)
				errtest.Fatal(t, err)
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if got := fmt.Sprintf("%d %s", resp.StatusCode, text); got != test.want[i] {
					t.Errorf("request %d: got %s, want %s", i+1, got, test.want[i])
				}
				if r.Header.Get("Authorization") != "" {
					t.Error("the caller's request was changed")
				}
			}
		})
	}
}

// No token goes to another address than those of the API.
func TestTransportRefusesOtherAddresses(t *testing.T) {
	transport, api := newTransport(t)
	host := strings.TrimSuffix(api, "/api")
	for _, address := range []string{host + "/", host + "/apix", host + "/oauth2/token",
		"https" + strings.TrimPrefix(api, "http") + "/x",
		"http://attacker.example/api/x"} {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader("x"))
		errtest.Fatal(t, err)
		if resp, err := transport.RoundTrip(r); err == nil ||
			!strings.Contains(err.Error(), "is not an address of the API") {
			t.Errorf("%s: got %v, %v; want that it is refused", address, resp, err)
		}
	}
}

// What the token endpoint refuses is a TokenError.
func TestTransportWithoutToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"invalid_client"}`)
	}))
	defer server.Close()
	c, err := client.New(client.Config{APIURL: server.URL, TokenURL: server.URL + "/oauth2/token", ClientID: "c",
		ClientSecret: "s",
		Scope:        "tenant/t"})
	errtest.Fatal(t, err)
	r := httptest.NewRequest(http.MethodGet, server.URL+"/x", nil)
	var refused *client.TokenError
	if _, err := c.Transport().RoundTrip(r); !errors.As(err, &refused) {
		t.Errorf("got %v, want a TokenError", err)
	}
}
