package documenthttp

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
	"sluice/shared/platform/property"
)

// Limits of bodies.
const (
	maxItems    = 100 // of a list
	maxPage     = 500
	defaultPage = 100
)

// CreateRequest is the data of a new document.
type CreateRequest struct {
	FileName string `json:"fileName"`
	EntityID string `json:"entityId"`
	// RequestType is an entity type in any case; absent, the route gives the type.
	RequestType                *string           `json:"requestType"`
	JourneyID                  string            `json:"journeyId"`
	DocumentType               string            `json:"documentType"`
	FriendlyName               string            `json:"friendlyName"`
	DocumentDataKey            string            `json:"documentDataKey"`
	DocumentRequirementIDs     []string          `json:"documentRequirementIds"`
	Properties                 property.Changes  `json:"properties"`
	AccessLayers               access.Layers     `json:"accessLayers"`
	PolicyEnforcedAccessLayers access.Layers     `json:"policyEnforcedAccessLayers"`
	Metadata                   map[string]string `json:"metadata"`
	RequirementModelID         *string           `json:"requirementModelId"`
	document.Flags
}

// CreateFileRequest is the data of a new document with a file.
type CreateFileRequest struct {
	CreateRequest
	platform.Announced
}

// Check adds the errors of the data.
func (in *CreateFileRequest) Check(v *platform.ValidationErrors) {
	in.CreateRequest.Check(v)
	in.CheckSize(v, platform.MaxAnnounced)
}

// Check adds the errors of the data.
func (in *CreateRequest) Check(v *platform.ValidationErrors) {
	checkFileName(v, in.FileName)
	v.RequireID("entityId", in.EntityID)
	v.CheckID("journeyId", in.JourneyID)
	if _, ok := document.ParseEntityType(textOf(in.RequestType)); in.RequestType != nil && !ok {
		v.RequireOneOf("requestType", *in.RequestType, entityTypeNames()...)
	}
	checkShown(v, "documentType", in.DocumentType, platform.MaxName)
	checkShown(v, "friendlyName", in.FriendlyName, platform.MaxName)
	v.CheckText("documentDataKey", in.DocumentDataKey, platform.MaxName)
	v.CheckOptionalUUID("requirementModelId", in.RequirementModelID)
	v.CheckNames("documentRequirementIds", in.DocumentRequirementIDs, maxItems)
	checkProperties(v, in.Properties)
	checkLayers(v, "accessLayers", in.AccessLayers)
	checkLayers(v, "policyEnforcedAccessLayers", in.PolicyEnforcedAccessLayers)
	for _, key := range slices.Sorted(maps.Keys(in.Metadata)) {
		v.RequireText("metadata", key, platform.MaxName)
		checkShown(v, "metadata", key, platform.MaxName)
		checkShown(v, "metadata."+key, in.Metadata[key], platform.MaxText)
	}
}

// checkShown checks a text that people are shown beside others: its length, and that it does not look other than it is.
func checkShown(v *platform.ValidationErrors, property, text string, maxChars int) {
	v.CheckText(property, text, maxChars)
	if problem := objects.TextProblem(text); problem != "" {
		v.Add(property, problem, platform.CodeFileName)
	}
}

func checkProperties(v *platform.ValidationErrors, properties property.Changes) {
	property.Validate("properties", properties.Values(), platform.MaxName, platform.MaxText,
		func(name, message string) {
			v.Add(name, message, platform.CodeProperty)
		})
}

func checkLayers(v *platform.ValidationErrors, name string, l access.Layers) {
	v.CheckNames(name+".geographic", l.Geographic, maxItems)
	v.CheckNames(name+".businessRelated", l.BusinessRelated, maxItems)
}

// CreateVirtualRequest is the data of a new virtual document.
type CreateVirtualRequest struct {
	CreateRequest
	DocumentURL string `json:"documentURL"`
}

// Check adds the errors of the data.
func (in *CreateVirtualRequest) Check(v *platform.ValidationErrors) {
	in.CreateRequest.Check(v)
	v.RequireValue("documentURL", in.DocumentURL != "")
	if in.DocumentURL != "" {
		checkURL(v, in.DocumentURL)
	}
}

// checkFileName refuses names that hide what kind of file they are of, or where it is stored.
func checkFileName(v *platform.ValidationErrors, name string) {
	v.RequireText("fileName", name, platform.MaxName)
	if problem := objects.FileNameProblem(name); problem != "" {
		v.Add("fileName", problem, platform.CodeFileName)
	}
}

func checkURL(v *platform.ValidationErrors, text string) {
	if problem := document.URLProblem(text); problem != "" {
		v.Add("documentURL", problem, platform.CodeURL)
	}
	v.CheckText("documentURL", text, document.MaxURL)
}

// UpdateRequest changes a document; absent and null members leave it unchanged. Properties are merged: null removes
// one.
type UpdateRequest struct {
	DocumentType           *string          `json:"documentType"`
	FriendlyName           *string          `json:"friendlyName"`
	DocumentDataKey        *string          `json:"documentDataKey"`
	DocumentURL            *string          `json:"documentURL"`
	DocumentRequirementIDs []string         `json:"documentRequirementIds"`
	Properties             property.Changes `json:"properties"`
	// SkipStatusReset is about requirements, whose status is not kept here.
	SkipStatusReset bool `json:"skipStatusReset"`
}

// Check adds the errors of the data.
func (in *UpdateRequest) Check(v *platform.ValidationErrors) {
	checkShown(v, "documentType", textOf(in.DocumentType), platform.MaxName)
	checkShown(v, "friendlyName", textOf(in.FriendlyName), platform.MaxName)
	v.CheckOptionalText("documentDataKey", in.DocumentDataKey, platform.MaxName)
	if in.DocumentURL != nil {
		checkURL(v, *in.DocumentURL)
	}
	checkRequirements(v, in.DocumentRequirementIDs)
	checkProperties(v, in.Properties)
}

func checkRequirements(v *platform.ValidationErrors, ids []string) {
	v.CheckNames("documentRequirementIds", ids, maxItems)
	v.CheckUnique("documentRequirementIds", ids)
}

// RequirementsRequest is the requirement IDs of a document, a body without envelope.
type RequirementsRequest []string

// Check adds the errors of the IDs.
func (in *RequirementsRequest) Check(v *platform.ValidationErrors) { checkRequirements(v, *in) }

// DataKeyRequest is the data key of a document, a body without envelope.
type DataKeyRequest string

// Check adds the errors of the key.
func (in *DataKeyRequest) Check(v *platform.ValidationErrors) {
	v.CheckText("documentDataKey", string(*in), platform.MaxName)
}

// LayersRequest replaces the access layers of a document.
type LayersRequest struct {
	AccessLayers *access.Layers `json:"accessLayers"`
}

// Check adds the errors of the data.
func (in *LayersRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("accessLayers", in.AccessLayers != nil)
	if in.AccessLayers != nil {
		checkLayers(v, "accessLayers", *in.AccessLayers)
	}
}

// CustomErrorRequest gives a document the status Error.
type CustomErrorRequest struct {
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// Check adds the errors of the data.
func (in *CustomErrorRequest) Check(v *platform.ValidationErrors) {
	v.RequireOneOf("errorCode", in.ErrorCode, document.ErrorCodes...)
	v.CheckText("errorMessage", in.ErrorMessage, platform.MaxText)
}

// ArchiveRequest archives a document.
type ArchiveRequest struct {
	ArchivalReason string `json:"archivalReason"`
}

// Check adds the errors of the data.
func (in *ArchiveRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("archivalReason", in.ArchivalReason, platform.MaxText)
}

// CloneRequest has the differences of a clone from its source.
type CloneRequest struct {
	// ID is the ID of the clone; absent, the service makes one.
	ID                     *string        `json:"Id"`
	DocumentDataKey        *string        `json:"DocumentDataKey"`
	EntityID               *string        `json:"EntityId"`
	JourneyID              *string        `json:"JourneyId"`
	DocumentRequirementIDs []string       `json:"DocumentRequirementIds"`
	AccessLayers           *access.Layers `json:"AccessLayers"`
	RequirementModelID     *string        `json:"requirementModelId"`
	// SkipStatusReset is about requirements, whose status is not kept here.
	SkipStatusReset bool `json:"skipStatusReset"`
}

// Check adds the errors of the data.
func (in *CloneRequest) Check(v *platform.ValidationErrors) {
	v.CheckOptionalUUID("Id", in.ID)
	v.CheckOptionalUUID("requirementModelId", in.RequirementModelID)
	v.CheckOptionalText("DocumentDataKey", in.DocumentDataKey, platform.MaxName)
	if in.EntityID != nil {
		v.RequireID("EntityId", *in.EntityID)
	}
	if in.JourneyID != nil {
		v.CheckID("JourneyId", *in.JourneyID)
	}
	v.CheckNames("DocumentRequirementIds", in.DocumentRequirementIDs, maxItems)
	if in.AccessLayers != nil {
		checkLayers(v, "AccessLayers", *in.AccessLayers)
	}
}

// UpdateFileRequest replaces the file of a document.
type UpdateFileRequest struct {
	ID       string `json:"id"`
	FileName string `json:"fileName"`
	platform.Announced
}

// Check adds the errors of the data.
func (in *UpdateFileRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("id", in.ID)
	checkFileName(v, in.FileName)
	in.CheckSize(v, platform.MaxAnnounced)
}

// PageRequest asks for a page of the documents of an entity.
type PageRequest struct {
	EntityID   string `json:"entityId"`
	StartIndex int    `json:"startIndex"`
	// PageSize is 100 if it is absent.
	PageSize             *int `json:"pageSize"`
	DeduplicationEnabled bool `json:"deduplicationEnabled"`
}

// Check adds the errors of the data.
func (in *PageRequest) Check(v *platform.ValidationErrors) {
	v.RequireID("entityId", in.EntityID)
	v.CheckBetween("startIndex", in.StartIndex, 0, 1<<31-1)
	v.CheckBetween("pageSize", pageSize(in.PageSize), 1, maxPage)
}

func pageSize(requested *int) int {
	if requested == nil {
		return defaultPage
	}
	return *requested
}

// LitePageRequest asks for a page of the documents of an entity, with a choice of columns.
type LitePageRequest struct {
	EntityID string `json:"entityId"`
	// PageSize is 100 if it is absent.
	PageSize *int `json:"pageSize"`
	// PaginationToken is null for the first page.
	PaginationToken *string `json:"paginationToken"`
	// AdditionalColumns are keys of DocumentReply beside those that every item has.
	AdditionalColumns []string `json:"additionalColumns"`
	// Status and ExcludeStatus keep only, or leave out, the documents of one status; "" does not.
	Status        string `json:"status"`
	ExcludeStatus string `json:"excludeStatus"`
}

// Check adds the errors of the data.
func (in *LitePageRequest) Check(v *platform.ValidationErrors) {
	v.RequireID("entityId", in.EntityID)
	v.CheckBetween("pageSize", pageSize(in.PageSize), 1, maxPage)
	for i, name := range in.AdditionalColumns {
		v.RequireOneOf("additionalColumns."+strconv.Itoa(i), name, allColumns...)
	}
	checkStatus(v, "status", in.Status)
	checkStatus(v, "excludeStatus", in.ExcludeStatus)
}

// liteColumns are the keys of DocumentReply that every item of a lite page has.
var liteColumns = []string{"id", "entityId", "journeyId", "fileName", "documentType", "documentEntityType", "status",
	"isVirtual", "uploadedOn", "hasRequiredAccessLayers"}

// allColumns are all keys of DocumentReply.
var allColumns = jsonKeys(reflect.TypeFor[DocumentReply]())

// jsonKeys returns the keys of a struct's fields.
func jsonKeys(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			keys = append(keys, jsonKeys(f.Type)...)
		} else {
			keys = append(keys, f.Tag.Get("json"))
		}
	}
	return keys
}

func checkStatus(v *platform.ValidationErrors, name, value string) {
	if value != "" {
		v.RequireOneOf(name, value, string(document.Processing), string(document.Completed), "Auto Classifying",
			string(document.Failed), string(document.Infected), string(document.Archived))
	}
}
