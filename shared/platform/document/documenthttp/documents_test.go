package documenthttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documenthttp"
)

// typedCommands are the commands that exist for general entities, products and deals alike: method, path after the
// prefix, body.
var typedCommands = []struct{ method, path, body string }{
	{"PUT", "/%s", `{"data":{"friendlyName":"x"}}`},
	{"PUT", "/%s/access-layers", `{"data":{"accessLayers":{"geographic":["Global"]}}}`},
	{"PUT", "/%s/clone", `{"data":{}}`},
	{"PUT", "/%s/requirement-ids", `["r"]`},
	{"PUT", "/%s/datakey", `"k"`},
	{"PUT", "/%s/updateDocumentUploadedByUserName", ""},
	{"PUT", "/error/%s", ""},
	{"PUT", "/custom-error/%s", `{"data":{"errorCode":"SERVER_SIDE_ERROR","errorMessage":"m"}}`},
	{"DELETE", "/%s", ""},
}

// A command finds documents of the entity type that the parameter names or, without it, of the route's type.
func TestEntityTypeOfCommands(t *testing.T) {
	f := newFixture(t)
	routeOf := map[string]string{"Entity": "", "Product": "/product", "Deal": "/deal", "Screening": "no route"}
	for _, kind := range []string{"Entity", "Product", "Deal", "Screening"} {
		id, other := f.createDocument(kind), "Deal"
		if kind == other {
			other = "screening"
		}
		for _, command := range typedCommands {
			for _, route := range []string{"", "/product", "/deal"} {
				if strings.HasSuffix(command.path, "UserName") && route != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s %s%s of %s", command.method, route, command.path, kind), func(t *testing.T) {
					path := commands + route + fmt.Sprintf(command.path, id)
					expect := func(query string, want int) string {
						t.Helper()
						code, body := f.send(command.method, path+query, command.body, nil)
						if code != want {
							t.Errorf("%s: got %d %s, want %d", query, code, body, want)
						}
						return body
					}
					isDelete, isOwnRoute := command.method == "DELETE", route == routeOf[kind]
					notFound := 404
					if isDelete {
						notFound = 400
					}
					switch {
					case isDelete && isOwnRoute:
						return // the document is deleted below
					case isOwnRoute:
						expect("", 202)
					default:
						difftest.Contains(t, "expect", expect("", notFound), "There is no such document.")
					}
					expect("?documentEntityType="+other, notFound)
					difftest.Contains(t, "expect", expect("?documentEntityType=thing", 400), `"documentEntityType"`)
					if !isDelete {
						expect("?documentEntityType="+strings.ToUpper(kind), 202)
					}
				})
			}
		}
		difftest.Reply(t, "DELETE of "+kind, 202)(
			f.send("DELETE", commands+"/"+id+"?documentEntityType="+kind, "", nil))
	}
}

func TestBadDocuments(t *testing.T) {
	f := newFixture(t)
	id, long := f.createDocument("Entity"), strings.Repeat("x", 256)
	const create = `{"fileName":"a","entityId":"e"`
	for _, tt := range []struct{ method, path, body, property string }{
		{"POST", "", `{"data":{"entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":{"fileName":null,"entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":{"fileName":"a","entityId":""}}`, "entityId"},
		{"POST", "", `{"data":{"fileName":1,"entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":{"fileName":"` + long + `","entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":` + create + `,"x":1}}`, "x"},
		{"POST", "", `{"data":` + create + `,"requestType":"x"}}`, "requestType"},
		{"POST", "", "", "data"},
		{"POST", "/virtual", `{"data":` + create + `}}`, "documentURL"},
		{"POST", "/virtual", `{"data":` + create + `,"documentURL":"http://a/b"}}`, "documentURL"},
		{"POST", "/virtual", `{"data":` + create + `,"documentURL":"/b"}}`, "documentURL"},
		{"PUT", "/" + id, `{"data":{"friendlyName":"` + long + `"}}`, "friendlyName"},
		{"PUT", "/" + id, `{"data":{"friendlyName":"a\u202eb"}}`, "friendlyName"},
		{"PUT", "/" + id, `{"data":{"documentType":"a\nb"}}`, "documentType"},
		{"POST", "", `{"data":` + create + `,"metadata":{"k":"\u0000"}}}`, "metadata.k"},
		{"POST", "", `{"data":` + create + `,"metadata":{"\u2066k":"v"}}}`, "metadata"},
		{"PUT", "/" + id, `{"data":{"documentURL":"https://a/b"}}`, "documentURL"},
		{"PUT", "/" + id, `{"data":{"documentRequirementIds":["a","a"]}}`, "documentRequirementIds"},
		{"PUT", "/1", `{"data":{}}`, "id"},
		{"PUT", "/" + id + "/access-layers", `{"data":{}}`, "accessLayers"},
		{"PUT", "/" + id + "/clone", `{"data":{"Id":"x"}}`, "Id"},
		{"PUT", "/" + id + "/clone", `{"data":{"Id":""}}`, "Id"},
		{"PUT", "/" + id + "/clone", `{"data":{"requirementModelId":""}}`, "requirementModelId"},
		{"PUT", "/" + id + "/clone", `{"data":{"id":"x"}}`, "id"},
		{"POST", "", `{"data":{"fileName":"a.pdf","entityId":"e","requirementModelId":""}}`, "requirementModelId"},
		{"POST", "", `{"data":{"fileName":"a.pdf","entityId":"e","requestType":""}}`, "requestType"},
		{"POST", "/virtual", `{"data":{"fileName":"a","entityId":"e","documentURL":"https://a/b",` +
			`"requirementModelId":""}}`, "requirementModelId"},
		{"PUT", "/" + id + "/requirement-ids", `["a","a"]`, "documentRequirementIds"},
		{"PUT", "/" + id + "/requirement-ids", `{}`, "body"},
		{"PUT", "/" + id + "/datakey", `1`, "body"},
		{"PUT", "/" + id + "/datakey", `"` + long + `"`, "documentDataKey"},
		{"PUT", "/custom-error/" + id, `{"data":{"errorCode":"x"}}`, "errorCode"},
		{"POST", "/" + id + "/archive", `{"data":{}}`, "archivalReason"},
		{"DELETE", "/" + id + "?skipStatusReset=x", "", "skipStatusReset"},
		{"DELETE", "/" + id + "?requirementModelId=x", "", "requirementModelId"},
	} {
		name := fmt.Sprintf("%s %s %.60s", tt.method, strings.ReplaceAll(tt.path, id, "ID"), tt.body)
		t.Run(name, func(t *testing.T) {
			code, body := f.send(tt.method, commands+tt.path, tt.body, nil)
			if code != 400 || !strings.Contains(body, `"propertyName":"`+tt.property+`"`) {
				t.Errorf("got %d %s, want 400 with the property %s", code, body, tt.property)
			}
		})
	}
	f.caller.Tenant = uuid.NewString()
	difftest.Reply(t, "another tenant's document", 404)(f.send("GET", queries+"/"+id, "", nil))
	f.caller.Permissions = nil
	difftest.Reply(t, "without permission", 403, "DocumentManagementEdit")(
		f.send("PUT", commands+"/"+id, `{"data":{}}`, nil))
}

// Paths, queries and bodies without an envelope are checked as other bodies are; the error shows what was sent.
func TestBadParameters(t *testing.T) {
	f := newFixture(t)
	id := f.createDocument("Entity")
	long := `"` + strings.Repeat("x", 256) + `"`
	ids := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprint("r", i))
		}
		return `["` + strings.Join(all, `","`) + `"]`
	}
	requirements, dataKey, entityType := "/"+id+"/requirement-ids", "/"+id+"/datakey", "documentEntityType"
	for _, tt := range []struct{ method, path, body, property, code, attempted string }{
		{"PUT", requirements, "", "body", platform.CodeRequired, "null"},
		{"PUT", requirements, "null", "body", platform.CodeRequired, "null"},
		{"PUT", requirements, `"a"`, "body", "type", `"a"`},
		{"PUT", requirements, `["a",1]`, "body", "type", "null"},
		{"PUT", requirements, `["a",null]`, "documentRequirementIds.1", platform.CodeRequired, "null"},
		{"PUT", requirements, `["a","b","a"]`, "documentRequirementIds", "UniqueValidator", "null"},
		{"PUT", requirements, `[` + long + `]`, "documentRequirementIds.0", platform.CodeLength, long},
		{"PUT", requirements, ids(101), "documentRequirementIds", "MaximumCountValidator", "null"},
		{"PUT", dataKey, "", "body", platform.CodeRequired, "null"},
		{"PUT", dataKey, "7", "body", "type", "7"},
		{"PUT", dataKey, `{"data":"k"}`, "body", "type", "null"},
		{"PUT", dataKey, `"k" "l"`, "body", "type", "null"},
		{"PUT", dataKey, long, "documentDataKey", platform.CodeLength, long},
		{"PUT", "/x", `{"data":{}}`, "id", "GuidValidator", `"x"`},
		{"PUT", "/error/x", "", "id", "GuidValidator", `"x"`},
		{"DELETE", "/x", "", "id", "GuidValidator", `"x"`},
		{"DELETE", "/" + id + "?skipStatusReset=perhaps", "", "skipStatusReset", "bool_type", `"perhaps"`},
		{"DELETE", "/" + id + "?requirementModelId=x", "", "requirementModelId", "GuidValidator", `"x"`},
		{"DELETE", "/" + id + "?documentEntityType=thing", "", entityType, "EnumValidator", `"thing"`},
		{"DELETE", "/" + id + "?documentEntityType=Deal&documentEntityType=Deal", "", entityType, "EnumValidator",
			`"Deal"`},
		{"DELETE", "/" + id + "?documentEntityType=", "", entityType, "EnumValidator", "null"},
	} {
		var got []struct {
			PropertyName, ErrorCode string
			AttemptedValue          json.RawMessage
		}
		code, body := f.send(tt.method, commands+tt.path, tt.body, &got)
		if code != 400 || len(got) != 1 || got[0].PropertyName != tt.property || got[0].ErrorCode != tt.code ||
			string(got[0].AttemptedValue) != tt.attempted {
			t.Errorf("%s %s %.60s: got %d %.300s, want 400 with %s, %s and %.60s", tt.method, tt.path, tt.body, code,
				body, tt.property, tt.code, tt.attempted)
		}
	}
	for _, path := range []string{"/x", "/signedurl/x", "/entity/e?deduplicationEnabled=perhaps"} {
		difftest.Reply(t, "GET "+path, 400)(f.send("GET", queries+path, "", nil))
	}
	for _, tt := range [][3]string{{"PUT", requirements, `[]`}, {"PUT", requirements, ids(100)}, {"PUT", dataKey, `""`},
		{"PUT", dataKey, strings.Replace(long, "x", "", 1)},
		{"DELETE", "/" + id + "?skipStatusReset=true&documentEntityType=entity&requirementModelId=" + id, ""}} {
		difftest.Reply(t, fmt.Sprintf("%s %s %.60s", tt[0], tt[1], tt[2]), 202)(
			f.send(tt[0], commands+tt[1], tt[2], nil))
	}
}

func TestCloneSharesItsFile(t *testing.T) {
	f := newFixture(t)
	id := f.createDocument("Entity")
	d, _, err := f.store.Get(f.Context(), tenant, id)
	errtest.Fatal(t, err)
	copyID := uuid.NewString()
	clone := commands + "/" + id + "/clone"
	var c struct{ Id, DocumentKey, EntityId string }
	if code, body := f.send("PUT", clone, `{"data":{"Id":"`+copyID+`","EntityId":"other"}}`, &c); code != 202 ||
		c.Id != copyID || c.DocumentKey != d.FileID || c.EntityId != "other" {
		t.Fatalf("got %d %s, want 202 with %s of the entity other and the file %s", code, body, copyID, d.FileID)
	}
	difftest.Reply(t, "an ID that is taken", 409, `"CONFLICT"`)(
		f.send("PUT", clone, `{"data":{"Id":"`+copyID+`"}}`, nil))
	errtest.Fatal(t, f.store.RecordScan(f.Context(), tenant, d.FileID,
		document.State{Status: document.Completed}))
	var m struct {
		Status   string
		IsCloned bool
	}
	if f.send("GET", queries+"/"+copyID, "", &m); m.Status != "Completed" || !m.IsCloned {
		t.Errorf("got the clone %+v, want the status of the file", m)
	}
	f.send("DELETE", commands+"/"+id, "", nil)
	difftest.Len(t, "deletions while a clone shares the file", 0, f.bucket.deleted)
	f.bucket.fail = errors.New("no storage")
	difftest.Reply(t, "while the storage fails", 503, "INTERNAL_SERVER_ERROR")(
		f.send("DELETE", commands+"/"+copyID, "", nil))
	if code, body := f.send("DELETE", commands+"/"+copyID, "", nil); code != 202 || len(f.bucket.deleted) != 1 ||
		f.bucket.deleted[0] != "documents/"+tenant+"/"+d.FileID {
		t.Errorf("again: got %d %s and the deletions %v, want 202 and the deletion of the file",
			code, body, f.bucket.deleted)
	}
}

func TestReading(t *testing.T) {
	f := newFixture(t)
	id := f.createDocument("")
	f.send("PUT", commands+"/"+id+"/clone", `{"data":{}}`, nil)
	difftest.Reply(t, "reply", 202)(
		f.send("POST", commands+"/deal/virtual",
			`{"data":{"fileName":"v","entityId":"e","documentURL":"https://a/b"}}`, nil))
	for path, want := range map[string]int{
		"/entity/e": 3, "/entity/e?deduplicationEnabled=true": 2, "/journey/j": 2, "/entity/e/journey/j": 2,
		"/entity/none": 0,
	} {
		var all []struct{ ID string }
		if code, body := f.send("GET", queries+path, "", &all); code != 200 || len(all) != want {
			t.Errorf("%s: got %d %s, want %d documents", path, code, body, want)
		}
	}
	tooLong := strings.Repeat("x", 256)
	for _, path := range []string{"/entity/" + tooLong, "/journey/" + tooLong, "/entity/e/journey/" + tooLong} {
		difftest.Reply(t, "an ID of 256 bytes", 400, "MaximumLengthValidator")(f.send("GET", queries+path, "", nil))
	}
	for size, more := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		var p documenthttp.PageReply
		code, body := f.send("POST", queries+"/entity/paged",
			fmt.Sprintf(`{"data":{"entityId":"e","pageSize":%d}}`, size), &p)
		if code != 200 || p.HasMoreItems != more || p.ItemsCount != 3 || len(p.Items) != min(size, 3) ||
			p.TotalPagedItemsReturned != len(p.Items) {
			t.Errorf("pages of %d: got %d %s, want 3 documents in all, more: %t", size, code, body, more)
		}
	}
	difftest.Reply(t, "a document without its file", 404)(f.send("GET", queries+"/signedurl/"+id, "", nil))
	for _, path := range []string{"/mimeTypesAllowed", "/supportedFileExtensions"} {
		var all []string
		if code, _ := f.send("GET", queries+path, "", &all); code != 200 || len(all) < 10 {
			t.Errorf("%s: got %d %v, want at least 10", path, code, all)
		}
	}
	for i, want := range []string{"Archived", "Processing"} {
		action := []string{"/archive", "/unarchive"}[i]
		difftest.Reply(t, action, 202)(f.send("POST", commands+"/"+id+action, `{"data":{"archivalReason":"old"}}`, nil))
		var m struct{ Status string }
		if f.send("GET", queries+"/"+id, "", &m); m.Status != want {
			t.Errorf("after %s: got %s, want %s", action, m.Status, want)
		}
	}
}

// A caller without the access layers of a document reads that it exists, without its content, and may not change it.
func TestLayers(t *testing.T) {
	f := newFixture(t)
	var n struct{ ID string }
	const create = `{"data":{"fileName":"a","entityId":"e","documentDataKey":"k","policyEnforcedAccessLayers":{` +
		`"geographic":["EU"]}}}`
	difftest.Reply(t, "layers that lock the caller out", 400, `"AccessLayersValidator"`)(
		f.send("POST", commands, create, nil))
	own := f.caller.Layers
	f.caller.Layers = access.Layers{Geographic: []string{"EU"}}
	f.send("POST", commands, create, &n)
	f.send("PUT", commands+"/custom-error/"+n.ID, `{"data":{"errorCode":"NOT_APPLICABLE","errorMessage":"sanctions"}}`,
		nil)
	f.send("POST", commands+"/"+n.ID+"/archive", `{"data":{"archivalReason":"tip"}}`, nil)
	var m documenthttp.DocumentReply
	if f.send("GET", queries+"/"+n.ID, "", &m); m.ArchivalReason == nil || m.DocumentDataKey == nil ||
		*m.DocumentDataKey != "k" {
		t.Errorf("in reach: got %+v, want its content", m)
	}
	f.caller.Layers = own
	m = documenthttp.DocumentReply{}
	if f.send("GET", queries+"/"+n.ID, "", &m); m.HasRequiredAccessLayers || m.FileName != nil || m.Properties != nil ||
		m.ArchivalReason != nil || m.ErrorMessage != nil || m.Explanation != nil || m.DocumentDataKey != nil {
		t.Errorf("out of reach: got %+v, want no content", m)
	}
	for _, command := range typedCommands {
		code, body := f.send(command.method, commands+fmt.Sprintf(command.path, n.ID), command.body, nil)
		if code != 403 {
			t.Errorf("%s %s: got %d %s, want 403", command.method, command.path, code, body)
		}
	}
	f.caller.Layers = access.Layers{Geographic: []string{"EU"}}
	f.send("PUT", commands+"/"+n.ID+"/access-layers", `{"data":{"accessLayers":{"geographic":["US"]}}}`, nil)
	if f.send("GET", queries+"/"+n.ID, "", &m); !m.HasRequiredAccessLayers || len(m.AccessLayers.Geographic) != 2 {
		t.Errorf("got %+v, want the policy's layer kept beside the new one", m)
	}
}
