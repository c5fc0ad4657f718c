package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
)

type properties map[string]struct{ Type, Value string }

// entityView is what these tests read of an entity.
type entityView struct {
	ID              string
	LifecycleStatus string
	Version         int64
	Properties      properties
}

// draftView is what these tests read of a draft.
type draftView struct {
	ID, SourceEntityID, Status string
	ParentDraftID              *string
	Version                    int64
	Properties                 properties
}

// newEntity creates an entity with extra members of its body, such as `,"alternateId":"x"`, and returns its ID.
func (s *session) newEntity(extra string) string {
	s.t.Helper()
	created := callFor[struct{ ID string }](s, "POST", entityCommand,
		`{"data":{"type":"Company","targetEntity":"Client"`+extra+`}}`)
	return created.ID
}

// newDraft begins a draft of an entity and returns its ID.
func (s *session) newDraft(entity, journey string) string {
	s.t.Helper()
	created := callFor[struct{ ID string }](s, "POST", entityCommand+"/"+entity+"/draft",
		fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey))
	return created.ID
}

// expectEntity checks the lifecycle status of an entity, given by its escaped ID, and returns the entity.
func (s *session) expectEntity(entity, status string) entityView {
	s.t.Helper()
	v := callFor[entityView](s, "GET", entityQuery+"/entity/"+entity, "")
	assert(s.t, v.LifecycleStatus == status && url.PathEscape(v.ID) == entity,
		"got %+v, want the entity %s with the status %s", v, entity, status)
	return v
}

// expectVersion checks the version of an entity and values of its properties.
func (v entityView) expectVersion(t *testing.T, version int64, values map[string]string) {
	t.Helper()
	assert(t, v.Version == version, "the version of the entity is %d, want %d", v.Version, version)
	expectValues(t, v.Properties, values)
}

func expectValues(t *testing.T, got properties, want map[string]string) {
	t.Helper()
	for name, value := range want {
		difftest.Equal(t, "the property "+name, value, got[name].Value)
	}
}

// quoted returns a JSON string of n characters.
func quoted(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// draftUpdate is the body that sets one property of a draft.
func draftUpdate(name, value string, version int) string {
	return fmt.Sprintf(`{"data":{"properties":{%q:{"type":"Single","value":%q}},"version":%d}}`, name, value, version)
}

// Of writers that have read the same version exactly one succeeds; the others get 409.
func TestConcurrentEdits(t *testing.T) {
	api := begin(t)
	e := api.newEntity("")
	path := entityCommand + "/" + e + "/draft/" + api.newDraft(e, uuid.NewString())
	expectOne := func(what string, times int, path string, body func(i int) string) {
		t.Helper()
		got := api.callConcurrently(times, "PUT", path, body)
		want := map[int]int{202: 1, 409: times - 1}
		assert(t, maps.Equal(got, want), "%s: %v, want %v", what, got, want)
	}
	for version := 1; version <= 3; version++ {
		expectOne(fmt.Sprintf("update of version %d", version), 5, path,
			func(i int) string { return draftUpdate("who", fmt.Sprint(i), version) })
	}
	expectOne("verify", 5, path+"/verify", func(int) string { return `{"data":{"version":4}}` })
	api.expectEntity(e, "Compliant").expectVersion(t, 2, nil)
	rejected := api.newDraft(e, uuid.NewString())
	expectOne("reject", 4, entityCommand+"/"+e+"/draft/"+rejected+"/reject", func(int) string { return "" })
	api.expectEntity(e, "Compliant")
}

// Of drafts that are created at the same time, none is lost: the entity is being onboarded until the last one ends.
func TestConcurrentDrafts(t *testing.T) {
	api := begin(t)
	e, journey := api.newEntity(""), uuid.NewString()
	const count = 4
	got := api.callConcurrently(count, "POST", entityCommand+"/"+e+"/draft",
		func(int) string { return fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey) })
	want := map[int]int{202: count}
	assert(t, maps.Equal(got, want), "%d drafts at once: %v, want %v", count, got, want)
	drafts := callFor[[]draftView](api, "POST", entityQuery+"/drafts-in-scope/searchentitydrafts",
		fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey))
	assert(t, len(drafts) == count, "got %d drafts, want %d", len(drafts), count)
	for _, d := range drafts {
		api.expectEntity(e, "OnboardingInProgress")
		api.mustCall("PUT", entityCommand+"/"+e+"/draft/"+d.ID+"/reject", "", nil)
	}
	api.expectEntity(e, "Unknown")
}

// Of two drafts that change one property, the second is told of the first and has to decide.
func TestConflictsOfDrafts(t *testing.T) {
	api := begin(t)
	e := api.newEntity(`,"properties":{"city":{"type":"Single","value":"Cork"}}`)
	draft := func(city string) string {
		path := entityCommand + "/" + e + "/draft/" + api.newDraft(e, uuid.NewString())
		api.mustCall("PUT", path, draftUpdate("city", city, 1), nil)
		return path
	}
	first, second, third := draft("Galway"), draft("Sligo"), draft("Kerry")
	api.mustCall("PUT", first+"/verify", `{"data":{"version":2}}`, nil)
	r := api.callPlatform("PUT", second+"/verify", `{"data":{"version":2}}`)
	assert(t, r.status == 409 && strings.Contains(r.message(), "city"),
		"the second draft: %d %s, want 409 that names city", r.status, r.text)
	expectValues(t, api.expectEntity(e, "MaintenanceInProgress").Properties, map[string]string{"city": "Galway"})
	api.mustCall("PUT", second+"/verify",
		`{"data":{"version":2,"dataConflictResolutions":{"city":{"type":"Single","value":"Mayo"}}}}`, nil)
	api.expect(409, "PUT", third+"/verify", `{"data":{"version":2}}`)
	api.mustCall("PUT", third+"/verify", `{"data":{"version":-1}}`, nil)
	api.expectEntity(e, "Compliant").expectVersion(t, 4, map[string]string{"city": "Kerry"})
}

// An entity takes part in batches from the moment that a draft of it is verified, and not before. A later draft, and a
// rejected one, does not change that. One token serves both interfaces.
func TestBatchesSeeWhatIsVerified(t *testing.T) {
	api := begin(t)
	name := uuid.NewString()
	e := api.newEntity(`,"properties":{"name":{"type":"Single","value":"ACME"}}`)
	expectBatch := func(status string) {
		t.Helper()
		api.expectProcess(status, jsonLines(validLine().withSender(e)))
	}
	api.mustCall("PUT", entityCommand+"/"+e+"/draft/"+api.newDraft(e, uuid.NewString())+"/reject", "", nil)
	expectBatch("VALIDATION_FAILED")
	verified := entityCommand + "/" + e + "/draft/" + api.newDraft(e, uuid.NewString())
	api.mustCall("PUT", verified, draftUpdate("name", name, 1), nil)
	expectBatch("VALIDATION_FAILED")
	api.mustCall("PUT", verified+"/verify", `{"data":{"version":2}}`, nil)
	expectBatch("PROCESSED")
	listed := callFor[struct{ Items []struct{ ID string } }](api, "GET", entityQuery+"/entity?name="+name, "")
	assert(t, len(listed.Items) == 1 && listed.Items[0].ID == e, "listed under the new name: %+v, want %s", listed, e)
	api.newDraft(e, uuid.NewString())
	api.expectEntity(e, "MaintenanceInProgress")
	expectBatch("PROCESSED")
}

// An imported entity is drafted like any other, and the status that is imported last counts.
func TestImportedEntityLifeCycle(t *testing.T) {
	api := begin(t, encodedPaths)
	id := "imported #1/2 ü%25 " + uuid.NewString() // any text is an ID; in a path it is percent-encoded
	e := url.PathEscape(id)
	importAs := func(status string) {
		t.Helper()
		must(t, environment.importEntities(fmt.Sprintf(`{"id":%q,"lifecycleStatus":%q}`, id, status)))
	}
	importAs("ClientOffboarded")
	api.expectEntity(e, "ClientOffboarded")
	draft := api.newDraft(e, uuid.NewString())
	api.expectEntity(e, "OnboardingInProgress")
	importAs("Compliant")
	api.expectEntity(e, "Compliant")
	api.mustCall("PUT", entityCommand+"/"+e+"/draft/"+draft+"/reject", "", nil)
	api.expectEntity(e, "Compliant")
}

// An entity may be as large as an item of the table, and a request as large as API Gateway lets in.
func TestLargeEntities(t *testing.T) {
	api := begin(t)
	bodyWith := func(properties int) string {
		var all []string
		for i := range properties {
			all = append(all, fmt.Sprintf(`"p%d":{"type":"Single","value":%s}`, i, quoted(10_000)))
		}
		return `{"data":{"type":"Other","targetEntity":"Client","properties":{` + strings.Join(all, ",") + `}}}`
	}
	full := callFor[entityView](api, "POST", entityCommand+"/full", bodyWith(38))
	assert(t, len(full.Properties) == 38, "the entity has %d properties, want 38", len(full.Properties))
	api.newDraft(full.ID, uuid.NewString())
	api.expect(http.StatusRequestEntityTooLarge, "POST", entityCommand, bodyWith(40))
	api.expect(http.StatusRequestEntityTooLarge, "POST", entityCommand, bodyWith(105))
}
