package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// refusals are values that a member of a body may not have, with the code that the refusal must name.
type refusals map[string]string

// and returns the refusals with one more.
func (r refusals) and(value, code string) refusals {
	all := maps.Clone(r)
	all[value] = code
	return all
}

// Codes of validation errors.
const (
	notNull     = "NotNullValidator"
	tooLong     = "MaximumLengthValidator"
	tooMany     = "MaximumCountValidator"
	notInRange  = "InclusiveBetweenValidator"
	notInEnum   = "EnumValidator"
	notUUID     = "GuidValidator"
	notUnique   = "UniqueValidator"
	badURL      = "UrlValidator"
	badProperty = "PropertyValidator"
	badPaging   = "PaginationTokenValidator"
)

// bodyField is one member of a request's data.
type bodyField struct {
	name string
	// kind is string, integer, object, array or bool.
	kind     string
	required bool
	refused  refusals
}

// bodyEndpoint is an endpoint that takes a body in an envelope.
type bodyEndpoint struct {
	name, method string
	// path returns where good data is accepted. For some endpoints each call creates something new that can be changed.
	path func() string
	// data is good data: JSON by member.
	data   map[string]string
	fields []bodyField
	// isPlain is set if a 400 has a message only, without a list of validation errors.
	isPlain bool
}

// quoted returns a JSON string of n characters.
func quoted(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// uuidList returns a JSON array of n UUIDs.
func uuidList(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%q,", uuid.NewString()), n), ",") + "]"
}

// fixed returns the path of an endpoint that accepts the same request again and again.
func fixed(path string) func() string { return func() string { return path } }

// Refusals of members that several bodies have.
var (
	nameRefusals  = refusals{quoted(256): tooLong}
	namesRefusals = refusals{
		"[" + quoted(256) + "]": tooLong,
		`[""]`:                  notNull,
		`[1]`:                   "string_type",
		uuidList(101):           tooMany,
	}
	layerRefusals = refusals{`{"geographic":"x"}`: "array_type", `{"other":[]}`: "extra_forbidden",
		`{"geographic":[""]}`: notNull, `{"businessRelated":` + uuidList(101) + `}`: tooMany}
)

// propertiesField is a member that holds properties.
func propertiesField(name string, required bool) bodyField {
	return bodyField{name, "object", required, refusals{
		`{"a":{"type":"Other"}}`:                                 badProperty,
		`{"":{"type":"Single"}}`:                                 badProperty,
		`{"a":{"type":"Single","more":1}}`:                       "extra_forbidden",
		`{"a":{"type":"Single","value":1}}`:                      "string_type",
		`{"a":{"type":"Single","value":` + quoted(10_001) + `}}`: badProperty,
		`{"a":"b"}`: "object_type",
		`{"a":{"type":"Collection","dataGroupId":"x"}}`:   badProperty,
		`{"a":{"type":"Custom"}}`:                         badProperty,
		`{` + quoted(256) + `:{"type":"Single"}}`:         badProperty,
		`{"a":{"type":"Single","value":"1","value":"2"}}`: "json_duplicate_key",
	}}
}

// bodyWith returns the body with one member of its data changed; "" removes the member.
func (e bodyEndpoint) bodyWith(name, value string) string {
	data := maps.Clone(e.data)
	if data[name] = value; value == "" {
		delete(data, name)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		parts = append(parts, fmt.Sprintf("%q:%s", key, data[key]))
	}
	return `{"data":{` + strings.Join(parts, ",") + `}}`
}

// checkBodies sends every member of every body absent, null, of another type and out of its bounds, and members that do
// not exist.
func checkBodies(t *testing.T, api *session, endpoints []bodyEndpoint) {
	t.Helper()
	errorsDocument := ok(os.ReadFile("../docs/errors.md"))(t)
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			c := bodyCheck{t, api, e, e.path(), string(errorsDocument)}
			for _, f := range e.fields {
				c.checkField(f)
			}
			c.expectRefused("unheardOf", "extra_forbidden", e.bodyWith("unheardOf", "1"))
			c.expectRefused("data", notNull, `{}`)
			c.expectRefused("data", notNull, `{"data":null}`)
			c.expectRefused("more", "extra_forbidden", strings.TrimSuffix(e.bodyWith("", ""), "}")+`,"more":1}`)
			c.expectRefused("data", "object_type", `{"data":[]}`)
			c.expectRefused("body", "object_type", `[]`)
			c.expectRefused("body", "json_invalid", `{"data":`)
			c.expectRefused("body", "json_invalid", `{"data":{}} {}`)
			c.expectAccepted(e.bodyWith("", ""))
		})
	}
}

// bodyCheck sends bodies to one endpoint.
type bodyCheck struct {
	t        *testing.T
	api      *session
	endpoint bodyEndpoint
	// path is where bodies are sent that are refused, and so change nothing.
	path           string
	errorsDocument string
}

func (c bodyCheck) checkField(f bodyField) {
	c.t.Helper()
	e := c.endpoint
	if f.required {
		c.expectRefused(f.name, notNull, e.bodyWith(f.name, ""))
		c.expectRefused(f.name, notNull, e.bodyWith(f.name, "null"))
	} else {
		c.expectAccepted(e.bodyWith(f.name, "null"))
	}
	for kind, value := range map[string]string{"string": `"x"`, "integer": "1", "object": "{}", "array": "[]",
		"bool": "true"} {
		if kind != f.kind {
			c.expectRefused(f.name, f.kind+"_type", e.bodyWith(f.name, value))
		}
	}
	for value, code := range f.refused {
		c.expectRefused(f.name, code, e.bodyWith(f.name, value))
	}
}

func (c bodyCheck) expectAccepted(body string) {
	c.t.Helper()
	r := c.api.callPlatform(c.endpoint.method, c.endpoint.path(), body)
	assert(c.t, r.status/100 == 2, "%.200s: %d %.300s, want 2xx", body, r.status, r.text)
}

// expectRefused checks that a body is refused because of a property, with a code that docs/errors.md explains.
func (c bodyCheck) expectRefused(property, code, body string) {
	c.t.Helper()
	assert(c.t, strings.Contains(c.errorsDocument, "`"+code+"`"), "docs/errors.md does not explain %s", code)
	r := c.api.callPlatform(c.endpoint.method, c.path, body)
	if c.endpoint.isPlain {
		assert(c.t, r.status == 400 && string(r.Data) == "null" && strings.Contains(r.message(), property),
			"%.200s: %d %.300s, want 400 without data and a message with %s", body, r.status, r.text, property)
		return
	}
	var got []struct{ PropertyName, ErrorMessage, ErrorCode string }
	err := json.Unmarshal(r.Data, &got)
	isExpected := err == nil && r.status == 400 && len(got) > 0 && got[0].ErrorMessage != "" &&
		strings.HasPrefix(got[0].PropertyName, property) && got[0].ErrorCode == code
	assert(c.t, isExpected, "%.200s: %d %.300s, want 400 with the property %s and the code %s", body, r.status, r.text,
		property, code)
}

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
	return bodyField{name, "array", required, refusals{uuidList(max + 1): tooMany, `["x"]`: notUUID, `[null]`: notNull,
		`[1]`: "string_type"}}
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
		{"partial properties", "POST", fixed(entityQuery + "/entity/drafts/partial-properties"),
			map[string]string{"draftIds": "[]"}, []bodyField{
				idsField("draftIds", true, 10),
				{"requestedPropertiesDataKeys", "array", false, refusals{uuidList(501): tooMany, `[""]`: notNull}},
			}, false},
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
