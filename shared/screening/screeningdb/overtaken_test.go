package screeningdb_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/rescreening"
	"sluice/shared/screening/screeningdb"
)

// others do something before the first transaction of a client is sent.
type others struct {
	once sync.Once
	do   func()
}

// Do implements aws.HTTPClient.
func (o *others) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		o.once.Do(o.do)
	}
	return http.DefaultClient.Do(r)
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	errtest.Is(t, what, err, want)
}

// must stops a test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	errtest.Fatal(t, errors.Join(errs...))
}

// Another batch becomes the active one of the journey after it was read: the new batch overrides that one.
func TestAnotherBatchBecomesActiveFirst(t *testing.T) {
	t.Parallel()
	db := dynamotest.Start(t)
	s := screeningdb.New(db, "test-screenings")
	var other screening.Batch
	options := db.Options()
	options.HTTPClient = &others{do: func() {
		b, entities := newBatch("journey", "process", "e")
		var err error
		other, err = s.Create(t.Context(), b, entities)
		must(t, err)
	}}
	b, entities := newBatch("journey", "process", "e")
	b, err := screeningdb.New(dynamodb.New(options), "test-screenings").Create(t.Context(), b, entities)
	must(t, err)
	if len(b.OverriddenIDs) != 1 || b.OverriddenIDs[0] != other.ID {
		t.Errorf("the batch overrides %q, want %s", b.OverriddenIDs, other.ID)
	}
}

// A repeated creation changes nothing.
func TestNothingIsCreatedTwice(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s := screeningdb.New(db, "test-screenings")
	b, entities := newBatch("", "", "e")
	b.CorrelationID = "first"
	_, err := s.Create(ctx, b, entities)
	must(t, err)
	again := b
	again.CorrelationID = "again"
	_, err = s.Create(ctx, again, entities)
	wantError(t, "another batch with the same ID", err, screening.ErrChanged)
	difftest.Equal(t, "the batch has the correlation ID", "first",
		errtest.Must(s.Get(ctx, tenant, b.ID))(t).CorrelationID)

	d := screening.Document{ID: "d", BatchID: b.ID, EntityID: "e", DocumentID: "document", CreatedAt: now}
	wantError(t, "the removal of a document that does not exist", s.BeginRemoval(ctx, b, d), screening.ErrNotFound)
	must(t, s.AddDocument(ctx, b, d, 0))
	wantError(t, "the document again", s.AddDocument(ctx, b, d, 0), screening.ErrExists)

	m := newMatch(b, "e", "answer", "1")
	must(t, s.AddMatches(ctx, tenant, []screening.Match{m}))
	m.Data.Name = "Another"
	must(t, s.AddMatches(ctx, tenant, []screening.Match{m}))
	b, _, err = b.FinishProvider(screening.Answer{ID: "answer", ProviderID: "p", Matches: 1})
	must(t, err, s.Save(ctx, b))
	page, _, err := s.ListMatches(ctx, b, "e", "", 10)
	if err != nil || len(page) != 1 || page[0].Data.Name != "PETROV, Ivan" {
		t.Errorf("the matches are %+v, %v, want the one that was added first", page, err)
	}

	must(t, s.Postpone(ctx, tenant, "unknown", now))
	_, err = s.Get(ctx, tenant, "unknown")
	wantError(t, "a batch that was postponed without being there", err, screening.ErrNotFound)
}

// A write after a change by others is refused.
func TestStaleWritesAreRefused(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s := screeningdb.New(db, "test-screenings")
	b, entities := newBatch("", "", "e")
	b, err := s.Create(ctx, b, entities)
	must(t, err)

	e := entities[0]
	e.Version++
	must(t, s.SaveEntity(ctx, b, e))
	wantError(t, "an entity of the first version again", s.SaveEntity(ctx, b, e), screening.ErrChanged)

	m := newMatch(b, "e", "answer", "1")
	must(t, s.AddMatches(ctx, tenant, []screening.Match{m}))
	b, _, err = b.FinishProvider(screening.Answer{ID: "answer", ProviderID: "p", Matches: 1})
	must(t, err, s.Save(ctx, b))
	m.Version += 2 // of a match that was resolved once, which this one was not
	b.Version++
	wantError(t, "a resolution of another version of the match", s.Resolve(ctx, b, []screening.Match{m}),
		screening.ErrChanged)

	settings, none := screening.Settings{Threshold: aws.Float64(80), Version: 1}, screening.Settings{}
	must(t, s.SaveSettings(ctx, tenant, none, settings))
	wantError(t, "the first settings again", s.SaveSettings(ctx, tenant, none, settings), screening.ErrChanged)
	must(t, s.SaveSettings(ctx, tenant, settings, settings))
	wantError(t, "the second settings again", s.SaveSettings(ctx, tenant, settings, settings), screening.ErrChanged)

	round := rescreening.Round{Tenant: tenant, Owner: tenant, List: "un", Revision: 1}
	must(t, s.SaveRound(ctx, round))
	wantError(t, "the first round again", s.SaveRound(ctx, round), screening.ErrChanged)
	round.Revision = 2
	must(t, s.SaveRound(ctx, round))
	wantError(t, "the second round again", s.SaveRound(ctx, round), screening.ErrChanged)

	providers := screeningdb.NewProviders(db, "test-screenings", openBox{})
	builtIn := screening.BuiltInProvider(tenant)
	must(t, providers.SaveProvider(ctx, builtIn, builtIn))
	wantError(t, "the first change of the built-in provider again", providers.SaveProvider(ctx, builtIn, builtIn),
		screening.ErrChanged)
}
