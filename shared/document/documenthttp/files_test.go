package documenthttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/document"
)

type read struct {
	ID, FileName, Status, DocumentType string
	ErrorCode, ArchivalReason          *string
	RequirementModelID                 *string
	DocumentRequirementIDs             []string
	IsDocumentForESignature            bool
}

func (f *fixture) read(id string) read {
	f.Helper()
	var m read
	if code, body := f.send("GET", queries+"/"+id, "", &m); code != 200 {
		f.Fatalf("%d %s", code, body)
	}
	return m
}

// scanned settles the file of a document.
func (f *fixture) scanned(id string, s document.Status) string {
	f.Helper()
	d, _, err := f.store.Get(f.Context(), tenant, id)
	if err == nil {
		err = f.store.RecordScan(f.Context(), tenant, d.FileID, document.State{Status: s})
	}
	if err != nil {
		f.Fatal(err)
	}
	return "documents/" + tenant + "/" + d.FileID
}

func (f *fixture) downloads(id string, want int, why string) {
	f.Helper()
	if code, body := f.send("GET", queries+"/signedurl/"+id, "", nil); code != want {
		f.Errorf("download, %s: %d %s", why, code, body)
	}
}

func TestWhatCanBeDownloaded(t *testing.T) {
	f := newFixture(t)
	id := f.create("Entity")
	f.downloads(id, 404, "not uploaded")
	f.scanned(id, document.Completed)
	f.downloads(id, 200, "clean")
	f.send("POST", commands+"/"+id+"/archive", `{"data":{"archivalReason":"old"}}`, nil)
	f.downloads(id, 200, "archived")
	f.send("PUT", commands+"/error/"+id, "", nil)
	f.downloads(id, 404, "called wrong")
	if m := f.read(id); m.Status != "Error" || m.ArchivalReason != nil {
		t.Errorf("%+v", m)
	}
	f.downloads(uuid.NewString(), 404, "unknown")
	f.caller.Layers.Geographic = []string{"EU"}
	f.send("PUT", commands+"/"+id+"/access-layers", `{"data":{"accessLayers":{"geographic":["EU"]}}}`, nil)
	f.caller.Layers.Geographic = nil
	f.downloads(id, 403, "out of reach")
}

// A new file takes the place of the old one, which stays with the clones; the signed URL of the old one leads nowhere.
func TestUpdateFile(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"Entity", "Screening"} {
		f.bucket.deleted = nil
		id := f.create(kind)
		old := f.scanned(id, document.Infected)
		f.send("PUT", commands+"/error/"+id+"?documentEntityType="+kind, "", nil)
		update := func(name string) (int, string, string) {
			var n struct{ ID, Status, SignedURLToUpload string }
			code, body := f.send("PUT", commands+"/updateFile", `{"data":{"id":"`+strings.ToUpper(id)+`","fileName":"`+name+`"}}`, &n)
			if code == 202 && (n.ID != id || n.Status != "Processing" || !strings.HasPrefix(n.SignedURLToUpload, "https://put/documents/")) {
				t.Errorf("%s", body)
			}
			return code, n.SignedURLToUpload, body
		}
		code, url, body := update("b.pdf")
		if code != 202 || !slices.Equal(f.bucket.deleted, []string{old}) || strings.HasSuffix(url, old) {
			t.Errorf("%d %s %v", code, body, f.bucket.deleted)
		}
		if m := f.read(id); m.Status != "Processing" || m.FileName != "b.pdf" {
			t.Errorf("%+v", m)
		}
		f.scanned(id, document.Completed)
		f.downloads(id, 200, "the new file")
		var c struct{ Id string }
		f.send("PUT", commands+"/"+id+"/clone?documentEntityType="+kind, `{"data":{}}`, &c)
		if code, _, body := update("c.exe"); code != 202 || len(f.bucket.deleted) != 1 || !strings.Contains(body, `"type":"Warning","errorCode":"INVALID_MIME_TYPE"`) {
			t.Errorf("%d %s %v", code, body, f.bucket.deleted)
		}
		f.downloads(c.Id, 200, "the clone's")
		f.scanned(id, document.Completed)
		if m := f.read(id); m.Status != "Error" || m.ErrorCode == nil || *m.ErrorCode != "INVALID_MIME_TYPE" {
			t.Errorf("%+v", m)
		}
	}
	var v struct{ ID string }
	f.send("POST", commands+"/virtual", `{"data":{"fileName":"v","entityId":"e","documentURL":"https://a/b"}}`, &v)
	for body, says := range map[string]string{
		`{"data":{"id":"` + v.ID + `","fileName":"a"}}`:              `"propertyName":"id","errorMessage":"A virtual document has no file."`,
		`{"data":{"id":"` + v.ID + `"}}`:                             `"propertyName":"fileName"`,
		`{"data":{"id":"` + v.ID + `","fileName":""}}`:               `"propertyName":"fileName"`,
		`{"data":{"fileName":"a"}}`:                                  `"propertyName":"id"`,
		`{"data":{"id":"x","fileName":"a"}}`:                         `"GuidValidator"`,
		`{"data":{"id":"` + v.ID + `","fileName":"a","skip":true}}`:  `"extra_forbidden"`,
		`{"data":{"id":"` + v.ID + `","fileName":["a"]}}`:            `"string_type"`,
		`{"data":{"id":"` + v.ID + `","fileName":"` + x(256) + `"}}`: `"MaximumLengthValidator"`,
	} {
		if code, reply := f.send("PUT", commands+"/updateFile", body, nil); code != 400 || !strings.Contains(reply, says) {
			t.Errorf("%s: %d %s", body, code, reply)
		}
	}
	if code, body := f.send("PUT", commands+"/updateFile", `{"data":{"id":"`+uuid.NewString()+`","fileName":"a"}}`, nil); code != 404 {
		t.Errorf("unknown: %d %s", code, body)
	}
}

func x(n int) string { return strings.Repeat("x", n) }

// What the creator says beside the file is kept, and what will not happen is said.
func TestRemarks(t *testing.T) {
	f := newFixture(t)
	model := uuid.NewString()
	var n struct{ ID string }
	code, body := f.send("POST", commands, `{"data":{"fileName":"a.exe","entityId":"e","documentRequirementIds":["b","a","b"],"requirementModelId":"`+model+
		`","isDocumentForESignature":true,"autoClassify":true}}`, &n)
	if code != 202 || strings.Count(body, `"type":"Warning"`) != 2 || !strings.Contains(body, `"not_classified"`) {
		t.Fatalf("%d %s", code, body)
	}
	want := fmt.Sprint([]string{"b", "a"}, model, true)
	if m := f.read(n.ID); fmt.Sprint(m.DocumentRequirementIDs, *m.RequirementModelID, m.IsDocumentForESignature) != want {
		t.Errorf("%+v", m)
	}
	var c struct{ Id string }
	f.send("PUT", commands+"/"+n.ID+"/clone", `{"data":{"skipStatusReset":true,"DocumentRequirementIds":["c","c"]}}`, &c)
	if m := f.read(c.Id); fmt.Sprint(m.DocumentRequirementIDs, *m.RequirementModelID, m.IsDocumentForESignature) != fmt.Sprint([]string{"c"}, model, true) {
		t.Errorf("the clone: %+v", m)
	}
}

// Archive and unarchive have one route for documents of all types, and keep to the parameter if it is given.
func TestArchiveFindsAnyType(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"Entity", "Product", "Deal", "Screening"} {
		id := f.create(kind)
		for _, tt := range []struct {
			path string
			want int
		}{
			{"/archive?documentEntityType=other", 400}, {"/archive", 202}, {"/archive", 409}, {"/unarchive", 202}, {"/unarchive", 409},
			{"/archive?documentEntityType=" + strings.ToLower(kind), 202}, {"/unarchive?documentEntityType=" + kind, 202},
		} {
			if code, body := f.send("POST", commands+"/"+id+tt.path, `{"data":{"archivalReason":"old"}}`, nil); code != tt.want {
				t.Errorf("%s %s: %d %s", kind, tt.path, code, body)
			}
		}
		other := "Deal"
		if kind == other {
			other = "Product"
		}
		if code, body := f.send("POST", commands+"/"+id+"/archive?documentEntityType="+other, `{"data":{"archivalReason":"old"}}`, nil); code != 404 {
			t.Errorf("%s as %s: %d %s", kind, other, code, body)
		}
	}
}

type litePage struct {
	Items         []map[string]json.RawMessage
	ItemsCount    int
	NextPageToken *string
	HasMoreItems  bool
}

func TestLitePages(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for range 5 {
		ids = append(ids, f.create("Entity"))
	}
	slices.Sort(ids)
	f.scanned(ids[1], document.Completed)
	f.scanned(ids[3], document.Infected)
	const path = queries + "/entity/paged/lite/v2"
	walk := func(size int, rest string) (all []string, pages int) {
		for token := "null"; token != ""; pages++ {
			var p litePage
			code, body := f.send("POST", path, fmt.Sprintf(`{"data":{"entityId":"e","pageSize":%d,"paginationToken":%s%s}}`, size, token, rest), &p)
			if code != 200 || p.ItemsCount != len(p.Items) || p.HasMoreItems != (p.NextPageToken != nil) || len(p.Items) > size || pages > 9 {
				t.Fatalf("%d %s", code, body)
			}
			for _, item := range p.Items {
				all = append(all, strings.Trim(string(item["id"]), `"`))
			}
			if token = ""; p.NextPageToken != nil {
				token = `"` + *p.NextPageToken + `"`
			}
		}
		return all, pages
	}
	for rest, want := range map[string][]string{
		``: ids, `,"status":"Completed"`: {ids[1]}, `,"excludeStatus":"Processing"`: {ids[1], ids[3]},
		`,"status":"Infected","excludeStatus":"Infected"`: nil, `,"status":null,"excludeStatus":null,"additionalColumns":null`: ids,
	} {
		for _, size := range []int{1, 2, 4, 5, 6, 500} {
			if got, pages := walk(size, rest); !slices.Equal(got, want) {
				t.Errorf("%s by %d: %v in %d pages", rest, size, got, pages)
			}
		}
	}
	var p litePage
	f.send("POST", path, `{"data":{"entityId":"e","pageSize":1,"additionalColumns":["documentDataKey","autoClassify"]}}`, &p)
	if len(p.Items) != 1 || len(p.Items[0]) != 12 || string(p.Items[0]["autoClassify"]) != "false" || p.NextPageToken == nil {
		t.Fatalf("%+v", p)
	}
	for _, tt := range []struct{ body, says string }{
		{`{}`, "entityId"}, {`{"entityId":"e","pageSize":0}`, "pageSize"}, {`{"entityId":"e","pageSize":501}`, "pageSize"},
		{`{"entityId":"e","additionalColumns":["id","x"]}`, "additionalColumns.1"}, {`{"entityId":"e","status":"completed"}`, "status"},
		{`{"entityId":"e","excludeStatus":"x"}`, "excludeStatus"}, {`{"entityId":"e","paginationToken":"x"}`, "paginationToken"},
		{`{"entityId":"f","paginationToken":"` + *p.NextPageToken + `"}`, "paginationToken"},
		{`{"entityId":"e","status":"Error","paginationToken":"` + *p.NextPageToken + `"}`, "paginationToken"},
	} {
		if code, body := f.send("POST", path, `{"data":`+tt.body+`}`, nil); code != 400 || !strings.Contains(body, `"propertyName":"`+tt.says+`"`) {
			t.Errorf("%s: %d %s", tt.body, code, body)
		}
	}
	f.caller.Tenant = uuid.NewString()
	if code, body := f.send("POST", path, `{"data":{"entityId":"e","paginationToken":"`+*p.NextPageToken+`"}}`, nil); code != 400 {
		t.Errorf("another tenant's token: %d %s", code, body)
	}
}

// Lists of large documents end before a reply of Lambda would: those without pages by a refusal, pages by being short.
func TestLargeDocuments(t *testing.T) {
	f := newFixture(t)
	large := `{"data":{"fileName":"a","entityId":"e","journeyId":"j","metadata":{`
	for i := range 35 {
		large += fmt.Sprintf(`"k%d":"%s",`, i, x(10_000))
	}
	const n = 16
	for range n {
		if code, body := f.send("POST", commands, strings.TrimSuffix(large, ",")+`}}}`, nil); code != 202 {
			t.Fatalf("%d %s", code, body)
		}
	}
	for _, path := range []string{"/entity/e", "/journey/j", "/entity/e/journey/j"} {
		if code, body := f.send("GET", queries+path, "", nil); code != 413 || !strings.Contains(body, "too_many_documents") {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	seen, start := map[string]bool{}, 0
	for more := true; more; {
		var p struct {
			Items                               []struct{ ID string }
			ItemsCount, TotalPagedItemsReturned int
			HasMoreItems                        bool
		}
		code, body := f.send("POST", queries+"/entity/paged", fmt.Sprintf(`{"data":{"entityId":"e","startIndex":%d}}`, start), &p)
		if code != 200 || p.ItemsCount != n || len(p.Items) == 0 || len(body) > 6_000_000 {
			t.Fatalf("%d, %d items, %d bytes", code, len(p.Items), len(body))
		}
		for _, item := range p.Items {
			seen[item.ID] = true
		}
		start, more = start+p.TotalPagedItemsReturned, p.HasMoreItems
	}
	if len(seen) != n || start != n {
		t.Errorf("%d different of %d", len(seen), start)
	}
	seen = map[string]bool{}
	for token := "null"; token != ""; {
		var p litePage
		code, body := f.send("POST", queries+"/entity/paged/lite/v2", `{"data":{"entityId":"e","additionalColumns":["metadata"],"paginationToken":`+token+`}}`, &p)
		if code != 200 || len(p.Items) == 0 || len(body) > 6_000_000 {
			t.Fatalf("%d, %d items, %d bytes", code, len(p.Items), len(body))
		}
		for _, item := range p.Items {
			seen[string(item["id"])] = true
		}
		if token = ""; p.NextPageToken != nil {
			token = `"` + *p.NextPageToken + `"`
		}
	}
	if len(seen) != n {
		t.Errorf("%d different of %d", len(seen), n)
	}
}
