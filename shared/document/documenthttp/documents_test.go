package documenthttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/document/documentdb"
	"sluice/shared/document/documenthttp"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/objects"
)

const (
	tenant   = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	commands = "/documentmanagementcommand/api/v2/documentmanagement"
	queries  = "/documentmanagementquery/api/documentmanagement"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

type bucket struct {
	deleted []string
	fail    error // of the next deletion
}

func (b *bucket) SignPut(_ context.Context, key string, _ time.Duration) (objects.SignedURL, error) {
	return objects.SignedURL{URL: "https://put/" + key, Headers: map[string]string{"If-None-Match": "*"}}, nil
}

func (b *bucket) SignGet(_ context.Context, key, name string, _ time.Duration) (objects.SignedURL, error) {
	return objects.SignedURL{URL: "https://get/" + key + "/" + name}, nil
}

func (b *bucket) Delete(_ context.Context, key string) error {
	if err := b.fail; err != nil {
		b.fail = nil
		return err
	}
	b.deleted = append(b.deleted, key)
	return nil
}

type fixture struct {
	*testing.T
	bucket *bucket
	store  *documentdb.Store
	caller httpapi.Caller
	paging *platform.Paging
}

func newFixture(t *testing.T) *fixture {
	store := documentdb.New(dynamotest.Start(t), "test-documents")
	return &fixture{t, &bucket{}, store, httpapi.Caller{
		Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
		Permissions: []string{"DocumentManagementAccess", "DocumentManagementCreate", "DocumentManagementCreateVirtual",
			"DocumentManagementEdit", "DocumentManagementDelete"},
	}, platform.LoadPaging(t.Context(), store)}
}

// send makes a call; the data of its reply goes into data if there is one.
func (f *fixture) send(method, path, body string, data any) (int, string) {
	f.Helper()
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		f.Fatal(err)
	}
	s := &documenthttp.Documents{Store: f.store, Files: f.bucket, Now: func() time.Time { return now }, NewID: uuid.NewString, Paging: f.paging}
	h := httpapi.Lambda(platform.Handler(s.Routes(), slog.New(slog.DiscardHandler), func() time.Time { return now }))
	r, err := h(f.Context(), events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: values,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {f.caller.Tenant}, "Content-Type": {"application/json"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: f.caller.Context()},
	})
	if err != nil {
		f.Fatal(err)
	}
	if data != nil {
		if err := json.Unmarshal([]byte(r.Body), &struct{ Data any }{data}); err != nil {
			f.Fatalf("%v: %s", err, r.Body)
		}
	}
	return r.StatusCode, r.Body
}

func (f *fixture) create(kind string) string {
	f.Helper()
	var n struct{ ID, Status, SignedURLToUpload string }
	code, body := f.send("POST", commands, `{"data":{"fileName":"a.pdf","entityId":"e","journeyId":"j","requestType":"`+kind+`"}}`, &n)
	if code != 202 || n.Status != "Processing" || !strings.HasPrefix(n.SignedURLToUpload, "https://put/documents/"+tenant+"/") {
		f.Fatalf("%d %s", code, body)
	}
	return n.ID
}

// nine are the commands that exist for general entities, products and deals alike: method, path after the prefix, body.
var nine = [][3]string{
	{"PUT", "/%s", `{"data":{"friendlyName":"x"}}`}, {"PUT", "/%s/access-layers", `{"data":{"accessLayers":{"geographic":["Global"]}}}`},
	{"PUT", "/%s/clone", `{"data":{}}`}, {"PUT", "/%s/requirement-ids", `["r"]`}, {"PUT", "/%s/datakey", `"k"`},
	{"PUT", "/%s/updateDocumentUploadedByUserName", ""}, {"PUT", "/error/%s", ""},
	{"PUT", "/custom-error/%s", `{"data":{"errorCode":"SERVER_SIDE_ERROR","errorMessage":"m"}}`}, {"DELETE", "/%s", ""},
}

// The parameter decides the entity type if it is given, and else the route does.
func TestEntityTypeRule(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"Entity", "Product", "Deal", "Screening"} {
		id := f.create(kind)
		for _, command := range nine {
			for _, route := range []string{"", "/product", "/deal"} {
				if strings.HasSuffix(command[1], "UserName") && route != "" {
					continue
				}
				path := commands + route + fmt.Sprintf(command[1], id)
				own := route == map[string]string{"Entity": "", "Product": "/product", "Deal": "/deal", "Screening": "-"}[kind]
				missing := 404
				if command[0] == "DELETE" {
					if missing = 400; own {
						continue // goes at the end
					}
				}
				want := 202
				if !own {
					want = missing
				}
				if code, body := f.send(command[0], path, command[2], nil); code != want {
					t.Errorf("%s %s of %s: %d, want %d: %s", command[0], path, kind, code, want, body)
				}
				other := "Deal"
				if kind == other {
					other = "screening"
				}
				if code, body := f.send(command[0], path+"?documentEntityType="+other, command[2], nil); code != missing {
					t.Errorf("%s %s as %s: %d %s", command[0], path, other, code, body)
				}
				if code, body := f.send(command[0], path+"?documentEntityType=thing", command[2], nil); code != 400 || !strings.Contains(body, `"documentEntityType"`) {
					t.Errorf("%s %s as thing: %d %s", command[0], path, code, body)
				}
				if command[0] == "DELETE" {
					continue
				}
				if code, body := f.send(command[0], path+"?documentEntityType="+strings.ToUpper(kind), command[2], nil); code != 202 {
					t.Errorf("%s %s with parameter: %d %s", command[0], path, code, body)
				}
			}
		}
		if code, body := f.send("DELETE", commands+"/"+id+"?documentEntityType="+kind, "", nil); code != 202 {
			t.Errorf("delete: %d %s", code, body)
		}
	}
}

func TestBadDocuments(t *testing.T) {
	f := newFixture(t)
	id, long := f.create("Entity"), strings.Repeat("x", 256)
	for _, tt := range []struct{ method, path, body, names string }{
		{"POST", "", `{"data":{"entityId":"e"}}`, "fileName"}, {"POST", "", `{"data":{"fileName":null,"entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":{"fileName":"a","entityId":""}}`, "entityId"}, {"POST", "", `{"data":{"fileName":1,"entityId":"e"}}`, "fileName"},
		{"POST", "", `{"data":{"fileName":"` + long + `","entityId":"e"}}`, "fileName"}, {"POST", "", `{"data":{"fileName":"a","entityId":"e","x":1}}`, "x"},
		{"POST", "", `{"data":{"fileName":"a","entityId":"e","requestType":"x"}}`, "requestType"}, {"POST", "", "", "data"},
		{"POST", "/virtual", `{"data":{"fileName":"a","entityId":"e"}}`, "documentURL"},
		{"POST", "/virtual", `{"data":{"fileName":"a","entityId":"e","documentURL":"http://a/b"}}`, "documentURL"},
		{"POST", "/virtual", `{"data":{"fileName":"a","entityId":"e","documentURL":"/b"}}`, "documentURL"},
		{"PUT", "/" + id, `{"data":{"friendlyName":"` + long + `"}}`, "friendlyName"}, {"PUT", "/" + id, `{"data":{"documentURL":"https://a/b"}}`, "documentURL"},
		{"PUT", "/" + id, `{"data":{"documentRequirementIds":["a","a"]}}`, "documentRequirementIds"}, {"PUT", "/1", `{"data":{}}`, "id"},
		{"PUT", "/" + id + "/access-layers", `{"data":{}}`, "accessLayers"}, {"PUT", "/" + id + "/clone", `{"data":{"Id":"x"}}`, "Id"},
		{"PUT", "/" + id + "/clone", `{"data":{"id":"x"}}`, "id"}, {"PUT", "/" + id + "/requirement-ids", `["a","a"]`, "documentRequirementIds"},
		{"PUT", "/" + id + "/requirement-ids", `{}`, "body"}, {"PUT", "/" + id + "/datakey", `1`, "body"}, {"PUT", "/" + id + "/datakey", `"` + long + `"`, "documentDataKey"},
		{"PUT", "/custom-error/" + id, `{"data":{"errorCode":"x"}}`, "errorCode"}, {"POST", "/" + id + "/archive", `{"data":{}}`, "archivalReason"},
		{"DELETE", "/" + id + "?skipStatusReset=x", "", "skipStatusReset"}, {"DELETE", "/" + id + "?requirementModelId=x", "", "requirementModelId"},
	} {
		code, body := f.send(tt.method, commands+tt.path, tt.body, nil)
		if code != 400 || !strings.Contains(body, `"propertyName":"`+tt.names+`"`) {
			t.Errorf("%s %s %.80s: %d %s", tt.method, tt.path, tt.body, code, body)
		}
	}
	f.caller.Tenant = uuid.NewString()
	if code, body := f.send("GET", queries+"/"+id, "", nil); code != 404 {
		t.Errorf("another tenant's document: %d %s", code, body)
	}
	f.caller.Permissions = nil
	if code, body := f.send("PUT", commands+"/"+id, `{"data":{}}`, nil); code != 403 || !strings.Contains(body, "DocumentManagementEdit") {
		t.Errorf("without permission: %d %s", code, body)
	}
}

func TestCloneSharesItsFile(t *testing.T) {
	f := newFixture(t)
	id := f.create("Entity")
	d, _, err := f.store.Get(f.Context(), tenant, id)
	if err != nil {
		t.Fatal(err)
	}
	copyID := uuid.NewString()
	clone := commands + "/" + id + "/clone"
	var c struct{ Id, DocumentKey, EntityId string }
	if code, body := f.send("PUT", clone, `{"data":{"Id":"`+copyID+`","EntityId":"other"}}`, &c); code != 202 || c.Id != copyID || c.DocumentKey != d.FileID || c.EntityId != "other" {
		t.Fatalf("%d %s", code, body)
	}
	if code, body := f.send("PUT", clone, `{"data":{"Id":"`+copyID+`"}}`, nil); code != 409 || !strings.Contains(body, `"CONFLICT"`) {
		t.Errorf("a taken id: %d %s", code, body)
	}
	if err := f.store.RecordScan(f.Context(), tenant, d.FileID, document.State{Status: document.Completed}); err != nil {
		t.Fatal(err)
	}
	var m struct {
		Status   string
		IsCloned bool
	}
	if f.send("GET", queries+"/"+copyID, "", &m); m.Status != "Completed" || !m.IsCloned {
		t.Errorf("the clone shares what comes: %+v", m)
	}
	f.send("DELETE", commands+"/"+id, "", nil)
	if len(f.bucket.deleted) != 0 {
		t.Error("the file went before its last reference")
	}
	f.bucket.fail = errors.New("no storage")
	if code, body := f.send("DELETE", commands+"/"+copyID, "", nil); code != 503 || !strings.Contains(body, "INTERNAL_SERVER_ERROR") {
		t.Errorf("storage fails: %d %s", code, body)
	}
	if code, body := f.send("DELETE", commands+"/"+copyID, "", nil); code != 202 || len(f.bucket.deleted) != 1 || f.bucket.deleted[0] != "documents/"+tenant+"/"+d.FileID {
		t.Errorf("again: %d %s %v", code, body, f.bucket.deleted)
	}
}

func TestReading(t *testing.T) {
	f := newFixture(t)
	id := f.create("")
	f.send("PUT", commands+"/"+id+"/clone", `{"data":{}}`, nil)
	if code, body := f.send("POST", commands+"/deal/virtual", `{"data":{"fileName":"v","entityId":"e","documentURL":"https://a/b"}}`, nil); code != 202 {
		t.Fatalf("%d %s", code, body)
	}
	for path, want := range map[string]int{
		"/entity/e": 3, "/entity/e?deduplicationEnabled=true": 2, "/journey/j": 2, "/entity/e/journey/j": 2, "/entity/none": 0,
	} {
		var all []struct{ ID string }
		if code, body := f.send("GET", queries+path, "", &all); code != 200 || len(all) != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for size, more := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		var p documenthttp.PageReply
		code, body := f.send("POST", queries+"/entity/paged", fmt.Sprintf(`{"data":{"entityId":"e","pageSize":%d}}`, size), &p)
		if code != 200 || p.HasMoreItems != more || p.ItemsCount != 3 || len(p.Items) != min(size, 3) || p.TotalPagedItemsReturned != len(p.Items) {
			t.Errorf("%d: %d %s", size, code, body)
		}
	}
	if code, body := f.send("GET", queries+"/signedurl/"+id, "", nil); code != 404 {
		t.Errorf("no file yet: %d %s", code, body)
	}
	for _, path := range []string{"/mimeTypesAllowed", "/supportedFileExtensions"} {
		var all []string
		if code, _ := f.send("GET", queries+path, "", &all); code != 200 || len(all) < 10 {
			t.Errorf("%s: %d %v", path, code, all)
		}
	}
	for i, want := range []string{"Archived", "Processing"} {
		action := []string{"/archive", "/unarchive"}[i]
		if code, body := f.send("POST", commands+"/"+id+action, `{"data":{"archivalReason":"old"}}`, nil); code != 202 {
			t.Errorf("%s: %d %s", action, code, body)
		}
		var m struct{ Status string }
		if f.send("GET", queries+"/"+id, "", &m); m.Status != want {
			t.Errorf("%s: %s", action, m.Status)
		}
	}
}

// Who lacks the layers of a document reads that it is there and no more.
func TestLayers(t *testing.T) {
	f := newFixture(t)
	var n struct{ ID string }
	f.send("POST", commands, `{"data":{"fileName":"a","entityId":"e","policyEnforcedAccessLayers":{"geographic":["EU"]}}}`, &n)
	var m documenthttp.DocumentReply
	if f.send("GET", queries+"/"+n.ID, "", &m); m.HasRequiredAccessLayers || m.FileName != nil || m.Properties != nil {
		t.Errorf("out of reach: %+v", m)
	}
	for _, command := range nine {
		if code, body := f.send(command[0], commands+fmt.Sprintf(command[1], n.ID), command[2], nil); code != 403 {
			t.Errorf("%s %s: %d %s", command[0], command[1], code, body)
		}
	}
	f.caller.Layers = access.Layers{Geographic: []string{"EU"}}
	f.send("PUT", commands+"/"+n.ID+"/access-layers", `{"data":{"accessLayers":{"geographic":["US"]}}}`, nil)
	if f.send("GET", queries+"/"+n.ID, "", &m); !m.HasRequiredAccessLayers || len(m.AccessLayers.Geographic) != 2 {
		t.Errorf("the policy's layers stay: %+v", m)
	}
}
