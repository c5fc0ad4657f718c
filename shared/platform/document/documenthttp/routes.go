// Package documenthttp serves document management (docs/contract/platform.md, Documents).
package documenthttp

import (
	"context"
	"net/http"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// fileBucket holds the files of documents.
type fileBucket interface {
	// SignPutOf is as in objects.Bucket.
	SignPutOf(ctx context.Context, key string, size int64, lifetime time.Duration) (objects.SignedURL, error)
	SignGet(ctx context.Context, key string, d objects.Download, lifetime time.Duration) (objects.SignedURL, error)
	// Empty puts an object without bytes in the place of an object, or of none.
	Empty(ctx context.Context, key string) error
}

// Documents answers the routes of document management.
type Documents struct {
	Store document.Store
	Files fileBucket
	// MaxBytes is the size of the largest file.
	MaxBytes int64
	// UploadLifetime and DownloadLifetime are how long signed URLs are valid.
	UploadLifetime, DownloadLifetime time.Duration
	Now                              func() time.Time
	// NewID returns a new UUID for a document or a file.
	NewID  func() string
	Paging *platform.Paging
}

const (
	commandsPath = "/documentmanagementcommand/api/v2/documentmanagement"
	queriesPath  = "/documentmanagementquery/api/documentmanagement"
)

// Routes returns the routes of document management.
func (s *Documents) Routes() []httpapi.Route {
	const post, put = http.MethodPost, http.MethodPut
	create := []string{permission.DocumentManagementCreate}
	edit := []string{permission.DocumentManagementEdit}
	ofEntities, ofAnyType := typedCommands{s, document.Entity}, typedCommands{s, ""}
	routes := append(s.queryRoutes(),
		httpapi.Route{Method: post, Path: commandsPath, Permissions: create, Opens: document.OpenLimits,
			Endpoint: platform.Endpoint(ofEntities.create)},
		httpapi.Route{Method: put, Path: commandsPath + "/updateFile", Permissions: edit, Opens: document.OpenLimits,
			Endpoint: platform.Endpoint(ofAnyType.updateFile)},
		httpapi.Route{Method: put, Path: commandsPath + "/{id}/updateDocumentUploadedByUserName", Permissions: edit,
			Endpoint: platform.Endpoint(ofEntities.setUploadedBy)},
		httpapi.Route{Method: post, Path: commandsPath + "/{id}/archive", Permissions: edit,
			Endpoint: platform.Endpoint(ofAnyType.archive)},
		httpapi.Route{Method: post, Path: commandsPath + "/{id}/unarchive", Permissions: edit,
			Endpoint: platform.Endpoint(ofAnyType.unarchive)},
	)
	routes = append(routes, ofEntities.routes(commandsPath)...)
	routes = append(routes, typedCommands{s, document.Product}.routes(commandsPath+"/product")...)
	routes = append(routes, typedCommands{s, document.Deal}.routes(commandsPath+"/deal")...)
	return httpapi.WithLimit(ratelimit.Platform, routes...)
}

// routes returns the commands that exist for general entities, products and deals alike.
func (c typedCommands) routes(path string) []httpapi.Route {
	const post, put, del = http.MethodPost, http.MethodPut, http.MethodDelete
	createVirtual := []string{permission.DocumentManagementCreateVirtual}
	clone := []string{permission.DocumentManagementCreate, permission.DocumentManagementCreateVirtual,
		permission.DocumentManagementLink}
	edit, remove := []string{permission.DocumentManagementEdit}, []string{permission.DocumentManagementDelete}
	editOrDelete := []string{permission.DocumentManagementEdit, permission.DocumentManagementDelete}
	return []httpapi.Route{
		{Method: post, Path: path + "/virtual", Permissions: createVirtual,
			Endpoint: platform.Endpoint(c.createVirtual)},
		{Method: put, Path: path + "/{id}", Permissions: edit, Endpoint: platform.Endpoint(c.update)},
		{Method: del, Path: path + "/{id}", Permissions: remove, Endpoint: platform.Endpoint(c.delete)},
		{Method: put, Path: path + "/{id}/access-layers", Permissions: edit, Endpoint: platform.Endpoint(c.setLayers)},
		{Method: put, Path: path + "/{id}/clone", Permissions: clone, Endpoint: platform.Endpoint(c.clone)},
		{Method: put, Path: path + "/{id}/requirement-ids", Permissions: editOrDelete,
			Endpoint: platform.Endpoint(c.setRequirements, platform.Unenveloped("documentRequirementIds"))},
		{Method: put, Path: path + "/{id}/datakey", Permissions: editOrDelete,
			Endpoint: platform.Endpoint(c.setDataKey, platform.Unenveloped("documentDataKey"))},
		{Method: put, Path: path + "/error/{id}", Permissions: edit, Endpoint: platform.Endpoint(c.markFailed)},
		{Method: put, Path: path + "/custom-error/{id}", Permissions: edit,
			Endpoint: platform.Endpoint(c.setCustomError)},
	}
}

func (s *Documents) queryRoutes() []httpapi.Route {
	const get, post, path = http.MethodGet, http.MethodPost, queriesPath
	access := []string{permission.DocumentManagementAccess}
	return []httpapi.Route{
		{Method: get, Path: path + "/{id}", Permissions: access, Endpoint: platform.Endpoint(s.get)},
		{Method: get, Path: path + "/journey/{journeyId}", Permissions: access, Endpoint: platform.Endpoint(s.list)},
		{Method: get, Path: path + "/entity/{entityId}", Permissions: access, Endpoint: platform.Endpoint(s.list)},
		{Method: get, Path: path + "/entity/{entityId}/journey/{journeyId}", Permissions: access,
			Endpoint: platform.Endpoint(s.list)},
		{Method: post, Path: path + "/entity/paged", Permissions: access,
			Endpoint: platform.Endpoint(s.page, platform.ReadOnly())},
		{Method: post, Path: path + "/entity/paged/lite/v2", Permissions: access,
			Endpoint: platform.Endpoint(s.litePage, platform.ReadOnly())},
		{Method: get, Path: path + "/signedurl/{id}", Permissions: access, Endpoint: platform.Endpoint(s.signDownload)},
		{Method: get, Path: path + "/mimeTypesAllowed", Permissions: access, Endpoint: constant(document.MIMETypes())},
		{Method: get, Path: path + "/supportedFileExtensions", Permissions: access,
			Endpoint: constant(document.Extensions())},
	}
}

// constant makes an endpoint that answers with a fixed list.
func constant(list []string) httpapi.Endpoint {
	return platform.Endpoint(func(context.Context, *platform.Request, platform.NoBody) ([]string, error) {
		return list, nil
	})
}
