package entityhttp

import (
	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// Entity is the reply that describes an entity, with properties of package property.
type Entity struct {
	wire.Entity
	Properties map[string]Shown `json:"properties"`
}

func entityOf(p entity.Profile, status entity.LifecycleStatus, m mask) Entity {
	e := Entity{Properties: m.shown(p.Properties), Entity: wire.Entity{
		ID:                      p.ID,
		Type:                    p.Type,
		Role:                    p.Role,
		LifecycleStatus:         string(status),
		Status:                  string(status),
		AccessLayers:            wire.AccessLayers(p.Layers.OrDefault()),
		InScopeJurisdictions:    platform.OrEmpty(p.Jurisdictions),
		OffboardedJurisdictions: []string{},
		EvaluatedJurisdictions:  []string{},
		Version:                 p.Version,
		PropertiesVersion:       p.Version,
		MaskedProperties:        m.masked(),
	}}
	if !p.Created.IsZero() { // it is zero if an earlier release imported it
		e.Created = &p.Created
	}
	if p.AlternateID != "" {
		e.AlternateID = &p.AlternateID
	}
	return e
}

// EntityDraft is the reply that describes a draft, with properties of package property.
type EntityDraft struct {
	wire.EntityDraft
	Properties      map[string]Shown `json:"properties"`
	DraftProperties property.Split   `json:"draftProperties"`
}

func draftOf(d entity.Draft, m mask) EntityDraft {
	properties, apart := m.shown(d.Properties), m.split(d.Properties)
	out := EntityDraft{Properties: properties, DraftProperties: apart, EntityDraft: wire.EntityDraft{
		ID:                                   d.ID,
		SourceEntityID:                       d.EntityID,
		JourneyID:                            d.JourneyID,
		Type:                                 d.Type,
		Role:                                 d.Role,
		Status:                               string(d.Status),
		Created:                              d.Created,
		Jurisdictions:                        platform.OrEmpty(d.Jurisdictions),
		EvaluatedJurisdictions:               []string{},
		AccessLayers:                         wire.AccessLayers(d.Layers.OrDefault()),
		Version:                              d.Version,
		SourceEntityVersion:                  d.BaseVersion,
		SourcePropertiesVersion:              d.BaseVersion,
		ConflictsResolvedSourceEntityVersion: d.ConflictsResolvedIn,
		ConflictsResolvedPropertiesVersion:   d.ConflictsResolvedIn,
		MaskedProperties:                     m.masked(),
	}}
	if d.ParentID != "" {
		out.ParentDraftID = &d.ParentID
	}
	return out
}

// NewDraft is the reply to a new draft, with properties of package property.
type NewDraft struct {
	wire.NewDraft
	Properties map[string]Shown `json:"properties"`
}

func newDraftOf(d entity.Draft, m mask) NewDraft {
	return NewDraft{Properties: m.shown(d.Properties), NewDraft: wire.NewDraft{
		ID:                                   d.ID,
		SourceEntityID:                       d.EntityID,
		SourceEntityVersion:                  d.BaseVersion,
		SourcePropertiesVersion:              d.BaseVersion,
		ConflictsResolvedSourceEntityVersion: d.ConflictsResolvedIn,
		JourneyID:                            d.JourneyID,
		Type:                                 d.Type,
		MaskedProperties:                     m.masked(),
	}}
}

// DraftsByReach has the drafts of a journey by how far the caller reaches them.
type DraftsByReach struct {
	wire.DraftsByReach
	AccessibleEntityDrafts []EntityDraft `json:"accessibleEntityDrafts"`
}
