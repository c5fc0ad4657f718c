package entityhttp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// Create stores a new entity and returns its ID.
func (s *Entities) Create(ctx context.Context, r *platform.Request,
	in CreateRequest) (platform.WithWarnings[wire.CreatedEntity], error) {
	p, warnings, err := s.create(ctx, r, in)
	return platform.WithWarnings[wire.CreatedEntity]{Data: wire.CreatedEntity{ID: p.ID}, Messages: warnings}, err
}

// CreateFull stores a new entity and returns all of it.
func (s *Entities) CreateFull(ctx context.Context, r *platform.Request, in CreateRequest,
	m mask) (platform.WithWarnings[Entity], error) {
	p, warnings, err := s.create(ctx, r, in)
	return platform.WithWarnings[Entity]{Data: entityOf(p, p.BaseStatus, m), Messages: warnings}, err
}

func (s *Entities) create(ctx context.Context, r *platform.Request,
	in CreateRequest) (entity.Profile, []platform.Message, error) {
	if err := r.RequireReach("accessLayers", in.AccessLayers); err != nil {
		return entity.Profile{}, nil, err
	}
	if err := requireEdit(r, in.Type); err != nil {
		return entity.Profile{}, nil, err
	}
	var warnings []platform.Message
	warn := func(name, reason string) {
		warnings = append(warnings, platform.Warning("property_dropped", name+" was dropped: "+reason))
	}
	properties := map[string]property.Property{}
	for _, key := range slices.Sorted(maps.Keys(in.Properties)) {
		if p := in.Properties[key]; p == nil || p.IsEmpty() {
			warn("properties."+key, "it has no value.")
			continue
		}
		properties[key] = *in.Properties[key]
	}
	jurisdictions := in.PolicyJurisdictions
	if in.PolicyJurisdiction != "" && len(jurisdictions) == 0 {
		jurisdictions = []string{in.PolicyJurisdiction}
	} else if in.PolicyJurisdiction != "" {
		warn("policyJurisdiction", "policyJurisdictions replaces it.")
	}
	p := entity.Profile{
		ID: s.NewID(), Type: in.Type, Role: in.TargetEntity, AlternateID: in.AlternateID, Properties: properties,
		Jurisdictions: jurisdictions, Category: in.Category, Layers: in.AccessLayers.OrDefault(),
		Created: s.Now().UTC(),
		Version: 1, Revision: 1, BaseStatus: entity.Unknown,
	}
	audit.AddObject(ctx, "entityId", p.ID)
	err := s.Store.Create(ctx, r.Tenant, p)
	if err == nil {
		recordTransition(ctx, p.ID, "", p.BaseStatus)
	}
	return p, warnings, err
}

// entityGroup is the type of entities that EntityGroupManagementEdit is enough to write.
const entityGroup = "Entity Group"

// requireEdit returns an error unless the caller may write entities of a type. The route has asked for one of the two
// permissions to edit already.
func requireEdit(r *platform.Request, entityType string) error {
	if entityType == entityGroup || slices.Contains(r.Permissions, permission.EntityDataEdit) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "permission_missing",
		"The client lacks the permission %s: %s is enough for the type %s only.", permission.EntityDataEdit,
		permission.EntityGroupManagementEdit, entityGroup)
}

// CreateDraft begins a draft of an entity. If it has a parent draft, it begins with the changes of that.
func (s *Entities) CreateDraft(ctx context.Context, r *platform.Request, in DraftRequest, m mask) (NewDraft, error) {
	d := entity.Draft{ID: s.NewID(), JourneyID: toLower(in.JourneyID), Created: s.Now().UTC()}
	if in.ParentDraftID != nil {
		d.ParentID = toLower(*in.ParentDraftID)
	}
	entityID := r.PathValue("entityId")
	if d.ParentID != "" {
		parent, err := s.findDraft(ctx, r, entityID, d.ParentID)
		if err != nil {
			return NewDraft{}, err
		}
		d.Changes, d.Authors = parent.Changes, parent.Authors
	}
	d = d.WithAuthor(r.Client)
	update, err := s.applyUpdate(ctx, r, func() (entity.Update, error) {
		p, status, err := s.findProfile(ctx, r, entityID)
		if err == nil {
			err = requireEdit(r, p.Type)
		}
		return entity.BeginDraft(p, status, d), err
	})
	if err != nil {
		return NewDraft{}, err
	}
	audit.AddObject(ctx, "draftId", update.Draft.ID)
	return newDraftOf(update.Draft, m), nil
}

// UpdateDraft adds properties to a draft, replaces them, or removes those that are null or have no value.
func (s *Entities) UpdateDraft(ctx context.Context, r *platform.Request, in UpdateRequest,
	m mask) (EntityDraft, error) {
	d, err := s.findDraftOfPath(ctx, r)
	if err == nil {
		err = requireEdit(r, d.Type)
	}
	if err == nil {
		err = checkVersion(d, *in.Version)
	}
	if err != nil {
		return EntityDraft{}, err
	}
	d, err = d.WithAuthor(r.Client).WithProperties(m.keep(in.Properties.Normalized()))
	if errors.Is(err, entity.ErrDraftEnded) {
		return EntityDraft{}, errDraftEnded
	}
	if err = s.Store.UpdateDraft(ctx, r.Tenant, d); errors.Is(err, entity.ErrChanged) {
		return EntityDraft{}, errDraftChanged
	}
	return draftOf(d, m), err
}

// checkVersion returns errDraftChanged unless a draft has the version that the client has read.
func checkVersion(d entity.Draft, version int64) error {
	if version != noVersionCheck && version != d.Version {
		return errDraftChanged
	}
	return nil
}

// VerifyDraft applies a draft's changes to its entity and onboards it. It does not overwrite what another draft has
// changed since this one began, unless the client decides so by a resolution or by asking for no version check.
func (s *Entities) VerifyDraft(ctx context.Context, r *platform.Request, in VerifyRequest,
	m mask) (platform.NoData, error) {
	resolutions := m.keep(in.DataConflictResolutions.Normalized())
	verify := func(p entity.Profile, status entity.LifecycleStatus, d entity.Draft) (entity.Update, error) {
		if err := r.RequireOther("A client must not verify a draft that it has made or changed (four eyes). "+
			"Let another client verify it.", d.Authors...); err != nil {
			return entity.Update{}, err
		}
		conflicts := entity.FindConflicts(p, d, resolutions)
		if len(conflicts) > 0 && *in.Version != noVersionCheck {
			return entity.Update{}, fault.Newf(fault.Conflict, "data_conflict",
				"Another draft has changed %s since this one began. "+
					"Send dataConflictResolutions, or version -1 to overwrite.",
				strings.Join(conflicts, ", "))
		}
		return entity.VerifyDraft(p, status, d, resolutions)
	}
	return s.endDraft(ctx, r, *in.Version, verify)
}

// RejectDraft ends a draft without effect.
func (s *Entities) RejectDraft(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	return s.endDraft(ctx, r, noVersionCheck, entity.RejectDraft)
}

func (s *Entities) endDraft(ctx context.Context, r *platform.Request, version int64,
	end func(entity.Profile, entity.LifecycleStatus, entity.Draft) (entity.Update, error)) (platform.NoData, error) {
	_, err := s.applyUpdate(ctx, r, func() (entity.Update, error) {
		d, err := s.findDraftOfPath(ctx, r)
		if err != nil {
			return entity.Update{}, err
		}
		if d.Status != entity.InProgress {
			return entity.Update{}, errDraftEnded // a conflict of versions would only make the client try again
		}
		if err := checkVersion(d, version); err != nil {
			return entity.Update{}, err
		}
		p, status, err := s.findProfile(ctx, r, d.EntityID)
		if err != nil {
			return entity.Update{}, err
		}
		return end(p, status, d)
	})
	return platform.NoData{}, err
}

// maxUpdateAttempts is how often an update is computed anew when another one was stored first.
const maxUpdateAttempts = 8

// applyUpdate stores the update that compute returns for the present state. It calls compute again if the state has
// changed before the update was stored.
func (s *Entities) applyUpdate(ctx context.Context, r *platform.Request,
	compute func() (entity.Update, error)) (entity.Update, error) {
	for range maxUpdateAttempts {
		u, err := compute()
		if errors.Is(err, entity.ErrDraftEnded) {
			return u, errDraftEnded
		}
		if err != nil {
			return u, err
		}
		if err = s.Store.ApplyUpdate(ctx, r.Tenant, u); err == nil {
			recordTransition(ctx, u.Profile.ID, u.PreviousStatus, u.Status)
		}
		if !errors.Is(err, entity.ErrChanged) {
			return u, err
		}
	}
	return entity.Update{}, errBusy
}

// recordTransition writes a change of an entity's lifecycle status to the audit trail.
func recordTransition(ctx context.Context, id string, from, to entity.LifecycleStatus) {
	if from != to {
		audit.RecordTransition(ctx, audit.Transition{
			Message: "entity transition", Entity: audit.Printable(id), From: string(from), To: string(to),
		})
	}
}
