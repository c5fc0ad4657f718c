package e2e

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
)

func TestEntityBodies(t *testing.T) {
	api := begin(t, manyRequests)
	var all []bodyEndpoint
	all = append(all, entityCommandEndpoints(api)...)
	all = append(all, entityQueryEndpoints()...)
	checkBodies(t, api, all)
}

func journeyField(required bool) bodyField {
	return bodyField{"journeyId", "string", required, refusals{quoted(3): notUUID, `""`: notNull}}
}

func idsField(name string, required bool, max int) bodyField {
	return bodyField{
		name,
		"array",
		required,
		refusals{uuidList(max + 1): tooMany, `["x"]`: notUUID, `[null]`: notNull, `[1]`: "string_type"},
	}
}

// entityIDsField is a list of entity IDs, which need not be UUIDs.
func entityIDsField(required bool) bodyField {
	return bodyField{"entityIds", "array", required, refusals{
		uuidList(1001): tooMany, `[""]`: notNull, `[null]`: notNull, `[1]`: "string_type",
		"[" + quoted(256) + "]": tooLong,
	}}
}

// entityCommandEndpoints are the commands that take a body.
func entityCommandEndpoints(api *session) []bodyEndpoint {
	version := bodyField{"version", "integer", true, refusals{"0": notInRange, "-2": notInRange, "1.5": "integer_type"}}
	create := []bodyField{
		{"type", "string", true, refusals{`"company"`: notInEnum, quoted(300): notInEnum}},
		{"targetEntity", "string", true, refusals{`"Clients"`: notInEnum}},
		propertiesField("properties", false),
		{"dataSources", "object", false, nil},
		{"policyJurisdictions", "array", false, namesRefusals},
		{"policyJurisdiction", "string", false, nameRefusals},
		{"alternateId", "string", false, nameRefusals},
		{"category", "array", false, namesRefusals},
		{"accessLayers", "object", false, layerRefusals},
	}
	entity := map[string]string{"type": `"Individual"`, "targetEntity": `"Related Party"`}
	id := api.newEntity("")
	draft := func(suffix string) func() string {
		return func() string {
			return entityCommand + "/" + id + "/draft/" + api.newDraft(id, uuid.NewString()) + suffix
		}
	}
	return []bodyEndpoint{
		{"create", "POST", fixed(entityCommand), entity, create, false},
		{"create full", "POST", fixed(entityCommand + "/full"), entity, create, false},
		{"begin a draft", "POST", fixed(entityCommand + "/" + id + "/draft"), newJourney(), []bodyField{
			journeyField(true),
			{"parentDraftId", "string", false, refusals{`"x"`: notUUID}},
			{"dataSources", "object", false, nil},
		}, false},
		{"update a draft", "PUT", draft(""), map[string]string{"properties": "{}", "version": "1"},
			[]bodyField{propertiesField("properties", true), version}, true},
		{"verify", "PUT", draft("/verify"), map[string]string{"version": "-1"},
			[]bodyField{propertiesField("dataConflictResolutions", false), version}, false},
	}
}

// entityQueryEndpoints are the queries that take a body.
func entityQueryEndpoints() []bodyEndpoint {
	search := []bodyField{
		journeyField(true), entityIDsField(false), {"entityId", "string", false, refusals{quoted(256): tooLong}},
	}
	pageOptions := bodyField{"pageOptions", "object", false, refusals{
		`{"pageSize":0}`:                             notInRange,
		`{"pageSize":501}`:                           notInRange,
		`{"pageSize":-1}`:                            notInRange,
		`{"pageSize":"5"}`:                           "integer_type",
		`{"pageSize":99999999999999999999}`:          "integer_type",
		`{"sortOrder":2}`:                            notInRange,
		`{"sortOrder":-1}`:                           notInRange,
		`{"sortOrder":true}`:                         "integer_type",
		`{"paginationToken":1}`:                      "string_type",
		`{"paginationToken":"x"}`:                    badPaging,
		`{"paginationToken":""}`:                     badPaging,
		`{"paginationToken":` + quoted(10_001) + `}`: tooLong,
		`{"size":1}`:                                 "extra_forbidden",
	}}
	names := newJourney()
	names["entityIds"] = "[]"
	return []bodyEndpoint{
		{
			"partial properties",
			"POST",
			fixed(entityQuery + "/entity/drafts/partial-properties"),
			map[string]string{"draftIds": "[]"},
			[]bodyField{
				idsField("draftIds", true, 10),
				{"requestedPropertiesDataKeys", "array", false, refusals{uuidList(501): tooMany, `[""]`: notNull}},
			},
			false,
		},
		{"names", "POST", fixed(entityQuery + "/entity/drafts/names"), names,
			[]bodyField{journeyField(true), entityIDsField(true)}, false},
		{"search", "POST", fixed(entityQuery + "/drafts-in-scope/searchentitydrafts"), newJourney(), search, false},
		{"search by reach", "POST", fixed(entityQuery + "/entity/search-entity-drafts"), newJourney(), search, false},
		{"light search", "POST", fixed(lightSearch), newJourney(),
			[]bodyField{journeyField(true), entityIDsField(false), pageOptions}, false},
	}
}

// newJourney is the data of a request about a new journey.
func newJourney() map[string]string {
	return map[string]string{"journeyId": fmt.Sprintf("%q", uuid.NewString())}
}
