package entityhttp

import (
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// Limits of bodies.
const (
	maxDraftIDs  = 10
	maxEntityIDs = 1000
	maxNames     = 100
	maxKeys      = 500
	maxPage      = 500
	defaultPage  = 100
)

// noVersionCheck is a version that every draft matches.
const noVersionCheck = -1

// CreateRequest is the data of a new entity.
type CreateRequest struct {
	Type         string           `json:"type"`
	TargetEntity string           `json:"targetEntity"`
	Properties   property.Changes `json:"properties"`
	// DataSources are accepted and ignored: nothing here evaluates policies.
	DataSources         Object   `json:"dataSources"`
	PolicyJurisdictions []string `json:"policyJurisdictions"`
	// PolicyJurisdiction is deprecated and ignored beside PolicyJurisdictions.
	PolicyJurisdiction string        `json:"policyJurisdiction"`
	AlternateID        string        `json:"alternateId"`
	Category           []string      `json:"category"`
	AccessLayers       access.Layers `json:"accessLayers"`
}

// Object is any JSON object.
type Object map[string]jsontext.Value

// Check adds the errors of the data.
func (in *CreateRequest) Check(v *platform.ValidationErrors) {
	v.RequireOneOf("type", in.Type, entity.Types...)
	v.RequireOneOf("targetEntity", in.TargetEntity, entity.Roles...)
	checkProperties(v, "properties", in.Properties)
	v.CheckNames("policyJurisdictions", in.PolicyJurisdictions, maxNames)
	v.CheckText("policyJurisdiction", in.PolicyJurisdiction, platform.MaxName)
	v.CheckText("alternateId", in.AlternateID, platform.MaxName)
	v.CheckNames("category", in.Category, maxNames)
	v.CheckNames("accessLayers.geographic", in.AccessLayers.Geographic, maxNames)
	v.CheckNames("accessLayers.businessRelated", in.AccessLayers.BusinessRelated, maxNames)
}

func checkProperties(v *platform.ValidationErrors, name string, properties property.Changes) {
	property.Validate(name, properties.Values(), platform.MaxName, platform.MaxText, func(name, message string) {
		v.Add(name, message, platform.CodeProperty)
	})
}

// DraftRequest is the data of a new draft.
type DraftRequest struct {
	JourneyID     string  `json:"journeyId"`
	ParentDraftID *string `json:"parentDraftId"`
	// DataSources are accepted and ignored.
	DataSources Object `json:"dataSources"`
}

// Check adds the errors of the data.
func (in *DraftRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("journeyId", in.JourneyID)
	v.CheckOptionalUUID("parentDraftId", in.ParentDraftID)
}

// UpdateRequest adds properties to a draft, or replaces them; null removes them.
type UpdateRequest struct {
	Properties property.Changes `json:"properties"`
	// Version is the version of the draft that the client has read, or noVersionCheck.
	Version *int64 `json:"version"`
}

// Check adds the errors of the data.
func (in *UpdateRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("properties", in.Properties != nil)
	checkProperties(v, "properties", in.Properties)
	requireVersion(v, in.Version)
}

func requireVersion(v *platform.ValidationErrors, version *int64) {
	v.RequireValue("version", version != nil)
	if version != nil && *version < 1 && *version != noVersionCheck {
		v.Add("version", "The version must be 1 or more, or -1 for no check.", platform.CodeRange)
	}
}

// VerifyRequest applies a draft to its entity.
type VerifyRequest struct {
	// DataConflictResolutions replace the draft's changes of the same properties.
	DataConflictResolutions property.Changes `json:"dataConflictResolutions"`
	// Version is the version of the draft that the client has read, or noVersionCheck.
	Version *int64 `json:"version"`
}

// Check adds the errors of the data.
func (in *VerifyRequest) Check(v *platform.ValidationErrors) {
	checkProperties(v, "dataConflictResolutions", in.DataConflictResolutions)
	requireVersion(v, in.Version)
}

// PartialRequest asks for some properties of some drafts.
type PartialRequest struct {
	DraftIDs []string `json:"draftIds"`
	DataKeys []string `json:"requestedPropertiesDataKeys"`
}

// Check adds the errors of the data.
func (in *PartialRequest) Check(v *platform.ValidationErrors) {
	v.CheckUUIDs("draftIds", in.DraftIDs, maxDraftIDs)
	v.RequireValue("draftIds", in.DraftIDs != nil)
	v.CheckNames("requestedPropertiesDataKeys", in.DataKeys, maxKeys)
}

// SearchRequest asks for drafts of a journey.
type SearchRequest struct {
	JourneyID string `json:"journeyId"`
	// EntityIDs are the entities whose drafts are wanted; null means all.
	EntityIDs []string `json:"entityIds"`
	// EntityID is deprecated: one more entity.
	EntityID string `json:"entityId"`
}

// Check adds the errors of the data.
func (in *SearchRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("journeyId", in.JourneyID)
	v.CheckIDs("entityIds", in.EntityIDs, maxEntityIDs)
	v.CheckID("entityId", in.EntityID)
}

// NamesRequest asks for the names of entities in a journey.
type NamesRequest struct {
	JourneyID string   `json:"journeyId"`
	EntityIDs []string `json:"entityIds"`
}

// Check adds the errors of the data.
func (in *NamesRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("journeyId", in.JourneyID)
	v.RequireValue("entityIds", in.EntityIDs != nil)
	v.CheckIDs("entityIds", in.EntityIDs, maxEntityIDs)
}

// LightRequest asks for a page of the drafts of a journey.
type LightRequest struct {
	JourneyID   string       `json:"journeyId"`
	EntityIDs   []string     `json:"entityIds"`
	PageOptions *PageOptions `json:"pageOptions"`
}

// descending is the sort order of drafts by creation time, newest first; drafts of one time are ordered by ID.
const descending = 1

// PageOptions choose a page.
type PageOptions struct {
	// PageSize is 100 if it is absent.
	PageSize *int `json:"pageSize"`
	// PaginationToken is null for the first page.
	PaginationToken *string `json:"paginationToken"`
	// SortOrder is 0 for ascending or descending.
	SortOrder int `json:"sortOrder"`
}

// Check adds the errors of the data.
func (in *LightRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("journeyId", in.JourneyID)
	v.CheckIDs("entityIds", in.EntityIDs, maxEntityIDs)
	if p := in.PageOptions; p != nil {
		if p.PageSize != nil {
			v.CheckBetween("pageOptions.pageSize", *p.PageSize, 1, maxPage)
		}
		v.CheckOptionalText("pageOptions.paginationToken", p.PaginationToken, platform.MaxText)
		v.CheckBetween("pageOptions.sortOrder", p.SortOrder, 0, descending)
	}
}
