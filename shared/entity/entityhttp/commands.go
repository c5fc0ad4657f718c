package entityhttp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sluice/shared/entity"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

// Created is the reply to a new entity.
type Created struct {
	ID string `json:"id"`
}

// Create stores a new entity.
func (s *Entities) Create(ctx context.Context, c httpapi.Caller, _ *http.Request, in CreateRequest) (platform.Remarked[Created], error) {
	r, remarks, err := s.create(ctx, c, in)
	return platform.Remarked[Created]{Result: Created{r.ID}, Messages: remarks}, err
}

// CreateFull is Create; it answers with the whole entity.
func (s *Entities) CreateFull(ctx context.Context, c httpapi.Caller, _ *http.Request, in CreateRequest) (platform.Remarked[Entity], error) {
	r, remarks, err := s.create(ctx, c, in)
	return platform.Remarked[Entity]{Result: entityOf(r, r.BaseStatus), Messages: remarks}, err
}

func (s *Entities) create(ctx context.Context, c httpapi.Caller, in CreateRequest) (entity.Profile, []platform.Message, error) {
	var remarks []platform.Message
	dropped := func(name, why string) {
		remarks = append(remarks, platform.Message{Message: name + " was dropped: " + why, Type: "Warning", ErrorCode: "property_dropped"})
	}
	properties := map[string]property.Property{}
	for _, key := range slices.Sorted(maps.Keys(in.Properties)) {
		if in.Properties[key].IsEmpty() {
			dropped("properties."+key, "it has no value.")
			continue
		}
		properties[key] = in.Properties[key]
	}
	jurisdictions := in.PolicyJurisdictions
	if in.PolicyJurisdiction != "" && len(jurisdictions) == 0 {
		jurisdictions = []string{in.PolicyJurisdiction}
	} else if in.PolicyJurisdiction != "" {
		dropped("policyJurisdiction", "policyJurisdictions stands in its place.")
	}
	r := entity.Profile{
		ID: s.NewID(), Type: in.Type, Role: in.TargetEntity, AlternateID: in.AlternateID, Properties: properties,
		Jurisdictions: jurisdictions, Category: in.Category, Layers: in.AccessLayers.OrDefault(), Created: s.Now().UTC(),
		Version: 1, Revision: 1, BaseStatus: entity.Unknown,
	}
	return r, remarks, s.Store.Create(ctx, c.Tenant, r)
}

// CreateDraft begins a draft of an entity, with the properties of its parent draft if it has one.
func (s *Entities) CreateDraft(ctx context.Context, c httpapi.Caller, r *http.Request, in DraftRequest) (NewDraft, error) {
	d := entity.Draft{ID: s.NewID(), JourneyID: lower(in.JourneyID), ParentID: lower(in.ParentDraftID), Created: s.Now().UTC()}
	entityID := r.PathValue("entityId")
	if d.ParentID != "" {
		parent, err := s.draft(ctx, c, entityID, d.ParentID)
		if err != nil {
			return NewDraft{}, err
		}
		d.Changes = parent.Changes
	}
	change, err := s.step(ctx, c.Tenant, func() (entity.Update, error) {
		record, status, err := s.entity(ctx, c, entityID)
		return entity.BeginDraft(record, status, d), err
	})
	if err != nil {
		return NewDraft{}, err
	}
	d = change.Draft
	return NewDraft{
		ID: d.ID, SourceEntityID: d.EntityID, SourceEntityVersion: d.BaseVersion, SourcePropertiesVersion: d.BaseVersion,
		ConflictsResolvedSourceVersion: d.ConflictsResolvedIn, JourneyID: d.JourneyID, Type: d.Type, Properties: d.Properties,
	}, nil
}

// UpdateDraft lays properties over a draft.
func (s *Entities) UpdateDraft(ctx context.Context, c httpapi.Caller, r *http.Request, in UpdateRequest) (EntityDraft, error) {
	d, err := s.version(ctx, c, r, *in.Version)
	if err != nil {
		return EntityDraft{}, err
	}
	d, err = d.WithProperties(in.Properties)
	if errors.Is(err, entity.ErrDraftEnded) {
		return EntityDraft{}, errEnded
	}
	if err = s.Store.UpdateDraft(ctx, c.Tenant, d); errors.Is(err, entity.ErrChanged) {
		return EntityDraft{}, errMoved
	}
	return draftOf(d), err
}

// version reads the draft of a request, which must stand at a version; -1 is any.
func (s *Entities) version(ctx context.Context, c httpapi.Caller, r *http.Request, version int64) (entity.Draft, error) {
	d, err := s.draft(ctx, c, r.PathValue("entityId"), lower(r.PathValue("id")))
	if err == nil && version != noVersionCheck && version != d.Version {
		err = errMoved
	}
	return d, err
}

// Verify brings a draft into its entity, which is onboarded from then on. What another draft has changed in the meantime is not
// overwritten unless the caller says so, by a resolution or by asking for no check.
func (s *Entities) Verify(ctx context.Context, c httpapi.Caller, r *http.Request, in VerifyRequest) (platform.None, error) {
	return s.end(ctx, c, r, *in.Version, func(record entity.Profile, status entity.LifecycleStatus, d entity.Draft) (entity.Update, error) {
		if keys := entity.FindConflicts(record, d, in.DataConflictResolutions); len(keys) > 0 && *in.Version != noVersionCheck {
			return entity.Update{}, fault.Newf(fault.Conflict, "data_conflict",
				"Another draft has changed %s in the meantime. Send dataConflictResolutions, or version -1 to overwrite.", strings.Join(keys, ", "))
		}
		return entity.VerifyDraft(record, status, d, in.DataConflictResolutions)
	})
}

// Reject ends a draft without effect.
func (s *Entities) Reject(ctx context.Context, c httpapi.Caller, r *http.Request) (platform.None, error) {
	return s.end(ctx, c, r, noVersionCheck, entity.RejectDraft)
}

func (s *Entities) end(ctx context.Context, c httpapi.Caller, r *http.Request, version int64,
	how func(entity.Profile, entity.LifecycleStatus, entity.Draft) (entity.Update, error)) (platform.None, error) {
	_, err := s.step(ctx, c.Tenant, func() (entity.Update, error) {
		d, err := s.version(ctx, c, r, version)
		if fault.As(err).Kind == fault.Conflict && d.Status != entity.InProgress {
			return entity.Update{}, errEnded // the version alone would send the caller back for another try
		}
		if err != nil {
			return entity.Update{}, err
		}
		record, status, err := s.entity(ctx, c, d.EntityID)
		if err != nil {
			return entity.Update{}, err
		}
		return how(record, status, d)
	})
	return platform.None{}, err
}
