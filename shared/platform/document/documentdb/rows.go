package documentdb

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
	"sluice/shared/platform/property"
)

// maxDocumentBytes leaves room for the keys beside the body in an item of 400 KB.
const maxDocumentBytes = 380_000

var errDocumentTooLarge = fault.New(fault.TooLarge, "document_too_large",
	"The document's properties and metadata are too large together.")

// documentBody is a document as it is stored: as JSON in the attribute body. Properties, layers and flags have the form
// that they have on the wire.
type documentBody struct {
	ID                 string                       `json:"ID"`
	Tenant             string                       `json:"Tenant"`
	EntityType         document.EntityType          `json:"EntityType"`
	EntityID           string                       `json:"EntityID"`
	JourneyID          string                       `json:"JourneyID"`
	FileName           string                       `json:"FileName"`
	Type               string                       `json:"Type"`
	FriendlyName       string                       `json:"FriendlyName"`
	DataKey            string                       `json:"DataKey"`
	RequirementIDs     []string                     `json:"RequirementIDs"`
	RequirementModelID string                       `json:"RequirementModel"`
	Properties         map[string]property.Property `json:"Properties"`
	Metadata           map[string]string            `json:"Metadata"`
	URL                string                       `json:"URL"`
	Virtual            bool                         `json:"Virtual"`
	FileID             string                       `json:"File"`
	State              stateBody                    `json:"State"`
	Layers             access.Layers                `json:"Layers"`
	PolicyLayers       access.Layers                `json:"PolicyLayers"`
	ClonedFrom         string                       `json:"ClonedFrom"`
	UploadedBy         string                       `json:"UploadedBy"`
	UploadedByName     string                       `json:"UploadedByName"`
	CreatedAt          time.Time                    `json:"CreatedAt"`
	UpdatedBy          string                       `json:"UpdatedBy"`
	UpdatedAt          time.Time                    `json:"UpdatedAt"`
	ArchivalReason     string                       `json:"ArchivalReason"`
	BeforeArchival     document.Status              `json:"BeforeArchival"`
	Flags              document.Flags               `json:"Flags"`
	Version            int64                        `json:"Version"`
}

// stateBody is a state as it is stored, in documents and as the outcome of a file's scan.
type stateBody struct {
	Status       document.Status `json:"Status"`
	ErrorCode    string          `json:"ErrorCode"`
	ErrorMessage string          `json:"ErrorMessage"`
}

func documentKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#document#" + id), "part": dynamo.String("document")}
}

func marshalDocument(d document.Document) (dynamo.Item, error) {
	body, err := json.Marshal(documentBody{
		ID: d.ID, Tenant: d.Tenant, EntityType: d.EntityType, EntityID: d.EntityID, JourneyID: d.JourneyID,
		FileName: d.FileName,
		Type:     d.Type, FriendlyName: d.FriendlyName, DataKey: d.DataKey, RequirementIDs: d.RequirementIDs,
		RequirementModelID: d.RequirementModelID, Properties: d.Properties, Metadata: d.Metadata, URL: d.URL,
		Virtual: d.Virtual,
		FileID:  d.FileID, State: stateBody(d.State), Layers: d.Layers, PolicyLayers: d.PolicyLayers,
		ClonedFrom: d.ClonedFrom,
		UploadedBy: d.UploadedBy, UploadedByName: d.UploadedByName, CreatedAt: d.CreatedAt, UpdatedBy: d.UpdatedBy,
		UpdatedAt: d.UpdatedAt, ArchivalReason: d.ArchivalReason, BeforeArchival: d.BeforeArchival, Flags: d.Flags,
		Version: d.Version,
	})
	if err != nil {
		return nil, fmt.Errorf("write document: %w", err)
	}
	if len(body) > maxDocumentBytes {
		return nil, errDocumentTooLarge
	}
	item := documentKey(d.Tenant, d.ID)
	item["body"], item["version"], item["file"] = dynamo.String(string(body)), dynamo.Number(d.Version),
		dynamo.String(d.FileID)
	return item, nil
}

func unmarshalDocument(item dynamo.Item) (document.Document, error) {
	var b documentBody
	if err := json.Unmarshal([]byte(dynamo.StringAttribute(item, "body")), &b); err != nil {
		return document.Document{}, fmt.Errorf("read document: %w", err)
	}
	return document.Document{
		ID: b.ID, Tenant: b.Tenant, EntityType: b.EntityType, EntityID: b.EntityID, JourneyID: b.JourneyID,
		FileName: b.FileName,
		Type:     b.Type, FriendlyName: b.FriendlyName, DataKey: b.DataKey, RequirementIDs: b.RequirementIDs,
		RequirementModelID: b.RequirementModelID, Properties: b.Properties, Metadata: b.Metadata, URL: b.URL,
		Virtual: b.Virtual,
		FileID:  b.FileID, State: document.State(b.State), Layers: b.Layers, PolicyLayers: b.PolicyLayers,
		ClonedFrom: b.ClonedFrom,
		UploadedBy: b.UploadedBy, UploadedByName: b.UploadedByName, CreatedAt: b.CreatedAt, UpdatedBy: b.UpdatedBy,
		UpdatedAt: b.UpdatedAt, ArchivalReason: b.ArchivalReason, BeforeArchival: b.BeforeArchival, Flags: b.Flags,
		Version: b.Version,
	}, nil
}

func filePrefix(tenant string) string { return tenant + "#file#" }

func fileKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(filePrefix(tenant) + id), "part": dynamo.String("file")}
}

func marshalState(s document.State) (string, error) {
	body, err := json.Marshal(stateBody(s))
	return string(body), err
}

// unmarshalFile reads a file; one without an outcome of its scan is Processing.
func unmarshalFile(item dynamo.Item, tenant string) (document.File, error) {
	f := document.File{
		ID:        dynamo.StringAttribute(item, "owner")[len(filePrefix(tenant)):],
		Tenant:    tenant,
		State:     document.State{Status: document.Processing},
		Documents: dynamo.NumberAttribute(item, "documents"),
	}
	if outcome := dynamo.StringAttribute(item, "outcome"); outcome != "" {
		var b stateBody
		if err := json.Unmarshal([]byte(outcome), &b); err != nil {
			return document.File{}, fmt.Errorf("read file: %w", err)
		}
		f.State = document.State(b)
	}
	return f, nil
}

// scopeOwner returns the owner of a list. It contains the length of the first ID, so that no other pair gives the same
// owner.
func scopeOwner(tenant string, s document.Scope) string {
	return tenant + "#group#" + strconv.Itoa(len(s.EntityID)) + "#" + s.EntityID + s.JourneyID
}

// listKeys returns the keys of a document's rows in the lists that it belongs to. The part sorts by creation time, then
// by ID.
func listKeys(d document.Document) []dynamo.Item {
	scopes := []document.Scope{{EntityID: d.EntityID}}
	if d.JourneyID != "" {
		scopes = append(scopes, document.Scope{JourneyID: d.JourneyID},
			document.Scope{EntityID: d.EntityID, JourneyID: d.JourneyID})
	}
	part := d.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000000Z") + "#" + d.ID
	keys := make([]dynamo.Item, len(scopes))
	for i, s := range scopes {
		keys[i] = dynamo.Item{"owner": dynamo.String(scopeOwner(d.Tenant, s)), "part": dynamo.String(part)}
	}
	return keys
}
