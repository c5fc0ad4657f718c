package entityhttp

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

// Limits of bodies.
const (
	maxDraftIDs    = 10
	maxEntityIDs   = 1000
	maxNames       = 100
	maxKeys        = 500
	maxPage        = 500
	defaultPage    = 100
	noVersionCheck = -1
)

// CreateRequest is a new entity.
type CreateRequest struct {
	Type                string                       `json:"type"`
	TargetEntity        string                       `json:"targetEntity"`
	Properties          map[string]property.Property `json:"properties"`
	DataSources         Object                       `json:"dataSources"` // taken and not used: nothing here evaluates policies
	PolicyJurisdictions []string                     `json:"policyJurisdictions"`
	PolicyJurisdiction  string                       `json:"policyJurisdiction"` // deprecated
	AlternateID         string                       `json:"alternateId"`
	Category            []string                     `json:"category"`
	AccessLayers        access.Layers                `json:"accessLayers"`
}

// Object is any JSON object.
type Object map[string]jsontext.Value

// Check notes what is wrong.
func (r *CreateRequest) Check(f *platform.Faults) {
	f.OneOf("type", r.Type, "Company", "Individual", "Other", "Entity Group")
	f.OneOf("targetEntity", r.TargetEntity, "Client", "Related Party")
	properties(f, "properties", r.Properties)
	f.Names("policyJurisdictions", r.PolicyJurisdictions, maxNames)
	f.Max("policyJurisdiction", r.PolicyJurisdiction, platform.MaxName)
	f.Max("alternateId", r.AlternateID, platform.MaxName)
	f.Names("category", r.Category, maxNames)
	f.Names("accessLayers.geographic", r.AccessLayers.Geographic, maxNames)
	f.Names("accessLayers.businessRelated", r.AccessLayers.BusinessRelated, maxNames)
}

func properties(f *platform.Faults, name string, all map[string]property.Property) {
	property.Validate(name, all, platform.MaxName, platform.MaxText, func(at, message string) {
		f.Add(at, message, "PropertyValidator")
	})
}

// DraftRequest is a new draft.
type DraftRequest struct {
	JourneyID     string `json:"journeyId"`
	ParentDraftID string `json:"parentDraftId"`
	DataSources   Object `json:"dataSources"` // taken and not used
}

// Check notes what is wrong.
func (r *DraftRequest) Check(f *platform.Faults) {
	f.UUID("journeyId", r.JourneyID)
	f.OptionalUUID("parentDraftId", r.ParentDraftID)
}

// UpdateRequest lays properties over a draft.
type UpdateRequest struct {
	Properties map[string]property.Property `json:"properties"`
	Version    *int64                       `json:"version"` // that was read; -1: whatever stands
}

// Check notes what is wrong.
func (r *UpdateRequest) Check(f *platform.Faults) {
	if r.Properties == nil {
		f.Add("properties", "The value is missing.", platform.NotNull)
	}
	properties(f, "properties", r.Properties)
	version(f, r.Version)
}

func version(f *platform.Faults, v *int64) {
	if v == nil {
		f.Add("version", "The value is missing.", platform.NotNull)
	} else if *v < 1 && *v != noVersionCheck {
		f.Add("version", "The version is 1 or more, or -1 for no check.", platform.Range)
	}
}

// VerifyRequest brings a draft into its entity.
type VerifyRequest struct {
	DataConflictResolutions map[string]property.Property `json:"dataConflictResolutions"` // laid over the draft's changes
	Version                 *int64                       `json:"version"`
}

// Check notes what is wrong.
func (r *VerifyRequest) Check(f *platform.Faults) {
	properties(f, "dataConflictResolutions", r.DataConflictResolutions)
	version(f, r.Version)
}

// PartialRequest asks for some properties of some drafts.
type PartialRequest struct {
	DraftIDs []string `json:"draftIds"`
	DataKeys []string `json:"requestedPropertiesDataKeys"`
}

// Check notes what is wrong.
func (r *PartialRequest) Check(f *platform.Faults) {
	ids(f, "draftIds", r.DraftIDs, maxDraftIDs)
	if r.DraftIDs == nil {
		f.Add("draftIds", "The value is missing.", platform.NotNull)
	}
	f.Names("requestedPropertiesDataKeys", r.DataKeys, maxKeys)
}

func ids(f *platform.Faults, name string, values []string, max int) {
	if len(values) > max {
		f.Add(name, fmt.Sprintf("The list has more than %d items.", max), platform.Count)
		return
	}
	for i, v := range values {
		f.UUID(fmt.Sprintf("%s.%d", name, i), v)
	}
}

// SearchRequest asks for drafts of a journey.
type SearchRequest struct {
	JourneyID string   `json:"journeyId"`
	EntityIDs []string `json:"entityIds"` // null: of all entities
	EntityID  string   `json:"entityId"`  // deprecated: one more of them
}

// Check notes what is wrong.
func (r *SearchRequest) Check(f *platform.Faults) {
	f.UUID("journeyId", r.JourneyID)
	ids(f, "entityIds", r.EntityIDs, maxEntityIDs)
	f.OptionalUUID("entityId", r.EntityID)
}

// NamesRequest asks for names of the drafts of entities.
type NamesRequest struct {
	JourneyID string   `json:"journeyId"`
	EntityIDs []string `json:"entityIds"`
}

// Check notes what is wrong.
func (r *NamesRequest) Check(f *platform.Faults) {
	f.UUID("journeyId", r.JourneyID)
	if r.EntityIDs == nil {
		f.Add("entityIds", "The value is missing.", platform.NotNull)
	}
	ids(f, "entityIds", r.EntityIDs, maxEntityIDs)
}

// LightRequest asks for a page of the drafts of a journey.
type LightRequest struct {
	JourneyID   string       `json:"journeyId"`
	EntityIDs   []string     `json:"entityIds"`
	PageOptions *PageOptions `json:"pageOptions"`
}

// PageOptions say which page.
type PageOptions struct {
	PageSize        *int   `json:"pageSize"`
	PaginationToken string `json:"paginationToken"`
	SortOrder       int    `json:"sortOrder"` // 0 ascending, 1 descending, by creation time, then id
}

// Check notes what is wrong.
func (r *LightRequest) Check(f *platform.Faults) {
	f.UUID("journeyId", r.JourneyID)
	ids(f, "entityIds", r.EntityIDs, maxEntityIDs)
	if p := r.PageOptions; p != nil {
		if p.PageSize != nil {
			f.Between("pageOptions.pageSize", *p.PageSize, 1, maxPage)
		}
		f.Max("pageOptions.paginationToken", p.PaginationToken, platform.MaxText)
		f.Between("pageOptions.sortOrder", p.SortOrder, 0, 1)
	}
}
