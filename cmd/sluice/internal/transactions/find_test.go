package transactions

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/openapi/wire"
)

// answering returns a server that answers requests for some paths and queries.
func answering(t *testing.T, answers map[string]string) *clienttest.Server {
	t.Helper()
	s := clienttest.New()
	t.Cleanup(s.Close)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		text, isAnswered := answers[r.URL.Path+"?"+r.URL.RawQuery]
		if !isAnswered {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, text)
		return err == nil
	}
	return s
}

// What was found is printed from all pages, for people or as it came; and what is not found yet.
func TestFind(t *testing.T) {
	const line = `{"kind":"payment","id":"a b","batch_id":"0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01","line":1234,` +
		`"transaction_external_id":"t","modification_external_id":"m\n","payment_external_id":"a b",` +
		`"status":"rejected","received_at":"2026-11-26T08:15:02Z","href":"/results"}`
	const single = `{"kind":"request","id":"a b","batch_id":null,"line":null,"transaction_external_id":"t",` +
		`"modification_external_id":"m","payment_external_id":null,"status":"ingested",` +
		`"received_at":"2026-11-26T08:15:01Z","href":"/t"}`
	const entity = `{"kind":"entity","id":"a b","batch_id":null,"line":null,"transaction_external_id":null,` +
		`"modification_external_id":null,"payment_external_id":null,"status":null,"received_at":null,"href":null}`
	now := time.Now().UTC().Format(time.RFC3339)
	s := answering(t, map[string]string{
		"/tm/realtime/api/find?id=a+b": `{"items":[` + line + `,` + single + `],"next":"x",` +
			`"searched":{"from":null,"to":"` + now + `"}}`,
		"/tm/realtime/api/find?id=a+b&next=x": `{"items":[` + entity + `],"next":null,` +
			`"searched":{"from":null,"to":"2026-11-26T08:20:00Z"}}`,
		"/tm/realtime/api/find?id=none&kind=batch": `{"items":[],"next":null,"searched":{"from":null,"to":"` + now +
			`"}}`,
	})
	for _, c := range []struct {
		args           string
		stdout, stderr string
		code           int
	}{
		{args: "find|a b", stdout: `
payment  rejected  2026-11-26T08:15:02Z  batch 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01, line 1,234  /results
request  ingested  2026-11-26T08:15:01Z  sent singly                                             /t
entity  -  -  a b  -
`},
		{args: "find|a b|--json", stdout: "\n" + line + "\n" + single + "\n" + entity + "\n"},
		{args: "find|none|--kind|batch", stdout: "\n"},
		{args: "find|none|--kind|line", stdout: "\n", stderr: "--kind is one of payment, ", code: 2},
	} {
		code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, strings.Split(c.args, "|")...)
		if code != c.code || stdout != c.stdout[1:] || !strings.Contains(stderr, c.stderr) ||
			c.stderr == "" && stderr != "" {
			t.Errorf("%s: exit code %d, got:\n%s%s\nwant %d:\n%s%s", c.args, code, stdout, stderr, c.code, c.stdout[1:],
				c.stderr)
		}
	}
}

// Who finds nothing is told, and which lines are not found yet.
func TestPrintSearched(t *testing.T) {
	to := time.Date(2026, 11, 26, 8, 20, 0, 0, time.UTC)
	for _, c := range []struct {
		isEmpty bool
		age     time.Duration
		want    string
	}{
		{false, searchDelay, ""},
		{true, 0, "Nothing that you may read has the ID a.\n"},
		{false, searchDelay + 1, "Lines of batches that ended since 2026-11-26T08:20:00Z are not found yet.\n"},
	} {
		var out strings.Builder
		printSearched(&out, "a", c.isEmpty, wire.SearchedTimes{To: to}, to.Add(c.age))
		if out.String() != c.want {
			t.Errorf("got %q, want %q", out.String(), c.want)
		}
	}
}

// The transactions of a payment are printed from all pages.
func TestShowPayment(t *testing.T) {
	transaction := func(id string) string {
		return `{"transaction_external_id":"` + id + `","modifications":[{"modification_external_id":"m",` +
			`"batch_id":null,"line":null,"received_at":"2026-11-26T08:15:01Z","main_entity":null,` +
			`"transaction":{"x":1}}]}`
	}
	const path = "/tm/realtime/api/transactions?"
	s := answering(t, map[string]string{
		path + "payment_external_id=p":        `{"items":[` + transaction("a") + `],"next":"x"}`,
		path + "next=x&payment_external_id=p": `{"items":[` + transaction("b") + `],"next":null}`,
		path + "payment_external_id=q":        `{"items":[],"next":null}`,
	})
	code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "transaction", "show", "p",
		"--payment")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "transaction   a\nmodification  m\n") ||
		!strings.Contains(stdout, "}\n\ntransaction   b\n") {
		t.Errorf("exit code %d, got:\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = commandtest.RunWithServer(t.Context(), t, Commands(), s, "transaction", "show", "p",
		"--payment", "--json")
	decoder, n := json.NewDecoder(strings.NewReader(stdout)), 0
	for decoder.More() {
		var item struct {
			ID string `json:"transaction_external_id"`
		}
		if err := decoder.Decode(&item); err != nil || item.ID != string(rune('a'+n)) {
			t.Fatalf("item %d: %+v, %v", n, item, err)
		}
		n++
	}
	if code != 0 || n != 2 {
		t.Errorf("exit code %d, %d items, want 0 and 2: %s%s", code, n, stdout, stderr)
	}
	code, stdout, _ = commandtest.RunWithServer(t.Context(), t, Commands(), s, "transaction", "show", "q", "--payment")
	if code != 0 || stdout != "" {
		t.Errorf("of a payment without any, exit code %d, %q", code, stdout)
	}
}
