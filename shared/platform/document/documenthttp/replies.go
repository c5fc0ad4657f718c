package documenthttp

import (
	"encoding/json"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/property"
)

func uploadReplyOf(d document.Document, signed objects.SignedURL) wire.DocumentUpload {
	return wire.DocumentUpload{ID: d.ID, DocumentRequirementIds: platform.OrEmpty(d.RequirementIDs),
		DocumentDataKey: d.DataKey, DocumentType: d.Type, Status: string(statusOfNew(d)), SignedURLToUpload: signed.URL,
		RequiredHeaders: signed.Headers}
}

// statusOfNew returns the status of a document whose file is still to be uploaded.
func statusOfNew(d document.Document) document.Status {
	return d.EffectiveState(document.File{State: document.State{Status: document.Processing}}).Status
}

func createVirtualReplyOf(d document.Document) wire.CreatedDocument {
	return wire.CreatedDocument{ID: d.ID, DocumentRequirementIds: platform.OrEmpty(d.RequirementIDs),
		DocumentDataKey: d.DataKey, DocumentType: d.Type}
}

func cloneReplyOf(d document.Document) wire.ClonedDocument {
	return wire.ClonedDocument{ID: d.ID, DocumentDataKey: d.DataKey, EntityID: d.EntityID, JourneyID: d.JourneyID,
		DocumentRequirementIds: platform.OrEmpty(d.RequirementIDs), DocumentKey: d.FileID, DocumentType: d.Type}
}

// PageReply is a page of documents. A page of large documents may be short before the end; the next one starts
// TotalPagedItemsReturned later.
type PageReply struct {
	Items []DocumentReply `json:"items"`
	// ItemsCount counts all documents of the entity.
	ItemsCount              int  `json:"itemsCount"`
	TotalPagedItemsReturned int  `json:"totalPagedItemsReturned"`
	HasMoreItems            bool `json:"hasMoreItems"`
}

// LitePageReply is a page of documents in the order of their creation. It may be short before the end; at the end
// NextPageToken is null.
type LitePageReply struct {
	Items []map[string]json.RawMessage `json:"items"`
	// ItemsCount counts the items of this page.
	ItemsCount    int     `json:"itemsCount"`
	NextPageToken *string `json:"nextPageToken"`
	HasMoreItems  bool    `json:"hasMoreItems"`
	// ErrorMessage is always null: an error has another status.
	ErrorMessage *string `json:"errorMessage"`
}

// DocumentReply describes a document. For a caller who does not reach it, its content is null.
type DocumentReply struct {
	ID                         string                       `json:"id"`
	EntityID                   string                       `json:"entityId"`
	JourneyID                  string                       `json:"journeyId"`
	FileName                   *string                      `json:"fileName"`
	DocumentType               string                       `json:"documentType"`
	DocumentKey                *string                      `json:"documentKey"`
	DocumentDataKey            *string                      `json:"documentDataKey"`
	FriendlyName               *string                      `json:"friendlyName"`
	DocumentRequirementIDs     []string                     `json:"documentRequirementIds"`
	DocumentEntityType         wire.NumberedEntityType      `json:"documentEntityType"`
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
	// DeletionRequestedBy, DeletionRequestedReason and DeletionRequestedOn are always null: a document is deleted at
	// once.
	DeletionRequestedBy       *string    `json:"deletionRequestedBy"`
	DeletionRequestedReason   *string    `json:"deletionRequestedReason"`
	DeletionRequestedOn       *time.Time `json:"deletionRequestedOn"`
	IsCloned                  bool       `json:"isCloned"`
	ClonedFromDocumentModelID *string    `json:"clonedFromDocumentModelId"`
	RequirementModelID        *string    `json:"requirementModelId"`
	document.Flags
}

func documentReplyOf(e document.Entry, r *platform.Request) DocumentReply {
	d, state := e.Document, e.EffectiveState(e.StoredFile)
	kind := wire.NumberedEntityType{Name: string(d.EntityType), ID: int64(d.EntityType.Index())}
	out := DocumentReply{
		ID:                         d.ID,
		EntityID:                   d.EntityID,
		JourneyID:                  d.JourneyID,
		DocumentType:               d.Type,
		DocumentRequirementIDs:     platform.OrEmpty(d.RequirementIDs),
		DocumentEntityType:         kind,
		Status:                     state.Status,
		ErrorCode:                  platform.OrNull(state.ErrorCode),
		IsVirtual:                  d.Virtual,
		AccessLayers:               listsOf(d.Layers),
		PolicyEnforcedAccessLayers: listsOf(d.PolicyLayers),
		HasRequiredAccessLayers:    r.Layers.CanReach(d.Layers),
		UploadedBy:                 d.UploadedBy,
		UploadedByUserName:         d.UploadedByName,
		UploadedOn:                 d.CreatedAt,
		LastUpdatedBy:              d.UpdatedBy,
		LastUpdatedOn:              d.UpdatedAt,
		IsCloned:                   d.ClonedFrom != "",
		ClonedFromDocumentModelID:  platform.OrNull(d.ClonedFrom),
		RequirementModelID:         platform.OrNull(d.RequirementModelID),
		Flags:                      d.Flags,
	}
	if d.BeforeArchival != "" {
		d.State.Status = d.BeforeArchival
		before := d.EffectiveState(e.StoredFile).Status
		out.PreArchivalStatus = &before
	}
	if out.HasRequiredAccessLayers {
		out.FileName, out.FriendlyName = &d.FileName, platform.OrNull(d.FriendlyName)
		out.DocumentKey, out.DocumentURL = platform.OrNull(d.FileID), platform.OrNull(d.URL)
		out.DocumentDataKey, out.ErrorMessage = &d.DataKey, platform.OrNull(state.ErrorMessage)
		out.ArchivalReason = platform.OrNull(d.ArchivalReason)
		out.Properties, out.Metadata = property.Merge(d.Properties, nil), d.Metadata
		if out.Metadata == nil {
			out.Metadata = map[string]string{}
		}
	}
	return out
}

// listsOf returns access layers that are written as [] where they are empty.
func listsOf(l access.Layers) access.Layers {
	return access.Layers{Geographic: platform.OrEmpty(l.Geographic),
		BusinessRelated: platform.OrEmpty(l.BusinessRelated)}
}

// textOf returns a text, "" if it is absent.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
