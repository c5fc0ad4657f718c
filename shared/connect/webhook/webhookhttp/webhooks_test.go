package webhookhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestLifeOfAWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var w wire.Webhook
	f.must("POST", "/v1/webhooks",
		`{"url":"https://receiver.test/a?b=c","eventTypes":["batchtransaction:ingestionFailed"],`+
			`"name":"é","secret":"s","emailAddresses":["a@receiver.test"],"type":"Batch","batchSize":10}`, &w)
	want := wire.Webhook{
		ID: w.ID, Name: "é", URL: "https://receiver.test/a?b=c", Enabled: true,
		EventTypes: []string{"batchtransaction:ingestionFailed"}, EmailAddresses: []string{"a@receiver.test"},
		Type: string(webhook.Batch), BatchSize: 10, CreatedAt: f.now, UpdatedAt: f.now,
	}
	difftest.Equal(t, "created", want, w)
	stored, err := f.store.Get(t.Context(), tenant, w.ID)
	if got := string(stored.Secret); err != nil || got != tenant+" webhook s" {
		t.Errorf("the stored secret is %q, %v; want it sealed for the tenant", got, err)
	}
	made := f.create()
	if made.Secret != "a made secret" || made.Type != string(webhook.Single) || made.BatchSize != 100 ||
		len(made.EmailAddresses) != 0 {
		t.Errorf("created with defaults: %+v", made)
	}
	var list wire.Webhooks
	f.must("GET", "/v1/webhooks", "", &list)
	made.Secret = ""
	difftest.Equal(t, "list", []wire.Webhook{want, made}, list.WebHooks)

	f.now = f.now.Add(time.Hour)
	path := "/v1/webhooks/" + strings.ToUpper(w.ID)
	f.must("PUT", path, `{"url":"https://receiver.test","enabled":false,"eventTypes":["*"],"secret":""}`, &w)
	want = wire.Webhook{
		ID: w.ID, URL: "https://receiver.test", EventTypes: []string{"*"}, EmailAddresses: []string{},
		Type:      string(webhook.Single),
		BatchSize: 100, CreatedAt: want.CreatedAt, UpdatedAt: f.now,
	}
	difftest.Equal(t, "replaced", want, w)
	f.must("PUT", path, `{"url":"https://receiver.test","enabled":true,"eventTypes":["*"],"secret":"t"}`, &w)
	until := f.now.Add(24 * time.Hour)
	want.Enabled, want.PreviousSecretUntil = true, &until
	difftest.Equal(t, "with a new secret", want, w)
	f.now = until
	want.PreviousSecretUntil = nil
	f.must("GET", path, "", &w)
	difftest.Equal(t, "a day later", want, w)

	var deleted wire.DeletedWebhook
	f.must("DELETE", path, "", &deleted)
	difftest.Equal(t, "deleted", w.ID, deleted.ID)
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		if status, body := f.send(method, path, `{}`, nil); status != 404 ||
			body != `{"message":"Webhook not found."}` {
			t.Errorf("%s after the deletion: %d %s, want 404", method, status, body)
		}
	}
}

func TestElevenWebhooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for range webhook.MaxPerTenant {
		f.create()
	}
	status, body := f.send("POST", "/v1/webhooks", `{"url":"https://receiver.test","eventTypes":["*"]}`, nil)
	if status != 409 || !strings.Contains(body, "10 webhooks") {
		t.Errorf("the eleventh: %d %s, want 409", status, body)
	}
}

// Everything that is wrong with a request is named at once, with its place.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	one := "/v1/webhooks/" + w.ID
	valid := func(field string) string {
		return `{"url":"https://r.test","enabled":true,"eventTypes":["*"],` + field + `}`
	}
	for _, test := range []struct {
		name, method, path, body string
		status                   int
		want                     []string
	}{
		{"no body", "POST", "/v1/webhooks", "", 422, []string{`["body"] missing`}},
		{"not JSON", "POST", "/v1/webhooks", "{", 422, []string{`["body",1] json_invalid`}},
		{"a list", "PUT", one, "[]", 422, []string{`["body"] object_type`}},
		{"nothing set", "PUT", one, "{}", 422,
			[]string{`["body","url"] missing`, `["body","enabled"] missing`, `["body","eventTypes"] missing`}},
		{"nothing set at creation", "POST", "/v1/webhooks", "{}", 422,
			[]string{`["body","url"] missing`, `["body","eventTypes"] missing`}},
		{"unknown key", "POST", "/v1/webhooks", valid(`"secrets":"x"`), 422,
			[]string{`["body","secrets"] extra_forbidden`}},
		{"key twice", "POST", "/v1/webhooks", valid(`"url":"x"`), 422, []string{`["body","url"] json_duplicate_key`}},
		{"all wrong", "PUT", one,
			`{"url":"http://r.test","enabled":true,"eventTypes":["*","x"],"name":"` + strings.Repeat("é", 129) +
				`","secret":"` + strings.Repeat("s", 129) + `","emailAddresses":["x"],"type":"single","batchSize":9}`,
			422,
			[]string{`["body","url"] url`, `["body","eventTypes",0] event_type`, `["body","name"] string_too_long`,
				`["body","secret"] string_too_long`, `["body","emailAddresses",0] email`, `["body","type"] enum`,
				`["body","batchSize"] number_range`}},
		{"six addresses", "PUT", one, valid(`"emailAddresses":["a@b.c","a@b.c","a@b.c","a@b.c","a@b.c","a@b.c"]`), 422,
			[]string{`["body","emailAddresses"] array_too_long`}},
		{"name that disguises itself", "PUT", one, valid(`"name":"a\u202eb"`), 422,
			[]string{`["body","name"] control_character`}},
		{"URL that cannot be called", "POST", "/v1/webhooks",
			`{"url":"https://r.test:99999/","eventTypes":["*"]}`, 422, []string{`["body","url"] url`}},
		{"batch size", "PUT", one, valid(`"batchSize":101`), 422, []string{`["body","batchSize"] number_range`}},
		{"wrong type", "PUT", one, valid(`"batchSize":"10"`), 422, []string{`["body","batchSize"] integer_type`}},
		{"no events", "PUT", one, `{"url":"https://r.test","enabled":true,"eventTypes":[]}`, 422,
			[]string{`["body","eventTypes"] event_type`}},
		{"not a UUID", "GET", "/v1/webhooks/x", "", 422, []string{`["path","webhookId"] uuid`}},
		{"not a UUID below", "GET", one + "/deliveries/x", "", 422, []string{`["path","deliveryId"] uuid`}},
		{"unknown parameter", "GET", "/v1/webhooks?limit=1", "", 422, []string{`["query","limit"] extra_forbidden`}},
		{"list parameters", "GET", one + "/deliveries?limit=0&outcome=failed", "", 422,
			[]string{`["query","limit"] number_range`, `["query","outcome"] enum`}},
		{"unknown and repeated parameters", "GET", one + "/deliveries?limit=1&limit=1&page=1", "", 422,
			[]string{`["query","limit"] repeated`, `["query","page"] extra_forbidden`}},
		{"limit", "GET", one + "/deliveries?limit=101", "", 422, []string{`["query","limit"] number_range`}},
		{"foreign token", "GET", one + "/deliveries?next=AAAA", "", 422, []string{`["query","next"] page_token`}},
		{"resend without a time", "POST", one + "/resend", "{}", 422, []string{`["body","since"] missing`}},
		{"resend since yesterday", "POST", one + "/resend", `{"since":"yesterday","outcomes":["Pending"]}`, 422,
			[]string{`["body","since"] datetime`, `["body","outcomes",0] enum`}},
		{"resend with a foreign token", "POST", one + "/resend", `{"since":"2026-01-31T00:00:00Z","next":"x"}`, 422,
			[]string{`["body","next"] page_token`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reply struct {
				Detail []struct {
					Loc  json.RawMessage
					Type string
				}
			}
			status, body := f.send(test.method, test.path, test.body, &reply)
			var got []string
			for _, d := range reply.Detail {
				got = append(got, string(d.Loc)+" "+d.Type)
			}
			if diff := cmp.Diff(test.want, got); status != test.status || diff != "" {
				t.Errorf("%d %s, want %d (-want +got):\n%s", status, body, test.status, diff)
			}
		})
	}
	difftest.Equal(t, "the webhook has version: nothing was changed", int64(1),
		errtest.Must(f.store.Get(t.Context(), tenant, w.ID))(t).Version)
}

func TestPermissionsAndTenants(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	d := f.deliver(w, 0, webhook.Failed)
	one := "/v1/webhooks/" + w.ID
	calls := map[string]string{ // and the permission that each needs
		"GET /v1/webhooks": "WebhookRead", "POST /v1/webhooks": "WebhookEdit", "GET " + one: "WebhookRead",
		"PUT " + one: "WebhookEdit", "DELETE " + one: "WebhookEdit", "POST " + one + "/test": "WebhookEdit",
		"POST " + one + "/resend": "WebhookEdit", "GET " + one + "/deliveries": "WebhookRead",
		"GET " + one + "/deliveries/" + d.ID:              "WebhookRead",
		"POST " + one + "/deliveries/" + d.ID + "/resend": "WebhookEdit",
	}
	owner := f.caller
	for call, permission := range calls {
		method, path, _ := strings.Cut(call, " ")
		f.caller = owner
		f.caller.Permissions = []string{map[string]string{"WebhookRead": "WebhookEdit",
			"WebhookEdit": "WebhookRead"}[permission]}
		if status, body := f.send(method, path, "{}", nil); status != 403 || !strings.Contains(body, permission) {
			t.Errorf("%s without %s: %d %s, want 403", call, permission, status, body)
		}
		if path == "/v1/webhooks" {
			continue
		}
		f.caller = owner
		f.caller.Tenant = "8f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
		difftest.Reply(t, call+" by another tenant", 404)(f.send(method, path, "{}", nil))
	}
	f.caller = owner
	f.must("GET", one, "", nil)
	difftest.Len(t, "executions were started", 0, f.started)
}

// A webhook that the service has disabled shows since when and why; enabling it ends that.
func TestHealth(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	one := "/v1/webhooks/" + w.ID
	errtest.Fatal(t, errtest.Of(f.store.MarkFailing(t.Context(), tenant, w.ID, f.now, true)))
	f.must("GET", one, "", &w)
	if want := f.now.AddDate(0, 0, 5); w.FailingSince == nil || !w.FailingSince.Equal(f.now) || w.DisablesAt == nil ||
		!w.DisablesAt.Equal(want) {
		t.Errorf("failing since %v, to be disabled at %v; want %v and %v", w.FailingSince, w.DisablesAt, f.now, want)
	}
	errtest.Fatal(t, errtest.Of(f.store.Disable(t.Context(), tenant, w.ID, webhook.ReasonFailing, f.now)))
	w = wire.Webhook{}
	f.must("GET", one, "", &w)
	if w.Enabled || w.DisabledAt == nil || w.DisabledReason == nil || *w.DisabledReason != "failing" ||
		w.DisablesAt != nil {
		t.Errorf("disabled: %+v", w)
	}
	w = wire.Webhook{}
	f.must("PUT", one, `{"url":"https://receiver.test","eventTypes":["*"],"enabled":true}`, &w)
	if !w.Enabled || w.FailingSince != nil || w.DisabledAt != nil || w.DisabledReason != nil {
		t.Errorf("enabled again: %+v, want no trace of failures", w)
	}
}

// racingStore changes the webhook between the reading and the saving of an update.
type racingStore struct {
	webhook.Store
	races int
}

func (s *racingStore) Save(ctx context.Context, w webhook.Webhook, resetHealth bool) (webhook.Webhook, error) {
	if s.races--; s.races >= 0 {
		return webhook.Webhook{}, webhook.ErrChanged
	}
	return s.Store.Save(ctx, w, resetHealth)
}

func TestUpdateAmongOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	for races, want := range map[int]int{4: 200, 5: 409} {
		f.webhooks.Store = &racingStore{f.store, races}
		status, body := f.send("PUT", "/v1/webhooks/"+w.ID,
			`{"url":"https://receiver.test","eventTypes":["*"],"enabled":true}`, nil)
		if status != want {
			t.Errorf("%d changes by others: %d %s, want %d", races, status, body, want)
		}
	}
}

var errKey = errors.New("the key is disabled: secret detail")

type brokenKey struct{}

func (brokenKey) Seal(context.Context, string, string, []byte) ([]byte, error) { return nil, errKey }

// Without its key the service stores no secret, and tells the client nothing of the cause.
func TestWithoutTheKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.webhooks.Secrets = brokenKey{}
	status, body := f.send("POST", "/v1/webhooks", `{"url":"https://receiver.test","eventTypes":["*"]}`, nil)
	if status != 500 || strings.Contains(body, "secret") {
		t.Errorf("%d %s, want 500 without the cause", status, body)
	}
	var list wire.Webhooks
	f.must("GET", "/v1/webhooks", "", &list)
	difftest.Equal(t, "webhooks", 0, len(list.WebHooks))
}
