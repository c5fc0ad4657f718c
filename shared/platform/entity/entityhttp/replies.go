package entityhttp

import (
	"time"

	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// Created is the reply to a new entity.
type Created struct {
	ID string `json:"id"`
}

// Entity is the reply that describes an entity.
type Entity struct {
	ID              string                 `json:"id"`
	Type            string                 `json:"type"`
	Role            string                 `json:"role"`
	LifecycleStatus entity.LifecycleStatus `json:"lifecycleStatus"`
	// Status is deprecated: it is the LifecycleStatus.
	Status                  entity.LifecycleStatus       `json:"status"`
	Properties              map[string]property.Property `json:"properties"`
	Risk                    *Risk                        `json:"risk"`
	Created                 *time.Time                   `json:"created"`
	Deleted                 *time.Time                   `json:"deleted"`
	AlternateID             *string                      `json:"alternateId"`
	AccessLayers            access.Layers                `json:"accessLayers"`
	InScopeJurisdictions    []string                     `json:"inScopeJurisdictions"`
	OffboardedJurisdictions []string                     `json:"offboardedJurisdictions"`
	EvaluatedJurisdictions  []string                     `json:"evaluatedJurisdictions"`
	Version                 int64                        `json:"version"`
	PropertiesVersion       int64                        `json:"propertiesVersion"`
	MaskedProperties        []string                     `json:"maskedProperties"`
}

// Risk is the risk of an entity; it is not assessed here.
type Risk struct {
	RiskCategory string `json:"riskCategory"`
	RiskLevel    string `json:"riskLevel"`
}

func entityOf(p entity.Profile, status entity.LifecycleStatus) Entity {
	e := Entity{
		ID:                      p.ID,
		Type:                    p.Type,
		Role:                    p.Role,
		LifecycleStatus:         status,
		Status:                  status,
		Properties:              property.Merge(p.Properties, nil),
		AccessLayers:            p.Layers.OrDefault(),
		InScopeJurisdictions:    platform.OrEmpty(p.Jurisdictions),
		OffboardedJurisdictions: []string{},
		EvaluatedJurisdictions:  []string{},
		Version:                 p.Version,
		PropertiesVersion:       p.Version,
		MaskedProperties:        []string{},
	}
	if !p.Created.IsZero() { // it is zero if an earlier release imported it
		e.Created = &p.Created
	}
	if p.AlternateID != "" {
		e.AlternateID = &p.AlternateID
	}
	return e
}

// EntityDraft is the reply that describes a draft.
type EntityDraft struct {
	ID                                 string                       `json:"id"`
	SourceEntityID                     string                       `json:"sourceEntityId"`
	ParentDraftID                      *string                      `json:"parentDraftId"`
	JourneyID                          string                       `json:"journeyId"`
	Type                               string                       `json:"type"`
	Role                               string                       `json:"role"`
	Status                             entity.DraftStatus           `json:"status"`
	Created                            time.Time                    `json:"created"`
	Properties                         map[string]property.Property `json:"properties"`
	DraftProperties                    property.Split               `json:"draftProperties"`
	Risk                               *Risk                        `json:"risk"`
	Jurisdictions                      []string                     `json:"jurisdictions"`
	EvaluatedJurisdictions             []string                     `json:"evaluatedJurisdictions"`
	AccessLayers                       access.Layers                `json:"accessLayers"`
	Version                            int64                        `json:"version"`
	SourceEntityVersion                int64                        `json:"sourceEntityVersion"`
	SourcePropertiesVersion            int64                        `json:"sourcePropertiesVersion"`
	ConflictsResolvedSourceVersion     int64                        `json:"conflictsResolvedSourceEntityVersion"`
	ConflictsResolvedPropertiesVersion int64                        `json:"conflictsResolvedPropertiesVersion"`
	MaskedProperties                   []string                     `json:"maskedProperties"`
}

func draftOf(d entity.Draft) EntityDraft {
	out := EntityDraft{
		ID:                                 d.ID,
		SourceEntityID:                     d.EntityID,
		JourneyID:                          d.JourneyID,
		Type:                               d.Type,
		Role:                               d.Role,
		Status:                             d.Status,
		Created:                            d.Created,
		Properties:                         property.Merge(d.Properties, nil),
		DraftProperties:                    property.SplitByKind(d.Properties),
		Jurisdictions:                      platform.OrEmpty(d.Jurisdictions),
		EvaluatedJurisdictions:             []string{},
		AccessLayers:                       d.Layers.OrDefault(),
		Version:                            d.Version,
		SourceEntityVersion:                d.BaseVersion,
		SourcePropertiesVersion:            d.BaseVersion,
		ConflictsResolvedSourceVersion:     d.ConflictsResolvedIn,
		ConflictsResolvedPropertiesVersion: d.ConflictsResolvedIn,
		MaskedProperties:                   []string{},
	}
	if d.ParentID != "" {
		out.ParentDraftID = &d.ParentID
	}
	return out
}

// NewDraft is the reply to a new draft.
type NewDraft struct {
	ID                             string                       `json:"id"`
	SourceEntityID                 string                       `json:"sourceEntityId"`
	SourceEntityVersion            int64                        `json:"sourceEntityVersion"`
	SourcePropertiesVersion        int64                        `json:"sourcePropertiesVersion"`
	ConflictsResolvedSourceVersion int64                        `json:"conflictsResolvedSourceEntityVersion"`
	JourneyID                      string                       `json:"journeyId"`
	Type                           string                       `json:"type"`
	Properties                     map[string]property.Property `json:"properties"`
}

func newDraftOf(d entity.Draft) NewDraft {
	return NewDraft{
		ID:                             d.ID,
		SourceEntityID:                 d.EntityID,
		SourceEntityVersion:            d.BaseVersion,
		SourcePropertiesVersion:        d.BaseVersion,
		ConflictsResolvedSourceVersion: d.ConflictsResolvedIn,
		JourneyID:                      d.JourneyID,
		Type:                           d.Type,
		Properties:                     d.Properties,
	}
}

// PartialReply has some properties of some drafts.
type PartialReply struct {
	Items []PartialDraft `json:"items"`
}

// PartialDraft has some properties of a draft.
type PartialDraft struct {
	DraftID           string                       `json:"draftId"`
	Type              string                       `json:"type"`
	PartialProperties map[string]property.Property `json:"partialProperties"`
}

// ReachReply has the drafts of a journey by how far the caller reaches them.
type ReachReply struct {
	Accessible   []EntityDraft       `json:"accessibleEntityDrafts"`
	Inaccessible []InaccessibleDraft `json:"inaccessibleEntityDrafts"`
	Forbidden    []ForbiddenDraft    `json:"forbiddenEntityDrafts"`
}

// InaccessibleDraft is a draft that the caller reaches in one of the two dimensions of access layers.
type InaccessibleDraft struct {
	ID             string        `json:"id"`
	SourceEntityID string        `json:"sourceEntityId"`
	Name           string        `json:"name"`
	AccessLayers   access.Layers `json:"accessLayers"`
}

// ForbiddenDraft is a draft that the caller reaches in neither dimension.
type ForbiddenDraft struct {
	ID             string `json:"id"`
	SourceEntityID string `json:"sourceEntityId"`
}

// NamesReply has the names of entities.
type NamesReply struct {
	EntityDraftNames []DraftName `json:"entityDraftNames"`
}

// DraftName is what an entity is called.
type DraftName struct {
	EntityID string `json:"entityId"`
	// EntityDraftID is the draft that has the name, null if the name is the entity's own.
	EntityDraftID *string `json:"entityDraftId"`
	Type          string  `json:"type"`
	Name          string  `json:"name"`
	// Version is the version of the draft or entity that has the name.
	Version int64 `json:"version"`
}

// LightReply is a page of the drafts of a journey. It may be short or empty before the end; at the end the token is
// null.
type LightReply struct {
	Items           []LightDraft `json:"items"`
	PaginationToken *string      `json:"paginationToken"`
}

// LightDraft identifies a draft. The interface has its keys in this case.
type LightDraft struct {
	EntityID      string `json:"EntityId"`
	EntityDraftID string `json:"EntityDraftId"`
}
