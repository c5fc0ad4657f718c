package outbound_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound/outboundtest"
)

// No error and no log line contains a secret of the configuration, the path or query of a URL, or a token, whichever
// part fails.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(s *scene){
		"receiver hangs up": func(s *scene) { s.receiver.accepts = func(string) bool { panic(http.ErrAbortHandler) } },
		"token endpoint echoes the request": func(s *scene) {
			s.issuer.reply = func(w http.ResponseWriter, _ int) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error": %q, "error_description": %q}`, s.issuer.forms[0].Get("client_secret"),
					s.issuer.headers[0])
			}
		},
		"token endpoint hangs up": func(s *scene) {
			s.issuer.reply = func(http.ResponseWriter,
				int) {
				panic(http.ErrAbortHandler)
			}
		},
		"header that is not valid": func(s *scene) { s.configuration.Headers[0].Value = "hidden\r\nX: hidden" },
		"header of the token":      func(s *scene) { s.configuration.OAuth.Headers[0].Value = "hidden\x00" },
		"URL of the token endpoint": func(s *scene) {
			s.configuration.OAuth.URL = "https://user:hidden@receiver.test/hidden"
		},
		"token endpoint unknown": func(s *scene) {
			s.configuration.OAuth.URL = "https://unknown.test/hidden?hidden"
		},
		"token endpoint private": func(s *scene) { s.configuration.OAuth.URL = "https://10.0.0.1/hidden?hidden" },
		"KMS":                    func(s *scene) { s.configuration.OAuth.IsJWTClientAssertionEnabled = true },
		"client certificate":     func(s *scene) { s.configuration.IsMTLSEnabled = true },
		"certificate": func(s *scene) {
			s.configuration.EndpointCertificate = &externalauth.Certificate{PEM: "hidden"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			hidden := func(name string) []externalauth.NameValue {
				return []externalauth.NameValue{{Name: name, Value: "hidden"}}
			}
			s.configuration.Headers = hidden("X-Api-Key")
			s.configuration.OAuth.Headers, s.configuration.OAuth.FormValues = hidden("X-Api-Key"), hidden("password")
			s.configuration.OAuth.ClientSecret = "hidden"
			s.client.Keys, s.client.KMS = outboundtest.NewKeys(), outboundtest.FailingSigner{}
			var log bytes.Buffer
			s.client.Log = slog.New(slog.NewTextHandler(&log, nil))
			breakIt(s)
			_, err := s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL+"/hidden?hidden=hidden", "hidden"))
			if err == nil {
				t.Fatal("no error")
			}
			if text := fmt.Sprintf("%v %+v %#v %s", err, err, err, log.String()); strings.Contains(text, "hidden") ||
				strings.Contains(text, "token-1") || strings.Contains(text, "aGlkZGVu") {
				t.Errorf("it tells a secret: %s", text)
			}
		})
	}
}
