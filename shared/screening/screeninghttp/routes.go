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
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
	"sluice/shared/screening"
)

// Screenings answers the routes of screening.
type Screenings struct {
	Store screening.Store
	// Documents and Files belong to document management.
	Documents document.Store
	Files     fileBucket
	// Entities is the entity data.
	Entities  entityData
	Providers providerReader
	Lists     listCatalog
	// Searches starts the searches of batches.
	Searches searches
	// Resolutions notifies the adapters of foreign providers of the resolutions of their matches.
	Resolutions resolutions
	// MaxBytes is the size of the largest file of a document.
	MaxBytes int64
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

// resolutions notifies adapters of resolutions.
type resolutions interface {
	// Start begins the notification of adapters of resolutions that are about to be stored: they are notified once the
	// resolutions are stored. Repeating it succeeds.
	Start(ctx context.Context, b screening.Batch, resolved []screening.Match) error
}

const (
	commandsPath = "/screeningcommand/api/v3"
	queriesPath  = "/screeningquery/api/v4"
)

// Routes returns the routes of screening.
func (s *Screenings) Routes() []httpapi.Route {
	return httpapi.WithLimit(ratelimit.Platform, slices.Concat(s.batchRoutes(), s.queryRoutes(), s.documentRoutes(),
		s.materialityRoutes(), s.expiryRoutes())...)
}

func (s *Screenings) batchRoutes() []httpapi.Route {
	const post, put, path = http.MethodPost, http.MethodPut, commandsPath + "/batch"
	return []httpapi.Route{
		command(post, path, s.Create),
		command(put, path+"/{id}/complete", s.Complete),
		command(post, path+"/{id}/rerun", s.Rerun),
		command(put, path+"/{id}/matches", s.Resolve),
	}
}

func (s *Screenings) queryRoutes() []httpapi.Route {
	const path = queriesPath + "/batch"
	return []httpapi.Route{
		query(path+"/{batchId}", s.Get),
		query(path+"/journey/{journeyId}", s.GetNewest),
		query(path+"/journey/{journeyId}/process/{processId}", s.GetActive),
		query(path+"/legalentity/{legalEntityId}", s.ListOfLegalEntity),
		query(path+"/{batchId}/entity", s.ListEntities),
		query(path+"/{batchId}/entity/{entityId}", s.GetEntity),
		query(path+"/{batchId}/entity/{entityId}/match", s.ListMatches),
		query(path+"/{batchId}/entity/{entityId}/match/{matchId}", s.GetMatch),
	}
}

// documentRoutes returns the routes of documents: the same ones for entities and for matches.
func (s *Screenings) documentRoutes() []httpapi.Route {
	const ofEntity, ofMatch = "/batch/{id}/entity/{entityId}", "/batch/{id}/entity/{entityId}/match/{matchId}"
	routes := []httpapi.Route{
		query(queriesPath+"/batch/{batchId}/entity/{entityId}/documents", s.ListEntityDocuments),
		query(queriesPath+"/batch/{batchId}/entity/{entityId}/match/{matchId}/documents", s.ListMatchDocuments),
		query(queriesPath+"/entity/{entityId}/documents", s.ListDocumentsOfEntity),
		query(queriesPath+"/entity/{entityId}/match/{matchEntityUniqueId}/documents", s.ListDocumentsOfEntry),
	}
	for _, owner := range []string{ofEntity, ofMatch} {
		path := commandsPath + owner + "/documents"
		upload := command(http.MethodPost, path+"/upload-url", s.UploadDocument)
		upload.Opens = document.OpenLimits
		routes = append(routes, upload, command(http.MethodPost, path+"/virtual", s.AddVirtualDocument),
			command(http.MethodDelete, path+"/{documentId}", s.DeleteDocument))
	}
	routes = append(routes, command(http.MethodPost, commandsPath+ofEntity+"/documents/reuse", s.ReuseDocument),
		command(http.MethodPost, commandsPath+ofMatch+"/documents/reuse", s.ReuseMatchDocument))
	return routes
}

func (s *Screenings) materialityRoutes() []httpapi.Route {
	const put, path = http.MethodPut, commandsPath + "/batch/{id}/entity/{entityId}"
	return []httpapi.Route{
		command(put, path, s.UpdateEntity),
		command(put, path+"/updatemateriality", s.UpdateMateriality),
		command(put, path+"/escalatematerialitytask", s.Escalate),
		command(put, path+"/deescalatematerialitytask", s.Deescalate),
		command(http.MethodPost, commandsPath+"/batch/{id}/aggregate-entity-materiality", s.Aggregate),
		query(queriesPath+"/batch/entity/{entityId}/materiality-assessment-history", s.History),
	}
}

// expiryRoutes returns the route of the validity of searches.
func (s *Screenings) expiryRoutes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodPost, Path: queriesPath + "/batch/journey/{journeyId}/expiry",
		Permissions: []string{permission.ScreeningAccess}, Endpoint: platform.Endpoint(s.Expiry, platform.ReadOnly())}}
}

// command makes the route of a command, which needs one of two permissions and ScreeningAccess as well.
func command[In, Out any](method, path string,
	handle func(context.Context, *platform.Request, In) (Out, error)) httpapi.Route {
	return httpapi.Route{Method: method, Path: path,
		Permissions: []string{permission.ScreeningCreate, permission.ScreeningEdit},
		Beside:      permission.ScreeningAccess, Endpoint: platform.Endpoint(handle, platform.FlattenErrors())}
}

func query[Out any](path string,
	handle func(context.Context, *platform.Request, platform.NoBody) (Out, error)) httpapi.Route {
	return httpapi.Route{Method: http.MethodGet, Path: path, Permissions: []string{permission.ScreeningAccess},
		Endpoint: platform.Endpoint(handle)}
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

// maxAttempts is the number of attempts at a change that others overtake.
const maxAttempts = 8

// retryIfChanged calls do again while it returns screening.ErrChanged.
func retryIfChanged(do func() error) error {
	for range maxAttempts {
		if err := do(); !errors.Is(err, screening.ErrChanged) {
			return err
		}
	}
	return errBusy
}
