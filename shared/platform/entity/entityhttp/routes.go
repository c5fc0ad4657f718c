// Package entityhttp serves the entity data endpoints of the platform (docs/contract/platform.md): entities, their
// drafts, and the searches over drafts.
package entityhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/entityid"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
)

// Entities answers the routes of entities and drafts.
type Entities struct {
	Store     entity.Store
	Sensitive SensitiveKeys
	Paging    *platform.Paging
	Now       func() time.Time
	// NewID returns a new UUID for an entity or a draft.
	NewID func() string
}

// Routes returns the entity data endpoints.
func (s *Entities) Routes() []httpapi.Route {
	const (
		post, put, get = http.MethodPost, http.MethodPut, http.MethodGet
		commands       = "/entitydatacommand/api/v2/entity"
		draft          = commands + "/{entityId}/draft/{id}"
		queries        = "/entitydataquery/api/v2"
		inScope        = queries + "/drafts-in-scope"
	)
	edit := []string{permission.EntityDataEdit, permission.EntityGroupManagementEdit}
	approve := []string{permission.EntityDataApprove}
	search := []string{permission.EntityDataAccessAndSearch, permission.EntityGroupManagementAccessAndSearch}
	const limit = ratelimit.EntityCommands
	return httpapi.WithLimit(ratelimit.Platform, []httpapi.Route{
		{Method: post, Path: commands, Limit: limit, Permissions: edit, Endpoint: platform.Endpoint(s.Create)},
		{Method: post, Path: commands + "/full", Limit: limit, Permissions: edit,
			Endpoint: platform.Endpoint(masked(s, s.CreateFull))},
		{Method: post, Path: commands + "/{entityId}/draft", Limit: limit, Permissions: edit,
			Endpoint: platform.Endpoint(masked(s, s.CreateDraft))},
		{Method: put, Path: draft, Limit: limit, Permissions: edit,
			Endpoint: platform.Endpoint(masked(s, s.UpdateDraft), platform.FlattenErrors())},
		{Method: put, Path: draft + "/verify", Limit: limit, Permissions: approve,
			Endpoint: platform.Endpoint(masked(s, s.VerifyDraft))},
		{Method: put, Path: draft + "/reject", Limit: limit, Permissions: approve,
			Endpoint: platform.Endpoint(s.RejectDraft)},

		{Method: get, Path: queries + "/entity", Permissions: []string{permission.EntityDataAccessAndSearch},
			Query: []string{"name", "status", "pageSize", "paginationToken"}, Endpoint: platform.Endpoint(s.List)},
		{Method: get, Path: queries + "/entity/{entityId}", Permissions: search,
			Endpoint: platform.Endpoint(masked(s, s.Get))},
		{Method: get, Path: queries + "/entity/{entityId}/draft/{id}", Permissions: search,
			Endpoint: platform.Endpoint(masked(s, s.GetDraft))},
		// Every client of the tenant may ask for partial properties; access layers still leave drafts out.
		{Method: post, Path: queries + "/entity/drafts/partial-properties",
			Endpoint: platform.Endpoint(s.PartialProperties, platform.ReadOnly())},
		{Method: post, Path: queries + "/entity/drafts/names", Permissions: search,
			Endpoint: platform.Endpoint(masked(s, s.DraftNames), platform.ReadOnly())},
		{Method: post, Path: queries + "/entity/search-entity-drafts", Permissions: search,
			Endpoint: platform.Endpoint(masked(s, s.SearchByReach), platform.ReadOnly())},
		{Method: post, Path: inScope + "/searchentitydrafts", Permissions: search,
			Endpoint: platform.Endpoint(masked(s, s.SearchDrafts), platform.ReadOnly())},
		{Method: post, Path: inScope + "/search-entity-drafts-light", Permissions: search,
			Endpoint: platform.Endpoint(s.SearchLight, platform.ReadOnly())},
	}...)
}

var (
	errNoEntity     = fault.New(fault.NotFound, "entity_not_found", "Entity not found.")
	errNoDraft      = fault.New(fault.NotFound, "draft_not_found", "Draft not found.")
	errDraftChanged = fault.New(fault.Conflict, "draft_changed",
		"The draft was changed by someone else. Read it again.")
	errDraftEnded = fault.New(fault.Conflict, "draft_ended", "The draft has already been verified or rejected.")
	errBusy       = fault.New(fault.Conflict, "entity_busy", "The entity is being changed by others. Try again.")
	errTooMany    = fault.New(fault.TooLarge, "too_many_drafts",
		"The reply would be too large. Narrow the search by entityIds, or use search-entity-drafts-light.")
)

// findProfile reads an entity that the caller reaches. One out of reach is not found, as one that does not exist.
func (s *Entities) findProfile(ctx context.Context, r *platform.Request,
	id string) (entity.Profile, entity.LifecycleStatus, error) {
	if id == "" || len(id) > entityid.MaxBytes {
		return entity.Profile{}, "", errNoEntity
	}
	p, status, err := s.Store.GetProfile(ctx, r.Tenant, id)
	if errors.Is(err, entity.ErrNotFound) || err == nil && !r.Layers.CanReach(p.Layers) {
		return entity.Profile{}, "", errNoEntity
	}
	return p, status, err
}

// findDraft reads a draft of an entity that the caller reaches.
func (s *Entities) findDraft(ctx context.Context, r *platform.Request, entityID, id string) (entity.Draft, error) {
	if !platform.IsUUID(id) {
		return entity.Draft{}, errNoDraft
	}
	d, err := s.Store.GetDraft(ctx, r.Tenant, toLower(id))
	if errors.Is(err, entity.ErrNotFound) || err == nil && (entityid.Normalize(d.EntityID) != entityid.Normalize(
		entityID) || !r.Layers.CanReach(d.Layers)) {
		return entity.Draft{}, errNoDraft
	}
	return d, err
}

// findDraftOfPath is findDraft for the draft that the path of a request names.
func (s *Entities) findDraftOfPath(ctx context.Context, r *platform.Request) (entity.Draft, error) {
	return s.findDraft(ctx, r, r.PathValue("entityId"), r.PathValue("id"))
}
