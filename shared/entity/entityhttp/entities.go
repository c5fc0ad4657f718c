// Package entityhttp serves the entity data endpoints of the platform: entities, their drafts, and the searches over them.
package entityhttp

import (
	"context"
	"errors"
	"time"

	"sluice/shared/entity"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// Permissions of the entity data endpoints.
const (
	Edit        = "EntityDataEdit"
	Approve     = "EntityDataApprove"
	Search      = "EntityDataAccessAndSearch"
	GroupEdit   = "EntityGroupManagementEdit"
	GroupSearch = "EntityGroupManagementAccessAndSearch"
)

// Entities serves entities and drafts.
type Entities struct {
	Store  entity.Store
	Paging *platform.Paging
	Now    func() time.Time
	NewID  func() string // UUIDs of entities and drafts
}

const (
	commands = "/entitydatacommand/api/v2/entity"
	queries  = "/entitydataquery/api/v2"
)

// Routes returns the entity data endpoints.
func (s *Entities) Routes() []httpapi.Route {
	edit, approve, search := []string{Edit, GroupEdit}, []string{Approve}, []string{Search, GroupSearch}
	return []httpapi.Route{
		{Method: "POST", Path: commands, Permissions: edit, Endpoint: platform.Command(s.Create)},
		{Method: "POST", Path: commands + "/full", Permissions: edit, Endpoint: platform.Command(s.CreateFull)},
		{Method: "POST", Path: commands + "/{entityId}/draft", Permissions: edit, Endpoint: platform.Command(s.CreateDraft)},
		{Method: "PUT", Path: commands + "/{entityId}/draft/{id}", Permissions: edit, Endpoint: platform.Plain(platform.Command(s.UpdateDraft))},
		{Method: "PUT", Path: commands + "/{entityId}/draft/{id}/verify", Permissions: approve, Endpoint: platform.Command(s.Verify)},
		{Method: "PUT", Path: commands + "/{entityId}/draft/{id}/reject", Permissions: approve, Endpoint: platform.Act(s.Reject)},

		{Method: "GET", Path: queries + "/entity/{entityId}", Permissions: search, Endpoint: platform.Read(s.Get)},
		{Method: "GET", Path: queries + "/entity/{entityId}/draft/{id}", Permissions: search, Endpoint: platform.Read(s.GetDraft)},
		// Any valid token of the tenant may ask for partial properties; access layers still leave drafts out.
		{Method: "POST", Path: queries + "/entity/drafts/partial-properties", Endpoint: platform.Search(s.PartialProperties)},
		{Method: "POST", Path: queries + "/entity/drafts/names", Permissions: search, Endpoint: platform.Search(s.Names)},
		{Method: "POST", Path: queries + "/entity/search-entity-drafts", Permissions: search, Endpoint: platform.Search(s.SearchByReach)},
		{Method: "POST", Path: queries + "/drafts-in-scope/searchentitydrafts", Permissions: search, Endpoint: platform.Search(s.SearchDrafts)},
		{Method: "POST", Path: queries + "/drafts-in-scope/search-entity-drafts-light", Permissions: search, Endpoint: platform.Search(s.SearchLight)},
	}
}

var (
	errNoEntity = fault.New(fault.NotFound, "entity_not_found", "Entity not found.")
	errNoDraft  = fault.New(fault.NotFound, "draft_not_found", "Draft not found.")
	errMoved    = fault.New(fault.Conflict, "draft_changed", "The draft was changed by someone else. Read it again.")
	errEnded    = fault.New(fault.Conflict, "draft_ended", "The draft is verified or rejected already.")
	errBusy     = fault.New(fault.Conflict, "entity_busy", "The entity is being changed by others. Try again.")
)

// entity reads an entity in the caller's reach. One out of reach is not found, as one that is not there.
func (s *Entities) entity(ctx context.Context, c httpapi.Caller, id string) (entity.Profile, entity.LifecycleStatus, error) {
	if id == "" || len(id) > entity.MaxIDBytes {
		return entity.Profile{}, "", errNoEntity
	}
	r, status, err := s.Store.GetProfile(ctx, c.Tenant, id)
	if errors.Is(err, entity.ErrNotFound) || err == nil && !c.Layers.CanReach(r.Layers) {
		return entity.Profile{}, "", errNoEntity
	}
	return r, status, err
}

// draft reads a draft of an entity in the caller's reach.
func (s *Entities) draft(ctx context.Context, c httpapi.Caller, entityID, id string) (entity.Draft, error) {
	if !platform.IsUUID(id) {
		return entity.Draft{}, errNoDraft
	}
	d, err := s.Store.GetDraft(ctx, c.Tenant, id)
	if errors.Is(err, entity.ErrNotFound) || err == nil && (d.EntityID != entityID || !c.Layers.CanReach(d.Layers)) {
		return entity.Draft{}, errNoDraft
	}
	return d, err
}

// attempts is how often a step is made anew when another one came first. Each try reads what now stands.
const attempts = 8

// step makes a step of the life cycle of what is stored now, until nobody comes between.
func (s *Entities) step(ctx context.Context, tenant string, make func() (entity.Update, error)) (entity.Update, error) {
	for range attempts {
		c, err := make()
		if errors.Is(err, entity.ErrDraftEnded) {
			return c, errEnded
		}
		if err != nil {
			return c, err
		}
		if err = s.Store.ApplyUpdate(ctx, tenant, c); !errors.Is(err, entity.ErrChanged) {
			return c, err
		}
	}
	return entity.Update{}, errBusy
}
