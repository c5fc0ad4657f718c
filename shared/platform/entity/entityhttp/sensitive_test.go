package entityhttp_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity/entityhttp"
)

// changing are the parts of replies that differ without a reason in the properties.
var changing = regexp.MustCompile(`"(created|id)":"[^"]*"`)

// Replies about entities and drafts that differ only in values hidden from the caller are the same, byte for byte.
func TestSensitiveProperties(t *testing.T) {
	a := newAPI(t)
	a.hidden = []string{"fullName", "taxId"}
	single := func(value string) string { return `{"type":"Single","value":"` + value + `"}` }
	const id = `"0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10"`
	// create creates an entity of the caller's JSON for the hidden parts, and a draft of it.
	create := func(hidden, item string) (entityID, draftID string) {
		e := a.createEntity(`,"alternateId":"x"`)
		d := a.createDraft(e)
		a.succeed("PUT", command+"/"+e+"/draft/"+d, `{"data":{"version":1,"properties":{"legalEntityName":null,`+
			`"list":{"type":"Collection","dataGroupId":`+id+`,"collections":{"1":{"properties":{`+item+`"b":"2"}}}},`+
			`"group":{"type":"Custom","customTypeId":`+id+`,"properties":{`+hidden+`"c":`+single("3")+`}},`+
			hidden+`"city":`+single("Cork")+`}}}`, nil)
		a.succeed("PUT", command+"/"+e+"/draft/"+d+"/verify", `{"data":{"version":2}}`, nil)
		return e, d
	}
	cleared := access.Layers{BusinessRelated: []string{"Compliance"}}
	a.caller.Layers = cleared
	firstEntity, firstDraft := create(`"taxId":`+single("SECRET")+`,"fullName":`+single("Ann Hidden")+`,`,
		`"taxId":"S",`)
	secondEntity, secondDraft := create("", "")
	list := func(name string) (all []wire.ListedEntity) { return a.list(url.Values{"name": {name}}) }
	if got := list("ann"); len(got) != 1 || got[0].Name != "Ann Hidden" {
		t.Errorf("with the layers: got %+v, want Ann Hidden", got)
	}
	requests := map[string][2]string{
		"entity": {"GET " + query + "/entity/" + firstEntity, ""},
		"draft":  {"GET " + query + "/entity/" + firstEntity + "/draft/" + firstDraft, ""},
		"drafts": {"POST " + query + "/drafts-in-scope/searchentitydrafts",
			`{"data":{"journeyId":"` + journey + `","entityIds":["` + firstEntity + `"]}}`},
		"drafts by reach": {"POST " + query + "/entity/search-entity-drafts",
			`{"data":{"journeyId":"` + journey + `","entityIds":["` + firstEntity + `"]}}`},
		"names": {"POST " + query + "/entity/drafts/names",
			`{"data":{"journeyId":"` + journey + `","entityIds":["` + firstEntity + `"]}}`},
		"partial": {"POST " + query + "/entity/drafts/partial-properties", `{"data":{"draftIds":["` + firstDraft +
			`"],"requestedPropertiesDataKeys":["taxId","city"]}}`},
		"draft of a draft": {"POST " + command + "/" + firstEntity + "/draft",
			`{"data":{"journeyId":"0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a11","parentDraftId":"` + firstDraft + `"}}`},
	}
	other := strings.NewReplacer(firstEntity, secondEntity, firstDraft, secondDraft)
	read := func(request [2]string) string {
		method, path, _ := strings.Cut(request[0], " ")
		var data json.RawMessage
		a.succeed(method, path, request[1], &data)
		return changing.ReplaceAllString(string(data), "")
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			a.caller.Layers, a.caller.Attributes = cleared, nil
			if got := read(request); name != "names" && !strings.Contains(got, "SECRET") ||
				name != "partial" && !strings.Contains(got, "Ann Hidden") {
				t.Errorf("with the layers: got %s, want the values", got)
			}
			a.caller.Layers, a.caller.Attributes = access.Layers{}, map[string]string{"maskPartialProperties": "true"}
			got := read(request)
			want := read([2]string{other.Replace(request[0]), other.Replace(request[1])})
			if got = other.Replace(got); got != want || strings.Contains(got, "SECRET") {
				t.Errorf("without the layers: got\n%s, want\n%s", got, want)
			}
			if name != "names" && (!strings.Contains(got, `"taxId":{"type":"Single","value":null}`) ||
				!strings.Contains(got, `"maskedProperties":["`)) {
				t.Errorf("got %s, want taxId masked", got)
			}
		})
	}
	a.caller.Layers, a.caller.Attributes = access.Layers{}, nil
	difftest.Contains(t, "without the setting", read(requests["partial"]), "SECRET")
	difftest.Len(t, "a search by a hidden name found", 0, append(list("ann"), list("Ann Hidden")...))
	for _, e := range a.list(url.Values{}) {
		difftest.Equal(t, "name", "", e.Name)
	}

	// A client that sends back what it has read changes nothing that it cannot see.
	draft := a.createDraft(firstEntity)
	var masked, whole entityhttp.EntityDraft
	a.succeed("GET", query+"/entity/"+firstEntity+"/draft/"+draft, "", &masked)
	properties := errtest.Must(json.Marshal(masked.Properties))(t)
	a.succeed("PUT", command+"/"+firstEntity+"/draft/"+draft, `{"data":{"version":1,"properties":`+
		string(properties)+`}}`, nil)
	a.caller.Layers = cleared
	a.succeed("GET", query+"/entity/"+firstEntity+"/draft/"+draft, "", &whole)
	if v := whole.Properties["taxId"].Value; v == nil || *v != "SECRET" {
		t.Errorf("got %+v, want the value that the client could not see", whole.Properties["taxId"])
	}
	difftest.Equal(t, "MaskedProperties", []string{"fullName", "taxId"}, masked.MaskedProperties)
}
