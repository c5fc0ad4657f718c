package entityhttp

import (
	"cmp"
	"time"

	"sluice/shared/access"
	"sluice/shared/entity"
	"sluice/shared/property"
)

// Entity is an entity as it is read.
type Entity struct {
	ID                      string                       `json:"id"`
	Type                    string                       `json:"type"`
	Role                    string                       `json:"role"`
	LifecycleStatus         entity.LifecycleStatus       `json:"lifecycleStatus"`
	Status                  entity.LifecycleStatus       `json:"status"` // deprecated: the same
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

// Risk is how risky an entity was found to be.
type Risk struct {
	RiskCategory string `json:"riskCategory"`
	RiskLevel    string `json:"riskLevel"`
}

func entityOf(r entity.Profile, status entity.LifecycleStatus) Entity {
	e := Entity{
		ID: r.ID, Type: r.Type, Role: r.Role, LifecycleStatus: status, Status: status, Properties: property.Merge(r.Properties, nil),
		AccessLayers: r.Layers.OrDefault(), InScopeJurisdictions: list(r.Jurisdictions), OffboardedJurisdictions: []string{},
		EvaluatedJurisdictions: []string{}, Version: r.Version, PropertiesVersion: r.Version, MaskedProperties: []string{},
	}
	if !r.Created.IsZero() { // an imported entity was created elsewhere
		e.Created = &r.Created
	}
	if r.AlternateID != "" {
		e.AlternateID = &r.AlternateID
	}
	return e
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// EntityDraft is a draft as it is read.
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
		ID: d.ID, SourceEntityID: d.EntityID, JourneyID: d.JourneyID, Type: d.Type, Role: d.Role, Status: d.Status, Created: d.Created,
		Properties: property.Merge(d.Properties, nil), DraftProperties: property.SplitByKind(d.Properties),
		Jurisdictions: list(d.Jurisdictions), EvaluatedJurisdictions: []string{}, AccessLayers: d.Layers.OrDefault(), Version: d.Version,
		SourceEntityVersion: d.BaseVersion, SourcePropertiesVersion: d.BaseVersion, ConflictsResolvedSourceVersion: d.ConflictsResolvedIn,
		ConflictsResolvedPropertiesVersion: d.ConflictsResolvedIn, MaskedProperties: []string{},
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

// nameOf is what an entity is called: its legal name, else its full name, else its first and last names.
func nameOf(all map[string]property.Property) string {
	value := func(key string) string {
		if p := all[key]; p.Value != nil {
			return *p.Value
		}
		return ""
	}
	first, last := value("firstName"), value("lastName")
	both := first + last
	if first != "" && last != "" {
		both = first + " " + last
	}
	return cmp.Or(value("legalEntityName"), value("fullName"), value("name"), both)
}
