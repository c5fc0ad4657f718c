package screeninghttp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

// fakeBucket signs URLs that contain their keys, and records deletions.
type fakeBucket struct {
	deleted []string
	// signed are the sizes that were signed, 0 for a file of any size.
	signed []int64
	fails  bool
}

func (f *fakeBucket) SignPutOf(_ context.Context, key string, size int64, _ time.Duration) (objects.SignedURL,
	error) {
	f.signed = append(f.signed, size)
	return objects.SignedURL{URL: "https://storage.test/" + key, Headers: map[string]string{"If-None-Match": "*"}}, nil
}

func (f *fakeBucket) Empty(_ context.Context, key string) error {
	if f.fails {
		return errors.New("storage is down")
	}
	f.deleted = append(f.deleted, key)
	return nil
}

// upload adds a document by its idempotency key, "" for none, and returns the reply.
func (a *api) upload(place, key string) (reply screeninghttp.UploadReply) {
	a.t.Helper()
	a.succeed("POST", commands+place+"/documents/upload-url",
		fmt.Sprintf(`{"data":{"fileName":"a.pdf","documentType":"evidence","idempotencyKey":%q}}`, key), &reply)
	return reply
}

// scan records a clean scan of the file of a document.
func (a *api) scan(externalID string) {
	a.t.Helper()
	d, _, err := a.documents.Get(a.t.Context(), a.caller.Tenant, externalID)
	if err == nil {
		err = a.documents.RecordScan(a.t.Context(), a.caller.Tenant, d.FileID,
			document.State{Status: document.Completed})
	}
	errtest.Fatal(a.t, err)
}

func (a *api) list(path string) (items []screeninghttp.MatchDocumentReply) {
	a.t.Helper()
	a.succeed("GET", queries+path, "", &items)
	return items
}

func TestUploadDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.create("", "e")
	place := "/batch/" + b + "/entity/e"
	first := a.upload(place, "key")
	if first.SignedURL == nil || !strings.Contains(*first.SignedURL, "documents/"+tenant) ||
		first.RequiredHeaders["If-None-Match"] != "*" {
		t.Fatalf("got %+v, want a signed URL with its header", first)
	}
	again := a.upload(place, "key")
	if again.DocumentID != first.DocumentID || again.ExternalDocumentID != first.ExternalDocumentID ||
		again.SignedURL != nil {
		t.Errorf("the repeated request: got %+v, want the IDs of %+v and no URL", again, first)
	}
	a.refuse(400, "idempotency_key_used", "POST", commands+place+"/documents/upload-url",
		`{"data":{"fileName":"b.pdf","documentType":"evidence","idempotencyKey":"key"}}`)
	other := a.upload(place, "")
	items := a.list(place + "/documents")
	if len(items) != 2 || items[0].Status != document.Processing || items[0].DocumentURL != nil ||
		items[0].BatchStatus != screening.Open {
		t.Fatalf("got %+v, want two documents that are Processing", items)
	}
	a.scan(first.ExternalDocumentID)
	a.succeed("DELETE", commands+place+"/documents/"+other.DocumentID, "", nil)
	a.refuse(404, "screening_document_not_found", "DELETE", commands+place+"/documents/"+other.DocumentID, "")
	if items := a.list(place + "/documents"); len(items) != 1 || items[0].Status != document.Completed ||
		items[0].ExternalDocumentID != first.ExternalDocumentID || len(a.bucket.deleted) != 1 {
		t.Errorf("got %+v and %d deleted files, want the first document Completed and one file deleted", items,
			len(a.bucket.deleted))
	}
	for _, name := range []string{"", "a/b", "a.exe", "a."} {
		a.refuse(400, "invalid_request", "POST", commands+place+"/documents/upload-url",
			fmt.Sprintf(`{"data":{"fileName":%q,"documentType":"evidence"}}`, name))
	}
}

func TestVirtualDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b, ids := a.createSearched("e", 1)
	place := "/batch/" + b + "/entity/e/match/" + ids[0]
	body := func(url string) string {
		return fmt.Sprintf(`{"data":{"fileName":"a","documentType":"evidence","documentUrl":%q}}`, url)
	}
	for _, url := range []string{"", "http://example.com/a", "//example.com/a", "/a", "https:///a",
		"https://localhost/a",
		"https://u:p@example.com/a", "ftp://example.com", "javascript:alert(1)"} {
		a.refuse(400, "invalid_request", "POST", commands+place+"/documents/virtual", body(url))
	}
	var reply screeninghttp.VirtualReply
	a.succeed("POST", commands+place+"/documents/virtual", body("https://example.com/a"), &reply)
	items := a.list(place + "/documents")
	if len(items) != 1 || items[0].DocumentURL == nil || *items[0].DocumentURL != "https://example.com/a" ||
		items[0].Status != document.Completed || items[0].MatchID != ids[0] || items[0].MatchEntityUniqueID != "un:0" {
		t.Errorf("got %+v, want the link, Completed", items)
	}
	if items := a.list("/batch/" + b + "/entity/e/documents"); len(items) != 0 {
		t.Errorf("the entity has %+v, want nothing: the document belongs to the match", items)
	}
}

func TestReuseDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const journey = `,"journeyId":"j","processId":"p"`
	first := a.create(journey, "e")
	source := a.upload("/batch/"+first+"/entity/e", "")
	second := a.create(journey, "e")
	reuse := commands + "/batch/" + second + "/entity/e/documents/reuse"
	body := fmt.Sprintf(`{"data":{"documentId":%q,"reuseFromBatchId":%q}}`, source.DocumentID, first)
	a.refuse(400, "document_not_completed", "POST", reuse, body)
	if items := a.list("/entity/e/documents"); len(items) != 0 {
		t.Errorf("across batches: %+v, want nothing before the scan", items)
	}
	a.scan(source.ExternalDocumentID)
	a.refuse(404, "screening_document_not_found", "POST", reuse, strings.Replace(body, source.DocumentID,
		uuid.NewString(), 1))
	a.refuse(404, "screening_batch_not_found", "POST", reuse, strings.Replace(body, first, uuid.NewString(), 1))
	var reused screeninghttp.ReuseReply
	a.succeed("POST", reuse, body, &reused)
	items := a.list("/batch/" + second + "/entity/e/documents")
	if len(items) != 1 || items[0].ID != reused.DocumentID || *items[0].ReusedFromBatchID != first ||
		items[0].Status != document.Completed {
		t.Fatalf("got %+v, want the reused document, Completed", items)
	}
	// The first batch is overridden, so that nothing of it changes; the file stays while one document has it.
	a.refuse(400, "screening_batch_not_open", "DELETE",
		commands+"/batch/"+first+"/entity/e/documents/"+source.DocumentID, "")
	a.succeed("DELETE", commands+"/batch/"+second+"/entity/e/documents/"+reused.DocumentID, "", nil)
	if len(a.bucket.deleted) != 0 {
		t.Errorf("the files %v are deleted, want none: the source still has it", a.bucket.deleted)
	}
	if items := a.list("/entity/e/documents?journeyId=j"); len(items) != 1 ||
		items[0].BatchStatus != screening.Overridden {
		t.Errorf("across batches: %+v, want the source in its overridden batch", items)
	}
	if items := a.list("/entity/e/documents?journeyId=other"); len(items) != 0 {
		t.Errorf("of another journey: %+v, want nothing", items)
	}
}

// A document of a match is reused for a match with the same entry only, and found across batches by the entry.
func TestReuseMatchDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	first, ids := a.createSearched("e", 2)
	source := a.upload("/batch/"+first+"/entity/e/match/"+ids[0], "")
	a.scan(source.ExternalDocumentID)
	body := fmt.Sprintf(`{"data":{"documentId":%q,"reuseFromBatchId":%q,"reuseFromMatchId":%q}}`, source.DocumentID,
		first, ids[0])
	a.refuse(400, "other_match", "POST", commands+"/batch/"+first+"/entity/e/match/"+ids[1]+"/documents/reuse", body)
	var reused screeninghttp.ReuseReply
	a.succeed("POST", commands+"/batch/"+first+"/entity/e/match/"+ids[0]+"/documents/reuse", body, &reused)
	a.refuse(404, "match_not_found", "POST",
		commands+"/batch/"+first+"/entity/e/match/"+uuid.NewString()+"/documents/reuse", body)
	if items := a.list("/entity/e/match/un:0/documents"); len(items) != 0 {
		t.Errorf("across batches: %+v, want nothing while the batch is open", items)
	}
	for _, id := range ids {
		a.succeed("PUT", commands+"/batch/"+first+"/matches",
			`{"data":[{"entityId":"e","matches":[{"matchId":"`+id+`","status":"No Match","reason":"r"}]}]}`, nil)
	}
	a.succeed("PUT", commands+"/batch/"+first+"/complete", "", nil)
	if items := a.list("/entity/e/match/un:0/documents"); len(items) != 2 {
		t.Errorf("across batches: %+v, want both documents of the entry", items)
	}
	if items := a.list("/entity/e/match/un:1/documents"); len(items) != 0 {
		t.Errorf("of the other entry: %+v, want nothing", items)
	}
}

// A document whose file cannot be deleted stays, and its deletion can be repeated.
func TestDeletionIsRepeated(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.create("", "e")
	place := "/batch/" + b + "/entity/e"
	d := a.upload(place, "")
	a.bucket.fails = true
	a.refuse(503, "INTERNAL_SERVER_ERROR", "DELETE", commands+place+"/documents/"+d.DocumentID, "")
	if items := a.list(place + "/documents"); len(items) != 1 {
		t.Errorf("got %+v, want the document still there", items)
	}
	a.bucket.fails = false
	a.succeed("DELETE", commands+place+"/documents/"+d.DocumentID, "", nil)
	if items := a.list(place + "/documents"); len(items) != 0 {
		t.Errorf("got %+v, want nothing", items)
	}
}

// hookedStore calls afterList once, after a list of documents was read, and counts the reads of single batches.
type hookedStore struct {
	*screeningdb.Store
	afterList func()
	reads     int
}

func (s *hookedStore) Get(ctx context.Context, tenant, id string) (screening.Batch, error) {
	s.reads++
	return s.Store.Get(ctx, tenant, id)
}

func (s *hookedStore) ListDocuments(ctx context.Context, tenant, batchID, entityID string,
) ([]screening.Document, error) {
	all, err := s.Store.ListDocuments(ctx, tenant, batchID, entityID)
	if f := s.afterList; f != nil {
		s.afterList = nil
		f()
	}
	return all, err
}

// A batch that is closed while a document of it is to be deleted keeps the document. A deletion that was begun before
// is completed after.
func TestDeletionRacesWithClose(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.create("", "e")
	place := "/batch/" + b + "/entity/e"
	kept, begun := a.upload(place, ""), a.upload(place, "key")
	a.bucket.fails = true
	a.refuse(503, "INTERNAL_SERVER_ERROR", "DELETE", commands+place+"/documents/"+begun.DocumentID, "")
	a.bucket.fails = false
	a.refuse(409, "CONFLICT", "POST", commands+place+"/documents/upload-url",
		`{"data":{"fileName":"a.pdf","documentType":"evidence","idempotencyKey":"key"}}`)

	a.hook.afterList = func() { a.succeed("PUT", commands+"/batch/"+b+"/complete", "", nil) }
	a.refuse(400, "screening_batch_not_open", "DELETE", commands+place+"/documents/"+kept.DocumentID, "")
	if items := a.list(place + "/documents"); len(items) != 2 || items[0].BatchStatus != screening.Closed ||
		len(a.bucket.deleted) != 0 {
		t.Errorf("got %+v and the deleted files %v, want both documents in the closed batch", items, a.bucket.deleted)
	}
	a.succeed("DELETE", commands+place+"/documents/"+begun.DocumentID, "", nil)
	if items := a.list(place + "/documents"); len(items) != 1 || items[0].ID != kept.DocumentID ||
		len(a.bucket.deleted) != 1 {
		t.Errorf("got %+v and the deleted files %v, want the document that was kept", items, a.bucket.deleted)
	}
}

// A document beyond the caller's access layers is in no list, and can be neither reused nor deleted.
func TestDocumentsOutOfReach(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const journey = `,"journeyId":"j","processId":"p"`
	first := a.create(journey, "e")
	place := "/batch/" + first + "/entity/e"
	d := a.upload(place, "")
	a.scan(d.ExternalDocumentID)
	full, _, err := a.documents.Get(t.Context(), tenant, d.ExternalDocumentID)
	if err == nil {
		full.SetLayers(access.Layers{Geographic: []string{"Latvia"}})
		_, err = a.documents.Save(t.Context(), full)
	}
	errtest.Fatal(t, err)
	remove := commands + place + "/documents/" + d.DocumentID
	a.refuse(404, "screening_document_not_found", "DELETE", remove, "")
	if stored, err := a.store.ListDocuments(t.Context(), tenant, first, "e"); err != nil || stored[0].IsBeingRemoved {
		t.Errorf("the refused deletion was begun: %+v, %v", stored, err)
	}
	second := a.create(journey, "e") // overrides the first one
	reuse := commands + "/batch/" + second + "/entity/e/documents/reuse"
	body := fmt.Sprintf(`{"data":{"documentId":%q,"reuseFromBatchId":%q}}`, d.DocumentID, first)
	a.refuse(404, "screening_document_not_found", "POST", reuse, body)
	for _, reach := range []struct {
		layers access.Layers
		want   int
	}{{access.Layers{}, 0}, {access.Layers{Geographic: []string{"Latvia"}, BusinessRelated: []string{"Enterprise"}},
		1}} {
		a.caller.Layers = reach.layers
		for _, path := range []string{place + "/documents", "/entity/e/documents", "/entity/e/documents?journeyId=j"} {
			if items := a.list(path); len(items) != reach.want {
				t.Errorf("%s with the layers %+v: got %d documents, want %d", path, reach.layers, len(items),
					reach.want)
			}
		}
	}
	a.succeed("POST", reuse, body, nil)
}

// hookedDocuments fails the next deletions as if others had changed the document.
type hookedDocuments struct {
	*documentdb.Store
	overtakes int
}

func (s *hookedDocuments) Delete(ctx context.Context, d document.Document, last bool) error {
	if s.overtakes > 0 {
		s.overtakes--
		return document.ErrChanged
	}
	return s.Store.Delete(ctx, d, last)
}

// A document is deleted although others change it meanwhile, if they do not do it again and again.
func TestDeletionOfABusyDocument(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	place := "/batch/" + a.create("", "e") + "/entity/e"
	d := a.upload(place, "")
	a.documentHook.overtakes = 100
	a.refuse(409, "CONFLICT", "DELETE", commands+place+"/documents/"+d.DocumentID, "")
	a.documentHook.overtakes = 1
	a.succeed("DELETE", commands+place+"/documents/"+d.DocumentID, "", nil)
	if items := a.list(place + "/documents"); len(items) != 0 {
		t.Errorf("got %+v, want nothing", items)
	}
}
