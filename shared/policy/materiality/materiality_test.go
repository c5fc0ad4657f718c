package materiality_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/materiality"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

const (
	tenant  = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	journey = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10"
	// company is the main legal entity of the journey, owner a related party, and secret an entity of Spain.
	company, owner, secret = "company", "owner", "secret"
)

var (
	now      = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	everyone = access.Layers{}.OrDefault()
	spain    = access.Layers{Geographic: []string{"Spain"}}.OrDefault()
)

// entities is the entity data, with access layers for secret.
type entities struct{ err error }

func (e entities) GetProfiles(_ context.Context, _ string, ids []string) ([]entity.Profile, error) {
	if ids[0] == secret {
		return []entity.Profile{{ID: secret, Layers: spain}}, e.err
	}
	return nil, e.err
}

// journal is the screening of one tenant on a real store.
type journal struct {
	t       *testing.T
	store   *screeningdb.Store
	batches int
}

// add stores a batch of entities that is newer than all others, and returns it.
func (j *journal) add(change func(*screening.Batch), ids ...string) screening.Batch {
	j.t.Helper()
	j.batches++
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, Type: screening.TypeScreening,
		JourneyID: journey, ProcessID: "onboarding", MainEntityID: company, EntityIDs: ids, Version: 1,
		CreatedAt: now.Add(time.Duration(j.batches) * time.Second)}
	if change != nil {
		change(&b)
	}
	var all []screening.Entity
	for _, id := range ids {
		all = append(all, screening.Entity{ID: id, Version: 1})
	}
	b = errtest.Must(j.store.Create(j.t.Context(), b, all))(j.t)
	return b
}

// assess stores an assessment of an entity.
func (j *journal) assess(b screening.Batch, id string, a screening.Assessment) {
	j.t.Helper()
	err := j.store.SaveEntity(j.t.Context(), b, screening.Entity{ID: id, BatchID: b.ID, Assessment: &a, Version: 2})
	errtest.Fatal(j.t, err)
}

// expect checks the materiality of an entity in the journey.
func (j *journal) expect(step, id string, layers access.Layers, want *evaluate.Materiality) {
	j.t.Helper()
	r := materiality.Reader{Screenings: j.store, Entities: entities{}, Tenant: tenant}
	got, err := r.ReadMateriality(j.t.Context(), journey, id, layers)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		j.t.Errorf("%s: %v, want (-), got (+): %s", step, err, diff)
	}
}

func newJournal(t *testing.T) *journal {
	return &journal{t: t, store: screeningdb.New(dynamotest.Start(t), "test-screenings")}
}

func otherJourney(b *screening.Batch) { b.JourneyID = "other" }
func rescreening(b *screening.Batch) {
	b.Type, b.ProcessID = screening.TypeRescreening, "rescreening-"+b.ID
}

var (
	isOK, isNotOK = true, false

	material = screening.Assessment{Categories: map[screening.Category]screening.CategoryAssessment{
		screening.PEP:       {Status: screening.Immaterial},
		screening.Sanctions: {Status: screening.Material, Jurisdictions: []string{"Ireland"}, OKToProceed: &isNotOK},
	}}
	cleared = screening.Assessment{Categories: map[screening.Category]screening.CategoryAssessment{
		screening.Sanctions:    {Status: screening.Material, OKToProceed: &isOK},
		screening.AdverseMedia: {Status: screening.NoMateriality},
		screening.Enforcements: {Status: screening.NoMateriality},
		screening.Other:        {Status: screening.Material, Jurisdictions: []string{"Spain", "Italy"}},
	}}
)

// The materiality of an entity is read from the newest batch of the journey that has it.
func TestReadMateriality(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	ofCompany := evaluate.Materiality{MainEntity: true, MaterialityOutcome: "Material",
		PEPMaterialityStatus: "Immaterial", SanctionsMaterialityStatus: "Material",
		SanctionsMaterialityJurisdictions: []string{"Ireland"}, SanctionsProceedDecision: "false"}
	j.expect("no batch", company, everyone, nil)
	first := j.add(nil, company, owner, secret)
	j.expect("not assessed", company, everyone, &evaluate.Materiality{MainEntity: true})
	j.assess(first, company, material)
	j.assess(first, secret, cleared)
	j.expect("assessed", company, everyone, &ofCompany)
	j.expect("the main legal entity", "", everyone, &ofCompany)
	j.expect("a related party", owner, everyone, &evaluate.Materiality{})
	j.expect("not screened", "stranger", everyone, nil)

	j.expect("beyond the access layers", secret, everyone, nil)
	j.expect("within the access layers", secret, spain, &evaluate.Materiality{MaterialityOutcome: "Material",
		SanctionsMaterialityStatus: "Material", AdverseMediaMaterialityStatus: "None",
		EnforcementsMaterialityStatus: "None", OtherMaterialityStatus: "Material",
		OtherMaterialityJurisdictions: []string{"Spain", "Italy"}, SanctionsProceedDecision: "true"})

	j.add(otherJourney, company)
	j.expect("screened in another journey since", company, everyone, &ofCompany)
	again := j.add(rescreening, owner, company)
	j.expect("rescreened, not assessed", company, everyone, &ofCompany)
	j.assess(again, owner, cleared)
	ofOwner := evaluate.Materiality{MaterialityOutcome: "Material", SanctionsMaterialityStatus: "Material",
		AdverseMediaMaterialityStatus: "None", EnforcementsMaterialityStatus: "None",
		OtherMaterialityStatus: "Material", OtherMaterialityJurisdictions: []string{"Spain", "Italy"},
		SanctionsProceedDecision: "true"}
	j.expect("rescreened, assessed", owner, everyone, &ofOwner)
	j.add(nil, company)
	j.expect("overridden by a batch without an assessment", company, everyone, &evaluate.Materiality{MainEntity: true})
	j.expect("not in the newest batch", owner, everyone, &ofOwner)
	j.expect("overridden, and in no other batch", secret, spain, nil)
}

// A batch that counts is found among many others of the entity.
func TestReadMaterialityAmongMany(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	first := j.add(nil, owner)
	j.assess(first, owner, material)
	for range 55 {
		j.add(otherJourney, owner)
	}
	j.add(func(b *screening.Batch) { b.ProcessID = "another" }, company)
	j.expect("the oldest of many", owner, everyone, &evaluate.Materiality{MaterialityOutcome: "Material",
		PEPMaterialityStatus: "Immaterial", SanctionsMaterialityStatus: "Material",
		SanctionsMaterialityJurisdictions: []string{"Ireland"}, SanctionsProceedDecision: "false"})
	j.add(func(b *screening.Batch) { b.MainEntityID = "" }, company)
	j.expect("no main legal entity", "", everyone, nil)
}

// failing is screening that answers with an error from the given call on.
type failing struct {
	materiality.Screenings
	left int
}

var errOutage = errors.New("outage")

func (f *failing) fail() error {
	if f.left--; f.left < 0 {
		return errOutage
	}
	return nil
}

func (f *failing) Get(ctx context.Context, tenant, id string) (screening.Batch, error) {
	b, err := f.Screenings.Get(ctx, tenant, id)
	return b, errors.Join(err, f.fail())
}

func (f *failing) FindNewest(ctx context.Context, tenant, journeyID string) (string, error) {
	id, err := f.Screenings.FindNewest(ctx, tenant, journeyID)
	return id, errors.Join(err, f.fail())
}

func (f *failing) ListBatchesOf(ctx context.Context, tenant, entityID, after string, limit int) ([]string, string,
	error) {
	ids, next, err := f.Screenings.ListBatchesOf(ctx, tenant, entityID, after, limit)
	return ids, next, errors.Join(err, f.fail())
}

func (f *failing) GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error) {
	all, err := f.Screenings.GetEntities(ctx, tenant, batchID, ids)
	return all, errors.Join(err, f.fail())
}

// An outage is an error and never a missing assessment: that would be another decision.
func TestReadMaterialityReportsOutages(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.assess(j.add(nil, owner), owner, material)
	j.add(rescreening, owner)
	for calls := range 7 {
		r := materiality.Reader{Screenings: &failing{j.store, calls}, Entities: entities{}, Tenant: tenant}
		got, err := r.ReadMateriality(t.Context(), journey, owner, everyone)
		if isDone := calls == 6; isDone != (err == nil) || isDone != (got != nil) {
			t.Errorf("with an outage after %d calls: got %v, %v", calls, got, err)
		}
	}
	r := materiality.Reader{Screenings: j.store, Entities: entities{errOutage}, Tenant: tenant}
	errtest.Is(t, "with an outage of the entity data",
		errtest.Of(r.ReadMateriality(t.Context(), journey, owner, everyone)), errOutage)
}
