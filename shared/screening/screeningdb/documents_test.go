package screeningdb_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// An entity has as many documents as it may have and no more, also if several are added at the same time by requests
// that have seen none. A removal makes room, once; another entity of the batch is not affected.
func TestDocumentsAreCounted(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, entities := newBatch("", "", "e", "other")
	_, err := s.Create(ctx, b, entities)
	must(t, err)
	add := func(entityID, id string, stored int) error {
		return s.AddDocument(ctx, b, screening.Document{ID: id, BatchID: b.ID, EntityID: entityID, DocumentID: id,
			CreatedAt: now}, stored)
	}
	count := func(want int) []screening.Document {
		t.Helper()
		all, err := s.ListDocuments(ctx, tenant, b.ID, "e")
		if err != nil || len(all) != want {
			t.Fatalf("the entity has %d documents, %v, want %d", len(all), err, want)
		}
		return all
	}
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range screening.MaxDocuments/4 + 3 {
				if err := add("e", fmt.Sprint(w, "-", i), 0); err != nil &&
					!errors.Is(err, screening.ErrTooManyDocuments) {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	first := count(screening.MaxDocuments)[0]
	wantError(t, "one too many", add("e", "more", 0), screening.ErrTooManyDocuments)
	wantError(t, "one that is there", add("e", first.ID, 0), screening.ErrExists)
	must(t, add("other", "more", 0))
	must(t, s.RemoveDocument(ctx, tenant, first), s.RemoveDocument(ctx, tenant, first), add("e", "more", 99))
	wantError(t, "one too many again", add("e", "even more", 0), screening.ErrTooManyDocuments)
	count(screening.MaxDocuments)
}

// Documents that were stored before the count was kept are counted from the caller's list, and can be removed.
func TestDocumentsThatAreNotCountedYet(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s := screeningdb.New(db, "test-screenings")
	b, entities := newBatch("", "", "e")
	_, err := s.Create(ctx, b, entities)
	must(t, err)
	document := func(id string) screening.Document {
		return screening.Document{ID: id, BatchID: b.ID, EntityID: "e", DocumentID: id, CreatedAt: now}
	}
	must(t, s.AddDocument(ctx, b, document("first"), 0), s.AddDocument(ctx, b, document("second"), 1))
	_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String("test-screenings"), Key: dynamo.Item{
		"owner": dynamo.String(tenant + "#batch#" + b.ID), "part": dynamo.String("documents#e")}})
	must(t, err, s.RemoveDocument(ctx, tenant, document("first")))
	difftest.Equal(t, "documents of after a removal the entity", 1,
		len(errtest.Must(s.ListDocuments(ctx, tenant, b.ID, "e"))(t)))
	most := screening.MaxDocuments
	wantError(t, "a third one, after 100", s.AddDocument(ctx, b, document("third"), most),
		screening.ErrTooManyDocuments)
	must(t, s.AddDocument(ctx, b, document("third"), most-1))
	wantError(t, "a fourth one", s.AddDocument(ctx, b, document("fourth"), 0), screening.ErrTooManyDocuments)
}
