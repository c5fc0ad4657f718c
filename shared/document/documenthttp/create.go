package documenthttp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

// New is the body of the creating endpoints. documentURL belongs to virtual documents only.
type New struct {
	FileName                   string                       `json:"fileName"`
	EntityID                   string                       `json:"entityId"`
	RequestType                string                       `json:"requestType"`
	JourneyID                  string                       `json:"journeyId"`
	DocumentType               string                       `json:"documentType"`
	FriendlyName               string                       `json:"friendlyName"`
	DocumentDataKey            string                       `json:"documentDataKey"`
	DocumentRequirementIDs     []string                     `json:"documentRequirementIds"`
	Properties                 map[string]property.Property `json:"properties"`
	AccessLayers               access.Layers                `json:"accessLayers"`
	PolicyEnforcedAccessLayers access.Layers                `json:"policyEnforcedAccessLayers"`
	Metadata                   map[string]string            `json:"metadata"`
	RequirementModelID         string                       `json:"requirementModelId"`
	document.Flags
}

// Check notes what is wrong with the body.
func (n *New) Check(f *platform.Faults) {
	f.Required("fileName", n.FileName, platform.MaxName)
	checkKey(f, "entityId", n.EntityID, true)
	checkKey(f, "journeyId", n.JourneyID, false)
	if _, ok := document.ParseEntityType(n.RequestType); n.RequestType != "" && !ok {
		f.OneOf("requestType", n.RequestType, entityTypes...)
	}
	f.Max("documentType", n.DocumentType, platform.MaxName)
	f.Max("friendlyName", n.FriendlyName, platform.MaxName)
	f.Max("documentDataKey", n.DocumentDataKey, platform.MaxName)
	f.OptionalUUID("requirementModelId", n.RequirementModelID)
	f.Names("documentRequirementIds", n.DocumentRequirementIDs, maxItems)
	checkProperties(f, n.Properties)
	checkLayers(f, "accessLayers", n.AccessLayers)
	checkLayers(f, "policyEnforcedAccessLayers", n.PolicyEnforcedAccessLayers)
	for _, key := range slices.Sorted(maps.Keys(n.Metadata)) {
		f.Required("metadata", key, platform.MaxName)
		f.Max("metadata."+key, n.Metadata[key], platform.MaxText)
	}
}

// checkKey notes an id of more bytes than a key of the store may have, and one that is missing but required.
func checkKey(f *platform.Faults, name, value string, required bool) {
	if required {
		f.Required(name, value, maxURL) // longer ones are noted below
	}
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
		RequirementIDs: once(n.DocumentRequirementIDs), RequirementModelID: n.RequirementModelID, Properties: n.Properties, Metadata: n.Metadata,
		State: document.State{Status: document.Processing}, PolicyLayers: n.PolicyEnforcedAccessLayers, Flags: n.Flags,
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

func (s *Documents) create(ctx context.Context, c httpapi.Caller, r *http.Request, in New) (platform.Remarked[Upload], error) {
	d := s.document(c, r, in)
	d.FileID = s.NewID()
	signed, err := s.Files.SignPut(ctx, fileKey(c.Tenant, d.FileID), s.UploadLifetime)
	if err == nil {
		err = outcome(s.Store.Create(ctx, d, false))
	}
	if err != nil {
		return platform.Remarked[Upload]{}, err
	}
	return platform.Remarked[Upload]{
		Result:   Upload{d.ID, list(d.RequirementIDs), d.DataKey, d.Type, d.State.Status, signed.URL, signed.Headers},
		Messages: remarks(d),
	}, nil
}

// remarks warn of what will not happen as the caller may expect.
func remarks(d document.Document) []platform.Message {
	var all []platform.Message
	if d.FileID != "" && !document.IsSupported(d.FileName) {
		all = append(all, platform.Message{Type: "Warning", ErrorCode: document.InvalidMIMEType,
			Message: "Files with the extension " + document.Extension(d.FileName) + " are not supported: the document will end with the status Error."})
	}
	if d.Flags.AutomaticClassification {
		all = append(all, platform.Message{Type: "Warning", ErrorCode: "not_classified",
			Message: "Documents are not classified here: this one keeps the type that it is given."})
	}
	return all
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

func (s *Documents) virtual(ctx context.Context, c httpapi.Caller, r *http.Request, in Virtual) (platform.Remarked[Created], error) {
	d := s.document(c, r, in.New)
	d.Virtual, d.URL, d.State.Status = true, in.DocumentURL, document.Completed
	if err := s.Store.Create(ctx, d, false); err != nil {
		return platform.Remarked[Created]{}, outcome(err)
	}
	return platform.Remarked[Created]{Result: Created{d.ID, list(d.RequirementIDs), d.DataKey, d.Type}, Messages: remarks(d)}, nil
}

// once returns the values without repetitions, in order of first mention.
func once(values []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		twice := seen[v]
		seen[v] = true
		return twice
	})
}

// list makes [] of nil.
func list(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
