package entitydb

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// maxBodyBytes leaves room for the keys beside the body in an item of 400 KB.
const maxBodyBytes = 390_000

var errTooLarge = fault.Newf(fault.TooLarge, "entity_too_large",
	"The entity or draft would have more than %d bytes as JSON.", maxBodyBytes)

// profileBody is a profile as it is stored: as JSON in the attribute body. Properties and layers have the form that
// they have on the wire.
type profileBody struct {
	ID            string                       `json:"id"`
	Type          string                       `json:"type"`
	Role          string                       `json:"role"`
	AlternateID   string                       `json:"alternateId,omitempty"`
	Properties    map[string]property.Property `json:"properties"`
	Jurisdictions []string                     `json:"jurisdictions"`
	Category      []string                     `json:"category"`
	Layers        access.Layers                `json:"layers"`
	Created       time.Time                    `json:"created"`
	Version       int64                        `json:"version"`
	LastChangedIn map[string]int64             `json:"changed"`
	BaseStatus    entity.LifecycleStatus       `json:"settled"`
	OpenDrafts    int64                        `json:"open"`
	Revision      int64                        `json:"revision"`
	Imported      bool                         `json:"imported,omitempty"`
	ListedAs      string                       `json:"listedAs,omitempty"`
}

// draftBody is a draft as it is stored, like profileBody.
type draftBody struct {
	ID                  string                       `json:"id"`
	EntityID            string                       `json:"entityId"`
	ParentID            string                       `json:"parentId,omitempty"`
	JourneyID           string                       `json:"journeyId"`
	Type                string                       `json:"type"`
	Role                string                       `json:"role"`
	Status              entity.DraftStatus           `json:"status"`
	Created             time.Time                    `json:"created"`
	Properties          map[string]property.Property `json:"properties"`
	Changes             property.Changes             `json:"changes"`
	Jurisdictions       []string                     `json:"jurisdictions"`
	Layers              access.Layers                `json:"layers"`
	BaseVersion         int64                        `json:"entityVersion"`
	ConflictsResolvedIn int64                        `json:"resolved"`
	Version             int64                        `json:"version"`
	Authors             []string                     `json:"authors,omitempty"`
}

func profileKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#entity#" + id), "part": dynamo.String("entity")}
}

func draftKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenant + "#draft#" + id), "part": dynamo.String("draft")}
}

func marshalProfile(p entity.Profile) ([]byte, error) { return marshalBody(profileBody(p)) }

func marshalDraft(d entity.Draft) ([]byte, error) { return marshalBody(draftBody(d)) }

func marshalBody(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err == nil && len(body) > maxBodyBytes {
		err = errTooLarge
	}
	return body, err
}

func unmarshalProfile(item dynamo.Item) (entity.Profile, error) {
	var body profileBody
	err := unmarshalBody(item, &body)
	return entity.Profile(body), err
}

func unmarshalDraft(item dynamo.Item) (entity.Draft, error) {
	var body draftBody
	err := unmarshalBody(item, &body)
	return entity.Draft(body), err
}

func unmarshalBody(item dynamo.Item, v any) error { return unmarshalAttribute(item, "body", v) }

func unmarshalAttribute(item dynamo.Item, name string, v any) error {
	body := dynamo.BinaryAttribute(item, name)
	if body == nil {
		return fmt.Errorf("read entity: the row has no %s", name)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("read entity: %w", err)
	}
	return nil
}

// draftRefRow is a draft in the list of its journey.
type draftRefRow struct {
	Part       string   `dynamodbav:"part"`
	Draft      string   `dynamodbav:"draft"`
	Entity     string   `dynamodbav:"entity"`
	Geographic []string `dynamodbav:"geographic"`
	Business   []string `dynamodbav:"business_related"`
}

func journeyOwner(tenant, journey string) string { return tenant + "#journey#" + journey }

// draftRefItem returns the row of a draft in its journey. Its part sorts by creation time, in nanoseconds, then by ID.
func draftRefItem(tenant string, d entity.Draft) dynamo.Item {
	return dynamo.Item{
		"owner":            dynamo.String(journeyOwner(tenant, d.JourneyID)),
		"part":             dynamo.String(fmt.Sprintf("%020d#%s", d.Created.UnixNano(), d.ID)),
		"draft":            dynamo.String(d.ID),
		"entity":           dynamo.String(d.EntityID),
		"geographic":       dynamo.StringList(d.Layers.Geographic),
		"business_related": dynamo.StringList(d.Layers.BusinessRelated),
	}
}
