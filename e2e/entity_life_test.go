package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

type properties map[string]struct{ Type, Value string }

type entityView struct {
	ID              string
	LifecycleStatus string
	Version         int64
	Properties      properties
}

type draftView struct {
	ID, SourceEntityID, Status string
	ParentDraftID              *string
	Version                    int64
	Properties                 properties
}

// lives reads an entity, whose status must be the wanted one.
func (d *door) lives(entity, status string) entityView {
	d.t.Helper()
	var e entityView
	if d.take("GET", entityQuery+"/entity/"+entity, "", &e); e.LifecycleStatus != status || url.PathEscape(e.ID) != entity {
		d.t.Errorf("%+v, want %s", e, status)
	}
	return e
}

// ends makes a platform call that must end with a status.
func (d *door) ends(status int, method, path, body string) {
	d.t.Helper()
	if got, said, data := d.complaint(method, path, body); got != status {
		d.t.Errorf("%s %s %.200s: %d %s %.200s, want %d", method, path, body, got, said, data, status)
	}
}

func value(key, text string, version int) string {
	return fmt.Sprintf(`{"data":{"properties":{%q:{"type":"Single","value":%q}},"version":%d}}`, key, text, version)
}

// The whole life of an entity: created, drafted, changed, verified; drafted again and rejected; each step once.
func TestTheLifeOfAnEntity(t *testing.T) {
	d := enter(t, home)
	journey := uuid.NewString()
	e := d.newEntity(`,"properties":{"name":{"type":"Single","value":"ACME"},"city":{"type":"Single","value":"Cork"}}`)
	if v := d.lives(e, "Unknown"); v.Version != 1 || v.Properties["city"].Value != "Cork" {
		t.Errorf("%+v", v)
	}
	first := d.newDraft(e, journey)
	path := entityCommand + "/" + e + "/draft/" + first
	d.lives(e, "OnboardingInProgress")
	var draft draftView
	d.take("PUT", path, value("city", "Galway", 1), &draft)
	if draft.Version != 2 || draft.Properties["city"].Value != "Galway" || draft.Properties["name"].Value != "ACME" || draft.Status != "InProgress" {
		t.Errorf("%+v", draft)
	}
	d.ends(409, "PUT", path, value("city", "Sligo", 1)) // a replay, or someone who read the draft before
	d.ends(409, "PUT", path+"/verify", `{"data":{"version":1}}`)
	if v := d.lives(e, "OnboardingInProgress"); v.Properties["city"].Value != "Cork" {
		t.Errorf("a draft shows before it is verified: %+v", v)
	}
	d.take("PUT", path+"/verify", `{"data":{"version":2,"dataConflictResolutions":{"name":{"type":"Single","value":"ACME Ltd"}}}}`, nil)
	if v := d.lives(e, "Compliant"); v.Version != 2 || v.Properties["city"].Value != "Galway" || v.Properties["name"].Value != "ACME Ltd" {
		t.Errorf("%+v", v)
	}
	for _, again := range []string{"/verify", "/reject"} {
		d.ends(409, "PUT", path+again, `{"data":{"version":-1}}`)
	}
	d.ends(409, "PUT", path, value("city", "Sligo", -1))
	if d.take("GET", entityQuery+"/entity/"+e+"/draft/"+first, "", &draft); draft.Status != "Verified" || draft.SourceEntityID != e {
		t.Errorf("%+v", draft)
	}

	var child draftView
	d.take("POST", entityCommand+"/"+e+"/draft", fmt.Sprintf(`{"data":{"journeyId":%q,"parentDraftId":%q}}`, strings.ToUpper(journey), strings.ToUpper(first)), &child)
	d.lives(e, "MaintenanceInProgress")
	if d.take("GET", entityQuery+"/entity/"+e+"/draft/"+child.ID, "", &child); child.ParentDraftID == nil || *child.ParentDraftID != first {
		t.Errorf("%+v", child)
	}
	d.take("PUT", entityCommand+"/"+e+"/draft/"+child.ID, value("city", "Sligo", -1), nil)
	d.take("PUT", entityCommand+"/"+e+"/draft/"+child.ID+"/reject", "", nil)
	if v := d.lives(e, "Compliant"); v.Version != 2 || v.Properties["city"].Value != "Galway" {
		t.Errorf("a rejected draft left its mark: %+v", v)
	}
	d.ends(409, "PUT", entityCommand+"/"+e+"/draft/"+child.ID+"/reject", "")
	var all []draftView
	d.take("POST", entityQuery+"/drafts-in-scope/searchentitydrafts", fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey), &all)
	if len(all) != 2 || all[0].ID != first || all[1].Status != "Rejected" {
		t.Errorf("%+v", all)
	}
}

// together makes the same kind of call some times at once and returns how often each status came.
func (d *door) together(times int, method, path string, body func(i int) string) map[int]int {
	d.t.Helper()
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			status, _, _ := d.platformAs(d.home.TenantID, method, path, body(i))
			mu.Lock()
			defer mu.Unlock()
			got[status]++
		})
	}
	all.Wait()
	return got
}

// Of writers that read the same version exactly one wins; the others learn of it.
func TestConcurrentEdits(t *testing.T) {
	d := enter(t, home)
	e := d.newEntity("")
	path := entityCommand + "/" + e + "/draft/" + d.newDraft(e, uuid.NewString())
	once := map[int]int{202: 1, 409: 4}
	for version := 1; version <= 3; version++ {
		got := d.together(5, "PUT", path, func(i int) string { return value("who", fmt.Sprint(i), version) })
		if fmt.Sprint(got) != fmt.Sprint(once) {
			t.Errorf("version %d: %v", version, got)
		}
	}
	if got := d.together(5, "PUT", path+"/verify", func(int) string { return `{"data":{"version":4}}` }); fmt.Sprint(got) != fmt.Sprint(once) {
		t.Errorf("verify: %v", got)
	}
	if v := d.lives(e, "Compliant"); v.Version != 2 {
		t.Errorf("%+v", v)
	}
	other := d.newDraft(e, uuid.NewString())
	got := d.together(4, "PUT", entityCommand+"/"+e+"/draft/"+other+"/reject", func(int) string { return "" })
	if got[202] != 1 || got[409] != 3 {
		t.Errorf("reject: %v", got)
	}
	d.lives(e, "Compliant")
}

// Two drafts change one property: the second learns of the first, and decides.
func TestConflictsOfDrafts(t *testing.T) {
	d := enter(t, home)
	e := d.newEntity(`,"properties":{"city":{"type":"Single","value":"Cork"}}`)
	draft := func(city string) string {
		path := entityCommand + "/" + e + "/draft/" + d.newDraft(e, uuid.NewString())
		d.take("PUT", path, value("city", city, 1), nil)
		return path
	}
	first, second, third := draft("Galway"), draft("Sligo"), draft("Kerry")
	d.take("PUT", first+"/verify", `{"data":{"version":2}}`, nil)
	if status, said, _ := d.complaint("PUT", second+"/verify", `{"data":{"version":2}}`); status != 409 || !strings.Contains(said, "city") {
		t.Errorf("%d %s", status, said)
	}
	if v := d.lives(e, "MaintenanceInProgress"); v.Properties["city"].Value != "Galway" {
		t.Errorf("%+v", v)
	}
	d.take("PUT", second+"/verify", `{"data":{"version":2,"dataConflictResolutions":{"city":{"type":"Single","value":"Mayo"}}}}`, nil)
	d.ends(409, "PUT", third+"/verify", `{"data":{"version":2}}`)
	d.take("PUT", third+"/verify", `{"data":{"version":-1}}`, nil)
	if v := d.lives(e, "Compliant"); v.Properties["city"].Value != "Kerry" || v.Version != 4 {
		t.Errorf("%+v", v)
	}
}

// A verified draft counts for the batch that is validated next, and a rejected one does not take that away.
func TestBatchesSeeWhatIsVerified(t *testing.T) {
	d := enter(t, home)
	if err := home.importEntities(onboarded()); err != nil {
		t.Fatal(err)
	}
	e := d.newEntity("")
	batch := func(want string) {
		t.Helper()
		if s := d.process("", file(valid().with("sender", map[string]any{"by_external_id": e}))); s.Status != want {
			t.Errorf("%s, want %s", describe(s), want)
		}
	}
	rejected := d.newDraft(e, uuid.NewString())
	d.take("PUT", entityCommand+"/"+e+"/draft/"+rejected+"/reject", "", nil)
	batch("VALIDATION_FAILED")
	verified := d.newDraft(e, uuid.NewString())
	d.take("PUT", entityCommand+"/"+e+"/draft/"+verified, value("city", "Cork", 1), nil)
	batch("VALIDATION_FAILED")
	d.take("PUT", entityCommand+"/"+e+"/draft/"+verified+"/verify", `{"data":{"version":2}}`, nil)
	batch("PROCESSED")
	d.newDraft(e, uuid.NewString())
	d.lives(e, "MaintenanceInProgress")
	batch("PROCESSED")
}

// An import and the life cycle meet in one place: an imported entity is drafted like any other, and what is imported counts.
func TestImportedEntitiesLive(t *testing.T) {
	d := enter(t, home)
	id := "imported #1/2 ü%25 " + uuid.NewString() // any text is an id, and stands percent-encoded in a path
	e := url.PathEscape(id)
	load := func(status string) {
		t.Helper()
		if err := home.importEntities([]string{fmt.Sprintf(`{"id":%q,"lifecycleStatus":%q}`, id, status)}); err != nil {
			t.Fatal(err)
		}
	}
	load("ClientOffboarded")
	d.lives(e, "ClientOffboarded")
	draft := d.newDraft(e, uuid.NewString())
	d.lives(e, "OnboardingInProgress")
	load("Compliant")
	d.lives(e, "Compliant")
	d.take("PUT", entityCommand+"/"+e+"/draft/"+draft+"/reject", "", nil)
	d.lives(e, "Compliant")
}

func TestWarningsOfNewEntities(t *testing.T) {
	d := enter(t, home)
	_, _, text := d.platformAs(home.TenantID, "POST", entityCommand,
		`{"data":{"type":"Other","targetEntity":"Client","properties":{"empty":{"type":"Single","value":null},"full":{"type":"Single","value":"x"}}}}`)
	var reply struct {
		Data     struct{ ID string }
		Messages []struct{ Message, Type, ErrorCode string }
	}
	if err := json.Unmarshal(text, &reply); err != nil || len(reply.Messages) != 1 || reply.Messages[0].Type != "Warning" ||
		!strings.Contains(reply.Messages[0].Message, "properties.empty") || reply.Messages[0].ErrorCode != "property_dropped" {
		t.Fatalf("%v %s", err, text)
	}
	if v := d.lives(reply.Data.ID, "Unknown"); len(v.Properties) != 1 || v.Properties["full"].Value != "x" {
		t.Errorf("%+v", v)
	}
}

// An entity takes as much as an item of the table holds, and a request as much as the edge lets in.
func TestLargeEntities(t *testing.T) {
	d := enter(t, home)
	body := func(properties int) string {
		var all []string
		for i := range properties {
			all = append(all, fmt.Sprintf(`"p%d":{"type":"Single","value":%s}`, i, quoted(10_000)))
		}
		return `{"data":{"type":"Other","targetEntity":"Client","properties":{` + strings.Join(all, ",") + `}}}`
	}
	var full entityView
	if d.take("POST", entityCommand+"/full", body(38), &full); len(full.Properties) != 38 {
		t.Errorf("%d properties", len(full.Properties))
	}
	d.newDraft(full.ID, uuid.NewString())
	d.ends(413, "POST", entityCommand, body(40))
	d.ends(413, "POST", entityCommand, body(105))
}
