package documenthttp

import (
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/httpapi/platform"
	"sluice/shared/objects"
	"sluice/shared/property"
)

// Limits of bodies.
const (
	maxItems    = 100  // of a list
	maxURL      = 2048 // characters
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

// Check adds what is wrong with the data.
func (in *CreateRequest) Check(v *platform.ValidationErrors) {
	checkFileName(v, in.FileName)
	v.RequireID("entityId", in.EntityID)
	v.CheckID("journeyId", in.JourneyID)
	if _, ok := document.ParseEntityType(textOf(in.RequestType)); in.RequestType != nil && !ok {
		v.RequireOneOf("requestType", *in.RequestType, entityTypeNames()...)
	}
	v.CheckText("documentType", in.DocumentType, platform.MaxName)
	v.CheckText("friendlyName", in.FriendlyName, platform.MaxName)
	v.CheckText("documentDataKey", in.DocumentDataKey, platform.MaxName)
	v.CheckOptionalUUID("requirementModelId", in.RequirementModelID)
	v.CheckNames("documentRequirementIds", in.DocumentRequirementIDs, maxItems)
	checkProperties(v, in.Properties)
	checkLayers(v, "accessLayers", in.AccessLayers)
	checkLayers(v, "policyEnforcedAccessLayers", in.PolicyEnforcedAccessLayers)
	for _, key := range slices.Sorted(maps.Keys(in.Metadata)) {
		v.RequireText("metadata", key, platform.MaxName)
		v.CheckText("metadata."+key, in.Metadata[key], platform.MaxText)
	}
}

func checkProperties(v *platform.ValidationErrors, properties property.Changes) {
	property.Validate("properties", properties.Values(), platform.MaxName, platform.MaxText, func(name, message string) {
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

// Check adds what is wrong with the data.
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
	isUnsafe := func(r rune) bool { return !objects.IsSafeInFileName(r) }
	switch {
	case strings.ContainsFunc(name, isUnsafe):
		v.Add("fileName", "The value must not contain slashes, backslashes, control characters or characters that change "+
			"the direction of writing.", platform.CodeFileName)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		v.Add("fileName", "The value must not end with a dot or a space.", platform.CodeFileName)
	}
}

// checkURL refuses URLs that cannot be those of a document: people and programs are to follow them. A host by name, or
// in a private network, may be one of the institution's own.
func checkURL(v *platform.ValidationErrors, text string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || !isPort(u.Port()):
		v.Add("documentURL", "The value must be an absolute https URL.", platform.CodeURL)
	case strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'<>`\\^{|}\x7f", r) || unicode.Is(unicode.Bidi_Control, r)
	}):
		v.Add("documentURL", "The value must not contain quotes, angle brackets or other characters that a URL encodes.",
			platform.CodeURL)
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }):
		// Browsers turn some of these characters into ASCII: fullwidth digits become an address.
		v.Add("documentURL", "The host must be written in ASCII; a name with other characters begins with xn--.", platform.CodeURL)
	case !isReachableHost(u.Hostname()):
		v.Add("documentURL", "The host must not be an address that only one machine or network link knows, "+
			"such as localhost or 169.254.0.1.", platform.CodeURL)
	}
	v.CheckText("documentURL", text, maxURL)
}

// isPort reports whether a port can be one; "" stands for the usual one.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// isReachableHost reports whether a host may be another machine than the reader's, in another network. A number that is
// not an IP address in its usual form is not: some programs read it as one.
func isReachableHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.Zone() == "" && !ip.IsLoopback() && !ip.IsUnspecified() && !ip.IsLinkLocalUnicast() &&
			!ip.IsMulticast() && ip != netip.AddrFrom4([4]byte{255, 255, 255, 255})
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "localhost" && last != "" && (last[0] < '0' || last[0] > '9')
}

// UpdateRequest changes a document; what is absent or null stays as it is. Properties are merged: null removes one.
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

// Check adds what is wrong with the data.
func (in *UpdateRequest) Check(v *platform.ValidationErrors) {
	v.CheckOptionalText("documentType", in.DocumentType, platform.MaxName)
	v.CheckOptionalText("friendlyName", in.FriendlyName, platform.MaxName)
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

// Check adds what is wrong with the IDs.
func (in *RequirementsRequest) Check(v *platform.ValidationErrors) { checkRequirements(v, *in) }

// DataKeyRequest is the data key of a document, a body without envelope.
type DataKeyRequest string

// Check adds what is wrong with the key.
func (in *DataKeyRequest) Check(v *platform.ValidationErrors) {
	v.CheckText("documentDataKey", string(*in), platform.MaxName)
}

// LayersRequest replaces the access layers of a document.
type LayersRequest struct {
	AccessLayers *access.Layers `json:"accessLayers"`
}

// Check adds what is wrong with the data.
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

// Check adds what is wrong with the data.
func (in *CustomErrorRequest) Check(v *platform.ValidationErrors) {
	v.RequireOneOf("errorCode", in.ErrorCode, document.ErrorCodes...)
	v.CheckText("errorMessage", in.ErrorMessage, platform.MaxText)
}

// ArchiveRequest archives a document.
type ArchiveRequest struct {
	ArchivalReason string `json:"archivalReason"`
}

// Check adds what is wrong with the data.
func (in *ArchiveRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("archivalReason", in.ArchivalReason, platform.MaxText)
}

// CloneRequest is how a clone differs from its source; what is absent is as in the source.
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

// Check adds what is wrong with the data.
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
}

// Check adds what is wrong with the data.
func (in *UpdateFileRequest) Check(v *platform.ValidationErrors) {
	v.RequireUUID("id", in.ID)
	checkFileName(v, in.FileName)
}

// PageRequest asks for a page of the documents of an entity.
type PageRequest struct {
	EntityID   string `json:"entityId"`
	StartIndex int    `json:"startIndex"`
	// PageSize is 100 if it is absent.
	PageSize             *int `json:"pageSize"`
	DeduplicationEnabled bool `json:"deduplicationEnabled"`
}

// Check adds what is wrong with the data.
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

// Check adds what is wrong with the data.
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
