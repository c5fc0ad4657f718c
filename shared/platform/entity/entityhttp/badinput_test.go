package entityhttp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"

	"sluice/shared/access/httpapi/platform"
)

// A bad body is a 400 that lists its validation errors.
func TestBadRequests(t *testing.T) {
	a := newAPI(t)
	e := a.createEntity("")
	d := command + "/" + e + "/draft/" + a.createDraft(e)
	long := strings.Repeat("x", 256)
	many := func(n int) string { return `["` + strings.Repeat(journey+`","`, n-1) + journey + `"]` }
	entityBody := func(field string) string { return `"type":"Company","targetEntity":"Client",` + field }
	j := `"journeyId":"` + journey + `"`
	for _, tt := range []struct{ method, path, data string }{
		{"POST", command, ``},
		{"POST", command, `"type":null,"targetEntity":"Client"`},
		{"POST", command, `"type":"company","targetEntity":"Client"`},
		{"POST", command, `"type":"Company"`},
		{"POST", command, entityBody(`"more":1`)},
		{"POST", command, entityBody(`"alternateId":1`)},
		{"POST", command, entityBody(`"alternateId":"` + long + `"`)},
		{"POST", command, entityBody(`"category":"a"`)},
		{"POST", command, entityBody(`"category":["` + long + `"]`)},
		{"POST", command, entityBody(`"dataSources":[]`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"None"}}`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"Single","value":1}}`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"Single","value":"` + strings.Repeat("x",
			10_001) + `"}}`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"Custom","customTypeId":"x"}}`)},
		{"POST", command, entityBody(`"accessLayers":{"geographic":[""]}`)},
		{"POST", command + "/full", ``},
		{"POST", command + "/" + e + "/draft", ``},
		{"POST", command + "/" + e + "/draft", `"journeyId":null`},
		{"POST", command + "/" + e + "/draft", `"journeyId":"x"`},
		{"POST", command + "/" + e + "/draft", j + `,"parentDraftId":"x"`},
		{"POST", command + "/" + e + "/draft", j + `,"parentDraftId":""`},
		{"PUT", d, `"version":1`},
		{"PUT", d, `"properties":{}`},
		{"PUT", d, `"properties":{},"version":0`},
		{"PUT", d, `"properties":{},"version":"1"`},
		{"PUT", d, `"properties":{},"version":1.5`},
		{"PUT", d + "/verify", ``},
		{"PUT", d + "/verify", `"version":-2`},
		{"PUT", d + "/verify", `"version":1,"dataConflictResolutions":[]`},
		{"POST", query + "/entity/drafts/partial-properties", ``},
		{"POST", query + "/entity/drafts/partial-properties", `"draftIds":["x"]`},
		{"POST", query + "/entity/drafts/partial-properties", `"draftIds":` + many(11)},
		{"POST", query + "/entity/drafts/names", j},
		{"POST", query + "/entity/drafts/names", `"entityIds":[]`},
		{"POST", query + "/entity/search-entity-drafts", ``},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityId":"` + long + `"`},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityIds":[""]`},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityIds":["` + long + `"]`},
		{"POST", command, entityBody(`"accessLayers":{"geographic":["Nowhere"]}`)},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityIds":` + many(1001)},
		{"POST", light, ``},
		{"POST", light, j + `,"entityIds":"x"`},
		{"POST", light, j + `,"pageOptions":{"pageSize":0}`},
		{"POST", light, j + `,"pageOptions":{"pageSize":501}`},
		{"POST", light, j + `,"pageOptions":{"pageSize":"1"}`},
		{"POST", light, j + `,"pageOptions":{"sortOrder":2}`},
		{"POST", light, j + `,"pageOptions":{"size":2}`},
	} {
		t.Run(fmt.Sprintf("%s %s %.60s", tt.method, strings.ReplaceAll(tt.path, e, "ID"), tt.data), func(t *testing.T) {
			status, data := a.send(tt.method, tt.path, `{"data":{`+tt.data+`}}`)
			if tt.path == d { // a 400 without a list: docs/contract/platform.md, Entities
				if status != 400 || string(data) != "null" || len(a.messages) != 1 ||
					a.messages[0].ErrorCode != "invalid_request" {
					t.Errorf("got %d %s %+v, want 400 with one message invalid_request", status, data, a.messages)
				}
				return
			}
			var list []platform.Failure
			err := json.Unmarshal(data, &list)
			if status != 400 || err != nil || len(list) == 0 || list[0].PropertyName == "" {
				t.Errorf("got %d %.300s, %v, want 400 with a list of validation errors", status, data, err)
			}
		})
	}
	a.succeed("POST", query+"/entity/drafts/partial-properties", `{"data":{"draftIds":`+many(10)+`}}`, nil)
	a.succeed("POST", light, `{"data":{`+j+`,"pageOptions":{"pageSize":500}}}`, nil)
}

// A reply lists 100 validation errors, or messages, and says how many more there are.
func TestListsAreBounded(t *testing.T) {
	a := newAPI(t)
	properties := func(n int, value string) string {
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf(`"k%d":%s`, i, value)
		}
		return `{"data":{"type":"Company","targetEntity":"Client","properties":{` + strings.Join(members, ",") + `}}}`
	}
	for n, want := range map[int]int{100: 100, 101: 101, 40_000: 101} {
		status, data := a.send("POST", command, properties(n, `{"type":"Other"}`))
		var list []platform.Failure
		if err := json.Unmarshal(data, &list); err != nil || status != 400 || len(list) != want {
			t.Fatalf("%d errors: got %d with %d of them, want 400 with %d", n, status, len(list), want)
		}
		last := list[len(list)-1]
		if n > 100 && (last.ErrorCode != httpapi.CodeErrorsLeftOut ||
			!strings.Contains(last.ErrorMessage, fmt.Sprintf("%d more error", n-100))) {
			t.Errorf("%d errors: the last one is %+v, want one that says how many more there are", n, last)
		}
	}
	status, _ := a.send("POST", command, properties(30_000, `{"type":"Single"}`))
	difftest.Equal(t, "30,000 dropped properties", []any{202, 101}, []any{status, len(a.messages)})
}

// Who may manage entity groups writes no other entities.
func TestEntityGroupPermission(t *testing.T) {
	a := newAPI(t)
	company := a.createEntity("")
	d := a.createDraft(company)
	a.caller.Permissions = []string{permission.EntityGroupManagementEdit}
	a.expectStatus(202, "POST", command, `{"data":{"type":"Entity Group","targetEntity":"Client"}}`)
	a.expectStatus(403, "POST", command, `{"data":{"type":"Company","targetEntity":"Client"}}`)
	a.expectStatus(403, "POST", command+"/"+company+"/draft", `{"data":{"journeyId":"`+journey+`"}}`)
	a.expectStatus(403, "PUT", command+"/"+company+"/draft/"+d, `{"data":{"version":1,"properties":{}}}`)
}
