package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestDocumentBodies(t *testing.T) {
	api := begin(t, manyRequests)
	var all []bodyEndpoint
	all = append(all, documentCreationEndpoints()...)
	all = append(all, documentChangeEndpoints(api)...)
	all = append(all, documentQueryEndpoints()...)
	checkBodies(t, api, all)
}

// keyRefusals are what an ID or a key of another system may not be: longer than 255 bytes.
var keyRefusals = refusals{quoted(256): tooLong, `"` + strings.Repeat("é", 128) + `"`: tooLong}

var (
	uuidRefusals      = refusals{`"x"`: notUUID, quoted(36): notUUID}
	entityIDField     = bodyField{"entityId", "string", true, keyRefusals.and(`""`, notNull)}
	fileNameField     = bodyField{"fileName", "string", true, fileNameRefusals}
	accessLayersField = bodyField{"accessLayers", "object", false, layerRefusals}
)

// fileNameRefusals are what a file may not be called: names that hide their kind or name a place.
var fileNameRefusals = nameRefusals.and(`""`, notNull).and(`"a.exe/"`, badFileName).and(`"a.exe\\"`, badFileName).
	and(`"../a.pdf"`, badFileName).and(`"invoice\u202efdp.exe"`, badFileName).and(`"a\nb.pdf"`, badFileName).
	and(`"a.exe."`, badFileName).and(`"a.exe "`, badFileName)

const badFileName = "FileNameValidator"

// urlRefusals are what the link of a virtual document may not be.
var urlRefusals = refusals{
	`"http://example.com"`:              badURL,
	`"javascript:alert(1)"`:             badURL,
	`"/a"`:                              badURL,
	`"//example.com/a"`:                 badURL,
	`"https://"`:                        badURL,
	`"https://:443/a"`:                  badURL,
	`"https:example.com"`:               badURL,
	`"https://me:secret@example.com/a"`: badURL,
	`" https://example.com"`:            badURL,
	`"https://example.com/\n"`:          badURL,
	`"ftp://example.com/a"`:             badURL,
	`"data:text/html,x"`:                badURL,
	`"https://example.com/\"onclick=x"`: badURL,
	`"https://example.com/<script>"`:    badURL,
	`"https://example.com/'x'"`:         badURL,
	`"https://localhost/a"`:             badURL,
	`"https://127.0.0.1/a"`:             badURL,
	`"https://169.254.169.254/latest"`:  badURL,
	`"https://[fe80::1]/a"`:             badURL,
	`"https://[::ffff:169.254.1.1]/a"`:  badURL,
	`"https://2852039166/a"`:            badURL,
	`"https://0x7f.1/a"`:                badURL,
	`"https://１２７.１/a"`:                 badURL, // fullwidth digits, which browsers read as 127.1
	`"https://ｌｏｃａｌｈｏｓｔ/a"`:             badURL,
	`"https://bücher.example/a"`:        badURL,
	`"https://example.com:65536/a"`:     badURL,
	`"https://example.com/\u202efdp"`:   badURL,
	`"https://example.com/` + strings.Repeat("x", 2048-19) + `"`: tooLong,
}

func nameField(name string) bodyField { return bodyField{name, "string", false, nameRefusals} }

func flagField(name string) bodyField {
	return bodyField{name, "bool", false, refusals{`"true"`: "bool_type"}}
}

// documentCreationEndpoints create documents, with a file or as a link.
func documentCreationEndpoints() []bodyEndpoint {
	document := []bodyField{
		fileNameField, entityIDField,
		{"journeyId", "string", false, keyRefusals},
		{"requestType", "string", false, refusals{`"thing"`: notInEnum}},
		nameField("documentType"), nameField("friendlyName"), nameField("documentDataKey"),
		{"documentRequirementIds", "array", false, namesRefusals},
		propertiesField("properties", false),
		accessLayersField,
		{"policyEnforcedAccessLayers", "object", false, layerRefusals},
		flagField("isDocumentForESignature"), flagField("comesFromESignatureProvider"), flagField("autoClassify"),
		{"metadata", "object", false, refusals{
			`{"a":1}`:                      "string_type",
			`{"":"a"}`:                     notNull,
			`{` + quoted(256) + `:"a"}`:    tooLong,
			`{"a":` + quoted(10_001) + `}`: tooLong,
		}},
		{"requirementModelId", "string", false, uuidRefusals},
	}
	link := bodyField{"documentURL", "string", true, urlRefusals.and(`""`, notNull)}
	file := map[string]string{"fileName": `"a.pdf"`, "entityId": `"e"`}
	linked := map[string]string{"fileName": `"a"`, "entityId": `"e"`, "documentURL": `"https://example.com/a"`}
	return []bodyEndpoint{
		{"create", "POST", fixed(documentCommands), file, document, false},
		{"link", "POST", fixed(documentCommands + "/virtual"), linked, append(document, link), false},
		{"link of a product", "POST", fixed(documentCommands + "/product/virtual"), linked, []bodyField{link}, false},
		{"link of a deal", "POST", fixed(documentCommands + "/deal/virtual"), linked, []bodyField{link}, false},
	}
}

// documentChangeEndpoints change documents that they create before.
func documentChangeEndpoints(api *session) []bodyEndpoint {
	id, virtualID := api.newDocument(""), api.newVirtualDocument()
	archive := func() string { return documentCommands + "/" + api.newDocument("") + "/archive" }
	longText := refusals{quoted(10_001): tooLong}
	requiredLayers := accessLayersField
	requiredLayers.required = true
	return []bodyEndpoint{
		{"update", "PUT", fixed(documentCommands + "/" + virtualID), map[string]string{}, []bodyField{
			nameField("documentType"), nameField("friendlyName"), nameField("documentDataKey"),
			// The link is optional here, so that an empty one is not a link, instead of missing.
			{"documentURL", "string", false, urlRefusals.and(`""`, badURL)},
			{"documentRequirementIds", "array", false, namesRefusals.and(`["a","b","a"]`, notUnique)},
			propertiesField("properties", false), flagField("skipStatusReset"),
		}, false},
		{"update a file's link", "PUT", fixed(documentCommands + "/" + id), map[string]string{},
			[]bodyField{{"documentURL", "string", false, refusals{`"https://example.com/a"`: badURL}}}, false},
		{"layers", "PUT", fixed(documentCommands + "/" + id + "/access-layers"),
			map[string]string{"accessLayers": "{}"}, []bodyField{requiredLayers}, false},
		{"clone", "PUT", fixed(documentCommands + "/" + id + "/clone"), map[string]string{}, []bodyField{
			{"Id", "string", false, uuidRefusals},
			nameField("DocumentDataKey"),
			{"EntityId", "string", false, keyRefusals.and(`""`, notNull)},
			{"JourneyId", "string", false, keyRefusals},
			{"DocumentRequirementIds", "array", false, namesRefusals},
			{"AccessLayers", "object", false, layerRefusals},
			{"requirementModelId", "string", false, uuidRefusals},
			flagField("skipStatusReset"),
		}, false},
		{"custom error", "PUT", fixed(documentCommands + "/custom-error/" + id),
			map[string]string{"errorCode": `"NOT_APPLICABLE"`}, []bodyField{
				{"errorCode", "string", true,
					refusals{`"OTHER"`: notInEnum, `"not_applicable"`: notInEnum, `""`: notNull}},
				{"errorMessage", "string", false, longText},
			}, false},
		{"archive", "POST", archive, map[string]string{"archivalReason": `"old"`},
			[]bodyField{{"archivalReason", "string", true, longText.and(`""`, notNull)}}, false},
		{"new file", "PUT", fixed(documentCommands + "/updateFile"),
			map[string]string{"id": `"` + id + `"`, "fileName": `"b.pdf"`}, []bodyField{
				{"id", "string", true, refusals{`"x"`: notUUID, `"` + virtualID + `"`: "FileValidator"}}, fileNameField,
			}, false},
	}
}

// documentQueryEndpoints are the queries that take a body.
func documentQueryEndpoints() []bodyEndpoint {
	entity := map[string]string{"entityId": `"e"`}
	pageSize := bodyField{"pageSize", "integer", false, refusals{"0": notInRange, "501": notInRange, "-1": notInRange,
		"1.5": "integer_type"}}
	statusRefusals := refusals{`"completed"`: notInEnum}
	return []bodyEndpoint{
		{"page", "POST", fixed(documentQueries + "/entity/paged"), entity, []bodyField{
			entityIDField, pageSize,
			{"startIndex", "integer", false, refusals{"-1": notInRange, "2147483648": notInRange}},
			flagField("deduplicationEnabled"),
		}, false},
		{"lite page", "POST", fixed(documentQueries + "/entity/paged/lite/v2"), entity, []bodyField{
			entityIDField, pageSize,
			{"paginationToken", "string", false, refusals{`"x"`: badPaging}},
			{"status", "string", false, statusRefusals},
			{"excludeStatus", "string", false, statusRefusals},
			{"additionalColumns", "array", false, refusals{`["x"]`: notInEnum, `[1]`: "string_type", `[""]`: notNull}},
		}, false},
	}
}

// parameterRefusal is a request that is refused because of a path, a query or a body without an envelope.
type parameterRefusal struct {
	method, path, body string
	// property, code and attempted are those of the validation error.
	property, code, attempted string
}

// textList returns a JSON array of n different texts.
func textList(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"r%d"`, i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func parameterRefusals(id string) []parameterRefusal {
	requirements, dataKey := "/"+id+"/requirement-ids", "/"+id+"/datakey"
	const entityType = "documentEntityType"
	return []parameterRefusal{
		{"PUT", requirements, "", "body", notNull, "null"},
		{"PUT", requirements, "null", "body", notNull, "null"},
		{"PUT", requirements, `{}`, "body", "type", "null"},
		{"PUT", requirements, `"a"`, "body", "type", `"a"`},
		{"PUT", requirements, `["a",1]`, "body", "type", "null"},
		{"PUT", requirements, `["a",null]`, "documentRequirementIds.1", notNull, "null"},
		{"PUT", requirements, `["a","b","a"]`, "documentRequirementIds", notUnique, "null"},
		{"PUT", requirements, `[` + quoted(256) + `]`, "documentRequirementIds.0", tooLong, quoted(256)},
		{"PUT", requirements, textList(101), "documentRequirementIds", tooMany, "null"},
		{"PUT", dataKey, "", "body", notNull, "null"},
		{"PUT", dataKey, "null", "body", notNull, "null"},
		{"PUT", dataKey, "7", "body", "type", "7"},
		{"PUT", dataKey, `{"data":"k"}`, "body", "type", "null"},
		{"PUT", dataKey, `"k" "l"`, "body", "type", "null"},
		{"PUT", dataKey, quoted(256), "documentDataKey", tooLong, quoted(256)},
		{"PUT", "/not-a-uuid", `{"data":{}}`, "id", notUUID, `"not-a-uuid"`},
		{"PUT", "/error/not-a-uuid", "", "id", notUUID, `"not-a-uuid"`},
		{"DELETE", "/not-a-uuid", "", "id", notUUID, `"not-a-uuid"`},
		{"DELETE", "/" + id + "?skipStatusReset=perhaps", "", "skipStatusReset", "bool_type", `"perhaps"`},
		{"DELETE", "/" + id + "?requirementModelId=x", "", "requirementModelId", notUUID, `"x"`},
		{"DELETE", "/" + id + "?documentEntityType=thing", "", entityType, notInEnum, `"thing"`},
		{"DELETE", "/" + id + "?documentEntityType=Entity&documentEntityType=Entity", "", entityType, notInEnum,
			`"Entity"`},
		{"DELETE", "/" + id + "?documentEntityType=", "", entityType, notInEnum, "null"},
	}
}

// Two commands take a value without an envelope; paths and queries are checked as bodies are.
func TestDocumentParameters(t *testing.T) {
	api := begin(t)
	id := api.newDocument("")
	for _, test := range parameterRefusals(id) {
		r := api.callPlatform(test.method, documentCommands+test.path, test.body)
		var got []struct {
			PropertyName, ErrorCode string
			AttemptedValue          json.RawMessage
		}
		err := json.Unmarshal(r.Data, &got)
		isExpected := err == nil && r.status == 400 && len(got) == 1 && got[0].PropertyName == test.property &&
			got[0].ErrorCode == test.code && string(got[0].AttemptedValue) == test.attempted
		assert(t, isExpected,
			"%s %.100s %.100s: %d %.500s, want 400 with the property %s, the code %s and the attempted value %.100s",
			test.method, test.path, test.body, r.status, r.text, test.property, test.code, test.attempted)
	}
	requirements, dataKey := "/"+id+"/requirement-ids", "/"+id+"/datakey"
	tooLong := strings.Repeat("x", 256)
	for _, path := range []string{
		"/not-a-uuid", "/signedurl/not-a-uuid", "/entity/e?deduplicationEnabled=perhaps",
		"/entity/" + tooLong, "/journey/" + tooLong, "/entity/e/journey/" + tooLong,
	} {
		api.expect(400, "GET", documentQueries+path, "")
	}
	api.expect(202, "PUT", documentCommands+requirements, `[]`)
	api.expect(202, "PUT", documentCommands+requirements, textList(100))
	api.expect(202, "PUT", documentCommands+dataKey, `""`)
	api.expect(202, "PUT", documentCommands+dataKey, quoted(255))
	api.call("PUT", documentCommands+dataKey, `"k"`, "X-Tenant-Id", "").expect(t, 400)
	api.expect(202, "DELETE", documentCommands+"/"+id+
		"?skipStatusReset=true&documentEntityType=entity&requirementModelId="+
		uuid.NewString(), "")
}

// A document that does not fit into an item of the table is refused.
func TestTooLargeDocument(t *testing.T) {
	api := begin(t)
	id := api.newDocument("")
	var parts []string
	for i := range 40 {
		parts = append(parts, fmt.Sprintf(`"k%d":{"type":"Single","value":%s}`, i, quoted(9_900)))
	}
	r := api.callPlatform("PUT", documentCommands+"/"+id, `{"data":{"properties":{`+strings.Join(parts, ",")+`}}}`)
	assert(t, r.status == http.StatusRequestEntityTooLarge && strings.Contains(string(r.text), "document_too_large"),
		"got %d %.200s, want 413 with document_too_large", r.status, r.text)
}
