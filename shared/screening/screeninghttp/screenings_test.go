package screeninghttp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

func TestBatchOfJourneyAndProcess(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const journey = `,"journeyId":"D7A2B1C0-6E5F-4D3C-8B2A-1F0E9D8C7B14","processId":"onboarding"`
	first := a.create(journey+`,"journeyType":"Onboarding","journeyMainLegalEntityId":"m",`+
		`"journeyMainLegalEntityName":"M"`, "e", "f")
	other := a.create(strings.Replace(journey, "onboarding", "review", 1), "e")
	byProcess := queries + "/batch/journey/d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14/process/onboarding"
	var got screeninghttp.BatchReply
	a.succeed("GET", byProcess, "", &got)
	if got.ID != first || got.Status != screening.Open || got.TotalEntities != 2 || got.Entities[0].ID != "e" ||
		*got.JourneyType != "Onboarding" || *got.JourneyMainLegalEntityID != "m" || got.ClosedDate != nil ||
		*got.Metadata.SourceEventCorrelationID != "correlation" || got.Entities[0].EntityName != "Ivan Petrov" {
		t.Errorf("the active batch is %+v, want %s as it was created", got, first)
	}
	a.succeed("PUT", commands+"/batch/"+first+"/complete", "", nil)
	a.succeed("PUT", commands+"/batch/"+first+"/complete", "", nil)
	second := a.create(journey, "e")
	a.succeed("GET", byProcess, "", &got)
	if diff := cmp.Diff([]string{first}, got.OverriddenBatchIDs); got.ID != second || diff != "" {
		t.Errorf("the active batch is %s, want %s; it overrides (-want +got)\n%s", got.ID, second, diff)
	}
	a.succeed("GET", queries+"/batch/"+strings.ToUpper(first), "", &got)
	if got.Status != screening.Overridden || got.ClosedDate == nil {
		t.Errorf("the first batch is %s, closed at %v, want it overridden with the time of its close", got.Status,
			got.ClosedDate)
	}
	a.refuse(400, "screening_batch_not_open", "PUT", commands+"/batch/"+first+"/complete", "")
	a.succeed("GET", queries+"/batch/journey/d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14", "", &got)
	if got.ID != second {
		t.Errorf("the newest batch of the journey is %s, want %s", got.ID, second)
	}
	var list []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e", "", &list)
	var ids []string
	for _, item := range list {
		ids = append(ids, item.BatchID)
	}
	difftest.Equal(t, "the batches of the entity", []string{second, other, first}, ids)
	a.succeed("GET", queries+"/batch/legalentity/e?onlyWithTrueMatches=true", "", &list)
	if len(list) != 0 {
		t.Errorf("%d batches have true matches, want none", len(list))
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 3)
	update := func(id, status, more string) string {
		return fmt.Sprintf(`{"matchId":%q,"status":%q,"reason":"r"%s}`, id, status, more)
	}
	body := func(updates ...string) string {
		return `{"data":[{"entityId":"e","matches":[` + strings.Join(updates, ",") + `]}]}`
	}
	path, list := commands+"/batch/"+batch+"/matches", queries+"/batch/"+batch+"/entity/e/match"
	a.refuse(400, "matches_unresolved", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.refuse(404, "match_not_found", "PUT", path, body(update(ids[0], "Match", ""),
		update(uuid.NewString(), "Match", "")))
	a.refuse(404, "screened_entity_not_found", "PUT", path, strings.Replace(body(update(ids[0], "Match", "")), `"e"`,
		`"x"`, 1))
	a.refuse(400, "invalid_request", "PUT", path, body(update(ids[0], "Match", ""), update(ids[0], "Match", "")))
	var m screeninghttp.MatchReply
	a.succeed("GET", list+"/"+ids[0], "", &m)
	if m.Status != screening.Unresolved || m.LastActionedBy != nil || m.Reason != nil {
		t.Errorf("after refusals the match is %+v, want it untouched", m)
	}
	a.succeed("PUT", path, body(update(ids[0], "Match",
		`,"comments":"c","classificationData":{"singleProperties":{"f":{"value":"v","label":"l"}}},`+
			`"classificationDataReviewed":true`), update(ids[1], "No Match", "")), nil)
	a.succeed("PUT", path, body(update(ids[0], "Match", "")), nil)
	a.succeed("GET", list+"/"+ids[0], "", &m)
	if m.Status != screening.TrueMatch || *m.Comments != "c" || !m.ClassificationDataReviewed ||
		m.ClassificationData.SingleProperties["f"].Label != "l" || m.LastActionedBy.ID != "c" ||
		m.LastActionedBy.Type != "Client" || m.LastActionedBy.ReusedFromPreviousBatch {
		t.Errorf("the match is %+v, want comments and classification kept", m)
	}
	a.succeed("PUT", path, body(update(ids[2], "No Match", "")), nil)
	// With four eyes, nobody closes it of whom a resolution is.
	a.caller.Attributes = map[string]string{"fourEyes": "true"}
	a.refuse(403, "four_eyes", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.caller.Client = "other"
	a.succeed("PUT", path, body(update(ids[0], "Match", ""), update(ids[1], "No Match", "")), nil)
	a.refuse(403, "four_eyes", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.caller.Client = "c"
	a.refuse(403, "four_eyes", "PUT", commands+"/batch/"+batch+"/complete", "") // it has resolved the third one
	a.caller.Client = "other"
	a.succeed("PUT", path, body(update(ids[2], "No Match", "")), nil)
	a.caller.Client = "c"
	a.succeed("PUT", commands+"/batch/"+batch+"/complete", "", nil)
	a.refuse(400, "screening_batch_not_open", "PUT", path, body(update(ids[2], "Match", "")))
	var matches []screeninghttp.MatchReply
	a.succeed("GET", list+"?returnMaterialMatches=true", "", &matches)
	if len(matches) != 1 || matches[0].ID != ids[0] {
		t.Errorf("the true matches are %+v, want %s", matches, ids[0])
	}
	var batches []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e?onlyWithTrueMatches=true", "", &batches)
	if len(batches) != 1 || batches[0].MaterialMatchesCount != 1 {
		t.Errorf("the batches with true matches are %+v, want one with one match", batches)
	}
}

func TestListsAreReadInParts(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 120)
	var all []string
	for after := ""; ; {
		var page []screeninghttp.MatchReply
		a.succeed("GET", queries+"/batch/"+batch+"/entity/e/match?limit=70&after="+after, "", &page)
		for _, m := range page {
			all = append(all, m.ID)
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
	}
	if len(all) != len(ids) {
		t.Errorf("the parts have %d matches, want %d", len(all), len(ids))
	}
	batch = a.create("", "1", "2", "3")
	var entities []screeninghttp.EntityReply
	a.succeed("GET", queries+"/batch/"+batch+"/entity?limit=1&after=1", "", &entities)
	if len(entities) != 1 || entities[0].ID != "2" {
		t.Errorf("the entity after the first is %+v, want 2", entities)
	}
	for _, query := range []string{"limit=0", "limit=501", "limit=x", "limit=1&limit=2", "after=4",
		"after=" + strings.Repeat("x", 256)} {
		a.refuse(400, "invalid_request", "GET", queries+"/batch/"+batch+"/entity?"+query, "")
		a.refuse(400, "invalid_request", "GET", queries+"/batch/"+batch+"/entity/1/match?"+query, "")
	}
}

// Without a limit, a list has all of its items: nothing is left out without a word.
func TestListsAreWholeWithoutALimit(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 501)
	var all []screeninghttp.MatchReply
	a.succeed("GET", queries+"/batch/"+batch+"/entity/e/match", "", &all)
	if len(all) != len(ids) {
		t.Errorf("the list has %d matches, want %d", len(all), len(ids))
	}
}

// IDs that are too long for any batch are not found.
func TestLongIDsFindNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	long := strings.Repeat("x", 3000)
	for _, path := range []string{"/batch/" + long, "/batch/journey/" + long, "/batch/journey/j/process/" + long,
		"/batch/journey/" + long + "/process/p"} {
		a.refuse(404, "screening_batch_not_found", "GET", queries+path, "")
	}
	a.refuse(404, "screened_entity_not_found", "GET", queries+"/batch/"+a.create("", "e")+"/entity/"+long, "")
	var got []screeninghttp.ExpiryReply
	a.succeed("POST", queries+"/batch/journey/"+long+"/expiry", `{"data":{"processIds":["p"]}}`, &got)
	if len(got) != 1 || got[0].ExpiryStatus != screening.NoActiveBatch {
		t.Errorf("the expiry is %+v, want no active batch", got)
	}
}

// No command or query finds the objects of another tenant.
func TestOtherTenantsFindNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 1)
	a.caller.Tenant = uuid.NewString()
	for _, path := range []string{"", "/entity", "/entity/e", "/entity/e/match", "/entity/e/match/" + ids[0]} {
		a.refuse(404, "screening_batch_not_found", "GET", queries+"/batch/"+batch+path, "")
	}
	a.refuse(404, "screening_batch_not_found", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.refuse(404, "screening_batch_not_found", "PUT", commands+"/batch/"+batch+"/matches",
		`{"data":[{"entityId":"e","matches":[{"matchId":"`+ids[0]+`","status":"Match","reason":"r"}]}]}`)
	var list []screeninghttp.EntityBatchReply
	if a.succeed("GET", queries+"/batch/legalentity/e", "", &list); len(list) != 0 {
		t.Errorf("the other tenant sees %+v, want nothing", list)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, permissions := range [][]string{nil, {permission.ScreeningAccess}, {permission.ScreeningEdit}} {
		a.caller.Permissions = permissions
		a.refuse(403, "permission_missing", "POST", commands+"/batch", `{"data":{"entities":[`+person+`}]}}`)
	}
	a.refuse(403, "permission_missing", "GET", queries+"/batch/"+uuid.NewString(), "")
	a.caller.Permissions = []string{permission.ScreeningAccess, permission.ScreeningEdit}
	a.create("", "e")
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, test := range []struct{ name, data, want string }{
		{"no entities", `{"entities":[]}`, "entities: The value is missing"},
		{"too many entities", `{"entities":[` + strings.Repeat(person+"},", 500) + person + `}]}`,
			"more than 500 items"},
		{"no criteria", `{"entities":[{}]}`, "entities.0.searchCriteria"},
		{"no name", `{"entities":[{"searchCriteria":{"type":"Individual","firstName":"A"}}]}`,
			"firstName and lastName"},
		{"white space for a name", `{"entities":[{"searchCriteria":{"type":"Company","legalEntityName":" "}}]}`,
			"legalEntityName"},
		{"no date", `{"entities":[{"searchCriteria":{"type":"Individual","fullName":"A","dateOfBirth":"30/02/1990"}}]}`,
			"DD/MM/YYYY"},
		{"an entity twice", `{"entities":[` + person + `,"legalEntityId":"e"},` + person + `},` + person +
			`,"legalEntityId":"e"}]}`,
			`entities: The list contains "e" twice: at entities.0.legalEntityId and entities.2.legalEntityId.`},
		{"an alias twice", `{"entities":[` + person + `,"entityAliases":[{"id":"a"},{"id":"b"},{"id":"b"}]}]}`,
			`"b" twice: at entities.0.entityAliases.1.id and entities.0.entityAliases.2.id.`},
		{"an alias called PrimaryName", `{"entities":[` + person + `,"entityAliases":[{"id":"PrimaryName"}]}]}`,
			"entities.0.entityAliases.0.id: This ID stands for the main name"},
		{"an unknown provider", `{"entities":[` + person + `}],"providers":[{"providerId":"p"}]}`, "No provider"},
		{"an unknown key", `{"entities":[` + person + `,"x":1}]}`, "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			message := a.refuse(400, "invalid_request", "POST", commands+"/batch", `{"data":`+test.data+`}`)
			if !strings.Contains(message, test.want) {
				t.Errorf("the message is %q, want it to contain %q", message, test.want)
			}
		})
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.caller.Permissions = append(a.caller.Permissions, permission.ScreeningConfigurationCreate,
		permission.ScreeningConfigurationEdit)
	var settings screeninghttp.SettingsReply
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"p":30,"q":1}}}`, &settings)
	settings = screeninghttp.SettingsReply{}
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"q":null,"r":2}}}`, &settings)
	difftest.Equal(t, "merged", map[string]int{"p": 30, "r": 2}, settings.ValidityDays)
	settings = screeninghttp.SettingsReply{}
	a.succeed("POST", commands+"/configuration", `{"data":{"validityDays":{"p":1}}}`, &settings)
	difftest.Equal(t, "replaced", map[string]int{"p": 1}, settings.ValidityDays)
	a.refuse(400, "invalid_request", "PATCH", commands+"/configuration", `{"data":{"validityDays":{"p":0}}}`)

	store := func(process string, closed time.Time) string {
		t.Helper()
		b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, JourneyID: "j",
			ProcessID: process, EntityIDs: []string{"e"}, CreatedAt: now, ClosedAt: closed, Version: 1,
			Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchComplete}}}
		errtest.Fatal(t, errtest.Of(a.store.Create(t.Context(), b, []screening.Entity{{ID: "e", Version: 1}})))
		return b.ID
	}
	open, old := store("open", time.Time{}), store("old", now.AddDate(0, 0, -1))
	recent := store("recent", now.Add(-time.Hour))
	var got []screeninghttp.ExpiryReply
	path := queries + "/batch/journey/j/expiry"
	a.succeed("POST", path, `{"data":{"processIds":["recent","none","open","old"]}}`, &got)
	end := now.Add(-time.Hour).AddDate(0, 0, 1)
	want := []screeninghttp.ExpiryReply{
		{ProcessID: "recent", BatchID: &recent, ExpiryStatus: screening.Valid,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.Valid, ExpiryDate: &end}}},
		{ProcessID: "none", ExpiryStatus: screening.NoActiveBatch, Providers: []screeninghttp.ProviderExpiryReply{}},
		{ProcessID: "open", BatchID: &open, ExpiryStatus: screening.NotExpiring,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.NotExpiring}}},
		{ProcessID: "old", BatchID: &old, ExpiryStatus: screening.Expired,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.Expired,
				ExpiryDate: &now}}},
	}
	difftest.Equal(t, "the result", want, got)
	for _, body := range []string{`[]`, `["a","a"]`, `[""]`} {
		a.refuse(400, "invalid_request", "POST", path, `{"data":{"processIds":`+body+`}}`)
	}
	a.caller.Tenant = uuid.NewString()
	got = nil
	if a.succeed("POST", path, `{"data":{"processIds":["old"]}}`,
		&got); got[0].ExpiryStatus != screening.NoActiveBatch {
		t.Errorf("another tenant sees %+v, want no active batch", got)
	}
}
