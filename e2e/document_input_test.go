package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// newFile makes a document whose file is still to come.
func (d *door) newFile(more string) string {
	d.t.Helper()
	var n newDocument
	d.take("POST", documentCommands, `{"data":{"fileName":"a.pdf","entityId":"e"`+more+`}}`, &n)
	return n.ID
}

func (d *door) newLink() string {
	d.t.Helper()
	var n newDocument
	d.take("POST", documentCommands+"/virtual", `{"data":{"fileName":"a","entityId":"e","documentURL":"https://example.com/a"}}`, &n)
	return n.ID
}

// documentOperations are the document endpoints with a body in an envelope.
func documentOperations(d *door) []operation {
	id, link := d.newFile(""), d.newLink()
	name := func(name string) field { return field{name, "string", false, long} }
	key := map[string]string{quoted(256): "MaximumLengthValidator", `"` + strings.Repeat("é", 128) + `"`: "MaximumLengthValidator"}
	needed := func(bad map[string]string) map[string]string {
		all := maps.Clone(bad)
		all[`""`] = "NotNullValidator"
		return all
	}
	flag := func(name string) field { return field{name, "bool", false, map[string]string{`"true"`: "bool_type"}} }
	uuids := map[string]string{`"x"`: "GuidValidator", quoted(36): "GuidValidator"}
	twice := maps.Clone(names)
	twice[`["a","b","a"]`] = "UniqueValidator"
	links := needed(map[string]string{`"http://example.com"`: "UrlValidator", `"javascript:alert(1)"`: "UrlValidator", `"/a"`: "UrlValidator",
		`"//example.com/a"`: "UrlValidator", `"https://"`: "UrlValidator", `"https://:443/a"`: "UrlValidator", `"https:example.com"`: "UrlValidator",
		`"https://me:secret@example.com/a"`: "UrlValidator", `" https://example.com"`: "UrlValidator", `"https://example.com/\n"`: "UrlValidator",
		`"ftp://example.com/a"`: "UrlValidator", `"data:text/html,x"`: "UrlValidator", `"https://example.com/` + strings.Repeat("x", 2048-19) + `"`: "MaximumLengthValidator"})
	create := []field{
		{"fileName", "string", true, needed(long)}, {"entityId", "string", true, needed(key)}, {"journeyId", "string", false, key},
		{"requestType", "string", false, map[string]string{`"thing"`: "EnumValidator"}}, name("documentType"), name("friendlyName"), name("documentDataKey"),
		{"documentRequirementIds", "array", false, names}, propertiesAs("properties", false), {"accessLayers", "object", false, layers},
		{"policyEnforcedAccessLayers", "object", false, layers}, flag("isDocumentForESignature"), flag("comesFromESignatureProvider"), flag("autoClassify"),
		{"metadata", "object", false, map[string]string{`{"a":1}`: "string_type", `{"":"a"}`: "NotNullValidator", `{` + quoted(256) + `:"a"}`: "MaximumLengthValidator",
			`{"a":` + quoted(10_001) + `}`: "MaximumLengthValidator"}},
		{"requirementModelId", "string", false, uuids},
	}
	file := map[string]string{"fileName": `"a.pdf"`, "entityId": `"e"`}
	linked := map[string]string{"fileName": `"a"`, "entityId": `"e"`, "documentURL": `"https://example.com/a"`}
	size := field{"pageSize", "integer", false, map[string]string{"0": "InclusiveBetweenValidator", "501": "InclusiveBetweenValidator", "-1": "InclusiveBetweenValidator", "1.5": "integer_type"}}
	entity := field{"entityId", "string", true, needed(key)}
	state := map[string]string{`"completed"`: "EnumValidator"}
	archived := func() string { return documentCommands + "/" + d.newFile("") + "/archive" }
	return []operation{
		{"create", "POST", fixed(documentCommands), file, create, false},
		{"link", "POST", fixed(documentCommands + "/virtual"), linked, append(create, field{"documentURL", "string", true, links}), false},
		{"link of a product", "POST", fixed(documentCommands + "/product/virtual"), linked, []field{{"documentURL", "string", true, links}}, false},
		{"link of a deal", "POST", fixed(documentCommands + "/deal/virtual"), linked, []field{{"documentURL", "string", true, links}}, false},
		{"update", "PUT", fixed(documentCommands + "/" + link), map[string]string{}, []field{name("documentType"), name("friendlyName"), name("documentDataKey"),
			{"documentURL", "string", false, whereOptional(links)}, {"documentRequirementIds", "array", false, twice}, propertiesAs("properties", false), flag("skipStatusReset")}, false},
		{"update a file's link", "PUT", fixed(documentCommands + "/" + id), map[string]string{},
			[]field{{"documentURL", "string", false, map[string]string{`"https://example.com/a"`: "UrlValidator"}}}, false},
		{"layers", "PUT", fixed(documentCommands + "/" + id + "/access-layers"), map[string]string{"accessLayers": "{}"}, []field{{"accessLayers", "object", true, layers}}, false},
		{"clone", "PUT", fixed(documentCommands + "/" + id + "/clone"), map[string]string{}, []field{{"Id", "string", false, uuids}, name("DocumentDataKey"),
			{"EntityId", "string", false, needed(key)}, {"JourneyId", "string", false, key}, {"DocumentRequirementIds", "array", false, names},
			{"AccessLayers", "object", false, layers}, {"requirementModelId", "string", false, uuids}, flag("skipStatusReset")}, false},
		{"custom error", "PUT", fixed(documentCommands + "/custom-error/" + id), map[string]string{"errorCode": `"NOT_APPLICABLE"`}, []field{
			{"errorCode", "string", true, map[string]string{`"OTHER"`: "EnumValidator", `"not_applicable"`: "EnumValidator", `""`: "NotNullValidator"}},
			{"errorMessage", "string", false, map[string]string{quoted(10_001): "MaximumLengthValidator"}}}, false},
		{"archive", "POST", archived, map[string]string{"archivalReason": `"old"`},
			[]field{{"archivalReason", "string", true, needed(map[string]string{quoted(10_001): "MaximumLengthValidator"})}}, false},
		{"new file", "PUT", fixed(documentCommands + "/updateFile"), map[string]string{"id": `"` + id + `"`, "fileName": `"b.pdf"`}, []field{
			{"id", "string", true, map[string]string{`"x"`: "GuidValidator", `"` + link + `"`: "FileValidator"}}, {"fileName", "string", true, needed(long)}}, false},
		{"page", "POST", fixed(documentQueries + "/entity/paged"), map[string]string{"entityId": `"e"`},
			[]field{entity, size, {"startIndex", "integer", false, map[string]string{"-1": "InclusiveBetweenValidator", "2147483648": "InclusiveBetweenValidator"}}, flag("deduplicationEnabled")}, false},
		{"lite page", "POST", fixed(documentQueries + "/entity/paged/lite/v2"), map[string]string{"entityId": `"e"`}, []field{entity, size,
			{"paginationToken", "string", false, map[string]string{`"x"`: "PaginationTokenValidator"}}, {"status", "string", false, state}, {"excludeStatus", "string", false, state},
			{"additionalColumns", "array", false, map[string]string{`["x"]`: "EnumValidator", `[1]`: "string_type", `[""]`: "NotNullValidator"}}}, false},
	}
}

// whereOptional are refused links where none is needed: an empty one is then no link, not a missing one.
func whereOptional(links map[string]string) map[string]string {
	all := maps.Clone(links)
	all[`""`] = "UrlValidator"
	return all
}

func TestDocumentBodies(t *testing.T) {
	d := enter(t, home)
	d.tryBodies(documentOperations(d))
}

// Two commands take a bare value, and what stands in paths and queries is checked like a body.
func TestDocumentParameters(t *testing.T) {
	d := enter(t, home)
	id := d.newFile("")
	different := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf("%q", fmt.Sprint("r", i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for _, tt := range []struct{ method, path, body, property, code, sent string }{
		{"PUT", "/" + id + "/requirement-ids", "", "body", "NotNullValidator", "null"},
		{"PUT", "/" + id + "/requirement-ids", "null", "body", "NotNullValidator", "null"},
		{"PUT", "/" + id + "/requirement-ids", `{}`, "body", "type", "null"},
		{"PUT", "/" + id + "/requirement-ids", `"a"`, "body", "type", `"a"`},
		{"PUT", "/" + id + "/requirement-ids", `["a",1]`, "body", "type", "null"},
		{"PUT", "/" + id + "/requirement-ids", `["a",null]`, "documentRequirementIds.1", "NotNullValidator", "null"},
		{"PUT", "/" + id + "/requirement-ids", `["a","b","a"]`, "documentRequirementIds", "UniqueValidator", "null"},
		{"PUT", "/" + id + "/requirement-ids", `[` + quoted(256) + `]`, "documentRequirementIds.0", "MaximumLengthValidator", quoted(256)},
		{"PUT", "/" + id + "/requirement-ids", different(101), "documentRequirementIds", "MaximumCountValidator", "null"},
		{"PUT", "/" + id + "/datakey", "", "body", "NotNullValidator", "null"},
		{"PUT", "/" + id + "/datakey", "null", "body", "NotNullValidator", "null"},
		{"PUT", "/" + id + "/datakey", "7", "body", "type", "7"},
		{"PUT", "/" + id + "/datakey", `{"data":"k"}`, "body", "type", "null"},
		{"PUT", "/" + id + "/datakey", `"k" "l"`, "body", "type", "null"},
		{"PUT", "/" + id + "/datakey", quoted(256), "documentDataKey", "MaximumLengthValidator", quoted(256)},
		{"PUT", "/not-a-uuid", `{"data":{}}`, "id", "GuidValidator", `"not-a-uuid"`},
		{"PUT", "/error/not-a-uuid", "", "id", "GuidValidator", `"not-a-uuid"`},
		{"DELETE", "/not-a-uuid", "", "id", "GuidValidator", `"not-a-uuid"`},
		{"DELETE", "/" + id + "?skipStatusReset=perhaps", "", "skipStatusReset", "bool_type", `"perhaps"`},
		{"DELETE", "/" + id + "?requirementModelId=x", "", "requirementModelId", "GuidValidator", `"x"`},
		{"DELETE", "/" + id + "?documentEntityType=thing", "", "documentEntityType", "EnumValidator", `"thing"`},
		{"DELETE", "/" + id + "?documentEntityType=Entity&documentEntityType=Entity", "", "documentEntityType", "EnumValidator", `"Entity"`},
		{"DELETE", "/" + id + "?documentEntityType=", "", "documentEntityType", "EnumValidator", "null"},
	} {
		status, _, data := d.complaint(tt.method, documentCommands+tt.path, tt.body)
		var list []struct {
			PropertyName, ErrorCode string
			AttemptedValue          json.RawMessage
		}
		if err := json.Unmarshal(data, &list); err != nil || status != 400 || len(list) != 1 || list[0].PropertyName != tt.property || list[0].ErrorCode != tt.code ||
			string(list[0].AttemptedValue) != tt.sent {
			t.Errorf("%s %.100s %.100s: %d %s", tt.method, tt.path, tt.body, status, data)
		}
	}
	d.ends(400, "GET", documentQueries+"/not-a-uuid", "")
	d.ends(400, "GET", documentQueries+"/signedurl/not-a-uuid", "")
	d.ends(400, "GET", documentQueries+"/entity/e?deduplicationEnabled=perhaps", "")
	d.ends(202, "PUT", documentCommands+"/"+id+"/requirement-ids", `[]`)
	d.ends(202, "PUT", documentCommands+"/"+id+"/requirement-ids", different(100))
	d.ends(202, "PUT", documentCommands+"/"+id+"/datakey", `""`)
	d.ends(202, "PUT", documentCommands+"/"+id+"/datakey", quoted(255))
	if status, header, text := d.call("PUT", documentCommands+"/"+id+"/datakey", "text/plain", `"k"`); status != http.StatusBadRequest {
		t.Errorf("without a tenant: %d %v %s", status, header, text)
	}
	d.ends(202, "DELETE", documentCommands+"/"+id+"?skipStatusReset=true&requirementModelId="+uuid.NewString()+"&documentEntityType=entity", "")
}

// A document stays below the store's limit, whatever its parts are.
func TestTooLargeDocument(t *testing.T) {
	d := enter(t, home)
	id := d.newFile("")
	var parts []string
	for i := range 40 {
		parts = append(parts, fmt.Sprintf(`"k%d":{"type":"Single","value":%s}`, i, quoted(9_900)))
	}
	large := `{"data":{"properties":{` + strings.Join(parts, ",") + `}}}`
	status, _, text := d.platformAs(home.TenantID, "PUT", documentCommands+"/"+id, large)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "document_too_large") {
		t.Errorf("%d %.200s", status, text)
	}
}
