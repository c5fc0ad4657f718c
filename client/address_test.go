package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A wrong address is named with what was expected of it.
func TestWrongAddressesAreNamed(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/gateway"):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"Not Found"}`)
		case strings.HasPrefix(r.URL.Path, "/page"):
			_, _ = io.WriteString(w, "<html>Welcome</html>")
		case strings.HasPrefix(r.URL.Path, "/json"):
			_, _ = io.WriteString(w, `{}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer foreign.Close()
	for _, c := range []struct {
		name             string
		apiURL, tokenURL string
		want             []string
	}{
		{"API, no such path", foreign.URL, "", []string{
			foreign.URL + "/tm/realtime/api/transactions/batch/status/b answers 404",
			"is " + foreign.URL + " the address of the API?"}},
		{"API, gateway without the route", foreign.URL + "/gateway", "", []string{
			foreign.URL + "/gateway/tm/", "answers 404", "the address of the API?"}},
		{"API, web page", foreign.URL + "/page", "", []string{
			foreign.URL + "/page/tm/", "expected JSON", "the address of the API?"}},
		{"token, no such path", "", foreign.URL + "/oauth?secret=x", []string{
			foreign.URL + "/oauth answers 404 (Not Found)", "token endpoint", "/oauth2/token"}},
		{"token, web page", "", foreign.URL + "/page", []string{
			foreign.URL + "/page answers 200 without an access_token"}},
		{"token, other JSON", "", foreign.URL + "/json", []string{
			foreign.URL + "/json answers 200 without an access_token"}},
		{"token, the address of the API", "", s.URL, []string{s.URL + " answers 404", "/oauth2/token"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := s.Config()
			if c.apiURL != "" {
				config.APIURL = c.apiURL
			}
			if c.tokenURL != "" {
				config.TokenURL = c.tokenURL
			}
			cl, err := client.New(config)
			errtest.Fatal(t, err)
			_, err = cl.Status(t.Context(), "b")
			if err == nil {
				t.Fatal("no error, want one")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want it to contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error = %v, want it without the query", err)
			}
		})
	}
}

// The replies are kept as they came, also those that say that there is nothing yet.
func TestRepliesAreKept(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	var sent string
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if sent == "" || r.Method != http.MethodGet {
			return false
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, sent)
		return true
	}
	cl, err := client.New(s.Config())
	errtest.Fatal(t, err)
	sent = `{"message": "Later.",  "new_field":1.50, "batch_id":"b"}` + "\n"
	status, err := cl.Status(t.Context(), "b")
	errtest.Fatal(t, err)
	difftest.Equal(t, "reply of the status", sent, string(status.Reply))
	result, err := cl.ValidationResult(t.Context(), "b")
	errtest.Fatal(t, err)
	difftest.Equal(t, "reply of the results", sent, string(result.Reply))
	if !result.Pending {
		t.Error("a 202 is not pending")
	}
}
