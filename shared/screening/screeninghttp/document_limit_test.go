package screeninghttp_test

import (
	"fmt"
	"slices"
	"testing"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
)

// An entity has as many documents as it may have, also if another one is created between the look and the write.
func TestLimitOfDocuments(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.create("", "e")
	place := "/batch/" + id + "/entity/e"
	b, err := a.store.Get(t.Context(), tenant, id)
	for i := range screening.MaxDocuments - 2 {
		d := screening.Document{ID: fmt.Sprint(i), BatchID: id, EntityID: "e", DocumentID: fmt.Sprint(i),
			CreatedAt: now}
		if err == nil {
			err = a.store.AddDocument(t.Context(), b, d, i)
		}
	}
	errtest.Fatal(t, err)
	first := a.upload(place, "key")
	const body = `{"data":{"fileName":"a.pdf","documentType":"evidence"}}`
	a.hook.afterList = func() { a.upload(place, "") }
	a.refuse(400, "too_many_screening_documents", "POST", commands+place+"/documents/upload-url", body)
	if again := a.upload(place, "key"); again.DocumentID != first.DocumentID {
		t.Errorf("a repeated request gets the document %s, want %s", again.DocumentID, first.DocumentID)
	}
	a.succeed("DELETE", commands+place+"/documents/"+first.DocumentID, "", nil)
	a.upload(place, "")
	a.refuse(400, "too_many_screening_documents", "POST", commands+place+"/documents/upload-url", body)
	stored, err := a.store.ListDocuments(t.Context(), tenant, id, "e")
	if err != nil || len(stored) != screening.MaxDocuments {
		t.Errorf("the entity has %d documents, %v, want %d", len(stored), err, screening.MaxDocuments)
	}
}

// Files of documents here count for the tenant as those of document management do.
func TestOpenDocumentsOfScreenings(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := commands + "/batch/" + a.create("", "e") + "/entity/e/documents/upload-url"
	body := func(length int) string {
		return fmt.Sprintf(`{"data":{"fileName":"a.pdf","documentType":"evidence","contentLength":%d}}`, length)
	}
	a.caller.Attributes = map[string]string{ratelimit.Attribute: "open_documents=3 unscanned_bytes=1500"}
	a.refuse(400, "invalid_request", "POST", path, body(1001))
	a.succeed("POST", path, `{"data":{"fileName":"a.pdf","documentType":"evidence"}}`, nil)
	a.refuse(429, "too_many_unscanned_bytes", "POST", path, body(501))
	a.succeed("POST", path, body(400), nil)
	a.succeed("POST", path, body(100), nil)
	a.refuse(429, "too_many_open_documents", "POST", path, body(1))
	if want := []int64{0, 400, 100}; !slices.Equal(a.bucket.signed, want) {
		t.Errorf("signed the sizes %v, want %v", a.bucket.signed, want)
	}
}
