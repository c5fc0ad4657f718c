package openapi_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	exact "github.com/go-json-experiment/json"

	"sluice/openapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth/externalauthhttp"
	"sluice/shared/connect/outbound/outboundhttp"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document/documenthttp"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/screening/screeninghttp"
)

// A request is described twice, by its schema and by the type that it is decoded into. Every value that the schema
// names is changed in every way that a client may get wrong, and both must accept or refuse the outcome.
func TestRequestsAreAcceptedAsDescribed(t *testing.T) {
	d := load(t)
	checkAgreement[entityhttp.CreateRequest](t, d, "CreateEntity")
	checkAgreement[entityhttp.DraftRequest](t, d, "CreateDraft")
	checkAgreement[entityhttp.UpdateRequest](t, d, "UpdateDraft")
	checkAgreement[entityhttp.VerifyRequest](t, d, "VerifyDraft")
	checkAgreement[entityhttp.PartialRequest](t, d, "PartialPropertiesRequest")
	checkAgreement[entityhttp.SearchRequest](t, d, "SearchDrafts")
	checkAgreement[entityhttp.NamesRequest](t, d, "DraftNamesRequest")
	checkAgreement[entityhttp.LightRequest](t, d, "SearchLight")
	checkAgreement[documenthttp.CreateFileRequest](t, d, "CreateDocument")
	checkAgreement[documenthttp.CreateVirtualRequest](t, d, "CreateVirtualDocument")
	checkAgreement[documenthttp.UpdateRequest](t, d, "UpdateDocument")
	checkAgreement[documenthttp.LayersRequest](t, d, "SetAccessLayers")
	checkAgreement[documenthttp.CloneRequest](t, d, "CloneDocument")
	checkAgreement[documenthttp.CustomErrorRequest](t, d, "CustomError")
	checkAgreement[documenthttp.ArchiveRequest](t, d, "ArchiveDocument")
	checkAgreement[documenthttp.PageRequest](t, d, "DocumentPageRequest")
	checkAgreement[documenthttp.UpdateFileRequest](t, d, "UpdateFile")
	checkAgreement[documenthttp.LitePageRequest](t, d, "DocumentLitePageRequest")
	checkAgreement[externalauthhttp.ConfigurationRequest](t, d, "ExternalAuthentication")
	checkAgreement[screeninghttp.CreateRequest](t, d, "CreateScreeningBatch")
	checkAgreement[screeninghttp.ResolveRequest](t, d, "ResolveMatches")
	checkAgreement[outboundhttp.CheckRequest](t, d, "CheckedUrl")
	checkAgreement[screeninghttp.SettingsRequest](t, d, "ScreeningConfigurationChange")
	checkAgreement[screeninghttp.ProviderConfigurationRequest](t, d, "CreateProvider")
	checkAgreement[screeninghttp.ReplaceProviderRequest](t, d, "ReplaceProvider")
	checkAgreement[screeninghttp.SchemaRequest](t, d, "SettingsSchema")
	checkAgreement[screeninghttp.CreateSetRequest](t, d, "CreateConfigurationSet")
	checkAgreement[screeninghttp.ChangeSetRequest](t, d, "ChangeConfigurationSet")
	checkAgreement[screeninghttp.NameRequest](t, d, "MatchName")
	checkAgreement[screeninghttp.ExpiryRequest](t, d, "ScreeningExpiryRequest")
	checkAgreement[screeninghttp.UpdateEntityRequest](t, d, "AssessScreenedEntity")
	checkAgreement[screeninghttp.UpdateMaterialityRequest](t, d, "UpdateMateriality")
	checkAgreement[screeninghttp.EscalateRequest](t, d, "EscalateMaterialityTask")
	checkAgreement[screeninghttp.UploadRequest](t, d, "UploadScreeningDocument")
	checkAgreement[screeninghttp.VirtualRequest](t, d, "AddVirtualScreeningDocument")
	checkAgreement[screeninghttp.ReuseRequest](t, d, "ReuseScreeningDocument")
	checkAgreement[screeninghttp.ReuseMatchRequest](t, d, "ReuseMatchDocument")
	checkAgreement[policyhttp.PolicyRequest](t, d, "CreatePolicy")
	checkAgreement[policyhttp.DraftRequest](t, d, "CreatePolicyDraft")
	checkAgreement[policyhttp.DraftFromRequest](t, d, "CreatePolicyDraftFrom")
	checkAgreement[policyhttp.ArchiveRequest](t, d, "ArchivePolicyVersion")
	checkAgreement[policyhttp.FieldRequest](t, d, "PolicyFieldRequest")
	checkAgreement[policyhttp.JurisdictionRequest](t, d, "PolicyJurisdictionRequest")
	checkAgreement[policyhttp.FieldSearch](t, d, "PolicyFieldSearch")
	checkAgreement[policyhttp.SummaryRequest](t, d, "PolicyFieldsSummaryRequest")
	checkAgreement[policyhttp.GroupRequest](t, d, "DataGroupRequest")
	checkAgreement[policyhttp.GroupStatusRequest](t, d, "DataGroupStatusRequest")
	checkAgreement[policyhttp.EvaluationRequest](t, d, "EvaluationRequest")
	checkAgreement[policyhttp.ReadOnlyRequest](t, d, "ReadOnlyEvaluationRequest")
	checkAgreement[batchhttp.UploadRequest](t, d, "UploadRequest")
}

// checkAgreement mutates the sample of a schema and compares what the schema and the type T accept. A refusal names the
// member that was changed.
func checkAgreement[T any](t *testing.T, d *openapi.Document, schema string) {
	t.Helper()
	at := "#/components/schemas/" + schema
	seed := sampler{d.Root, 0}.sample(at)
	if err := d.Validate(at, seed); err != nil || !isAccepted[T](seed) {
		t.Fatalf("the sample of %s is %v: the schema returns %v, the endpoint accepts it: %v", schema, seed, err,
			isAccepted[T](seed))
	}
	_, isList := seed.([]any)
	tried, refused := 0, 0
	mutate(seed, func(where string, to any, changed any) {
		tried++
		described, place := d.Validate(at, changed) == nil, refusal[T](changed)
		ours := place == ""
		if !ours {
			refused++
			member := strings.Split(strings.Replace(where+"/", "(another key)", fmt.Sprint(to), 1), "/")
			if want := cmp.Or(append(member, "")[1], "data"); place != want && where != "" && !isList {
				t.Errorf("%s%s = %.60v: refused because of %.60q, want %.60q", schema, where, to, place, want)
			}
		}
		// The endpoint accepts an empty text like an absent one, which the description does not promise.
		if described != ours && !(ours && to == "") {
			t.Errorf("%s%s = %.60v: valid by the schema: %v, accepted by the endpoint: %v", schema, where, to,
				described, ours)
		}
	})
	if tried < 10 || schema != "UploadRequest" && refused < 10 {
		t.Errorf("%s: %d of %d mutations are refused, want 10 or more", schema, refused, tried)
	}
}

// Every word of an enumeration is accepted, not only the first.
func TestEveryColumnIsAccepted(t *testing.T) {
	d := load(t)
	described := sampler{d.Root, 0}.at("#/components/schemas/DocumentColumn")["enum"].([]any)
	for _, name := range described {
		if !isAccepted[documenthttp.LitePageRequest](map[string]any{"entityId": "x",
			"additionalColumns": []any{name}}) {
			t.Errorf("the column %s is refused", name)
		}
	}
	if all := fields(reflect.TypeFor[documenthttp.DocumentReply]()); len(described) != len(all) {
		t.Errorf("%d columns are described, want %d", len(described), len(all))
	}
}

// isAccepted reports whether the endpoint accepts a value as its data.
func isAccepted[T any](v any) bool { return refusal[T](v) == "" }

// refusal returns the member of its data because of which the endpoint refuses a value, or "data" if that is none, and
// "" if it accepts the value.
func refusal[T any](v any) string {
	text, err := json.Marshal(v)
	var in T
	strict := exact.RejectUnknownMembers(true)
	if _, open := any(in).(batchhttp.UploadRequest); open {
		strict = exact.RejectUnknownMembers(false)
	}
	if err == nil {
		err = exact.Unmarshal(text, &in, strict)
	}
	var semantic *exact.SemanticError
	switch {
	case errors.As(err, &semantic):
		return cmp.Or(strings.Split(string(semantic.JSONPointer)+"/", "/")[1], "data")
	case err != nil || string(text) == "null":
		return "data"
	}
	var errs platform.ValidationErrors
	var details []fault.Detail
	switch checked := any(&in).(type) {
	case interface {
		Check(*platform.ValidationErrors)
	}:
		checked.Check(&errs)
	case interface{ Check() []fault.Detail }:
		details = checked.Check()
	}
	var invalid *fault.Error
	if errors.As(errs.Err(), &invalid) {
		details = invalid.Details
	}
	if len(details) == 0 {
		return ""
	}
	return fmt.Sprint(append(details[0].Path, "data")[0])
}

// sampler makes values that have every member that a schema names.
type sampler struct {
	root  map[string]any
	depth int
}

func (s sampler) sample(pointer string) any { return s.value(s.at(pointer)) }

func (s sampler) at(pointer string) map[string]any {
	var v any = s.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		v = v.(map[string]any)[token]
	}
	return v.(map[string]any)
}

func (s sampler) value(schema map[string]any) any {
	s.depth++
	if to, ok := schema["$ref"].(string); ok {
		return s.sample(to)
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := schema[key]; ok {
			return v
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if all, ok := schema[key].([]any); ok {
			return all[0]
		}
	}
	if forms, ok := schema["anyOf"].([]any); ok && schema["type"] == nil {
		return s.value(forms[0].(map[string]any))
	}
	kind := schema["type"]
	if list, ok := kind.([]any); ok {
		kind = list[0]
	}
	switch kind {
	case "array":
		return []any{s.value(schema["items"].(map[string]any))}
	case "boolean":
		return true
	case "integer":
		return json.Number("1")
	case "string":
		return text(schema)
	case "null":
		return nil
	}
	return s.object(schema)
}

func text(schema map[string]any) string {
	switch schema["format"] {
	case "uuid":
		return tenantID
	case "uri":
		return "https://example.com/a"
	}
	return "some text"
}

func (s sampler) object(schema map[string]any) any {
	out := map[string]any{}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		maps.Copy(out, s.value(part.(map[string]any)).(map[string]any))
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		out[name] = s.value(p.(map[string]any))
	}
	rest, ok := schema["additionalProperties"].(map[string]any)
	if !ok || s.depth > 5 {
		return out
	}
	for rest["$ref"] != nil || rest["anyOf"] != nil {
		if forms, ok := rest["anyOf"].([]any); ok { // the other form is null
			rest = forms[0].(map[string]any)
		} else {
			rest = s.at(rest["$ref"].(string))
		}
	}
	if kinds, ok := rest["oneOf"].([]any); ok {
		for i, kind := range kinds {
			out[fmt.Sprint("key", i)] = s.value(kind.(map[string]any))
		}
	} else {
		out["key"] = s.value(rest)
	}
	return out
}

// mutate calls f with copies of a value that are changed in one place each; where and to name the change.
func mutate(v any, f func(where string, to any, changed any)) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, to := range []any{nil, "", "x", long(255), long(256), long(2049), long(10_000), long(10_001),
		"http://example.com", "https://", "sCREENING", json.Number("0"), json.Number("1"), json.Number("-1"),
		json.Number("-2"), json.Number("2"), json.Number("500"), json.Number("501"), json.Number("1.5"),
		json.Number("2147483648"), true, []any{}, []any{"x"}, []any{"x", "x"}, []any{nil}, []any{tenantID},
		many(11, ""), many(100, "x"), many(101, "x"), many(501, "x"), many(1001, ""), map[string]any{},
		map[string]any{"x": json.Number("1")}, map[string]any{"type": "Single"}} {
		f("", to, to)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			with := func(to any) map[string]any {
				c := maps.Clone(v)
				c[key] = to
				return c
			}
			without := maps.Clone(v)
			delete(without, key)
			f("/"+key, "(absent)", without)
			mutate(v[key], func(where string, to any, changed any) { f("/"+key+where, to, with(changed)) })
		}
		for _, key := range []string{"another", "", long(255), long(256)} {
			c := maps.Clone(v)
			c[key] = "x"
			f("/(another key)", key, c)
		}
	case []any:
		for i := range v {
			mutate(v[i], func(where string, to any, changed any) {
				c := slices.Clone(v)
				c[i] = changed
				f(fmt.Sprintf("/%d%s", i, where), to, c)
			})
		}
	}
}

// many returns n different texts; without a prefix they are UUIDs.
func many(n int, prefix string) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
		if prefix == "" {
			out[i] = fmt.Sprintf("7f6c2f0e-54b1-4d5b-8a3e-%012d", i)
		}
	}
	return out
}
