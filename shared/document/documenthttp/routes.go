package documenthttp

import (
	"net/http"

	"sluice/shared/document"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

const (
	commands = "/documentmanagementcommand/api/v2/documentmanagement"
	queries  = "/documentmanagementquery/api/documentmanagement"
)

// may returns permissions by their names without the prefix (docs/contract/platform.md, Documents).
func may(names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "DocumentManagement" + name
	}
	return out
}

// Routes are the routes of template.yaml.
func (s *Documents) Routes() []httpapi.Route {
	routes := append(s.queries(),
		httpapi.Route{Method: http.MethodPost, Path: commands, Permissions: may("Create"), Endpoint: platform.Command(s.create)},
		httpapi.Route{Method: http.MethodPut, Path: commands + "/updateFile", Permissions: may("Edit"), Endpoint: platform.Command(s.updateFile)},
		httpapi.Route{Method: http.MethodPut, Path: commands + "/{id}/updateDocumentUploadedByUserName", Endpoint: platform.Act(s.uploadedBy)},
		httpapi.Route{Method: http.MethodPost, Path: commands + "/{id}/archive", Permissions: may("Edit"), Endpoint: platform.Command(s.archive)},
		httpapi.Route{Method: http.MethodPost, Path: commands + "/{id}/unarchive", Permissions: may("Edit"), Endpoint: platform.Act(s.unarchive)},
	)
	for _, twin := range []string{"", "/product", "/deal"} {
		routes = append(routes, s.twin(commands+twin)...)
	}
	return routes
}

// twin are the commands that exist for general entities, products and deals alike.
func (s *Documents) twin(base string) []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodPut, Path: base + "/{id}", Permissions: may("Edit"), Endpoint: platform.Command(s.update)},
		{Method: http.MethodDelete, Path: base + "/{id}", Permissions: may("Delete"), Endpoint: platform.Act(s.delete)},
		{Method: http.MethodPut, Path: base + "/{id}/access-layers", Permissions: may("Edit"), Endpoint: platform.Command(s.layers)},
		{Method: http.MethodPut, Path: base + "/{id}/clone", Permissions: may("Create", "CreateVirtual", "Link"), Endpoint: platform.Command(s.clone)},
		{Method: http.MethodPut, Path: base + "/{id}/requirement-ids", Permissions: may("Edit", "Delete"), Endpoint: platform.Bare(s.requirements)},
		{Method: http.MethodPut, Path: base + "/{id}/datakey", Permissions: may("Edit", "Delete"), Endpoint: platform.Bare(s.dataKey)},
		{Method: http.MethodPut, Path: base + "/error/{id}", Permissions: may("Edit"), Endpoint: platform.Act(s.fail)},
		{Method: http.MethodPut, Path: base + "/custom-error/{id}", Permissions: may("Edit"), Endpoint: platform.Command(s.customError)},
		{Method: http.MethodPost, Path: base + "/virtual", Permissions: may("CreateVirtual"), Endpoint: platform.Command(s.virtual)},
	}
}

func (s *Documents) queries() []httpapi.Route {
	access := may("Access")
	return []httpapi.Route{
		{Method: http.MethodGet, Path: queries + "/{id}", Permissions: access, Endpoint: platform.Read(s.get)},
		{Method: http.MethodGet, Path: queries + "/journey/{journeyId}", Permissions: access, Endpoint: platform.Read(s.group)},
		{Method: http.MethodGet, Path: queries + "/entity/{entityId}", Permissions: access, Endpoint: platform.Read(s.group)},
		{Method: http.MethodGet, Path: queries + "/entity/{entityId}/journey/{journeyId}", Permissions: access, Endpoint: platform.Read(s.group)},
		{Method: http.MethodPost, Path: queries + "/entity/paged", Permissions: access, Endpoint: platform.Search(s.paged)},
		{Method: http.MethodPost, Path: queries + "/entity/paged/lite/v2", Permissions: access, Endpoint: platform.Search(s.lite)},
		{Method: http.MethodGet, Path: queries + "/signedurl/{id}", Permissions: access, Endpoint: platform.Read(s.download)},
		{Method: http.MethodGet, Path: queries + "/mimeTypesAllowed", Permissions: access, Endpoint: names(document.MIMETypes())},
		{Method: http.MethodGet, Path: queries + "/supportedFileExtensions", Permissions: access, Endpoint: names(document.Extensions())},
	}
}
