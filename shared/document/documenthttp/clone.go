package documenthttp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"sluice/shared/access"
	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// Clone is the body of PUT /{id}/clone. What is absent is as in the source.
type Clone struct {
	ID                     string         `json:"Id"` // of the copy; absent: made here
	DocumentDataKey        *string        `json:"DocumentDataKey"`
	EntityID               *string        `json:"EntityId"`
	JourneyID              *string        `json:"JourneyId"`
	DocumentRequirementIDs []string       `json:"DocumentRequirementIds"`
	AccessLayers           *access.Layers `json:"AccessLayers"`
	RequirementModelID     *string        `json:"requirementModelId"`
	SkipStatusReset        bool           `json:"skipStatusReset"` // of requirements, whose status is not kept here
}

// Check notes what is wrong with the body.
func (in *Clone) Check(f *platform.Faults) {
	f.OptionalUUID("Id", in.ID)
	if in.RequirementModelID != nil {
		f.UUID("requirementModelId", *in.RequirementModelID)
	}
	maxOf(f, "DocumentDataKey", in.DocumentDataKey, platform.MaxName)
	if in.EntityID != nil {
		checkKey(f, "EntityId", *in.EntityID, true)
	}
	if in.JourneyID != nil {
		checkKey(f, "JourneyId", *in.JourneyID, false)
	}
	f.Names("DocumentRequirementIds", in.DocumentRequirementIDs, maxItems)
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

// clone tries again when the source's file went meanwhile: the source may have another by now.
func (s *Documents) clone(ctx context.Context, c httpapi.Caller, r *http.Request, in Clone) (Cloned, error) {
	id := strings.ToLower(in.ID)
	if id == "" {
		id = s.NewID()
	}
	for attempt := 1; ; attempt++ {
		source, err := s.find(ctx, c, r)
		if err != nil {
			return Cloned{}, err
		}
		d := s.copyOf(source, c, id, in)
		if err = s.Store.Create(ctx, d, true); err == nil {
			return Cloned{d.ID, d.DataKey, d.EntityID, d.JourneyID, list(d.RequirementIDs), d.FileID, d.Type}, nil
		}
		if !errors.Is(err, document.ErrNotFound) || attempt == attempts {
			return Cloned{}, outcome(err)
		}
	}
}

func (s *Documents) copyOf(source document.Document, c httpapi.Caller, id string, in Clone) document.Document {
	d := source.Clone(id, c.Client, s.Now())
	set(&d.DataKey, in.DocumentDataKey)
	set(&d.EntityID, in.EntityID)
	set(&d.JourneyID, in.JourneyID)
	if in.DocumentRequirementIDs != nil {
		d.RequirementIDs = once(in.DocumentRequirementIDs)
	}
	set(&d.RequirementModelID, in.RequirementModelID)
	if in.AccessLayers != nil {
		d.SetLayers(*in.AccessLayers)
	}
	return d
}
