package clienttest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/openapi/wire"
)

// entityQueries is the path under which entities are read.
const entityQueries = "/entitydataquery/api/v2/entity"

// platform checks what every call of a platform path has.
func (s *Server) platform(next http.HandlerFunc) http.HandlerFunc {
	return s.authorized(func(w http.ResponseWriter, r *http.Request) {
		if tenant := r.Header.Get("X-TENANT-ID"); tenant != strings.TrimPrefix(Scope, "tenant/") {
			s.problem("%s with the tenant %q", r.URL.Path, tenant)
			replyPlatformError(w, http.StatusForbidden, "The token is of another tenant.", "forbidden")
			return
		}
		next(w, r)
	})
}

// replyPlatform answers as the platform paths do.
func replyPlatform(w http.ResponseWriter, status int, data any) {
	reply(w, status, map[string]any{"data": data, "messages": []any{}})
}

// replyPlatformError refuses as the platform paths do.
func replyPlatformError(w http.ResponseWriter, status int, message, code string) {
	reply(w, status, map[string]any{"data": map[string]any{}, "messages": []any{
		map[string]string{"message": message, "type": "Error", "errorCode": code}}})
}

// listWebhooks returns an empty list: the server has no webhooks.
func (s *Server) listWebhooks(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"webHooks": []any{}})
}

// listPolicies returns an empty list: the server has no policies.
func (s *Server) listPolicies(w http.ResponseWriter, _ *http.Request) {
	replyPlatform(w, http.StatusOK, map[string]any{"items": []any{}})
}

// listEntities returns one entity a page, so that a client that does not read on sees too little.
func (s *Server) listEntities(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("pageSize"))
	if query.Has("pageSize") && (err != nil || size < 1 || size > 500) {
		replyPlatformError(w, http.StatusBadRequest, "pageSize must be 1 to 500.", "number_range")
		return
	}
	var found []wire.ListedEntity
	for _, e := range s.Entities {
		listed := wire.ListedEntity{ID: e.ID, Type: e.Type, Name: nameOf(e), LifecycleStatus: e.LifecycleStatus,
			Version: e.Version}
		hasPrefix := strings.HasPrefix(strings.ToLower(listed.Name), strings.ToLower(query.Get("name")))
		if hasPrefix && (!query.Has("status") || query.Get("status") == e.LifecycleStatus) {
			found = append(found, listed)
		}
	}
	at, _ := strconv.Atoi(query.Get("paginationToken"))
	page := map[string]any{"items": []any{}, "paginationToken": nil}
	if at >= 0 && at < len(found) {
		page["items"] = found[at : at+1]
	}
	if at+1 < len(found) {
		page["paginationToken"] = strconv.Itoa(at + 1)
	}
	replyPlatform(w, http.StatusOK, page)
}

// nameOf returns the legal name of an entity.
func nameOf(e wire.Entity) string {
	property, _ := e.Properties["legalEntityName"].(wire.SingleProperty)
	return property.Value
}

func (s *Server) readEntity(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(s.Entities, func(e wire.Entity) bool { return e.ID == r.PathValue("id") })
	if i < 0 {
		replyPlatformError(w, http.StatusNotFound, "Entity not found.", "entity_not_found")
		return
	}
	replyPlatform(w, http.StatusOK, s.Entities[i])
}
