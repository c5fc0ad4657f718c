package screeninghttp

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/property"
	"sluice/shared/screening"
)

// Limits of the bodies of materiality.
const (
	maxJurisdictions = 100
	maxImpacted      = 100
	maxRationale     = 4000 // characters
)

// UpdateEntityRequest is a changed assessment of an entity and its impacted clients.
type UpdateEntityRequest struct {
	EntityMaterialityAssessment *AssessmentRequest      `json:"entityMaterialityAssessment"`
	ImpactedClients             []ImpactedClientRequest `json:"impactedClients"`
}

// AssessmentRequest is an assessment; categories that are absent stay as they are.
type AssessmentRequest struct {
	PEP           *CategoryRequest  `json:"pep"`
	AdverseMedia  *CategoryRequest  `json:"adverseMedia"`
	Enforcements  *CategoryRequest  `json:"enforcements"`
	Other         *CategoryRequest  `json:"other"`
	Sanctions     *SanctionsRequest `json:"sanctions"`
	Rationale     *string           `json:"rationale"`
	JourneyTaskID string            `json:"journeyTaskId"`
}

// CategoryRequest is the assessment of a category.
type CategoryRequest struct {
	MaterialityStatus string   `json:"materialityStatus"`
	Jurisdictions     []string `json:"jurisdictions"`
}

// SanctionsRequest is the assessment of sanctions.
type SanctionsRequest struct {
	CategoryRequest
	OKToProceed *bool  `json:"okToProceed"`
	Rationale   string `json:"rationale"`
}

// ImpactedClientRequest is a client to whom a finding may matter.
type ImpactedClientRequest struct {
	LegalEntityID       string `json:"legalEntityId"`
	IsSelected          *bool  `json:"isSelected"`
	ReasonForNoFollowUp string `json:"reasonForNoFollowUp"`
}

// Check validates the data.
func (in *UpdateEntityRequest) Check(v *platform.ValidationErrors) {
	if in.EntityMaterialityAssessment != nil {
		in.EntityMaterialityAssessment.check(v, "entityMaterialityAssessment")
	}
	if !v.CheckCount("impactedClients", len(in.ImpactedClients), maxImpacted) {
		return
	}
	for i, c := range in.ImpactedClients {
		path := fmt.Sprintf("impactedClients.%d", i)
		v.RequireID(path+".legalEntityId", c.LegalEntityID)
		v.RequireValue(path+".isSelected", c.IsSelected != nil)
		if c.IsSelected != nil && !*c.IsSelected {
			v.RequireValue(path+".reasonForNoFollowUp", c.ReasonForNoFollowUp != "")
		}
		v.CheckText(path+".reasonForNoFollowUp", c.ReasonForNoFollowUp, maxReason)
	}
}

func (in *AssessmentRequest) check(v *platform.ValidationErrors, path string) {
	for i, c := range []*CategoryRequest{in.PEP, in.AdverseMedia, in.Enforcements, in.Other} {
		if c != nil {
			c.check(v, path+"."+[]string{"pep", "adverseMedia", "enforcements", "other"}[i])
		}
	}
	if in.Sanctions != nil {
		in.Sanctions.check(v, path+".sanctions")
		v.CheckText(path+".sanctions.rationale", in.Sanctions.Rationale, maxRationale)
	}
	v.CheckOptionalText(path+".rationale", in.Rationale, maxRationale)
	v.CheckText(path+".journeyTaskId", in.JourneyTaskID, platform.MaxName)
}

func (in *CategoryRequest) check(v *platform.ValidationErrors, path string) {
	v.RequireOneOf(path+".materialityStatus", in.MaterialityStatus, string(screening.Material),
		string(screening.Immaterial), string(screening.NoMateriality))
	v.CheckNames(path+".jurisdictions", in.Jurisdictions, maxJurisdictions)
}

// assessment returns the category as it is stored. Jurisdictions are dropped unless it is material.
func (in *CategoryRequest) assessment() screening.CategoryAssessment {
	c := screening.CategoryAssessment{Status: screening.Materiality(in.MaterialityStatus)}
	if c.Status == screening.Material {
		c.Jurisdictions = in.Jurisdictions
	}
	return c
}

// apply returns an assessment after the request; nil is one that does not exist yet.
func (in *AssessmentRequest) apply(old *screening.Assessment) screening.Assessment {
	a := screening.Assessment{Categories: map[screening.Category]screening.CategoryAssessment{},
		JourneyTaskID: in.JourneyTaskID}
	if old != nil {
		a.Rationale = old.Rationale
		maps.Copy(a.Categories, old.Categories)
	}
	for name, c := range map[screening.Category]*CategoryRequest{screening.PEP: in.PEP,
		screening.AdverseMedia: in.AdverseMedia, screening.Enforcements: in.Enforcements, screening.Other: in.Other} {
		if c != nil {
			a.Categories[name] = c.assessment()
		}
	}
	if s := in.Sanctions; s != nil {
		c := s.assessment()
		if c.Status == screening.Material {
			c.OKToProceed, c.Rationale = s.OKToProceed, s.Rationale
		}
		a.Categories[screening.Sanctions] = c
	}
	if in.Rationale != nil {
		a.Rationale = *in.Rationale
	}
	return a
}

// UpdateMaterialityRequest is properties of an entity or a related party.
type UpdateMaterialityRequest struct {
	RelatedPartyEntityID string           `json:"relatedPartyEntityId"`
	Properties           property.Changes `json:"properties"`
}

// Check validates the data.
func (in *UpdateMaterialityRequest) Check(v *platform.ValidationErrors) {
	v.CheckID("relatedPartyEntityId", in.RelatedPartyEntityID)
	v.RequireValue("properties", in.Properties != nil)
	property.Validate("properties", in.Properties.Values(), platform.MaxName, platform.MaxText,
		func(name, message string) { v.Add(name, message, platform.CodeProperty) })
}

// EscalateRequest hands a materiality task over.
type EscalateRequest struct {
	TeamID  string `json:"teamId"`
	UserID  string `json:"userId"`
	Comment string `json:"comment"`
}

// Check validates the data.
func (in *EscalateRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("teamId", in.TeamID)
	v.CheckText("userId", in.UserID, platform.MaxName)
	v.RequireText("comment", in.Comment, maxComments)
}

// AssessmentReply is an assessment; categories that nobody has assessed are null.
type AssessmentReply struct {
	PEP                *CategoryReply        `json:"pep"`
	AdverseMedia       *CategoryReply        `json:"adverseMedia"`
	Enforcements       *CategoryReply        `json:"enforcements"`
	Other              *CategoryReply        `json:"other"`
	Sanctions          *SanctionsReply       `json:"sanctions"`
	Rationale          *string               `json:"rationale"`
	MaterialityOutcome screening.Materiality `json:"materialityOutcome"`
	LastActionedBy     AssessorReply         `json:"lastActionedBy"`
}

// CategoryReply is the assessment of a category; jurisdictions only of a material one.
type CategoryReply struct {
	MaterialityStatus screening.Materiality `json:"materialityStatus"`
	Jurisdictions     []string              `json:"jurisdictions,omitempty"`
}

// SanctionsReply is the assessment of sanctions; decision and rationale only of a material one.
type SanctionsReply struct {
	CategoryReply
	OKToProceed *bool   `json:"okToProceed,omitempty"`
	Rationale   *string `json:"rationale,omitempty"`
}

// AssessorReply is the last action on an assessment.
type AssessorReply struct {
	ID            string    `json:"id"`
	Type          string    `json:"type"`
	ActionedOn    time.Time `json:"actionedOn"`
	JourneyTaskID *string   `json:"journeyTaskId"`
}

func assessmentReplyOf(a *screening.Assessment) *AssessmentReply {
	if a == nil {
		return nil
	}
	category := func(name screening.Category) *CategoryReply {
		if c, ok := a.Categories[name]; ok {
			return &CategoryReply{c.Status, c.Jurisdictions}
		}
		return nil
	}
	out := &AssessmentReply{PEP: category(screening.PEP), AdverseMedia: category(screening.AdverseMedia),
		Enforcements: category(screening.Enforcements), Other: category(screening.Other),
		Rationale: platform.OrNull(a.Rationale), MaterialityOutcome: a.Outcome(),
		LastActionedBy: AssessorReply{a.By, a.ByType, a.At, platform.OrNull(a.JourneyTaskID)}}
	if c := category(screening.Sanctions); c != nil {
		stored := a.Categories[screening.Sanctions]
		out.Sanctions = &SanctionsReply{*c, stored.OKToProceed, platform.OrNull(stored.Rationale)}
	}
	return out
}

// EscalationReply is the escalation of a materiality task.
type EscalationReply struct {
	TeamID      string    `json:"teamId"`
	UserID      *string   `json:"userId"`
	Comment     string    `json:"comment"`
	EscalatedBy string    `json:"escalatedBy"`
	EscalatedAt time.Time `json:"escalatedAt"`
}

// ImpactedClientReply is a client to whom a finding may matter.
type ImpactedClientReply struct {
	LegalEntityID       string  `json:"legalEntityId"`
	IsSelected          bool    `json:"isSelected"`
	ReasonForNoFollowUp *string `json:"reasonForNoFollowUp"`
}

// AggregateReply is the materiality of all entities of a batch.
type AggregateReply struct {
	PEP          screening.Materiality `json:"finalMaterialityPEP"`
	Sanctions    screening.Materiality `json:"finalMaterialitySanctions"`
	AdverseMedia screening.Materiality `json:"finalMaterialityAdverseMedia"`
	Enforcements screening.Materiality `json:"finalMaterialityEnforcements"`
	Other        screening.Materiality `json:"finalMaterialityOther"`
	Overall      screening.Materiality `json:"overallMateriality"`
}

func aggregateReplyOf(by map[screening.Category]screening.Materiality) AggregateReply {
	return AggregateReply{by[screening.PEP], by[screening.Sanctions], by[screening.AdverseMedia],
		by[screening.Enforcements], by[screening.Other], screening.Combine(slices.Collect(maps.Values(by))...)}
}

// properties returns the aggregate as properties of a draft.
func (a AggregateReply) properties() property.Changes {
	out := property.Changes{}
	for key, m := range map[string]screening.Materiality{
		"finalMaterialityPEP": a.PEP, "finalMaterialitySanctions": a.Sanctions,
		"finalMaterialityAdverseMedia": a.AdverseMedia, "finalMaterialityEnforcements": a.Enforcements,
		"finalMaterialityOther": a.Other, "overallMateriality": a.Overall,
	} {
		value := string(m)
		out[key] = &property.Property{Type: property.Single, Value: &value}
	}
	return out
}
