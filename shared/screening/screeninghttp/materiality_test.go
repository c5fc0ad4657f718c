package screeninghttp_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/property"
	"sluice/shared/screening/screeninghttp"
)

// addEntity stores an entity with access layers in the entity data, with a draft in a journey unless that is "".
func (a *api) addEntity(id string, layers access.Layers, journey string) (draftID string) {
	a.t.Helper()
	ctx := a.t.Context()
	p := entity.Profile{ID: id, Type: "Company", Layers: layers, Created: now, Version: 1, Revision: 1,
		BaseStatus: entity.Compliant}
	errtest.Fatal(a.t, a.entities.Create(ctx, a.caller.Tenant, p))
	if journey == "" {
		return ""
	}
	u := entity.BeginDraft(p, entity.Compliant, entity.Draft{ID: uuid.NewString(), JourneyID: journey, Created: now})
	errtest.Fatal(a.t, a.entities.ApplyUpdate(ctx, a.caller.Tenant, u))
	return u.Draft.ID
}

func TestAssess(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.create("", "e")
	place := commands + "/batch/" + b + "/entity/e"
	read := func() (e screeninghttp.EntityReply) {
		t.Helper()
		a.succeed("GET", queries+"/batch/"+b+"/entity/e", "", &e)
		return e
	}
	if e := read(); e.EntityMaterialityAssessment != nil || e.MaterialityTaskEscalatedDetails != nil ||
		len(e.ImpactedClients) != 0 || len(e.MaterialityAssessment) != 0 {
		t.Errorf("a new entity is %+v, want nothing assessed", e)
	}
	a.succeed("PUT", place, `{"data":{"entityMaterialityAssessment":{`+
		`"pep":{"materialityStatus":"Immaterial","jurisdictions":["Latvia"]},`+
		`"sanctions":{"materialityStatus":"Material","jurisdictions":["EU"],"okToProceed":false,"rationale":"r"},`+
		`"rationale":"all","journeyTaskId":"task"},`+
		`"impactedClients":[{"legalEntityId":"c","isSelected":false,"reasonForNoFollowUp":"left"}]}}`, nil)
	got := read().EntityMaterialityAssessment
	if got.PEP == nil || got.PEP.Jurisdictions != nil || got.Other != nil || got.Sanctions.Jurisdictions[0] != "EU" ||
		*got.Sanctions.OKToProceed || *got.Sanctions.Rationale != "r" || got.MaterialityOutcome != "Material" ||
		got.LastActionedBy.ID != "c" || *got.LastActionedBy.JourneyTaskID != "task" || *got.Rationale != "all" {
		t.Errorf("got %+v, want a material outcome without jurisdictions of the immaterial category", got)
	}
	a.succeed("PUT", place, `{"data":{"entityMaterialityAssessment":{"sanctions":{"materialityStatus":"None",`+
		`"okToProceed":true}}}}`, nil)
	e := read()
	got = e.EntityMaterialityAssessment
	if got.MaterialityOutcome != "Immaterial" || got.Sanctions.OKToProceed != nil || *got.Rationale != "all" ||
		len(e.ImpactedClients) != 1 || *e.ImpactedClients[0].ReasonForNoFollowUp != "left" {
		t.Errorf("got %+v, want pep, rationale and clients kept", got)
	}
	a.refuse(400, "invalid_request", "PUT", place,
		`{"data":{"impactedClients":[{"legalEntityId":"c","isSelected":false}]}}`)
	a.refuse(400, "invalid_request", "PUT", place,
		`{"data":{"entityMaterialityAssessment":{"pep":{"materialityStatus":"x"}}}}`)
	a.refuse(404, "screened_entity_not_found", "PUT", commands+"/batch/"+b+"/entity/x", `{"data":{}}`)

	a.succeed("PUT", place+"/updatemateriality",
		`{"data":{"properties":{"a":{"type":"Single","value":"1"},"b":{"type":"Single","value":"2"}}}}`, nil)
	a.succeed("PUT", place+"/updatemateriality", `{"data":{"properties":{"a":null}}}`, nil)
	a.succeed("PUT", place+"/updatemateriality",
		`{"data":{"relatedPartyEntityId":"p","properties":{"c":{"type":"Single","value":"3"}}}}`, nil)
	all := read().MaterialityAssessment
	if len(all) != 2 || len(all["e"]) != 1 || *all["e"]["b"].Value != "2" || *all["p"]["c"].Value != "3" {
		t.Errorf("the properties are %+v, want b of the entity and c of the party", all)
	}
}

func TestEscalate(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.create("", "e")
	place, team := commands+"/batch/"+b+"/entity/e/", uuid.NewString()
	a.refuse(400, "invalid_request", "PUT", place+"escalatematerialitytask",
		fmt.Sprintf(`{"data":{"teamId":%q,"comment":""}}`, team))
	a.succeed("PUT", place+"escalatematerialitytask", fmt.Sprintf(`{"data":{"teamId":%q,"comment":"c"}}`, team), nil)
	var e screeninghttp.EntityReply
	a.succeed("GET", queries+"/batch/"+b+"/entity/e", "", &e)
	if x := e.MaterialityTaskEscalatedDetails; x == nil || x.TeamID != team || x.Comment != "c" ||
		x.EscalatedBy != "c" || x.UserID != nil {
		t.Errorf("got %+v, want the escalation", x)
	}
	for range 2 {
		a.succeed("PUT", place+"deescalatematerialitytask", "", nil)
	}
	e = screeninghttp.EntityReply{}
	if a.succeed("GET", queries+"/batch/"+b+"/entity/e", "", &e); e.MaterialityTaskEscalatedDetails != nil {
		t.Errorf("got %+v, want null", e.MaterialityTaskEscalatedDetails)
	}
	a.succeed("PUT", commands+"/batch/"+b+"/complete", "", nil)
	a.refuse(400, "screening_batch_not_open", "PUT", place+"deescalatematerialitytask", "")
}

func TestAggregateWritesTheDraft(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	draft := a.addEntity("main", access.Layers{}, "j")
	const journey = `,"journeyId":"j","journeyMainLegalEntityId":"main"`
	aggregate := func(b string) string { return commands + "/batch/" + b + "/aggregate-entity-materiality" }
	a.refuse(400, "no_main_legal_entity", "POST", aggregate(a.create(`,"journeyId":"x"`, "e")), "")
	a.refuse(400, "no_main_draft", "POST", aggregate(a.create(`,"journeyId":"x","journeyMainLegalEntityId":"main"`,
		"e")), "")
	b := a.create(journey, "e", "f")
	for id, status := range map[string]string{"e": "Immaterial", "f": "Material"} {
		a.succeed("PUT", commands+"/batch/"+b+"/entity/"+id,
			`{"data":{"entityMaterialityAssessment":{"pep":{"materialityStatus":"`+status+`"}}}}`, nil)
	}
	var got screeninghttp.AggregateReply
	for range 2 {
		a.succeed("POST", aggregate(b), "", &got)
	}
	want := screeninghttp.AggregateReply{PEP: "Material", Sanctions: "None", AdverseMedia: "None", Enforcements: "None",
		Other: "None", Overall: "Material"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	d, err := a.entities.GetDraft(t.Context(), tenant, draft)
	if err != nil || *d.Properties["finalMaterialityPEP"].Value != "Material" ||
		*d.Properties["overallMateriality"].Value != "Material" ||
		*d.Properties["finalMaterialityOther"].Value != "None" || !slices.Equal(d.Authors, []string{"c"}) {
		t.Errorf("the draft is %+v, %v, want the aggregate in it", d, err)
	}
	a.create(journey, "e")
	a.refuse(400, "screening_batch_not_open", "POST", aggregate(b), "")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.addEntity("main", access.Layers{Geographic: []string{"Latvia"}, BusinessRelated: []string{"Retail"}}, "")
	history := queries + "/batch/entity/e/materiality-assessment-history"
	a.refuse(404, "screened_entity_not_found", "GET", history, "")
	b := a.create(`,"journeyId":"j","journeyType":"Review","journeyMainLegalEntityId":"main",`+
		`"journeyMainLegalEntityName":"Main"`, "e")
	a.succeed("PUT", commands+"/batch/"+b+"/entity/e",
		`{"data":{"entityMaterialityAssessment":{"pep":{"materialityStatus":"Material"}}}}`, nil)
	var items []screeninghttp.HistoryReply
	if a.succeed("GET", history, "", &items); len(items) != 0 {
		t.Errorf("before the close: %+v, want nothing", items)
	}
	searched, ids := a.createSearched("e", 2)
	a.succeed("PUT", commands+"/batch/"+searched+"/entity/e",
		`{"data":{"entityMaterialityAssessment":{"other":{"materialityStatus":"None"}}}}`, nil)
	a.succeed("PUT", commands+"/batch/"+searched+"/matches", `{"data":[{"entityId":"e","matches":[`+
		`{"matchId":"`+ids[0]+`","status":"Match","reason":"r","classificationData":{"singleProperties":{"f":{`+
		`"value":"v","label":"l"}}}},{"matchId":"`+ids[1]+`","status":"No Match","reason":"r"}]}]}`, nil)
	for _, id := range []string{b, searched} {
		a.succeed("PUT", commands+"/batch/"+id+"/complete", "", nil)
	}
	a.create(`,"journeyId":"j"`, "e") // overrides b, which stays in the history
	a.succeed("GET", history, "", &items)
	if len(items) != 2 {
		t.Fatalf("got %+v, want two items", items)
	}
	byBatch := map[string]screeninghttp.HistoryReply{items[0].BatchID: items[0], items[1].BatchID: items[1]}
	first := byBatch[b]
	if first.JourneyMainLegalEntityName != nil || !slices.Equal(first.RestrictedFields,
		[]string{"journeyMainLegalEntityName"}) || *first.JourneyMainLegalEntityID != "main" ||
		*first.JourneyType != "Review" || first.JourneyAccessLayers.Geographic[0] != "Latvia" ||
		first.EntityMaterialityAssessment.Assessment.MaterialityOutcome != "Material" {
		t.Errorf("got %+v, want the name of the main legal entity hidden", first)
	}
	matches := byBatch[searched].EntityMaterialityAssessment.TrueMatches
	if len(matches) != 1 || matches[0].MatchID != ids[0] || matches[0].Name != "PETROV" ||
		matches[0].ProviderID != "p" || matches[0].ClassificationData.SingleProperties["f"].Value != "v" {
		t.Errorf("the true matches are %+v, want one", matches)
	}
	a.caller.Layers = access.Layers{Geographic: []string{"Latvia"}, BusinessRelated: []string{"Retail"}}
	a.succeed("GET", history, "", &items)
	for _, item := range items {
		if item.BatchID == b && (item.JourneyMainLegalEntityName == nil || len(item.RestrictedFields) != 0) {
			t.Errorf("with its layers: %+v, want the name", item)
		}
	}
	a.caller.Layers = access.Layers{}
	a.addEntity("e", access.Layers{Geographic: []string{"Spain"}}, "")
	a.refuse(404, "screened_entity_not_found", "GET", history, "")
}

// hookedDrafts lets others change a draft before each of the next updates of it.
type hookedDrafts struct {
	*entitydb.Profiles
	overtakes int
	// note is the property that others write.
	note string
}

func (s *hookedDrafts) UpdateDraft(ctx context.Context, tenant string, d entity.Draft) error {
	if s.overtakes > 0 {
		s.overtakes--
		other, err := s.Profiles.GetDraft(ctx, tenant, d.ID)
		if err == nil {
			other, err = other.WithProperties(property.Changes{"note": {Type: property.Single, Value: &s.note}})
		}
		if err == nil {
			err = s.Profiles.UpdateDraft(ctx, tenant, other)
		}
		if err != nil {
			return err
		}
	}
	return s.Profiles.UpdateDraft(ctx, tenant, d)
}

// The aggregate is written although others change the draft meanwhile, if they do not do it again and again.
func TestAggregateOfABusyDraft(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	draft := a.addEntity("main", access.Layers{}, "j")
	b := a.create(`,"journeyId":"j","journeyMainLegalEntityId":"main"`, "e")
	aggregate := commands + "/batch/" + b + "/aggregate-entity-materiality"
	a.draftHook.overtakes, a.draftHook.note = 1, "n"
	a.succeed("POST", aggregate, "", nil)
	d, err := a.entities.GetDraft(t.Context(), tenant, draft)
	if err != nil || d.Properties["overallMateriality"].Value == nil || d.Properties["note"].Value == nil {
		t.Errorf("the draft is %+v, %v, want the aggregate and the changes of others", d, err)
	}
	a.draftHook.overtakes = 100
	a.refuse(409, "CONFLICT", "POST", aggregate, "")
}
