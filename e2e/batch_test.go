package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// legal is the order in which a poller may see the states of a batch; it may miss any but the last.
var legal = []string{"VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED", "IN_PROGRESS", "PROCESSED"}

func onboard(t *testing.T, h *Home) {
	t.Helper()
	if err := h.importEntities(onboarded()); err != nil {
		t.Fatal(err)
	}
}

func TestAGoodBatch(t *testing.T) {
	onboard(t, home)
	d := enter(t, home)
	var lines []fmt.Stringer
	for range 300 {
		lines = append(lines, valid())
	}
	content := file(lines...)
	before := time.Now().Add(-time.Second)

	u := d.newBatch("")
	if code, _, text := d.call("GET", base+"batch/status/"+u.BatchID, "", ""); code != 202 || !strings.Contains(string(text), `"Batch not yet uploaded completely."`) {
		t.Errorf("status before the upload: %d %s", code, text)
	}
	if code, r := d.result(u.BatchID); code != 202 || r.Valid != nil {
		t.Errorf("result before the upload: %d %+v", code, r)
	}
	if code, text := put(t, u, content); code != 200 {
		t.Fatalf("put: %d %s", code, text)
	}
	s, seen := d.follow(u.BatchID)
	if s.Status != "PROCESSED" {
		t.Fatal(describe(s))
	}
	at := 0
	for _, state := range seen {
		i := slices.Index(legal[at:], state)
		if i < 0 {
			t.Fatalf("states %v", seen)
		}
		at += i
	}
	want := int64(len(lines))
	zero := int64(0)
	if diff := cmp.Diff(counts{&want, &want, &zero, &want}, s.Counts); diff != "" {
		t.Error(diff)
	}
	if s.ErrorMessage == nil || *s.ErrorMessage != "" || !s.RejectOnInvalid || s.BytesTotal != int64(len(content)) || s.BytesDone != s.BytesTotal {
		t.Errorf("%+v", s)
	}
	if s.ReceivedAt.Before(before) || s.ReceivedAt.After(s.UpdatedAt) {
		t.Errorf("received at %v, between %v and %v", s.ReceivedAt, before, s.UpdatedAt)
	}
	if code, r := d.result(u.BatchID); code != 200 || r.Valid == nil || !*r.Valid || r.ErrorsFileURL != "" || r.Message != "Batch validated successfully." {
		t.Errorf("result: %d %+v", code, r)
	}
	for _, i := range []int{0, 1, 149, 298, 299} {
		readBack(t, d, lines[i].(line), u.BatchID, int64(i+1))
	}
}

type stored struct {
	TransactionExternalID string `json:"transaction_external_id"`
	Modifications         []struct {
		ModificationExternalID string    `json:"modification_external_id"`
		BatchID                string    `json:"batch_id"`
		Line                   int64     `json:"line"`
		ReceivedAt             time.Time `json:"received_at"`
		MainEntity             *struct {
			Role         string `json:"role"`
			ByExternalID string `json:"by_external_id"`
		} `json:"main_entity"`
		Transaction json.RawMessage `json:"transaction"`
	} `json:"modifications"`
}

func (d *door) read(id string) (int, stored) {
	d.t.Helper()
	code, _, text := d.call("GET", base+url.PathEscape(id), "", "")
	var out stored
	if code == http.StatusOK {
		strict(d.t, text, &out)
	}
	return code, out
}

func readBack(t *testing.T, d *door, l line, batchID string, number int64) {
	t.Helper()
	code, got := d.read(l.id())
	if code != 200 || len(got.Modifications) != 1 {
		t.Fatalf("read back line %d: %d %+v", number, code, got)
	}
	m := got.Modifications[0]
	if m.ModificationExternalID != l.modification() || m.BatchID != batchID || m.Line != number || string(m.Transaction) != l.String() {
		t.Errorf("read back line %d: %+v", number, m)
	}
	if m.MainEntity == nil || m.MainEntity.Role != "sender" || m.MainEntity.ByExternalID != sender {
		t.Errorf("main entity of line %d: %+v", number, m.MainEntity)
	}
}

// mixed is a file in which only two of the lines can be ingested, with what is wrong with the others.
func mixed() (good []line, lines []fmt.Stringer, wrong map[int64][]string) {
	good = []line{valid(), valid().with("receiver", map[string]any{
		"external_entity_type": "unknown",
		"unknown":              map[string]any{"external_id": "shop 7", "full_name": "Café Zürich"},
	})}
	twin, triplet := valid(), valid()
	lines = []fmt.Stringer{
		good[0],
		raw(`{"request_uuid": nope}`),
		raw(`   `),
		twin,
		valid().with("sender", map[string]any{"by_external_id": "e2e-nobody"}),
		valid().with("sender", map[string]any{"by_external_id": notYet}),
		valid().with("colour", "green"),
		valid().modified("amount", "12"),
		good[1],
		valid().modified("external_id", twin.modification()),
		raw(strings.Replace(valid().modified("external_id", twin.modification()).String(), `"payout"`, `"payout",`, 1)),
		triplet,
		valid().with("sender", map[string]any{"external_entity_type": "unknown", "unknown": map[string]any{"external_id": "a"}}).
			with("receiver", map[string]any{"external_entity_type": "unknown", "unknown": map[string]any{"external_id": "b"}}),
		valid().modified("external_id", triplet.modification()).with("payment_type", "gift"),
	}
	wrong = map[int64][]string{
		2: {"json_invalid"}, 4: {"duplicate_modification_id"}, 5: {"entity_not_found"}, 6: {"entity_not_onboarded"},
		7: {"extra_forbidden"}, 8: {"number_type"}, 10: {"duplicate_modification_id"}, 12: {"duplicate_modification_id"},
		13: {"main_entity_unknown"}, 14: {"duplicate_modification_id", "enum"},
	}
	return good, lines, wrong
}

func TestInvalidLines(t *testing.T) {
	onboard(t, home)
	for _, reject := range []bool{true, false} {
		t.Run(fmt.Sprintf("reject_on_invalid %v", reject), func(t *testing.T) {
			d := enter(t, home)
			good, lines, wrong := mixed()
			u := d.newBatch(fmt.Sprintf(`{"reject_on_invalid": %v}`, reject))
			if code, text := put(t, u, file(lines...)); code != 200 {
				t.Fatalf("put: %d %s", code, text)
			}
			s, _ := d.follow(u.BatchID)
			total, accepted, invalid := int64(13), int64(2), int64(11)
			ingested := accepted
			if reject {
				ingested = 0
			}
			if diff := cmp.Diff(counts{&total, &accepted, &invalid, &ingested}, s.Counts); diff != "" {
				t.Error(diff)
			}
			switch {
			case reject && (s.Status != "VALIDATION_FAILED" || *s.ErrorMessage == ""):
				t.Error(describe(s))
			case !reject && (s.Status != "PROCESSED" || *s.ErrorMessage != ""):
				t.Error(describe(s))
			}
			compareReport(t, d.report(u.BatchID), wrong, file(lines...))
			for i, l := range good {
				code, got := d.read(l.id())
				if reject != (code == 404) {
					t.Errorf("good line %d: %d", i, code)
				}
				if !reject && string(got.Modifications[0].Transaction) != l.String() {
					t.Errorf("good line %d: %s", i, got.Modifications[0].Transaction)
				}
			}
			if code, _ := d.read(lines[3].(line).id()); code != 404 {
				t.Errorf("a rejected line can be read: %d", code)
			}
		})
	}
}

// compareReport holds a report against the codes by line. Line 11 is broken JSON with a duplicate's ID before the break.
func compareReport(t *testing.T, report []reportLine, wrong map[int64][]string, content []byte) {
	t.Helper()
	wrong[11] = []string{"duplicate_modification_id", "json_invalid"}
	got := map[int64][]string{}
	last := int64(0)
	for _, l := range report {
		if l.Line <= last {
			t.Errorf("line %d after line %d", l.Line, last)
		}
		last = l.Line
		for _, e := range l.Errors {
			got[l.Line] = append(got[l.Line], e.Type)
			if e.Type == "duplicate_modification_id" && (e.OtherLinesTotal < 1 || slices.Contains(e.OtherLines, l.Line)) {
				t.Errorf("line %d: other lines %v of %d", l.Line, e.OtherLines, e.OtherLinesTotal)
			}
			if number := int64(strings.Count(string(content[:e.Offset]), "\n")) + 1; number != l.Line {
				t.Errorf("line %d: offset %d lies in line %d", l.Line, e.Offset, number)
			}
		}
		slices.Sort(got[l.Line])
	}
	if diff := cmp.Diff(wrong, got); diff != "" {
		t.Error(diff)
	}
}

func TestABatchIsAnotherTenantsSecret(t *testing.T) {
	onboard(t, home)
	d := enter(t, home)
	l := valid()
	u := d.newBatch("{}")
	if code, _ := put(t, u, file(l)); code != 200 {
		t.Fatal(code)
	}
	if s, _ := d.follow(u.BatchID); s.Status != "PROCESSED" {
		t.Fatal(describe(s))
	}
	other := anotherTenant(t, home, true)
	for _, path := range []string{"batch/status/" + u.BatchID, "batch/validation-result/" + u.BatchID, l.id()} {
		if code, _, text := other.call("GET", base+path, "", ""); code != 404 {
			t.Errorf("%s as another tenant: %d %s", path, code, text)
		}
	}
}

// anotherTenant makes a tenant with a client of all permissions.
func anotherTenant(t *testing.T, h *Home, enabled bool, permissions ...string) *door {
	t.Helper()
	var tenant struct {
		ID string `json:"tenant_id"`
	}
	if err := h.admin(&tenant, "tenant", "create"); err != nil {
		t.Fatal(err)
	}
	if enabled {
		var out any
		if err := h.admin(&out, "tenant", "enable-batch", tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
	return enterAsClient(t, h, newClient(t, h, tenant.ID, permissions...))
}

func newClient(t *testing.T, h *Home, tenant string, permissions ...string) clientOf {
	t.Helper()
	args := []string{"client", "create", "--tenant", tenant}
	for _, p := range permissions {
		args = append(args, "--permission", p)
	}
	c := clientOf{tenant: tenant}
	if err := h.admin(&c, args...); err != nil {
		t.Fatal(err)
	}
	return c
}

func enterAsClient(t *testing.T, h *Home, c clientOf) *door {
	t.Helper()
	return enterAs(t, h, c.ClientID, c.ClientSecret, "tenant/"+c.tenant)
}
