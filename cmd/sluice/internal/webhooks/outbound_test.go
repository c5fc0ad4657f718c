package webhooks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/cmd/sluice/internal/commandtest"
)

// The names in certificates are printed without control characters, and the exit code says whether a mode accepts the
// receiver.
func TestOutboundCheck(t *testing.T) {
	t.Parallel()
	certificate := `{"subject":"CN=\u001b[31mred\u202e","issuer":"CN=CA","serial":"1F",` +
		`"notBefore":"2026-01-01T00:00:00Z","notAfter":"2027-01-01T00:00:00Z","thumbprintSha1":"AA",` +
		`"thumbprintSha256":"BB"}`
	decisions := `[{"mode":"PinLeafThumbprint","accepted":ACCEPTED,"reason":"It is pinned."},` +
		`{"mode":"SignerChainValidationOnly","accepted":false,"reason":"No chain\nleads there."}]`
	for _, accepted := range []string{"true", "false"} {
		data := `{"chain":[` + certificate + `],"decisions":` + strings.Replace(decisions, "ACCEPTED", accepted, 1) +
			`}`
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
				return
			}
			_, _ = io.WriteString(w, `{"data":`+data+`,"messages":[]}`)
		}))
		defer server.Close()
		run := func(args ...string) (int, string) {
			var stdout, stderr bytes.Buffer
			code := commandtest.Run(t.Context(), Commands(), append([]string{"outbound", "check", "https://x.test",
				"--api-url",
				server.URL, "--token-url", server.URL + "/token", "--client-id", "c", "--client-secret", "s", "--scope",
				"tenant/t"}, args...), &stdout, &stderr)
			if stderr.Len() > 0 {
				t.Errorf("stderr: %s", stderr.String())
			}
			return code, stdout.String()
		}
		wantCode, word := 0, "accepted"
		if accepted == "false" {
			wantCode, word = 1, "refused "
		}
		code, text := run()
		if code != wantCode || strings.ContainsAny(text, "\x1b\u202e") ||
			!strings.Contains(text, "\nPinLeafThumbprint          "+word+"  It is pinned.\n") ||
			!strings.HasPrefix(text, "certificate 1 of 1\n") || strings.Count(text, "\n") != 9 {
			t.Errorf("exit code %d, printed %q", code, text)
		}
		if code, text := run("--json"); code != wantCode || text != data+"\n" {
			t.Errorf("--json: exit code %d, printed %q", code, text)
		}
	}
}
