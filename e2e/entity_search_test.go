package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// A paging token counts for its own search in its own tenant, whole and unchanged; the size of the pages may change.
func TestPagingTokens(t *testing.T) {
	t.Parallel()
	api, other := login(t, environment), loginNewTenant(t)
	journey, e := uuid.NewString(), api.newEntity("")
	for range 3 {
		api.newDraft(e, journey)
	}
	search := func(journey, extra, options string) string {
		return fmt.Sprintf(`{"data":{"journeyId":%q%s,"pageOptions":{%s}}}`, journey, extra, options)
	}
	with := func(token string) string { return fmt.Sprintf(`"paginationToken":%q`, token) }
	page := callFor[lightPage](api, "POST", lightSearch, search(journey, "", `"pageSize":1`))
	token := *page.PaginationToken
	api.mustCall("POST", lightSearch, search(strings.ToUpper(journey), "", `"pageSize":2,"sortOrder":0,`+with(token)),
		&page)
	assert(t, len(page.Items) == 2, "the second page is %+v, want two drafts", page)
	api.mustCall("POST", lightSearch, search(journey, "", `"paginationToken":null`), &page)
	assert(t, len(page.Items) == 3 && page.PaginationToken == nil,
		"with the token null the page is %+v, want three drafts and no token", page)
	for _, test := range []struct {
		name string
		api  *session
		body string
	}{
		{"another journey", api, search(uuid.NewString(), "", with(token))},
		{"another order", api, search(journey, "", `"sortOrder":1,`+with(token))},
		{"other entities", api, search(journey, fmt.Sprintf(`,"entityIds":[%q]`, e), with(token))},
		{"no entities", api, search(journey, `,"entityIds":[]`, with(token))},
		{"cut", api, search(journey, "", with(token[:len(token)-1]))},
		{"longer", api, search(journey, "", with(token+"A"))},
		{"nonsense", api, search(journey, "", with("first"))},
		{"padded", api, search(journey, "", with(token+"="))},
		{"changed", api, search(journey, "", with(token[:9]+string(token[9]^1)+token[10:]))},
		{"another tenant", other, search(journey, "", with(token))},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.api.callPlatform("POST", lightSearch, test.body)
			text := string(r.Data)
			assert(t, r.status == 400 && strings.Contains(text, badPaging) &&
				strings.Contains(text, "pageOptions.paginationToken"),
				"got %d %s, want 400 with %s for pageOptions.paginationToken", r.status, r.text, badPaging)
		})
	}
}

// Pages have 1 to 500 items, 100 by default.
func TestPageSizes(t *testing.T) {
	api := begin(t)
	journey := uuid.NewString()
	want := insertDrafts(t, api, journey, 501)
	for _, test := range []struct {
		options string
		size    int
	}{
		{``, 100},
		{`,"pageOptions":null`, 100},
		{`,"pageOptions":{}`, 100},
		{`,"pageOptions":{"pageSize":null,"sortOrder":null}`, 100},
		{`,"pageOptions":{"pageSize":1}`, 1},
		{`,"pageOptions":{"pageSize":2}`, 2},
		{`,"pageOptions":{"pageSize":499}`, 499},
		{`,"pageOptions":{"pageSize":500}`, 500},
	} {
		page := callFor[lightPage](api, "POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q%s}}`, journey,
			test.options))
		if len(page.Items) != test.size || !slices.Equal(page.Items, want[:test.size]) || page.PaginationToken == nil {
			t.Errorf("%q: %d drafts, want the first %d and a token", test.options, len(page.Items), test.size)
		}
	}
	for _, size := range []int{0, 501} {
		body := fmt.Sprintf(`{"data":{"journeyId":%q,"pageOptions":{"pageSize":%d}}}`, journey, size)
		api.expect(400, "POST", lightSearch, body)
	}
	few := fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q,%q]}}`, journey, strings.ToUpper(want[499].EntityId),
		want[250].EntityId)
	page := callFor[lightPage](api, "POST", lightSearch, few)
	assert(t, slices.Equal(page.Items, []lightItem{want[250], want[499]}) && page.PaginationToken == nil,
		"the page of two entities is %+v, want their two drafts and no token", page)
}

// draftName is the name of an entity in a journey.
type draftName struct {
	EntityID, Name string
	EntityDraftID  *string
	Version        int64
}

// The name of an entity in a journey is that of its draft there, or else its own.
func TestNamesInAJourney(t *testing.T) {
	api := begin(t)
	journey := uuid.NewString()
	named := func(name string) string {
		return api.newEntity(`,"properties":{"fullName":{"type":"Single","value":"` + name + `"}}`)
	}
	drafted, undrafted := named("Old"), named("Own")
	draft := api.newDraft(drafted, journey)
	api.mustCall("PUT", entityCommand+"/"+drafted+"/draft/"+draft, draftUpdate("fullName", "New", 1), nil)
	var got struct{ EntityDraftNames []draftName }
	body := fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q,%q,%q]}}`, journey, undrafted, drafted,
		uuid.NewString())
	api.mustCall("POST", entityQuery+"/entity/drafts/names", body, &got)
	for i := range got.EntityDraftNames {
		if got.EntityDraftNames[i].EntityDraftID == nil {
			got.EntityDraftNames[i].Version = 0
		}
	}
	want := []draftName{{drafted, "New", &draft, 2}, {undrafted, "Own", nil, 0}}
	equal(t, "", want, got.EntityDraftNames)
}
