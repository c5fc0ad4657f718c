package documenthttp

import (
	"time"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/property"
)

// Model is a document as it is read. A caller who does not reach it gets null for what it says.
type Model struct {
	ID                         string                       `json:"id"`
	EntityID                   string                       `json:"entityId"`
	JourneyID                  string                       `json:"journeyId"`
	FileName                   *string                      `json:"fileName"`
	DocumentType               string                       `json:"documentType"`
	DocumentKey                *string                      `json:"documentKey"`
	DocumentDataKey            string                       `json:"documentDataKey"`
	FriendlyName               *string                      `json:"friendlyName"`
	DocumentRequirementIDs     []string                     `json:"documentRequirementIds"`
	DocumentEntityType         EntityType                   `json:"documentEntityType"`
	Status                     document.Status              `json:"status"`
	ErrorCode                  *string                      `json:"errorCode"`
	ErrorMessage               *string                      `json:"errorMessage"`
	Explanation                *string                      `json:"explanation"`
	Properties                 map[string]property.Property `json:"properties"`
	Metadata                   map[string]string            `json:"metadata"`
	DocumentURL                *string                      `json:"documentURL"`
	IsVirtual                  bool                         `json:"isVirtual"`
	AccessLayers               access.Layers                `json:"accessLayers"`
	PolicyEnforcedAccessLayers access.Layers                `json:"policyEnforcedAccessLayers"`
	HasRequiredAccessLayers    bool                         `json:"hasRequiredAccessLayers"`
	UploadedBy                 string                       `json:"uploadedBy"`
	UploadedByUserName         string                       `json:"uploadedByUserName"`
	UploadedOn                 time.Time                    `json:"uploadedOn"`
	LastUpdatedBy              string                       `json:"lastUpdatedBy"`
	LastUpdatedOn              time.Time                    `json:"lastUpdatedOn"`
	ArchivalReason             *string                      `json:"archivalReason"`
	PreArchivalStatus          *document.Status             `json:"preArchivalStatus"`
	DeletionRequestedBy        *string                      `json:"deletionRequestedBy"`     // always null: nothing asks for deletion first
	DeletionRequestedReason    *string                      `json:"deletionRequestedReason"` // always null
	DeletionRequestedOn        *time.Time                   `json:"deletionRequestedOn"`     // always null
	IsCloned                   bool                         `json:"isCloned"`
	ClonedFromDocumentModelID  *string                      `json:"clonedFromDocumentModelId"`
	RequirementModelID         *string                      `json:"requirementModelId"`
	document.Flags
}

// EntityType is a type by name and number.
type EntityType struct {
	Name document.EntityType `json:"name"`
	ID   int                 `json:"id"`
}

func model(f document.Entry, c httpapi.Caller) Model {
	d, state := f.Document, f.EffectiveState(f.StoredFile)
	m := Model{
		ID: d.ID, EntityID: d.EntityID, JourneyID: d.JourneyID, DocumentType: d.Type, DocumentDataKey: d.DataKey,
		DocumentRequirementIDs: list(d.RequirementIDs), DocumentEntityType: EntityType{d.EntityType, d.EntityType.Index()},
		Status: state.Status, ErrorCode: given(state.ErrorCode), ErrorMessage: given(state.ErrorMessage), IsVirtual: d.Virtual,
		AccessLayers: lists(d.Layers), PolicyEnforcedAccessLayers: lists(d.PolicyLayers), HasRequiredAccessLayers: c.Layers.CanReach(d.Layers),
		UploadedBy: d.UploadedBy, UploadedByUserName: d.UploadedByName, UploadedOn: d.CreatedAt, LastUpdatedBy: d.UpdatedBy, LastUpdatedOn: d.UpdatedAt,
		ArchivalReason: given(d.ArchivalReason), IsCloned: d.ClonedFrom != "", ClonedFromDocumentModelID: given(d.ClonedFrom),
		RequirementModelID: given(d.RequirementModelID), Flags: d.Flags,
	}
	if d.BeforeArchival != "" {
		d.State.Status = d.BeforeArchival
		before := d.EffectiveState(f.StoredFile).Status
		m.PreArchivalStatus = &before
	}
	if m.HasRequiredAccessLayers {
		m.FileName, m.DocumentKey, m.FriendlyName, m.DocumentURL = &d.FileName, given(d.FileID), given(d.FriendlyName), given(d.URL)
		m.Properties, m.Metadata = property.Merge(d.Properties, nil), d.Metadata
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
	}
	return m
}

func lists(l access.Layers) access.Layers {
	return access.Layers{Geographic: list(l.Geographic), BusinessRelated: list(l.BusinessRelated)}
}

// given is nil for "".
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
