package documenthttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
)

// readReply has the members of a document that the tests read.
type readReply struct {
	ID, FileName, Status, DocumentType string
	ErrorCode, ArchivalReason          *string
	PreArchivalStatus                  *string
	RequirementModelID                 *string
	DocumentRequirementIDs             []string
	IsDocumentForESignature            bool
}

// read reads a document.
func (f *fixture) read(id string) readReply {
	f.Helper()
	var m readReply
	if code, body := f.send("GET", queries+"/"+id, "", &m); code != 200 {
		f.Fatalf("got %d %s, want 200", code, body)
	}
	return m
}

// recordScan records the outcome of the scan of a document's file and returns the key of the file.
func (f *fixture) recordScan(id string, s document.Status) string {
	f.Helper()
	d, _, err := f.store.Get(f.Context(), tenant, id)
	if err == nil {
		err = f.store.RecordScan(f.Context(), tenant, d.FileID, document.State{Status: s})
	}
	errtest.Fatal(f, err)
	return "documents/" + tenant + "/" + d.FileID
}

// expectDownload checks the status of the download of a document; reason says why it is wanted.
func (f *fixture) expectDownload(id string, want int, reason string) {
	f.Helper()
	if code, body := f.send("GET", queries+"/signedurl/"+id, "", nil); code != want {
		f.Errorf("download of a document that is %s: got %d %s, want %d", reason, code, body, want)
	}
}

func TestDownloads(t *testing.T) {
	f := newFixture(t)
	id := f.createDocument("Entity")
	f.expectDownload(id, 404, "not uploaded")
	f.recordScan(id, document.Completed)
	f.expectDownload(id, 200, "clean")
	f.send("POST", commands+"/"+id+"/archive", `{"data":{"archivalReason":"old"}}`, nil)
	f.expectDownload(id, 200, "archived")
	if m := f.read(id); m.Status != "Archived" || *m.ArchivalReason != "old" || *m.PreArchivalStatus != "Completed" {
		t.Errorf("archived: got %+v, want the reason old and the status Completed before", m)
	}
	f.send("POST", commands+"/"+id+"/unarchive", "", nil)
	if m := f.read(id); m.Status != "Completed" || m.ArchivalReason != nil || m.PreArchivalStatus != nil {
		t.Errorf("unarchived: got %+v, want Completed, no reason and no status before", m)
	}
	f.send("POST", commands+"/"+id+"/archive", `{"data":{"archivalReason":"again"}}`, nil)
	f.send("PUT", commands+"/error/"+id, "", nil)
	f.expectDownload(id, 404, "marked as failed")
	if m := f.read(id); m.Status != "Error" || m.ArchivalReason != nil {
		t.Errorf("got %+v, want Error without an archival reason", m)
	}
	f.expectDownload(uuid.NewString(), 404, "unknown")
	f.caller.Layers.Geographic = []string{"EU"}
	f.send("PUT", commands+"/"+id+"/access-layers", `{"data":{"accessLayers":{"geographic":["EU"]}}}`, nil)
	f.caller.Layers.Geographic = nil
	f.expectDownload(id, 403, "out of reach")
}

// A new file replaces the old one, which is deleted unless clones share it.
func TestUpdateFile(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"Entity", "Screening"} {
		f.bucket.deleted = nil
		id := f.createDocument(kind)
		old := f.recordScan(id, document.Infected)
		f.send("PUT", commands+"/error/"+id+"?documentEntityType="+kind, "", nil)
		status := "Processing"
		update := func(name string) (int, string, string) {
			var n struct{ ID, Status, SignedURLToUpload string }
			code, body := f.send("PUT", commands+"/updateFile",
				`{"data":{"id":"`+strings.ToUpper(id)+`","fileName":"`+name+`"}}`, &n)
			if code == 202 && (n.ID != id || n.Status != status ||
				!strings.HasPrefix(n.SignedURLToUpload, "https://put/documents/")) {
				t.Errorf("got %s, want the document %s in %s with a URL", body, id, status)
			}
			return code, n.SignedURLToUpload, body
		}
		code, url, body := update("b.pdf")
		if code != 202 || !slices.Equal(f.bucket.deleted, []string{old}) || strings.HasSuffix(url, old) {
			t.Errorf("got %d %s and the deletions %v, want 202 and the deletion of %s",
				code, body, f.bucket.deleted, old)
		}
		if m := f.read(id); m.Status != "Processing" || m.FileName != "b.pdf" {
			t.Errorf("got %+v, want b.pdf in Processing", m)
		}
		f.recordScan(id, document.Completed)
		f.expectDownload(id, 200, "the new file")
		var c struct{ Id string }
		f.send("PUT", commands+"/"+id+"/clone?documentEntityType="+kind, `{"data":{}}`, &c)
		status = "Error"
		if code, _, body := update("c.exe"); code != 202 || len(f.bucket.deleted) != 1 ||
			!strings.Contains(body, `"type":"Warning","errorCode":"INVALID_MIME_TYPE"`) {
			t.Errorf("got %d %s and the deletions %v, want 202 with a warning and no deletion more", code, body,
				f.bucket.deleted)
		}
		f.expectDownload(c.Id, 200, "the clone's")
		f.recordScan(id, document.Completed)
		if m := f.read(id); m.Status != "Error" || m.ErrorCode == nil || *m.ErrorCode != "INVALID_MIME_TYPE" {
			t.Errorf("got %+v, want Error INVALID_MIME_TYPE", m)
		}
	}
	var v struct{ ID string }
	f.send("POST", commands+"/virtual", `{"data":{"fileName":"v","entityId":"e","documentURL":"https://a/b"}}`, &v)
	for body, part := range map[string]string{
		`{"data":{"id":"` + v.ID + `","fileName":"a"}}`: `"propertyName":"id",` +
			`"errorMessage":"A virtual document has no file."`,
		`{"data":{"id":"` + v.ID + `"}}`:                                               `"propertyName":"fileName"`,
		`{"data":{"id":"` + v.ID + `","fileName":""}}`:                                 `"propertyName":"fileName"`,
		`{"data":{"fileName":"a"}}`:                                                    `"propertyName":"id"`,
		`{"data":{"id":"x","fileName":"a"}}`:                                           `"GuidValidator"`,
		`{"data":{"id":"` + v.ID + `","fileName":"a","skip":true}}`:                    `"extra_forbidden"`,
		`{"data":{"id":"` + v.ID + `","fileName":["a"]}}`:                              `"string_type"`,
		`{"data":{"id":"` + v.ID + `","fileName":"` + strings.Repeat("x", 256) + `"}}`: `"MaximumLengthValidator"`,
	} {
		difftest.Reply(t, body, 400, part)(f.send("PUT", commands+"/updateFile", body, nil))
	}
	difftest.Reply(t, "an unknown document", 404)(
		f.send("PUT", commands+"/updateFile", `{"data":{"id":"`+uuid.NewString()+`","fileName":"a"}}`, nil))
}

// The client's remarks on a new document are stored, and a warning names those without an effect.
func TestWarnings(t *testing.T) {
	f := newFixture(t)
	model := uuid.NewString()
	var n struct{ ID string }
	code, body := f.send("POST", commands, `{"data":{"fileName":"a.exe","entityId":"e","documentRequirementIds":["b",`+
		`"a","b"],"requirementModelId":"`+model+
		`","isDocumentForESignature":true,"autoClassify":true}}`, &n)
	if code != 202 || strings.Count(body, `"type":"Warning"`) != 2 || !strings.Contains(body, `"not_classified"`) {
		t.Fatalf("got %d %s, want 202 with two warnings", code, body)
	}
	want := fmt.Sprint([]string{"b", "a"}, model, true)
	if m := f.read(n.ID); fmt.Sprint(m.DocumentRequirementIDs, *m.RequirementModelID,
		m.IsDocumentForESignature) != want {
		t.Errorf("%+v", m)
	}
	var c struct{ Id string }
	f.send("PUT", commands+"/"+n.ID+"/clone", `{"data":{"skipStatusReset":true,"DocumentRequirementIds":["c","c"]}}`,
		&c)
	if m := f.read(c.Id); fmt.Sprint(m.DocumentRequirementIDs, *m.RequirementModelID,
		m.IsDocumentForESignature) != fmt.Sprint([]string{"c"}, model, true) {
		t.Errorf("the clone: %+v", m)
	}
}

// Archive and unarchive find documents of any type, unless the parameter names one.
func TestArchive(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []string{"Entity", "Product", "Deal", "Screening"} {
		id := f.createDocument(kind)
		for _, tt := range []struct {
			path string
			want int
		}{
			{"/archive?documentEntityType=other", 400}, {"/archive", 202}, {"/archive", 409}, {"/unarchive", 202},
			{"/unarchive", 409},
			{"/archive?documentEntityType=" + strings.ToLower(kind), 202},
			{"/unarchive?documentEntityType=" + kind, 202},
		} {
			difftest.Reply(t, kind+" "+tt.path, tt.want)(
				f.send("POST", commands+"/"+id+tt.path, `{"data":{"archivalReason":"old"}}`, nil))
		}
		other := "Deal"
		if kind == other {
			other = "Product"
		}
		difftest.Reply(t, kind+" as "+other, 404)(
			f.send("POST", commands+"/"+id+"/archive?documentEntityType="+other, `{"data":{"archivalReason":"old"}}`,
				nil))
	}
}

// litePage is a page with items of some columns.
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
		ids = append(ids, f.createDocument("Entity"))
	}
	slices.Sort(ids)
	f.recordScan(ids[1], document.Completed)
	f.recordScan(ids[3], document.Infected)
	const path = queries + "/entity/paged/lite/v2"
	readAll := func(size int, rest string) (all []string, pages int) {
		for token := "null"; token != ""; pages++ {
			var p litePage
			code, body := f.send("POST", path,
				fmt.Sprintf(`{"data":{"entityId":"e","pageSize":%d,"paginationToken":%s%s}}`, size, token, rest), &p)
			if code != 200 || p.ItemsCount != len(p.Items) || p.HasMoreItems != (p.NextPageToken != nil) ||
				len(p.Items) > size || pages > 9 {
				t.Fatalf("page %d: got %d %s, want a page of at most %d", pages, code, body, size)
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
		`,"status":"Infected","excludeStatus":"Infected"`:              nil,
		`,"status":null,"excludeStatus":null,"additionalColumns":null`: ids,
	} {
		for _, size := range []int{1, 2, 4, 5, 6, 500} {
			got, pages := readAll(size, rest)
			if most := max(1, (len(want)+size-1)/size); !slices.Equal(got, want) || rest == "" && pages != most {
				t.Errorf("%s in pages of %d: got %v in %d pages, want %v in %d", rest, size, got, pages, want, most)
			}
		}
	}
	var p litePage
	f.send("POST", path, `{"data":{"entityId":"e","pageSize":1,"additionalColumns":["documentDataKey",`+
		`"autoClassify"]}}`, &p)
	if len(p.Items) != 1 || len(p.Items[0]) != 12 || string(p.Items[0]["autoClassify"]) != "false" ||
		p.NextPageToken == nil {
		t.Fatalf("got %+v, want one item of 12 columns and a token", p)
	}
	for _, tt := range []struct{ body, property string }{
		{`{}`, "entityId"}, {`{"entityId":"e","pageSize":0}`, "pageSize"},
		{`{"entityId":"e","pageSize":501}`, "pageSize"},
		{`{"entityId":"e","additionalColumns":["id","x"]}`, "additionalColumns.1"},
		{`{"entityId":"e","status":"completed"}`, "status"},
		{`{"entityId":"e","excludeStatus":"x"}`, "excludeStatus"},
		{`{"entityId":"e","paginationToken":"x"}`, "paginationToken"},
		{`{"entityId":"f","paginationToken":"` + *p.NextPageToken + `"}`, "paginationToken"},
		{`{"entityId":"e","status":"Error","paginationToken":"` + *p.NextPageToken + `"}`, "paginationToken"},
	} {
		if code, body := f.send("POST", path, `{"data":`+tt.body+`}`, nil); code != 400 ||
			!strings.Contains(body, `"propertyName":"`+tt.property+`"`) {
			t.Errorf("%s: got %d %s, want 400 with the property %s", tt.body, code, body, tt.property)
		}
	}
	f.caller.Tenant = uuid.NewString()
	difftest.Reply(t, "another tenant's token", 400)(
		f.send("POST", path, `{"data":{"entityId":"e","paginationToken":"`+*p.NextPageToken+`"}}`, nil))
}

// Replies with large documents stay below the limit of Lambda: a list without pages is refused, and a page is short.
func TestLargeDocuments(t *testing.T) {
	f := newFixture(t)
	create := func(tenKilobytes int) string {
		members := make([]string, tenKilobytes)
		for i := range members {
			members[i] = fmt.Sprintf(`"k%d":"%s"`, i, strings.Repeat("x", 10_000))
		}
		return `{"data":{"fileName":"a","entityId":"e","journeyId":"j","metadata":{` + strings.Join(members, ",") +
			`}}}`
	}
	difftest.Reply(t, "a document that fits into no item", 413, "document_too_large")(
		f.send("POST", commands, create(45), nil))
	const n = 16
	for range n {
		difftest.Reply(t, "reply", 202)(f.send("POST", commands, create(35), nil))
	}
	for _, path := range []string{"/entity/e", "/journey/j", "/entity/e/journey/j"} {
		difftest.Reply(t, path, 413, "too_many_documents")(f.send("GET", queries+path, "", nil))
	}
	seen, start := map[string]bool{}, 0
	for more := true; more; {
		var p struct {
			Items                               []struct{ ID string }
			ItemsCount, TotalPagedItemsReturned int
			HasMoreItems                        bool
		}
		code, body := f.send("POST", queries+"/entity/paged",
			fmt.Sprintf(`{"data":{"entityId":"e","startIndex":%d}}`, start), &p)
		if code != 200 || p.ItemsCount != n || len(p.Items) == 0 || len(body) > 6_000_000 {
			t.Fatalf("got %d, %d items, %d bytes, want 200 and some items in at most 6 MB", code, len(p.Items),
				len(body))
		}
		for _, item := range p.Items {
			seen[item.ID] = true
		}
		start, more = start+p.TotalPagedItemsReturned, p.HasMoreItems
	}
	difftest.Equal(t, "result", []any{n, n}, []any{len(seen), start})
	seen = map[string]bool{}
	for token := "null"; token != ""; {
		var p litePage
		code, body := f.send("POST", queries+"/entity/paged/lite/v2",
			`{"data":{"entityId":"e","additionalColumns":["metadata"],"paginationToken":`+token+`}}`, &p)
		if code != 200 || len(p.Items) == 0 || len(body) > 6_000_000 {
			t.Fatalf("got %d, %d items, %d bytes, want 200 and some items in at most 6 MB", code, len(p.Items),
				len(body))
		}
		for _, item := range p.Items {
			seen[string(item["id"])] = true
		}
		if token = ""; p.NextPageToken != nil {
			token = `"` + *p.NextPageToken + `"`
		}
	}
	difftest.Equal(t, "different documents", n, len(seen))
}

// A file counts with its announced size, which is signed, or with the size limit, from its creation until it is
// scanned, replaced or deleted.
func TestOpenDocuments(t *testing.T) {
	f := newFixture(t)
	limit := func(settings string) { f.caller.Attributes = map[string]string{ratelimit.Attribute: settings} }
	create := func(member string, want int, says string) string {
		t.Helper()
		var n struct{ ID string }
		code, body := f.send("POST", commands, `{"data":{"fileName":"a.pdf","entityId":"e"`+member+`}}`, &n)
		if code != want || !strings.Contains(body, says) {
			t.Fatalf("%s: got %d %s, want %d with %q", member, code, body, want, says)
		}
		return n.ID
	}
	limit("open_documents=2 unscanned_bytes=0")
	first, second := create(`,"contentLength":10`, 202, ""), create("", 202, "")
	create("", 429, "as it may have: 2.")
	difftest.Reply(t, "another file", 429)(
		f.send("PUT", commands+"/updateFile", `{"data":{"id":"`+first+`","fileName":"b.pdf"}}`, nil))
	d, _, err := f.store.Get(t.Context(), tenant, first)
	errtest.Fatal(t, err)
	for range 2 {
		errtest.Fatal(t, f.store.RecordScan(t.Context(), tenant, d.FileID, document.State{Status: document.Completed}))
	}
	f.send("DELETE", commands+"/"+second, "", nil)

	limit("open_documents=0 unscanned_bytes=1500")
	create("", 202, "") // 1,000 bytes
	create(`,"contentLength":501`, 429, "1000 of 1500 are taken")
	fourth := create(`,"contentLength":1`, 202, "")
	d, _, err = f.store.Get(t.Context(), tenant, fourth)
	errtest.Fatal(t, err)
	for range 2 { // a file that is measured counts with its size, and no more once it is scanned
		errtest.Fatal(t, f.store.Measure(t.Context(), tenant, d.FileID, 400))
	}
	create(`,"contentLength":101`, 429, "1400 of 1500")
	errtest.Fatal(t, f.store.RecordScan(t.Context(), tenant, d.FileID, document.State{Status: document.Completed}))
	errtest.Fatal(t, f.store.Measure(t.Context(), tenant, d.FileID, 300))
	create("", 429, "The file may have 1000 bytes")
	f.now = now.Add(document.OpenFor - 1)
	create("", 429, "1000 of 1500 are taken")
	f.now = now.Add(document.OpenFor) // the one that has not arrived counts no more
	late := create("", 202, "")
	d, _, err = f.store.Get(t.Context(), tenant, late)
	errtest.Fatal(t, errors.Join(err, f.store.Measure(t.Context(), tenant, d.FileID, 1000)))
	f.now = f.now.Add(document.OpenFor) // one that has arrived counts until it is scanned
	third := create(`,"contentLength":500`, 202, "")
	f.send("DELETE", commands+"/"+third, "", nil)
	difftest.Reply(t, "another file", 202)(
		f.send("PUT", commands+"/updateFile", `{"data":{"id":"`+first+`","fileName":"b.pdf","contentLength":500}}`,
			nil))
	create(`,"contentLength":1`, 429, "1500 of 1500")
	for length, want := range map[string]int{"0": 400, "1001": 400, "-1": 400, "null": 429} {
		difftest.Reply(t, "contentLength "+length, want)(
			f.send("POST", commands, `{"data":{"fileName":"a.pdf","entityId":"e","contentLength":`+length+`}}`, nil))
	}
	difftest.Equal(t, "signed the sizes", []int64{10, 0, 0, 1, 0, 500, 500}, f.bucket.signed)
}
