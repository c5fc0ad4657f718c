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

// field is one key of a request's data.
type field struct {
	name     string
	kind     string // string, integer, object, array
	required bool
	bad      map[string]string // values that are refused, and the code that says so
}

// operation is an endpoint with a body.
type operation struct {
	name   string
	method string
	path   func() string // where data is welcome: some make something new to change
	data   map[string]string
	fields []field
	plain  bool // its 400 has no list
}

func quoted(n int) string { return `"` + strings.Repeat("x", n) + `"` }

func listed(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%q,", uuid.NewString()), n), ",") + "]"
}

func fixed(path string) func() string { return func() string { return path } }

// What is refused in keys that several bodies have.
var (
	long   = map[string]string{quoted(256): "MaximumLengthValidator"}
	names  = map[string]string{"[" + quoted(256) + "]": "MaximumLengthValidator", `[""]`: "NotNullValidator", `[1]`: "string_type", listed(101): "MaximumCountValidator"}
	layers = map[string]string{`{"geographic":"x"}`: "array_type", `{"other":[]}`: "extra_forbidden",
		`{"geographic":[""]}`: "NotNullValidator", `{"businessRelated":` + listed(101) + `}`: "MaximumCountValidator"}
)

func propertiesAs(name string, required bool) field {
	return field{name, "object", required, map[string]string{
		`{"a":{"type":"Other"}}`: "PropertyValidator", `{"":{"type":"Single"}}`: "PropertyValidator",
		`{"a":{"type":"Single","more":1}}`: "extra_forbidden", `{"a":{"type":"Single","value":1}}`: "string_type",
		`{"a":{"type":"Single","value":` + quoted(10_001) + `}}`: "PropertyValidator", `{"a":"b"}`: "object_type",
		`{"a":{"type":"Collection","dataGroupId":"x"}}`: "PropertyValidator", `{"a":{"type":"Custom"}}`: "PropertyValidator",
		`{` + quoted(256) + `:{"type":"Single"}}`: "PropertyValidator", `{"a":{"type":"Single","value":"1","value":"2"}}`: "json_duplicate_key",
	}}
}

// operations are the entity endpoints that take a body.
func operations(d *door) []operation {
	id := func(required bool) field {
		return field{"journeyId", "string", required, map[string]string{quoted(3): "GuidValidator", `""`: "NotNullValidator"}}
	}
	ids := func(name string, required bool, max int) field {
		return field{name, "array", required, map[string]string{listed(max + 1): "MaximumCountValidator", `["x"]`: "GuidValidator", `[null]`: "NotNullValidator", `[1]`: "string_type"}}
	}
	version := field{"version", "integer", true, map[string]string{"0": "InclusiveBetweenValidator", "-2": "InclusiveBetweenValidator", "1.5": "integer_type"}}
	create := []field{
		{"type", "string", true, map[string]string{`"company"`: "EnumValidator", quoted(300): "EnumValidator"}},
		{"targetEntity", "string", true, map[string]string{`"Clients"`: "EnumValidator"}},
		propertiesAs("properties", false), {"dataSources", "object", false, nil}, {"policyJurisdictions", "array", false, names},
		{"policyJurisdiction", "string", false, long}, {"alternateId", "string", false, long}, {"category", "array", false, names},
		{"accessLayers", "object", false, layers},
	}
	entity := map[string]string{"type": `"Individual"`, "targetEntity": `"Related Party"`}
	journey := fmt.Sprintf("%q", uuid.NewString())
	e := d.newEntity("")
	draft := func(suffix string) func() string {
		return func() string { return entityCommand + "/" + e + "/draft/" + d.newDraft(e, uuid.NewString()) + suffix }
	}
	inJourney := map[string]string{"journeyId": journey}
	search := []field{id(true), ids("entityIds", false, 1000), {"entityId", "string", false, map[string]string{`"x"`: "GuidValidator"}}}
	options := map[string]string{`{"pageSize":0}`: "InclusiveBetweenValidator", `{"pageSize":501}`: "InclusiveBetweenValidator", `{"pageSize":-1}`: "InclusiveBetweenValidator",
		`{"pageSize":"5"}`: "integer_type", `{"pageSize":99999999999999999999}`: "integer_type", `{"sortOrder":2}`: "InclusiveBetweenValidator", `{"sortOrder":-1}`: "InclusiveBetweenValidator",
		`{"sortOrder":true}`: "integer_type", `{"paginationToken":1}`: "string_type", `{"paginationToken":"x"}`: "PaginationTokenValidator",
		`{"paginationToken":` + quoted(10_001) + `}`: "MaximumLengthValidator", `{"size":1}`: "extra_forbidden"}
	return []operation{
		{"create", "POST", fixed(entityCommand), entity, create, false},
		{"create full", "POST", fixed(entityCommand + "/full"), entity, create, false},
		{"begin a draft", "POST", fixed(entityCommand + "/" + e + "/draft"), inJourney, []field{id(true),
			{"parentDraftId", "string", false, map[string]string{`"x"`: "GuidValidator"}}, {"dataSources", "object", false, nil}}, false},
		{"update a draft", "PUT", draft(""), map[string]string{"properties": "{}", "version": "1"}, []field{propertiesAs("properties", true), version}, true},
		{"verify", "PUT", draft("/verify"), map[string]string{"version": "-1"}, []field{propertiesAs("dataConflictResolutions", false), version}, false},
		{"partial properties", "POST", fixed(entityQuery + "/entity/drafts/partial-properties"), map[string]string{"draftIds": "[]"},
			[]field{ids("draftIds", true, 10), {"requestedPropertiesDataKeys", "array", false, map[string]string{listed(501): "MaximumCountValidator", `[""]`: "NotNullValidator"}}}, false},
		{"names", "POST", fixed(entityQuery + "/entity/drafts/names"), map[string]string{"journeyId": journey, "entityIds": "[]"},
			[]field{id(true), ids("entityIds", true, 1000)}, false},
		{"search", "POST", fixed(entityQuery + "/drafts-in-scope/searchentitydrafts"), inJourney, search, false},
		{"search by reach", "POST", fixed(entityQuery + "/entity/search-entity-drafts"), inJourney, search, false},
		{"light search", "POST", fixed(lightSearch), inJourney, []field{id(true), ids("entityIds", false, 1000), {"pageOptions", "object", false, options}}, false},
	}
}

// with returns the body of an operation with one key of its data changed; "" takes it away.
func (o operation) with(name, value string) string {
	data := maps.Clone(o.data)
	if data[name] = value; value == "" {
		delete(data, name)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		parts = append(parts, fmt.Sprintf("%q:%s", key, data[key]))
	}
	return `{"data":{` + strings.Join(parts, ",") + `}}`
}

func TestEntityBodies(t *testing.T) {
	d := enter(t, home)
	d.tryBodies(operations(d))
}

// tryBodies tries every key of every body: absent, null, of another type, out of its bounds; and keys that are not there.
func (d *door) tryBodies(all []operation) {
	d.t.Helper()
	t := d.t
	explained, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		path := o.path() // what is refused changes nothing, so that one place is enough
		refused := func(property, code, body string) {
			t.Helper()
			if code == "" {
				return
			}
			if !strings.Contains(string(explained), "`"+code+"`") {
				t.Errorf("docs/errors.md does not explain %s", code)
			}
			status, said, data := d.complaint(o.method, path, body)
			if o.plain {
				if status != 400 || string(data) != "null" || !strings.Contains(said, property) {
					t.Errorf("%s %.200s: %d %s %s, want %s in words", o.name, body, status, data, said, property)
				}
				return
			}
			var list []struct{ PropertyName, ErrorMessage, ErrorCode string }
			if err := json.Unmarshal(data, &list); status != 400 || err != nil || len(list) == 0 || list[0].ErrorMessage == "" ||
				!strings.HasPrefix(list[0].PropertyName, property) || list[0].ErrorCode != code {
				t.Errorf("%s %.200s: %d %.300s, want %s %s", o.name, body, status, data, property, code)
			}
		}
		for _, f := range o.fields {
			if f.required {
				refused(f.name, "NotNullValidator", o.with(f.name, ""))
				refused(f.name, "NotNullValidator", o.with(f.name, "null"))
			} else if status, data := d.platform(o.method, o.path(), o.with(f.name, "null")); status/100 != 2 {
				t.Errorf("%s: %s null: %d %s", o.name, f.name, status, data)
			}
			for kind, value := range map[string]string{"string": `"x"`, "integer": "1", "object": "{}", "array": "[]", "bool": "true"} {
				if kind != f.kind {
					refused(f.name, f.kind+"_type", o.with(f.name, value))
				}
			}
			for value, code := range f.bad {
				refused(f.name, code, o.with(f.name, value))
			}
		}
		refused("unheardOf", "extra_forbidden", o.with("unheardOf", "1"))
		refused("data", "NotNullValidator", `{}`)
		refused("data", "NotNullValidator", `{"data":null}`)
		refused("more", "extra_forbidden", strings.TrimSuffix(o.with("", ""), "}")+`,"more":1}`)
		refused("data", "object_type", `{"data":[]}`)
		refused("body", "object_type", `[]`)
		if status, data := d.platform(o.method, o.path(), o.with("", "")); status/100 != 2 {
			t.Errorf("%s: %d %s", o.name, status, data)
		}
	}
}

// complaint makes a call and returns its status, the first message and the data.
func (d *door) complaint(method, path, body string) (int, string, json.RawMessage) {
	d.t.Helper()
	status, _, text := d.platformAs(d.home.TenantID, method, path, body)
	var reply struct {
		Data     json.RawMessage
		Messages []struct{ Message string }
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		d.t.Fatalf("%v: %s", err, text)
	}
	if len(reply.Messages) == 0 {
		return status, "", reply.Data
	}
	return status, reply.Messages[0].Message, reply.Data
}
