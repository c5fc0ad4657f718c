package receptorhttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create(tenant, "acme")
	m := f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false)
	body := func(change func(r *adapter.Reply)) string {
		r := m.Reply
		change(&r)
		text := errtest.Must(json.Marshal(r))(t)
		return string(text)
	}
	unchanged := body(func(*adapter.Reply) {})
	ofType := func(kind adapter.Type) string { return body(func(r *adapter.Reply) { r.Type = kind }) }
	for name, test := range map[string]struct {
		body   string
		status int
		code   string
		want   string // a part of the message
	}{
		"nothing":         {"", 400, "invalid_request", "missing"},
		"an empty object": {"{}", 400, "invalid_request", "providerId"},
		"a list":          {"[]", 400, "invalid_request", "JSON"},
		"null":            {"null", 400, "invalid_request", "missing"},
		"cut":             {unchanged[:len(unchanged)-1], 400, "invalid_request", "JSON"},
		"unknown key":     {strings.Replace(unchanged, "{", `{"mac":"",`, 1), 400, "invalid_request", "JSON"},
		"key twice":       {strings.Replace(unchanged, "{", `{"id":"x",`, 1), 400, "invalid_request", "JSON"},
		"invalid UTF-8":   {strings.Replace(unchanged, "acme", "\xff", 1), 400, "", ""},
		"nested deeply":   {strings.Repeat(`{"data":`, 200_000), 400, "invalid_request", "JSON"},
		"both forms":      {`{"id":"x","data":` + unchanged + `}`, 400, "invalid_request", "not both"},
		"unknown type":    {ofType("screen"), 400, "invalid_request", "type"},
		"ongoing screening": {ofType(adapter.OngoingScreening), 400, "ongoing_screening_unsupported",
			"not supported"},
		"ongoing, update": {ofType(adapter.OngoingScreeningUpdate), 400, "ongoing_screening_unsupported",
			"not supported"},
		"ongoing, results": {ofType(adapter.OngoingScreeningGetResults), 400, "ongoing_screening_unsupported",
			""},
		"unknown status": {body(func(r *adapter.Reply) { r.Status = "success" }), 400, "invalid_request",
			"status"},
		"no response": {body(func(r *adapter.Reply) { r.Response = "" }), 400, "response_missing",
			"uploadId"},
		"another tenant": {body(func(r *adapter.Reply) { r.Tenant = otherTenant }), 403, "TenantMismatch",
			"tenant"},
		"response and upload": {body(func(r *adapter.Reply) { r.UploadID = uuid.NewString() }), 400,
			"invalid_request", "not both"},
		"upload that is no UUID": {body(func(r *adapter.Reply) { r.Response, r.UploadID = "", "../x" }), 400,
			"invalid_request", "uploadId"},
		"error details too long": {body(func(r *adapter.Reply) { r.ErrorDetails = strings.Repeat("x", 1001) }), 400,
			"invalid_request", ""},
		"ID of a batch too long": {body(func(r *adapter.Reply) { r.ID = strings.Repeat("x", 256) }), 400,
			"invalid_request", "id"},
		"number for the response": {strings.Replace(unchanged, `"`+m.Response+`"`, "1", 1), 400, "invalid_request",
			"JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			status, first, _ := f.post(path, test.body, m.iv, m.mac)
			if status != test.status || test.code != "" && first.ErrorCode != test.code ||
				!strings.Contains(first.Message, test.want) {
				t.Errorf("got %d %+v, want %d %s %q", status, first, test.status, test.code, test.want)
			}
			if strings.Contains(first.Message, m.Response) || strings.Contains(first.Message, m.mac) {
				t.Errorf("the message shows a part of the request: %s", first.Message)
			}
		})
	}
	f.expectSearch(b, "acme", screening.SearchInProgress, 0)
	f.caller.Permissions = []string{permission.ScreeningAccess, permission.ScreeningCreate, permission.ScreeningEdit}
	difftest.Reply(t, "without the permission", http.StatusForbidden)(f.send(m))
}

// A body has up to 4 MiB.
func TestSizeOfMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, more := range []int{-1, 0, 1} {
		b := f.create(tenant, "acme")
		m := f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false)
		text := errtest.Must(json.Marshal(m.Reply))(t)
		body := string(text) + strings.Repeat(" ", adapter.MaxBodyBytes+more-len(text))
		want, state, matches := http.StatusAccepted, screening.SearchComplete, 1
		if more > 0 {
			want, state, matches = http.StatusRequestEntityTooLarge, screening.SearchInProgress, 0
		}
		if status, first, _ := f.post(path, body, m.iv, m.mac); status != want {
			t.Errorf("%d bytes: got %d %+v, want %d", len(body), status, first, want)
		}
		f.expectSearch(b, "acme", state, matches)
	}
}

// Answers to unknown batches or providers, or to searches that have ended, are accepted and change nothing.
func TestAnswersThatAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	foreign, without := f.create(otherTenant, "acme"), f.create(tenant, "other")
	for name, b := range map[string]screening.Batch{
		"unknown batch":            {ID: uuid.NewString(), Tenant: tenant},
		"no batch's ID":            {ID: "batch", Tenant: tenant},
		"batch of another tenant":  {ID: foreign.ID, Tenant: tenant},
		"batch of other providers": {ID: without.ID, Tenant: tenant},
	} {
		t.Run(name, func(t *testing.T) {
			f.accept(f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false))
			f.accept(f.sealed(b, adapter.Error, `{"batchId":"`+b.ID+`","errorDetails":"no"}`, false))
		})
	}
	f.expectSearch(foreign, "acme", screening.SearchInProgress, 0)
	f.expectSearch(without, "other", screening.SearchInProgress, 0)

	late := f.create(tenant, "acme")
	after, _, err := late.FinishProvider(screening.Answer{ID: "none", ProviderID: "acme",
		Error: adapter.FailedCall("late")})
	errtest.Fatal(t, err)
	errtest.Fatal(t, f.store.Save(t.Context(), after))
	f.accept(f.sealed(late, adapter.Success, response(late.ID, "acme", 1), false))
	f.expectSearch(late, "acme", screening.ReturnFailed, 0)
}

// What became of an answer is in the audit trail.
func TestAnswersAreAudited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create(tenant, "acme")
	unknown := screening.Batch{ID: uuid.NewString(), Tenant: tenant}
	test := f.sealed(b, adapter.Success, `{"batchId":"`+b.ID+`"}`, false)
	test.Type = adapter.Test
	for _, step := range []struct {
		m    message
		want string
	}{
		{test, `"answer":"noted"`},
		{f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false), `"answer":"recorded"`},
		{f.sealed(b, adapter.Success, response(b.ID, "acme", 1), false), `"answer":"repeated"`},
		{f.sealed(b, adapter.Success, response(b.ID, "acme", 2), false), `"answer":"late"`},
		{f.sealed(unknown, adapter.Success, response(unknown.ID, "acme", 1), false), `"answer":"unknown"`},
	} {
		f.trail.Reset()
		f.accept(step.m)
		if got := f.trail.String(); !strings.Contains(got, step.want) || !strings.Contains(got, step.m.ID) ||
			!strings.Contains(got, `"providerId":"acme"`) || strings.Contains(got, step.m.Response) {
			t.Errorf("the audit trail has %s, want %s", got, step.want)
		}
	}
	f.trail.Reset()
	spoiled := test
	spoiled.mac = spoiled.iv
	if status, _ := f.send(spoiled); status != http.StatusForbidden ||
		!strings.Contains(f.trail.String(), "message_not_authentic") {
		t.Errorf("got %d and the audit trail %s, want a refusal", status, f.trail.String())
	}
}

// Test and ResolveMatches are authenticated and change nothing.
func TestOtherTypes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create(tenant, "acme")
	for _, kind := range []adapter.Type{adapter.Test, adapter.ResolveMatches} {
		m := f.sealed(b, adapter.Success, `{"batchId":"`+b.ID+`"}`, false)
		m.Type = kind
		f.accept(m)
		m.mac = m.iv
		difftest.Reply(t, fmt.Sprintf("%s with a wrong MAC", kind), http.StatusForbidden)(f.send(m))
		m = f.sealed(b, adapter.Error, `{"batchId":"`+b.ID+`","errorDetails":"no"}`, false)
		m.Type = kind
		f.accept(m)
	}
	f.expectSearch(b, "acme", screening.SearchInProgress, 0)
}

// A provider without authentication sends Base64 of JSON, and errors without a response.
func TestProvidersWithoutAuthentication(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, test := range map[string]struct {
		status, details, text string
		want                  screening.ProviderStatus
		matches               int
	}{
		"success":         {adapter.Success, "", "response", screening.SearchComplete, 2},
		"error":           {adapter.Error, "Licence expired", "", screening.ReturnFailed, 0},
		"error, response": {adapter.Error, "", "error", screening.ReturnFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.create(tenant, "plain")
			m := message{Reply: adapter.Reply{ID: b.ID, Tenant: tenant, ProviderID: "plain", Type: adapter.Screen,
				Status: test.status, ErrorDetails: test.details}}
			var err error
			switch test.text {
			case "response":
				m.Response, err = adapter.Encode([]byte(response(b.ID, "plain", 2)), true)
			case "error":
				m.Response, err = adapter.Encode([]byte(`{"batchId":"`+b.ID+`","errorDetails":"no"}`), false)
			}
			errtest.Fatal(t, err)
			f.accept(m)
			f.expectSearch(b, "plain", test.want, test.matches)
			if p := f.search(b, "plain"); test.details != "" && p.Error.Message != test.details {
				t.Errorf("got %+v, want %q", p.Error, test.details)
			}
		})
	}
}

// upload asks for a place for a response and returns its ID.
func (f *fixture) upload(body string) string {
	f.t.Helper()
	status, first, data := f.post(path+"/upload-url", body, "", "")
	var reply struct {
		UploadID  string    `json:"uploadId"`
		SignedURL string    `json:"signedUrl"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
	if err := json.Unmarshal(data, &reply); err != nil || status != http.StatusAccepted {
		f.t.Fatalf("got %d %+v %s, %v, want 202", status, first, data, err)
	}
	if want := "https://storage.example/" + adapter.UploadKey(f.caller.Tenant, reply.UploadID); !strings.HasPrefix(
		reply.SignedURL, want) || !reply.ExpiresAt.Equal(f.clock.Add(75*time.Minute)) {
		f.t.Errorf("got %+v, want %s until an hour and a quarter from now", reply, want)
	}
	return reply.UploadID
}

func TestUploads(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// uploadedText returns a message whose response is uploaded instead.
	uploadedText := func(b screening.Batch, text, id string) message {
		m := f.sealed(b, adapter.Success, text, true)
		f.files.byID[adapter.UploadKey(f.caller.Tenant, id)] = []byte(m.Response)
		m.Response, m.UploadID = "", id
		return m
	}
	uploaded := func(b screening.Batch, id string) message {
		return uploadedText(b, response(b.ID, "acme", 3), id)
	}
	refuse := func(t *testing.T, m message, status int, code string) {
		t.Helper()
		if got, first := f.send(m); got != status || first.ErrorCode != code {
			t.Errorf("got %d %+v, want %d %s", got, first, status, code)
		}
	}
	t.Run("used", func(t *testing.T) {
		b := f.create(tenant, "acme")
		m := uploaded(b, f.upload(""))
		f.accept(m)
		f.accept(m) // the same message again
		f.expectSearch(b, "acme", screening.SearchComplete, 3)
		m.UploadID = strings.ToUpper(m.UploadID)
		f.accept(m)
		m = uploadedText(b, `{"batchId":"`+b.ID+`"}`, f.upload(""))
		m.Type = adapter.Test
		f.accept(m)
		m.Type = adapter.ResolveMatches
		refuse(t, m, 400, "response_upload_used")
	})
	t.Run("used for another batch", func(t *testing.T) {
		m := uploaded(f.create(tenant, "acme"), f.upload("{}"))
		f.accept(m)
		m.ID = f.create(tenant, "acme").ID
		refuse(t, m, 403, "message_not_authentic")
	})
	t.Run("unknown", func(t *testing.T) {
		refuse(t, uploaded(f.create(tenant, "acme"), uuid.NewString()), 400, "response_upload_not_found")
	})
	t.Run("never uploaded", func(t *testing.T) {
		m := f.sealed(f.create(tenant, "acme"), adapter.Success, "{}", false)
		m.Response, m.UploadID = "", f.upload(`{"data":{}}`)
		refuse(t, m, 400, "response_not_uploaded")
	})
	t.Run("of another tenant", func(t *testing.T) {
		b := f.create(tenant, "acme")
		f.caller.Tenant = otherTenant
		id := f.upload("")
		f.caller.Tenant = tenant
		refuse(t, uploaded(b, id), 400, "response_upload_not_found")
	})
	t.Run("too large", func(t *testing.T) {
		b := f.create(tenant, "acme")
		m := uploaded(b, f.upload(""))
		key := adapter.UploadKey(tenant, m.UploadID)
		f.files.byID[key] = make([]byte, adapter.MaxUploadBytes+1)
		refuse(t, m, 413, "response_too_large")
		difftest.Equal(t, "bytes of the file over the limit", 0, len(f.files.byID[key]))
		f.files.byID[key] = make([]byte, adapter.MaxUploadBytes)
		refuse(t, m, 403, "message_not_authentic")
	})
	t.Run("empty", func(t *testing.T) {
		m := uploaded(f.create(tenant, "acme"), f.upload(""))
		f.files.byID[adapter.UploadKey(tenant, m.UploadID)] = nil
		refuse(t, m, 403, "message_not_authentic")
	})
	t.Run("as many as there may be", func(t *testing.T) {
		limited := newFixture(t)
		limited.caller.Attributes = map[string]string{ratelimit.Attribute: "open_answers=2"}
		refused := func() bool {
			status, first, _ := limited.post(path+"/upload-url", "", "", "")
			return status == http.StatusTooManyRequests && first.ErrorCode == "too_many_open_answers"
		}
		used, _ := limited.upload(""), limited.upload(`{"contentLength":7}`)
		if !refused() {
			t.Error("a third upload was made")
		}
		for range 2 {
			errtest.Fatal(t, limited.store.UseUpload(t.Context(), tenant, used, "m"))
		}
		limited.upload("")
		if !refused() {
			t.Error("a third upload was made after one was used")
		}
		limited.clock = now.Add(75 * time.Minute)
		limited.upload("")
	})
	t.Run("expired", func(t *testing.T) {
		b := f.create(tenant, "acme")
		m := uploaded(b, f.upload(""))
		f.clock = now.Add(75 * time.Minute)
		refuse(t, m, 400, "response_upload_not_found")
		f.clock = f.clock.Add(-time.Nanosecond)
		f.accept(m)
		f.clock = now
	})
	t.Run("size", func(t *testing.T) {
		for _, test := range []struct {
			body   string
			status int
		}{
			{`{"contentLength":16777216}`, 202}, {`{"contentLength":16777217}`, 400}, {`{"contentLength":0}`, 400},
			{`{"data":{"contentLength":1}}`, 202}, {`{"data":{"contentLength":-1}}`, 400}, {`{"size":1}`, 400},
			{`{"contentLength":1,"data":{}}`, 400}, {"[]", 400},
		} {
			if status, first, _ := f.post(path+"/upload-url", test.body, "", ""); status != test.status {
				t.Errorf("%s: got %d %+v, want %d", test.body, status, first, test.status)
			}
		}
	})
}

// The same answer and others may come at the same time: one of them counts.
func TestAnswersAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create(tenant, "acme")
	var all sync.WaitGroup
	for i := range 8 {
		m := f.sealed(b, adapter.Success, response(b.ID, "acme", 1+i%2), i%4 < 2)
		all.Go(func() {
			difftest.Reply(t, "reply", http.StatusAccepted)(f.send(m))
		})
	}
	all.Wait()
	p := f.search(b, "acme")
	stored := errtest.Must(f.store.Get(t.Context(), tenant, b.ID))(t)
	found := 0
	for _, id := range stored.EntityIDs {
		matches, _, err := f.store.ListMatches(t.Context(), stored, id, "", 10)
		errtest.Fatal(t, err)
		found += len(matches)
	}
	if p.Status != screening.SearchComplete || p.Matches != found || stored.Unresolved != found || found < 1 ||
		found > 2 {
		t.Errorf("got %+v with %d matches and %d unresolved ones", p, found, stored.Unresolved)
	}
}
