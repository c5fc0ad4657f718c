package receptorhttp_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, compress := range []bool{false, true} {
		b := f.create(tenant, "acme")
		m := f.sealed(b, adapter.Success, response(b.ID, "acme", 5), compress)
		f.accept(m)
		f.expectSearch(b, "acme", screening.SearchComplete, 5)
		stored := errtest.Must(f.store.Get(t.Context(), tenant, b.ID))(t)
		matches, _, err := f.store.ListMatches(t.Context(), stored, "entity-1", "", 10)
		if err != nil || len(matches) != 3 || matches[0].AliasIDs[0] != screening.PrimaryName {
			t.Errorf("got %+v, %v, want 3 matches of the main name", matches, err)
		}
		// Twice is once, also where it is encrypted anew; another answer is late.
		f.accept(m)
		f.accept(f.sealed(b, adapter.Success, response(b.ID, "acme", 5), !compress))
		f.accept(f.sealed(b, adapter.Success, response(b.ID, "acme", 6), compress))
		f.expectSearch(b, "acme", screening.SearchComplete, 5)
	}
}

// The message may be in an envelope, as elsewhere on the platform, and IDs that are UUIDs count in any case.
func TestFormsOfMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, form := range map[string]func(string) string{
		"bare":       func(s string) string { return s },
		"in data":    func(s string) string { return `{"data":` + s + `}` },
		"upper case": func(s string) string { return strings.Replace(s, tenant, strings.ToUpper(tenant), 1) },
		"nulls": func(s string) string {
			return strings.Replace(s, "{", `{"errorDetails":null,"uploadId":null,`,
				1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.create(tenant, "acme")
			m := f.sealed(b, adapter.Success, response(b.ID, "acme", 1), true)
			body := errtest.Must(json.Marshal(m.Reply))(t)
			if status, first, _ := f.post(path, form(string(body)), m.iv, m.mac); status != http.StatusAccepted {
				t.Fatalf("got %d %+v, want 202", status, first)
			}
			f.expectSearch(b, "acme", screening.SearchComplete, 1)
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, test := range map[string]struct {
		status string
		text   func(batchID string) string
		want   screening.ProviderError
	}{
		"error with details": {adapter.Error,
			func(id string) string { return `{"batchId":"` + id + `","errorDetails":"Licence expired"}` },
			screening.ProviderError{Source: "Adapter", Code: "E000", Message: "Licence expired"}},
		"error without details": {adapter.Error,
			func(id string) string { return `{"batchId":"` + id + `","errorDetails":""}` },
			screening.ProviderError{Source: "Adapter", Code: "E000",
				Message: "The adapter answered with the status Error and no details."}},
		"unknown entity": {adapter.Success, func(id string) string {
			return strings.Replace(response(id, "acme", 1), "entity-1", "entity-9", 1)
		}, screening.ProviderError{Source: "Adapter", Code: "E002",
			Message: "matches/0: The batch has no entity of this entityId."}},
		"invalid match data": {adapter.Success, func(id string) string { return response(id, "other", 1) },
			screening.ProviderError{Source: "Adapter", Code: "E002",
				Message: "matches/0: matchData/providerId must equal the providerId of the message."}},
		"too many matches of an entity": {adapter.Success, func(id string) string { return response(id, "acme", 2002) },
			screening.ProviderError{Source: "Adapter", Code: "E002",
				Message: `The answer has more than 1000 matches of the entity "entity-1".`}},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.create(tenant, "acme")
			f.accept(f.sealed(b, test.status, test.text(b.ID), true))
			f.expectSearch(b, "acme", screening.ReturnFailed, 0)
			if got := f.search(b, "acme").Error; got == nil || *got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// A response that cannot be read, or not with the members that nothing authenticates, is refused: the genuine one
// still counts afterwards. Decision 0022 says what somebody without the keys can change.
func TestResponsesThatAreNotValid(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failed := func(b screening.Batch) string { return `{"batchId":"` + b.ID + `","errorDetails":"no"}` }
	flip := func(m *message) {
		vector := errtest.Must(base64.StdEncoding.DecodeString(m.iv))(t)
		vector[0] ^= 1 // e, with which the Base64 of a brace begins, becomes d
		m.iv = base64.StdEncoding.EncodeToString(vector)
	}
	for name, test := range map[string]struct {
		genuine func(b screening.Batch) message
		change  func(b screening.Batch, m *message)
		reason  string
	}{
		"flipped bit of the vector": {nil, func(_ screening.Batch, m *message) { flip(m) }, "up to byte 0"},
		"flipped bit before gzip": {func(b screening.Batch) message {
			return f.sealed(b, adapter.Success, response(b.ID, "acme", 1), true)
		}, func(_ screening.Batch, m *message) { flip(m) }, "UTF-8"},
		"Success as Error": {nil, func(_ screening.Batch, m *message) { m.Status = adapter.Error }, "errorDetails"},
		"Error as Success": {func(b screening.Batch) message { return f.sealed(b, adapter.Error, failed(b), false) },
			func(_ screening.Batch, m *message) { m.Status = adapter.Success }, "the status is Success"},
		"Screen as Test": {nil, func(_ screening.Batch, m *message) { m.Type = adapter.Test }, "answer a search"},
		"not JSON": {nil, func(b screening.Batch, m *message) { *m = f.sealed(b, adapter.Success, "<xml/>", true) },
			"could be read up to byte 0"},
		"bomb": {nil, func(b screening.Batch, m *message) {
			*m = f.sealed(b, adapter.Success, strings.Repeat(" ", 2<<20), true)
		}, "100 times as large"},
		"without authentication": {func(b screening.Batch) message {
			text := errtest.Must(adapter.Encode([]byte(response(b.ID, "plain", 1)), true))(t)
			return message{Reply: adapter.Reply{ID: b.ID, Tenant: tenant, ProviderID: "plain", Type: adapter.Screen,
				Status: adapter.Success, Response: text}}
		}, func(_ screening.Batch, m *message) { m.Response = "!" }, "not Base64"},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.create(tenant, "acme", "plain")
			genuine := f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false)
			if test.genuine != nil {
				genuine = test.genuine(b)
			}
			changed := genuine
			test.change(b, &changed)
			f.trail.Reset()
			status, first := f.send(changed)
			if status != http.StatusForbidden || first.ErrorCode != "response_not_valid" ||
				!strings.Contains(first.Message, test.reason) {
				t.Errorf("got %d %+v, want 403 response_not_valid %q", status, first, test.reason)
			}
			difftest.Contains(t, "the audit trail", f.trail.String(), `"reason":"response_not_valid"`, b.ID)
			f.expectSearch(b, genuine.ProviderID, screening.SearchInProgress, 0)
			f.accept(genuine)
			if genuine.Status == adapter.Success {
				f.expectSearch(b, genuine.ProviderID, screening.SearchComplete, 1)
			} else {
				f.expectSearch(b, genuine.ProviderID, screening.ReturnFailed, 0)
			}
		})
	}
}

// A message that is not authentic changes nothing, and the reply does not tell the cause.
func TestMessagesThatAreNotAuthentic(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	foreign, mine := f.create(otherTenant, "acme"), f.create(tenant, "acme", "other")
	next := f.create(tenant, "acme")
	good := func() message { return f.sealed(mine, adapter.Success, response(mine.ID, "acme", 1), false) }
	for name, change := range map[string]func(m *message){
		"no MAC":                      func(m *message) { m.mac = "" },
		"no IV":                       func(m *message) { m.iv = "" },
		"wrong MAC":                   func(m *message) { m.mac = good().mac },
		"swapped IV":                  func(m *message) { m.iv = good().iv },
		"truncated ciphertext":        func(m *message) { m.Response = m.Response[:64] },
		"plaintext":                   func(m *message) { m.Response = response(mine.ID, "acme", 1) },
		"other provider of the batch": func(m *message) { m.ProviderID = "other" },
		"provider that nobody has":    func(m *message) { m.ProviderID = "nobody" },
		"built-in provider":           func(m *message) { m.ProviderID = screening.BuiltIn },
		"encryption without a MAC":    func(m *message) { m.ProviderID = "half" },
		"response to another batch":   func(m *message) { m.ID = next.ID },
		"the same, as an error":       func(m *message) { m.ID, m.Status = next.ID, adapter.Error },
		"the same, of another type":   func(m *message) { m.ID, m.Type = next.ID, adapter.Test },
		"response to a foreign batch": func(m *message) { m.ID = foreign.ID },
		"an error without its response": func(m *message) {
			m.Status, m.Response, m.ErrorDetails = adapter.Error, "", "no"
		},
		"other authentication key": func(m *message) {
			s := errtest.Must(newKeys(t, otherKey).Seal([]byte(response(mine.ID, "acme", 1)), false))(t)
			m.Response, m.iv, m.mac = s.Data, s.IV, s.MAC
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := good()
			change(&m)
			status, first := f.send(m)
			if status != http.StatusForbidden || first.ErrorCode != "message_not_authentic" {
				t.Errorf("got %d %+v, want 403 message_not_authentic", status, first)
			}
			f.expectSearch(mine, "acme", screening.SearchInProgress, 0)
			f.expectSearch(mine, "other", screening.SearchInProgress, 0)
			f.expectSearch(next, "acme", screening.SearchInProgress, 0)
			f.expectSearch(foreign, "acme", screening.SearchInProgress, 0)
		})
	}
	f.accept(good())
	f.expectSearch(mine, "acme", screening.SearchComplete, 1)
}
