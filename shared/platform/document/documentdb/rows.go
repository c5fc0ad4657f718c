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
// that they have on the wire. The fields are those of document.Document, in the same order, so that one converts into
// the other.
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
	FileLimit          int64                        `json:"FileLimit,omitzero"`
	State              document.State               `json:"State"`
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

func documentKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#document#" + id), "part": dynamo.String("document")}
}

func marshalDocument(d document.Document) (dynamo.Item, error) {
	body, err := json.Marshal(documentBody(d))
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
	return document.Document(b), nil
}

func filePrefix(tenant string) string { return tenant + "#file#" }

func fileKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(filePrefix(tenant) + id), "part": dynamo.String("file")}
}

func marshalState(s document.State) (string, error) {
	body, err := json.Marshal(s)
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
		f.State = document.State{}
		if err := json.Unmarshal([]byte(outcome), &f.State); err != nil {
			return document.File{}, fmt.Errorf("read file: %w", err)
		}
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
