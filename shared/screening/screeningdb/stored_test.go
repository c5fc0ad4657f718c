package screeningdb_test

import (
	"errors"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/rescreening"
	"sluice/shared/screening/screeningdb"
)

func pointer[T any](v T) *T { return &v }

// TestStoredScreenings pins the stored format: one golden item for each kind of row, with every attribute set. It
// writes through the store and compares the items, and it reads the golden items through the store and compares the
// values.
func TestStoredScreenings(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), dynamotest.Start(t)
	s := screeningdb.New(client, "test-screenings")
	b, e, m := storedBatch(), storedEntity(), storedMatch()
	errtest.Fatal(t, errtest.Of(s.Create(ctx, b, []screening.Entity{e})))
	errtest.Fatal(t, s.AddMatches(ctx, tenant, []screening.Match{m}))
	errtest.Fatal(t, s.AddDocument(ctx, b, storedDocument(), 0))
	search := screening.Search{BatchID: b.ID, ProviderID: "r", Run: 2, Token: "token", AskedAt: now}
	errtest.Fatal(t, s.SaveSearch(ctx, tenant, search))
	earlier := screening.Search{BatchID: b.ID, ProviderID: "r", Run: 1}
	errtest.Is(t, "a question of an earlier run", s.SaveSearch(ctx, tenant, earlier), screening.ErrChanged)
	settings := screening.Settings{ValidityDays: map[string]int{"p": 365}, ActiveProviders: []string{"p"},
		ActiveLists: []string{"un"}, Threshold: pointer(90.5), Version: 1}
	none := screening.Settings{ActiveProviders: settings.ActiveProviders}
	errtest.Fatal(t, s.SaveSettings(ctx, tenant, none, settings))
	errtest.Is(t, "the same version of the settings again", s.SaveSettings(ctx, tenant, none, settings),
		screening.ErrChanged)
	upload := adapter.Upload{Tenant: tenant, ID: "5f0c6c0e-5a39-4d8e-9a0b-1c2d3e4f5a6b", CreatedAt: now,
		CreatedBy: "client", Expires: now.Add(time.Hour), UsedBy: "message"}
	errtest.Fatal(t, errors.Join(s.CreateUpload(ctx, upload), s.UseUpload(ctx, tenant, upload.ID, upload.UsedBy)))
	round := rescreening.Round{Tenant: tenant, Owner: "shared", List: "un", Done: "v1", BeganAt: b.CreatedAt,
		Next:        "v2",
		NextBeganAt: b.CreatedAt, After: "batch#x", IsAnnounced: true, Names: 3, Matches: 2, Batches: []string{"b"},
		BatchCount: 1, Revision: 1}
	errtest.Fatal(t, s.SaveRound(ctx, round))
	errtest.Is(t, "the same revision of the round again", s.SaveRound(ctx, round), screening.ErrChanged)
	failing := rescreening.Round{Tenant: tenant, Owner: tenant, List: "own", Next: "v2", NextBeganAt: b.CreatedAt,
		IsThrough: true, Failed: []string{"b"}, Revision: 1}
	errtest.Fatal(t, s.SaveRound(ctx, failing))
	dynamotest.CompareStored(t, client, "test-screenings", "screenings")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-screenings", "screenings")
	s = screeningdb.New(client, "test-screenings")
	difftest.Equal(t, "batch", b, errtest.Must(s.Get(ctx, tenant, b.ID))(t))
	difftest.Equal(t, "entity", []screening.Entity{e}, errtest.Must(s.GetEntities(ctx, tenant, b.ID, []string{"e"}))(t))
	matches, _, err := s.ListMatches(ctx, b, "e", "", 10)
	errtest.Fatal(t, err)
	difftest.Equal(t, "match", []screening.Match{m}, matches)
	gotRound := errtest.Must(s.GetRound(ctx, tenant, "shared", "un"))(t)
	difftest.Equal(t, "round", round, gotRound)
	gotRound = errtest.Must(s.GetRound(ctx, tenant, tenant, "own"))(t)
	difftest.Equal(t, "round with a failed batch", failing, gotRound)
	documents := errtest.Must(s.ListDocuments(ctx, tenant, b.ID, "e"))(t)
	difftest.Equal(t, "document", []screening.Document{storedDocument()}, documents)
	difftest.Equal(t, "settings", settings, errtest.Must(s.GetSettings(ctx, tenant))(t))
	difftest.Equal(t, "question", search, errtest.Must(s.GetSearch(ctx, tenant, b.ID, "r"))(t))
	difftest.Equal(t, "upload", upload, errtest.Must(s.GetUpload(ctx, tenant, upload.ID))(t))
	difftest.Equal(t, "active batch", b.ID, errtest.Must(s.FindActive(ctx, tenant, "journey", "process"))(t))
	difftest.Equal(t, "newest batch", b.ID, errtest.Must(s.FindNewest(ctx, tenant, "journey"))(t))
	if ids, _, err := s.ListBatchesOf(ctx, tenant, "e", "", 10); err != nil || len(ids) != 1 || ids[0] != b.ID {
		t.Errorf("batches of the entity: got %q, %v, want %q", ids, err, b.ID)
	}
}

func storedBatch() screening.Batch {
	return screening.Batch{
		ID: "0197b0c4-52a1-7c3e-9d2f-6a1b3c5d7e90", Tenant: tenant, Status: screening.Open,
		Type:      screening.TypeScreening,
		JourneyID: "journey", ProcessID: "process", JourneyType: "onboarding", MainEntityID: "main",
		MainEntityName: "Main",
		Providers: []screening.ProviderRun{
			{ID: "p", Status: screening.SearchComplete, ConfigurationSetID: "set", Matches: 1, AnswerID: "answer",
				Run: 1},
			{ID: "q", Status: screening.ReturnFailed, AnswerID: "other",
				Error: &screening.ProviderError{Source: "Adapter", Code: "E002", Message: "message"}},
			{ID: "r", Status: screening.SearchInProgress, Run: 2}},
		Lists: []screening.ListVersion{{List: "un", Owner: tenant, Version: "0a1b2c", SourceDate: now,
			ImportedAt: now}},
		Threshold: 85, Runs: 2, StartedAt: now,
		EntityIDs: []string{"e"}, CreatedAt: now, CreatedBy: "client", ClosedAt: now, CorrelationID: "correlation",
		Matches: 3, Unresolved: 2, TrueMatches: 1, Resolvers: map[string]int{"client": 1}, Version: 1,
	}
}

func storedEntity() screening.Entity {
	return screening.Entity{ID: "e", BatchID: storedBatch().ID, LegalEntityID: "e", Version: 1,
		Criteria: screening.SearchCriteria{Type: screening.Individual, FullName: "Ivan Petrov",
			DateOfBirth: "17/03/1968", Addresses: []screening.Address{{City: "Riga", CountryISO2: "LV"}}},
		Aliases: []screening.Alias{{ID: "alias", AliasType: "maiden", LastName: "Ivanova"}},
		Assessment: &screening.Assessment{Categories: map[screening.Category]screening.CategoryAssessment{
			screening.Sanctions: {Status: screening.Material, Jurisdictions: []string{"EU"}, OKToProceed: pointer(true),
				Rationale: "rationale"}}, Rationale: "all", By: "client", ByType: screening.ActorClient, At: now,
			JourneyTaskID: "task"},
		Materiality: map[string]map[string]property.Property{"e": {"p": {Type: property.Single, Value: pointer("v")}}},
		Escalation:  &screening.Escalation{TeamID: "team", UserID: "user", Comment: "comment", By: "client", At: now},
		ImpactedClients: []screening.ImpactedClient{
			{LegalEntityID: "c", IsSelected: false, ReasonForNoFollowUp: "reason"}},
	}
}

func storedDocument() screening.Document {
	return screening.Document{ID: "7c1d9f0e-2b64-4d0a-9a37-5f2e8c4b6d11", BatchID: storedBatch().ID, EntityID: "e",
		MatchID: storedMatch().ID, MatchUniqueID: "un:1", DocumentID: "document", IdempotencyKey: "key",
		CreatedBy: "client", CreatedAt: now, ReusedFromBatchID: "batch", ReusedFromMatchID: "match"}
}

func storedMatch() screening.Match {
	return screening.Match{
		ID: "3d0b6f4e-8a52-5c1d-9e77-2b4a6c8e0f13", BatchID: storedBatch().ID, EntityID: "e", AnswerID: "answer",
		AliasIDs: []string{"alias"}, UniqueID: "un:1", Version: 1,
		Data: screening.MatchData{ProviderID: "p", ProviderSourceName: "un", Name: "PETROV", Score: pointer(91.5),
			EntityType: pointer("Individual"), Categories: []string{"Sanctions"},
			IDs: []screening.Identifier{{Type: "passport", Value: "1"}},
			CategoryDetails: []screening.CategoryTable{{Kind: "k", Rows: []screening.CategoryRow{
				{Fields: []screening.InfoField{{Label: "l", Value: "v"}}}}}}},
		Resolution: screening.Resolution{Status: screening.TrueMatch, Reason: "reason", Comments: "comments",
			Classification: map[string]screening.Label{"field": {Value: "v", Label: "l"}}, ClassificationReviewed: true,
			Action: &screening.MatchAction{By: "client", Type: screening.ActorClient, At: now, Reused: true}},
	}
}
