package openapi_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/ingest/transaction/transactionhttp"
	"sluice/shared/kit/jose"
	"sluice/shared/platform/document/documenthttp"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/screening/screeninghttp"
)

// A reply's schema has the keys of the type that is sent, and requires those that are always sent.
func TestReplySchemasMatchTheirTypes(t *testing.T) {
	d := load(t)
	for name, reply := range map[string]any{
		"StoredTransaction":         transactionhttp.TransactionReply{},
		"Refusal":                   platform.Envelope{},
		"Failure":                   platform.Failure{},
		"Entity":                    entityhttp.Entity{},
		"NewDraft":                  entityhttp.NewDraft{},
		"EntityDraft":               entityhttp.EntityDraft{},
		"DraftsByReach":             entityhttp.DraftsByReach{},
		"Document":                  documenthttp.DocumentReply{},
		"DocumentPage":              documenthttp.PageReply{},
		"CreatedScreeningBatch":     screeninghttp.Created{},
		"ScreeningBatch":            screeninghttp.BatchReply{},
		"ScreeningBatchOfEntity":    screeninghttp.EntityBatchReply{},
		"Match":                     screeninghttp.MatchReply{},
		"ClientKeySet":              jose.JWKSet{},
		"UploadedScreeningDocument": screeninghttp.UploadReply{},
		"VirtualScreeningDocument":  screeninghttp.VirtualReply{},
		"ReusedScreeningDocument":   screeninghttp.ReuseReply{},
		"EntityDocument":            screeninghttp.DocumentReply{},
		"MatchDocument":             screeninghttp.MatchDocumentReply{},
		"AggregatedMateriality":     screeninghttp.AggregateReply{},
		"MaterialityHistoryItem":    screeninghttp.HistoryReply{},
		"ScreeningExpiry":           screeninghttp.ExpiryReply{},
		"ScreeningConfiguration":    screeninghttp.SettingsReply{},
		"CreatedProvider":           screeninghttp.CreatedProvider{},
		"ConfiguredProvider":        screeninghttp.ConfiguredProvider{},
		"CreatedConfigurationSet":   screeninghttp.IDReply{},
		"PolicyVersionCreated":      policyhttp.VersionCreated{},
		"Policy":                    policyhttp.PolicyReply{},
		"PolicySummary":             policyhttp.SummaryReply{},
		"PolicyPage":                policyhttp.Page[policyhttp.PolicyReply]{},
		"PolicyFieldCreated":        policyhttp.FieldCreated{},
		"PolicyJurisdictionCreated": policyhttp.JurisdictionCreated{},
		"PolicyFieldPage":           policyhttp.Page[policyhttp.FieldReply]{},
		"PolicyJurisdictionPage":    policyhttp.Page[policyhttp.JurisdictionReply]{},
		"PolicyFieldsSummary":       policyhttp.FieldsSummary{},
		"DataGroupChanged":          policyhttp.GroupChanged{},
		"DataGroupPage":             policyhttp.Page[policyhttp.GroupHeader]{},
		"DataGroup":                 policy.DataGroup{},
		"ProblemReport":             platform.Problem{},
		"EvaluatedPolicy":           evaluate.Result{},
		"NormalizedPolicy":          evaluate.NormalizedResult{},
		"ReadOnlyPolicy":            evaluate.ReadOnlyResult{},
	} {
		c := comparison{t, sampler{d.Root, 0}, map[reflect.Type]bool{}}
		c.value(name, c.at("#/components/schemas/"+name), reflect.TypeOf(reply))
	}
}

// field is a member that encoding/json writes for a field of a struct.
type field struct {
	of       reflect.Type
	optional bool
}

func fields(t reflect.Type) map[string]field {
	out := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && !f.Anonymous {
			out[name] = field{f.Type, strings.Contains(options, "omit")}
		}
	}
	return out
}

// comparison compares schemas with Go types.
type comparison struct {
	*testing.T
	sampler
	seen map[reflect.Type]bool
}

func (c comparison) value(where string, schema map[string]any, of reflect.Type) {
	for schema["$ref"] != nil || schema["anyOf"] != nil { // the other form is null
		if forms, ok := schema["anyOf"].([]any); ok {
			schema = forms[0].(map[string]any)
		} else {
			schema = c.at(schema["$ref"].(string))
		}
	}
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	want := map[reflect.Kind]string{reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array",
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer"}[of.Kind()]
	switch {
	case schema["oneOf"] != nil || want == "" || of == reflect.TypeFor[json.RawMessage]():
		return // a property, any data or a line: these have tests of their own
	case of == reflect.TypeFor[time.Time]():
		want = "string"
	case of.Kind() == reflect.Struct && !c.seen[of]:
		c.seen[of] = true
		c.object(where, schema, of)
	case of.Kind() == reflect.Slice:
		c.value(where+"/items", schema["items"].(map[string]any), of.Elem())
	case of.Kind() == reflect.Map:
		c.value(where+"/*", schema["additionalProperties"].(map[string]any), of.Elem())
	}
	for extended, ok := schema["allOf"].([]any); ok; extended, ok = schema["allOf"].([]any) {
		schema = c.at(extended[0].(map[string]any)["$ref"].(string))
	}
	kinds, ok := schema["type"].([]any)
	if !ok {
		kinds = []any{schema["type"]}
	}
	constant, isConstant := schema["const"]
	isNull := isConstant && constant == nil
	if !slices.Contains(kinds, any(want)) && !isNull {
		c.Errorf("%s is described as %v, want %s as it is sent", where, schema["type"], want)
	}
}

// parts returns the properties and the required ones of a schema and of those that it extends.
func (c comparison) parts(schema map[string]any) (properties map[string]any, required []any) {
	properties = map[string]any{}
	extended, _ := schema["allOf"].([]any)
	for _, part := range extended {
		more, needed := c.parts(c.at(part.(map[string]any)["$ref"].(string)))
		maps.Copy(properties, more)
		required = append(required, needed...)
	}
	own, _ := schema["properties"].(map[string]any)
	maps.Copy(properties, own)
	needed, _ := schema["required"].([]any)
	return properties, append(required, needed...)
}

func (c comparison) object(where string, schema map[string]any, of reflect.Type) {
	properties, required := c.parts(schema)
	sent := fields(of)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(sent)), slices.Sorted(maps.Keys(properties))); diff != "" {
		c.Errorf("%s: keys sent (-), described (+):\n%s", where, diff)
		return
	}
	for name, f := range sent {
		if slices.Contains(required, any(name)) == f.optional {
			c.Errorf("%s/%s is described as required: %v, want %v", where, name, f.optional, !f.optional)
		}
		if p, ok := properties[name].(map[string]any); ok {
			c.value(where+"/"+name, p, f.of)
		}
	}
}
