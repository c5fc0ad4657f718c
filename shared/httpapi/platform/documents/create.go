package documents

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

// New is the body of the creating endpoints. documentURL belongs to virtual documents only.
type New struct {
	FileName                    string                       `json:"fileName"`
	EntityID                    string                       `json:"entityId"`
	RequestType                 string                       `json:"requestType"`
	JourneyID                   string                       `json:"journeyId"`
	DocumentType                string                       `json:"documentType"`
	FriendlyName                string                       `json:"friendlyName"`
	DocumentDataKey             string                       `json:"documentDataKey"`
	DocumentRequirementIDs      []string                     `json:"documentRequirementIds"`
	Properties                  map[string]property.Property `json:"properties"`
	AccessLayers                access.Layers                `json:"accessLayers"`
	PolicyEnforcedAccessLayers  access.Layers                `json:"policyEnforcedAccessLayers"`
	Metadata                    map[string]string            `json:"metadata"`
	RequirementModelID          string                       `json:"requirementModelId"`
	IsDocumentForESignature     bool                         `json:"isDocumentForESignature"`
	ComesFromESignatureProvider bool                         `json:"comesFromESignatureProvider"`
	AutoClassify                bool                         `json:"autoClassify"`
}

// Check notes what is wrong with the body.
func (n *New) Check(f *platform.Faults) {
	f.Required("fileName", n.FileName, platform.MaxName)
	f.Required("entityId", n.EntityID, platform.MaxName)
	maxBytes(f, "entityId", n.EntityID)
	maxBytes(f, "journeyId", n.JourneyID)
	if _, ok := document.ParseEntityType(n.RequestType); n.RequestType != "" && !ok {
		f.OneOf("requestType", "", "Entity", "Product", "Deal", "Screening")
	}
	f.Max("documentType", n.DocumentType, platform.MaxName)
	f.Max("friendlyName", n.FriendlyName, platform.MaxName)
	f.Max("documentDataKey", n.DocumentDataKey, platform.MaxName)
	f.OptionalUUID("requirementModelId", n.RequirementModelID)
	checkLists(f, n.DocumentRequirementIDs, n.Properties)
	checkLayers(f, "accessLayers", n.AccessLayers)
	checkLayers(f, "policyEnforcedAccessLayers", n.PolicyEnforcedAccessLayers)
	for _, key := range slices.Sorted(maps.Keys(n.Metadata)) {
		f.Required("metadata", key, platform.MaxName)
		f.Max("metadata."+key, n.Metadata[key], platform.MaxText)
	}
}

// maxBytes notes an id of more bytes than a key of the store may have.
func maxBytes(f *platform.Faults, name, value string) {
	if len(value) > platform.MaxName {
		f.Add(name, fmt.Sprintf("The value has more than %d bytes.", platform.MaxName), platform.Length)
	}
}

// document makes the document of a body, without file and URL.
func (s *Documents) document(c httpapi.Caller, r *http.Request, n New) document.Document {
	t, ok := document.ParseEntityType(n.RequestType)
	if !ok {
		t = routeType(r)
	}
	now := s.Now()
	d := document.Document{
		ID: s.NewID(), Tenant: c.Tenant, EntityType: t, EntityID: n.EntityID, JourneyID: n.JourneyID,
		FileName: n.FileName, Type: n.DocumentType, FriendlyName: n.FriendlyName, DataKey: n.DocumentDataKey,
		RequirementIDs: n.DocumentRequirementIDs, Properties: n.Properties, Metadata: n.Metadata,
		State: document.State{Status: document.Processing}, PolicyLayers: n.PolicyEnforcedAccessLayers,
		UploadedBy: c.Client, UploadedByName: c.Client, CreatedAt: now, UpdatedBy: c.Client, UpdatedAt: now, Version: 1,
	}
	d.SetLayers(n.AccessLayers)
	return d
}

// Upload is the answer to a document whose file is still to come: PUT it to the URL with the headers.
type Upload struct {
	ID                     string            `json:"id"`
	DocumentRequirementIDs []string          `json:"documentRequirementIds"`
	DocumentDataKey        string            `json:"documentDataKey"`
	DocumentType           string            `json:"documentType"`
	Status                 document.Status   `json:"status"`
	SignedURLToUpload      string            `json:"signedUrlToUpload"`
	RequiredHeaders        map[string]string `json:"requiredHeaders"`
}

func (s *Documents) create(ctx context.Context, c httpapi.Caller, r *http.Request, in New) (Upload, error) {
	d := s.document(c, r, in)
	d.File = s.NewID()
	signed, err := s.Files.SignPut(ctx, fileKey(c.Tenant, d.File), s.UploadLifetime)
	if err != nil {
		return Upload{}, err
	}
	if err := s.Store.Create(ctx, d, false); err != nil {
		return Upload{}, outcome(err)
	}
	return Upload{d.ID, list(d.RequirementIDs), d.DataKey, d.Type, d.State.Status, signed.URL, signed.Headers}, nil
}

// Virtual is the body of POST /virtual.
type Virtual struct {
	New
	DocumentURL string `json:"documentURL"`
}

// Check notes what is wrong with the body.
func (v *Virtual) Check(f *platform.Faults) {
	v.New.Check(f)
	if v.DocumentURL == "" {
		f.Required("documentURL", "", maxURL)
		return
	}
	checkURL(f, v.DocumentURL)
}

// Created is the answer to a virtual document.
type Created struct {
	ID                     string   `json:"id"`
	DocumentRequirementIDs []string `json:"documentRequirementIds"`
	DocumentDataKey        string   `json:"documentDataKey"`
	DocumentType           string   `json:"documentType"`
}

func (s *Documents) virtual(ctx context.Context, c httpapi.Caller, r *http.Request, in Virtual) (Created, error) {
	d := s.document(c, r, in.New)
	d.Virtual, d.URL, d.State.Status = true, in.DocumentURL, document.Completed
	if err := s.Store.Create(ctx, d, false); err != nil {
		return Created{}, outcome(err)
	}
	return Created{d.ID, list(d.RequirementIDs), d.DataKey, d.Type}, nil
}

// Clone is the body of PUT /{id}/clone. What is absent is as in the source.
type Clone struct {
	ID                     string         `json:"Id"` // of the copy; absent: made here
	DocumentDataKey        *string        `json:"DocumentDataKey"`
	EntityID               *string        `json:"EntityId"`
	JourneyID              *string        `json:"JourneyId"`
	DocumentRequirementIDs []string       `json:"DocumentRequirementIds"`
	AccessLayers           *access.Layers `json:"AccessLayers"`
	RequirementModelID     string         `json:"requirementModelId"`
	SkipStatusReset        bool           `json:"skipStatusReset"`
}

// Check notes what is wrong with the body.
func (in *Clone) Check(f *platform.Faults) {
	f.OptionalUUID("Id", in.ID)
	f.OptionalUUID("requirementModelId", in.RequirementModelID)
	maxOf(f, "DocumentDataKey", in.DocumentDataKey, platform.MaxName)
	if in.EntityID != nil {
		f.Required("EntityId", *in.EntityID, platform.MaxName)
		maxBytes(f, "EntityId", *in.EntityID)
	}
	if in.JourneyID != nil {
		maxBytes(f, "JourneyId", *in.JourneyID)
	}
	f.Names("DocumentRequirementIds", in.DocumentRequirementIDs, maxItems)
	unique(f, "DocumentRequirementIds", in.DocumentRequirementIDs)
	if in.AccessLayers != nil {
		checkLayers(f, "AccessLayers", *in.AccessLayers)
	}
}

// Cloned is the answer to a clone.
type Cloned struct {
	ID                     string   `json:"Id"`
	DocumentDataKey        string   `json:"DocumentDataKey"`
	EntityID               string   `json:"EntityId"`
	JourneyID              string   `json:"JourneyId"`
	DocumentRequirementIDs []string `json:"DocumentRequirementIds"`
	DocumentKey            string   `json:"DocumentKey"`
	DocumentType           string   `json:"documentType"`
}

func (s *Documents) clone(ctx context.Context, c httpapi.Caller, r *http.Request, in Clone) (Cloned, error) {
	source, err := s.find(ctx, c, r)
	if err != nil {
		return Cloned{}, err
	}
	id := strings.ToLower(in.ID)
	if id == "" {
		id = s.NewID()
	}
	d := source.Clone(id, c.Client, s.Now())
	set(&d.DataKey, in.DocumentDataKey)
	set(&d.EntityID, in.EntityID)
	set(&d.JourneyID, in.JourneyID)
	if in.DocumentRequirementIDs != nil {
		d.RequirementIDs = in.DocumentRequirementIDs
	}
	if in.AccessLayers != nil {
		d.SetLayers(*in.AccessLayers)
	}
	if err := s.Store.Create(ctx, d, true); err != nil {
		return Cloned{}, outcome(err)
	}
	return Cloned{d.ID, d.DataKey, d.EntityID, d.JourneyID, list(d.RequirementIDs), d.File, d.Type}, nil
}

// list makes [] of nil.
func list(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
