// Package screeninghttp serves screening (docs/contract/screening.md): batches, the resolution of their matches, and
// the queries for both.
package screeninghttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
	"sluice/shared/screening"
)

// Screenings answers the routes of screening.
type Screenings struct {
	Store screening.Store
	// Documents and Files are those of document management.
	Documents document.Store
	Files     fileBucket
	// Entities is the entity data.
	Entities  entityData
	Providers providerReader
	Lists     listCatalog
	// Searches starts the searches of batches.
	Searches searches
	// Resolutions tells the adapters of foreign providers what people decided about their matches.
	Resolutions resolutions
	// UploadLifetime is how long signed URLs of uploads are valid.
	UploadLifetime time.Duration
	Now            func() time.Time
	// NewID returns a new UUID for a batch or an entity.
	NewID func() string
	Log   *slog.Logger
}

// providerReader reads the providers of tenants. It is a part of screening.ProviderStore, without the keys.
type providerReader interface {
	GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
	ListProviders(ctx context.Context, tenant string) ([]screening.Provider, error)
}

// resolutions tells adapters what people decided.
type resolutions interface {
	// Start sees to it that adapters learn of resolutions that are about to be stored, if they are. Repeating it is
	// success.
	Start(ctx context.Context, b screening.Batch, resolved []screening.Match) error
}

const (
	commandsPath = "/screeningcommand/api/v3"
	queriesPath  = "/screeningquery/api/v4"
)

// Routes returns the routes of screening.
func (s *Screenings) Routes() []httpapi.Route {
	return slices.Concat(s.batchRoutes(), s.queryRoutes(), s.documentRoutes(), s.materialityRoutes(),
		s.expiryRoutes())
}

func (s *Screenings) batchRoutes() []httpapi.Route {
	const post, put, path = http.MethodPost, http.MethodPut, commandsPath + "/batch"
	return []httpapi.Route{
		command(post, path, platform.Endpoint(s.Create, platform.FlattenErrors())),
		command(put, path+"/{id}/complete", platform.Endpoint(s.Complete, platform.FlattenErrors())),
		command(post, path+"/{id}/rerun", platform.Endpoint(s.Rerun, platform.FlattenErrors())),
		command(put, path+"/{id}/matches", platform.Endpoint(s.Resolve, platform.FlattenErrors())),
	}
}

func (s *Screenings) queryRoutes() []httpapi.Route {
	const path = queriesPath + "/batch"
	return []httpapi.Route{
		query(path+"/{batchId}", platform.Endpoint(s.Get)),
		query(path+"/journey/{journeyId}", platform.Endpoint(s.GetNewest)),
		query(path+"/journey/{journeyId}/process/{processId}", platform.Endpoint(s.GetActive)),
		query(path+"/legalentity/{legalEntityId}", platform.Endpoint(s.ListOfLegalEntity)),
		query(path+"/{batchId}/entity", platform.Endpoint(s.ListEntities)),
		query(path+"/{batchId}/entity/{entityId}", platform.Endpoint(s.GetEntity)),
		query(path+"/{batchId}/entity/{entityId}/match", platform.Endpoint(s.ListMatches)),
		query(path+"/{batchId}/entity/{entityId}/match/{matchId}", platform.Endpoint(s.GetMatch)),
	}
}

// documentRoutes returns the routes of documents: the same ones for entities and for matches.
func (s *Screenings) documentRoutes() []httpapi.Route {
	const ofEntity, ofMatch = "/batch/{id}/entity/{entityId}", "/batch/{id}/entity/{entityId}/match/{matchId}"
	routes := []httpapi.Route{
		query(queriesPath+"/batch/{batchId}/entity/{entityId}/documents", platform.Endpoint(s.ListEntityDocuments)),
		query(queriesPath+"/batch/{batchId}/entity/{entityId}/match/{matchId}/documents",
			platform.Endpoint(s.ListMatchDocuments)),
		query(queriesPath+"/entity/{entityId}/documents", platform.Endpoint(s.ListDocumentsOfEntity)),
		query(queriesPath+"/entity/{entityId}/match/{matchEntityUniqueId}/documents",
			platform.Endpoint(s.ListDocumentsOfEntry)),
	}
	reuse := []httpapi.Endpoint{platform.Endpoint(s.ReuseDocument, platform.FlattenErrors()),
		platform.Endpoint(s.ReuseMatchDocument, platform.FlattenErrors())}
	for i, owner := range []string{ofEntity, ofMatch} {
		path := commandsPath + owner + "/documents"
		routes = append(routes,
			command(http.MethodPost, path+"/upload-url", platform.Endpoint(s.UploadDocument, platform.FlattenErrors())),
			command(http.MethodPost, path+"/virtual", platform.Endpoint(s.AddVirtualDocument,
				platform.FlattenErrors())), command(http.MethodPost, path+"/reuse", reuse[i]),
			command(http.MethodDelete, path+"/{documentId}", platform.Endpoint(s.DeleteDocument,
				platform.FlattenErrors())))
	}
	return routes
}

func (s *Screenings) materialityRoutes() []httpapi.Route {
	const put, path = http.MethodPut, commandsPath + "/batch/{id}/entity/{entityId}"
	return []httpapi.Route{
		command(put, path, platform.Endpoint(s.UpdateEntity, platform.FlattenErrors())),
		command(put, path+"/updatemateriality", platform.Endpoint(s.UpdateMateriality, platform.FlattenErrors())),
		command(put, path+"/escalatematerialitytask", platform.Endpoint(s.Escalate, platform.FlattenErrors())),
		command(put, path+"/deescalatematerialitytask", platform.Endpoint(s.Deescalate, platform.FlattenErrors())),
		command(http.MethodPost, commandsPath+"/batch/{id}/aggregate-entity-materiality",
			platform.Endpoint(s.Aggregate, platform.FlattenErrors())),
		query(queriesPath+"/batch/entity/{entityId}/materiality-assessment-history", platform.Endpoint(s.History)),
	}
}

// expiryRoutes returns the routes of how long searches are valid.
func (s *Screenings) expiryRoutes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodPost, Path: queriesPath + "/batch/journey/{journeyId}/expiry",
		Permissions: []string{permission.ScreeningAccess}, Endpoint: platform.Endpoint(s.Expiry, platform.ReadOnly())}}
}

// command makes the route of a command, which needs one of two permissions and ScreeningAccess as well.
func command(method, path string, next httpapi.Endpoint) httpapi.Route {
	return httpapi.Route{Method: method, Path: path,
		Permissions: []string{permission.ScreeningCreate, permission.ScreeningEdit},
		Endpoint: func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
			if !slices.Contains(c.Permissions, permission.ScreeningAccess) {
				return httpapi.Reply{}, fault.Newf(fault.Forbidden, "permission_missing",
					"The client lacks the permission %s.", permission.ScreeningAccess)
			}
			return next(ctx, c, r)
		}}
}

func query(path string, endpoint httpapi.Endpoint) httpapi.Route {
	return httpapi.Route{Method: http.MethodGet, Path: path, Permissions: []string{permission.ScreeningAccess},
		Endpoint: endpoint}
}

var (
	errNoBatch   = fault.New(fault.NotFound, "screening_batch_not_found", "There is no such screening batch.")
	errNoEntity  = fault.New(fault.NotFound, "screened_entity_not_found", "The batch has no such entity.")
	errNoMatch   = fault.New(fault.NotFound, "match_not_found", "The entity has no such match in this batch.")
	errBusy      = fault.New(fault.Conflict, "screening_busy", "The batch is being changed by others. Try again.")
	errNotOpen   = fault.New(fault.BadRequest, "screening_batch_not_open", "The batch is not open any more.")
	errNotActive = fault.New(fault.BadRequest, "active_provider_missing",
		"One of the tenant's activeProviders cannot search any more. Change the configuration, or name the providers.")
	errSearching = fault.New(fault.BadRequest, "screening_unfinished",
		"A provider is still searching. Wait until each has the status Search Complete or Return Failed.")
	errNothingToRun = fault.New(fault.BadRequest, "screening_nothing_to_run",
		"No search has failed. Only searches with the status Return Failed can be run again.")
	errUnresolved = fault.New(fault.BadRequest, "matches_unresolved",
		"Matches of the batch are unresolved. Give each the status Match or No Match first.")
	errTooManyEntities = fault.New(fault.TooLarge, "too_many_screened_entities",
		"The reply would be too large. Read the entities in parts, GET /batch/{batchId}/entity with limit and after, "+
			"or one by one.")
	errBatchTooLarge = fault.New(fault.TooLarge, "too_many_screened_entities",
		"The reply would be too large. Read the entities in parts, GET /batch/{batchId}/entity with limit and after, "+
			"and the status of the batch and its providers in GET /batch/legalentity/{legalEntityId}, by the ID of "+
			"any of its entities.")
	errTooManyMatches = fault.New(fault.TooLarge, "too_many_matches",
		"The reply would be too large. Read the matches in parts, with limit and after.")
	errTooManyBatches = fault.New(fault.TooLarge, "too_many_screening_batches",
		"The reply would be too large. Ask for onlyWithTrueMatches, or for the newest batch of a journey: "+
			"GET /batch/journey/{journeyId}.")
)

// faultOf returns the fault for an outcome of the domain or the store, and every other error as it is.
func faultOf(err error) error {
	switch {
	case errors.Is(err, screening.ErrNotFound):
		return errNoBatch
	case errors.Is(err, screening.ErrNotOpen):
		return errNotOpen
	case errors.Is(err, screening.ErrUnfinished):
		return errSearching
	case errors.Is(err, screening.ErrUnresolved):
		return errUnresolved
	case errors.Is(err, screening.ErrNothingToRun):
		return errNothingToRun
	case errors.Is(err, screening.ErrChanged):
		return errBusy.WithCause(err)
	}
	return err
}

// findBatch reads the batch that a path parameter names.
func (s *Screenings) findBatch(ctx context.Context, r *platform.Request, parameter string) (screening.Batch, error) {
	id := r.PathValue(parameter)
	if !platform.IsUUID(id) {
		return screening.Batch{}, errNoBatch
	}
	b, err := s.Store.Get(ctx, r.Tenant, strings.ToLower(id))
	return b, faultOf(err)
}

// findEntity reads the entity of a batch that the path names.
func (s *Screenings) findEntity(ctx context.Context, r *platform.Request, b screening.Batch) (screening.Entity, error) {
	id := entityID(r.PathValue("entityId"))
	if !b.HasEntity(id) {
		return screening.Entity{}, errNoEntity
	}
	found, err := s.Store.GetEntities(ctx, r.Tenant, b.ID, []string{id})
	if err == nil && len(found) == 0 {
		err = errNoEntity
	}
	if err != nil {
		return screening.Entity{}, err
	}
	return found[0], nil
}

// maxAttempts is how often a change is computed anew when another one was stored first.
const maxAttempts = 8

// retryIfChanged repeats what met a change by someone else.
func retryIfChanged(do func() error) error {
	for range maxAttempts {
		if err := do(); !errors.Is(err, screening.ErrChanged) {
			return err
		}
	}
	return errBusy
}
