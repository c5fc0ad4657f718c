package transactionhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
)

const tenantID = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

// singles is the interface of single transactions over real stores, for one caller.
type singles struct {
	*api
	now          time.Time
	observations *observationdb.Store
	// recordError fails records, and log is the log of the handler.
	recordError error
	log         strings.Builder
}

// recorder keeps the observations of singles, or fails. It may take longer than a request waits for it, as on a busy
// machine.
type recorder struct{ *singles }

func (r recorder) Record(ctx context.Context, e observation.Event) error {
	if r.recordError != nil {
		return r.recordError
	}
	return r.observations.Record(context.WithoutCancel(ctx), e)
}

func newSingles(t *testing.T) *singles {
	t.Helper()
	db := dynamotest.Start(t)
	store, err := transactiondb.New(db, "test-transactions")
	errtest.Fatal(t, err)
	entities := entitydb.NewStatuses(db, "test-entities")
	entitytest.StoreStatuses(t, db, tenantID,
		entitytest.Statuses{"known": entity.Compliant, "new": entity.OnboardingInProgress})
	s := &singles{api: &api{transactions: store}, now: now}
	s.observations = observationdb.New(db, "test-observations")
	s.caller = httpapi.Caller{
		Tenant: tenantID, Client: "c1", Permissions: []string{permission.TransactionWrite}, Expires: now.Add(time.Hour),
		Attributes: tenancy.Settings{MaxPast: 24 * time.Hour, MaxFuture: 720 * time.Hour}.Attributes(),
	}
	handler := &transactionhttp.Singles{Store: store, Entities: entities, MaxBytes: 4096,
		Observations: recorder{s}, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Now: func() time.Time { return s.now }}
	s.API = httpapi.API{Routes: handler.Routes(), Errors: httpapi.MonitoringErrors,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }}
	return s
}

// post sends a body. Headers are added to the content type, or replace it.
func (s *singles) post(t *testing.T, body string, headers ...string) events.APIGatewayProxyResponse {
	t.Helper()
	all := map[string]string{"Content-Type": "application/json"}
	for i := 0; i+1 < len(headers); i += 2 {
		all[headers[i]] = headers[i+1]
	}
	return s.send(t, events.APIGatewayProxyRequest{
		HTTPMethod: "POST", Path: "/tm/realtime/event/transaction/v3", Headers: all, Body: body,
	})
}

// stored returns all versions of the transaction x.
func (s *singles) stored(t *testing.T) []transaction.Version {
	t.Helper()
	got, _, err := s.transactions.List(t.Context(),
		transaction.Range{Tenant: tenantID, TransactionID: "x", Limit: 100})
	errtest.Fatal(t, err)
	return got
}

const requestUUID = "1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15"

// single returns a valid transaction x with the modification m, changed by replacements.
func single(replacements ...string) string {
	return strings.NewReplacer(replacements...).Replace(`{"request_uuid":"` + requestUUID +
		`","payment_external_id":"p",` +
		`"transaction_external_id":"x","modification":{"external_id":"m","type":"capture","amount":12.50,` +
		`"currency":"EUR","created_at":"2026-11-26T08:00:00Z"},"sender":{"by_external_id":"known"},` +
		`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"u"}}}`)
}

func TestSingleTransactionIsStored(t *testing.T) {
	s := newSingles(t)
	text := single(`,"sender"`, " ,\n\t\"sender\"")
	r := s.post(t, text, "skip-rule-execution", "true")
	want := map[string]any{
		"request_uuid": requestUUID, "payment_external_id": "p", "transaction_external_id": "x",
		"modification_guid": "cf567ff3-643c-5416-9053-cb9c1e9e7170", "modification_external_id": "m",
	}
	got := decode(t, r)
	if diff := cmp.Diff(want, got); r.StatusCode != 201 || diff != "" {
		t.Fatalf("got %d, want 201 (-want +got)\n%s", r.StatusCode, diff)
	}
	version := transaction.Version{Tenant: tenantID, TransactionID: "x", Modification: "m", ReceivedAt: now,
		MainEntity: transaction.Sender, Text: []byte(text)}
	difftest.Equal(t, "stored", []transaction.Version{version}, s.stored(t))
	// The same request again changes nothing.
	s.now = now.Add(time.Second)
	if again := s.post(t, text); again.StatusCode != 201 || again.Body != r.Body {
		t.Errorf("again: got %d %s, want 201 %s", again.StatusCode, again.Body, r.Body)
	}
	if got := s.stored(t); len(got) != 1 {
		t.Errorf("after the same request twice %d versions are stored, want 1", len(got))
	}
	// Another content at another time is another version; at the same time it is a conflict.
	other := single("12.50", "13")
	if r := s.post(t, other); r.StatusCode != 201 || len(s.stored(t)) != 2 {
		t.Errorf("another content: got %d %s, %d versions, want 201 and 2", r.StatusCode, r.Body, len(s.stored(t)))
	}
	if r := s.post(t, single("12.50", "14")); r.StatusCode != 409 || len(s.stored(t)) != 2 {
		t.Errorf("another content at the same time: got %d %s, %d versions, want 409 and 2", r.StatusCode, r.Body,
			len(s.stored(t)))
	}
	if r := s.post(t, other); r.StatusCode != 201 {
		t.Errorf("the same content at the same time: got %d %s, want 201", r.StatusCode, r.Body)
	}
}

// The modification_guid follows from the tenant and both IDs, and nothing else.
func TestModificationGUID(t *testing.T) {
	s := newSingles(t)
	guids := map[string]bool{}
	for i, text := range []string{single(), single(`"x"`, `"xm"`), single(`"m"`, `"mm"`), single("12.50", "1")} {
		s.now = now.Add(time.Duration(i))
		guids[decode(t, s.post(t, text))["modification_guid"].(string)] = true
	}
	if len(guids) != 3 {
		t.Errorf("got %v, want 3 different ones", slices.Collect(maps.Keys(guids)))
	}
}

func TestSingleTransactionRefused(t *testing.T) {
	s := newSingles(t)
	for _, c := range []struct{ name, text, want string }{
		{"one field", single(`"capture"`, `"x"`), "1 validation error for TransactionEventRequest\n" +
			"modification -> type\n  type must be one of authorised, capture, settlement, cancel, failure, refund or " +
			"chargeback. (type=enum)"},
		{"null in an array", single(`"unknown":{`, `"unknown":{"entity_groups_external":[null],`),
			"1 validation error for TransactionEventRequest\nreceiver -> unknown -> entity_groups_external -> 0\n" +
				"  Each item of entity_groups_external must be a string. (type=string_type)"},
		{"unknown entity", single(`"known"`, `"nobody"`), "1 validation error for TransactionEventRequest\n" +
			"sender -> by_external_id\n  The onboarding system has no entity of this ID. (type=entity_not_found)"},
		{"two", single(`"known"`, `"new"`, `"p"`, `7`), "2 validation errors for TransactionEventRequest\n" +
			"payment_external_id\n  payment_external_id must be a string. (type=string_type)\n" +
			"sender -> by_external_id\n  The entity is not fully onboarded. (type=entity_not_onboarded)"},
		{"too old", single("2026-11-26T08:00:00Z", "2026-11-25T08:00:00Z"),
			"modification.created_at is 2026-11-25T08:00:00Z; allowed is a time from 2026-11-25T08:15:00Z to " +
				"2026-12-26T08:15:00Z (type=created_at_out_of_range)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.post(t, c.text)
			want := map[string]any{"request_uuid": requestUUID, "reason": c.want}
			if diff := cmp.Diff(want, decode(t, r)); r.StatusCode != 400 || diff != "" {
				t.Errorf("got %d, want 400 (-want +got)\n%s", r.StatusCode, diff)
			}
		})
	}
	if got := s.stored(t); len(got) != 0 {
		t.Errorf("%d versions of refused transactions are stored, want none", len(got))
	}
	if r := s.post(t, single("2026-11-26T08:00:00Z", "2020-01-01T00:00:00"), "migrated-transaction",
		"true"); r.StatusCode != 201 {
		t.Errorf("an old one that is migrated: got %d %s, want 201", r.StatusCode, r.Body)
	}
	if r := s.post(t, single("2026-11-26T08:00:00Z", "2030-01-01T00:00:00"), "migrated-transaction",
		"true"); r.StatusCode != 400 {
		t.Errorf("a migrated one of the future: got %d %s, want 400", r.StatusCode, r.Body)
	}
	if r := s.post(t, `{"a/b`+"\\n"+`":1}`); r.StatusCode != 400 || !strings.Contains(r.Body, `\"a/b\\n\"`) ||
		!strings.Contains(r.Body, `"request_uuid":""`) {
		t.Errorf("without a request_uuid: got %d %s, want 400", r.StatusCode, r.Body)
	}
}

func TestSingleTransactionUnreadable(t *testing.T) {
	s := newSingles(t)
	for name, c := range map[string]struct {
		body, code string
	}{
		"absent":            {"", "missing"},
		"blank":             {" \n ", "missing"},
		"not JSON":          {"{", "json_invalid"},
		"line feed in text": {single(`"p"`, "\"p\n\""), "json_invalid"},
		"two objects":       {single() + "\n" + single(), "json_invalid"},
		"duplicate key":     {single(`"sender"`, `"receiver"`), "json_duplicate_key"},
		"too deep":          {strings.Repeat(`{"a":`, 70), "json_too_deep"},
		"array":             {"[" + single() + "]", "object_type"},
		"null":              {"null", "object_type"},
		"too large":         {single(`"p"`, `"`+strings.Repeat("p", 4096)+`"`), "line_too_long"},
		"far too large":     {single(`"p"`, `"`+strings.Repeat("p", 2<<20)+`"`), "line_too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.post(t, c.body)
			var reply struct {
				Detail []struct {
					Loc       []any
					Msg, Type string
				}
			}
			if err := json.Unmarshal([]byte(r.Body), &reply); err != nil || r.StatusCode != 422 ||
				len(reply.Detail) != 1 || reply.Detail[0].Type != c.code || reply.Detail[0].Loc[0] != "body" ||
				reply.Detail[0].Msg == "" {
				t.Errorf("got %d %.300s, %v; want 422 with %s", r.StatusCode, r.Body, err, c.code)
			}
		})
	}
	for _, contentType := range []string{"", "text/plain", "application/x-ndjson"} {
		if r := s.post(t, single(), "Content-Type", contentType); r.StatusCode != 415 {
			t.Errorf("content type %q: got %d %s, want 415", contentType, r.StatusCode, r.Body)
		}
	}
	s.caller.Permissions = slices.DeleteFunc(permission.All(),
		func(p string) bool { return p == permission.TransactionWrite })
	if r := s.post(t, single()); r.StatusCode != 403 || !strings.Contains(r.Body, permission.TransactionWrite) {
		t.Errorf("without %s: got %d %s, want 403", permission.TransactionWrite, r.StatusCode, r.Body)
	}
	if got := s.stored(t); len(got) != 0 {
		t.Errorf("%d versions are stored, want none", len(got))
	}
}

// Pretty-printed or not, a transaction is judged the same: white space between tokens has no meaning.
func TestSingleTransactionWithLineFeeds(t *testing.T) {
	s := newSingles(t)
	var pretty strings.Builder
	for i, c := range single() {
		if strings.ContainsRune("{}:,", c) && i > 0 && !strings.Contains(single()[:i], "created_at") {
			fmt.Fprintf(&pretty, "\r\n%c\n", c)
			continue
		}
		pretty.WriteRune(c)
	}
	if r := s.post(t, pretty.String()); r.StatusCode != 201 {
		t.Fatalf("got %d %s, want 201", r.StatusCode, r.Body)
	}
	if got := s.stored(t); len(got) != 1 || string(got[0].Text) != pretty.String() {
		t.Errorf("stored %+v, want the text as it was sent", got)
	}
}
