// Package policyhttp serves policies (docs/contract/policy.md): their versions, fields and jurisdictions, data groups,
// and evaluations.
package policyhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/policy"
)

// Policies answers the routes of policies and data groups.
type Policies struct {
	Store  policy.Store
	Paging *platform.Paging
	Now    func() time.Time
	// NewID returns a new UUID for a policy or anything in it.
	NewID func() string
}

const (
	commandsPath   = "/policycommand/api/v2/policies"
	queriesPath    = "/policyquery/api/v4/policies"
	groupCommands  = "/policycommand/api/data-group"
	groupQueries   = "/policyquery/api/data-group"
	ofPolicy       = "/{entityPolicyId}"
	ofVersion      = ofPolicy + "/version/{versionNumber}"
	ofField        = ofPolicy + "/fields/{fieldId}"
	ofJurisdiction = ofPolicy + "/jurisdictions/{jurisdictionId}"
	ofGroup        = "/{dataGroupId}"
	ofGroupVersion = ofGroup + "/version/{versionNumber}"
)

// Routes returns the routes of policies and data groups, but for evaluations.
func (s *Policies) Routes() []httpapi.Route {
	return httpapi.WithLimit(ratelimit.Platform,
		slices.Concat(s.versionCommands(), s.fieldCommands(), s.queries(), s.groupRoutes())...)
}

func (s *Policies) versionCommands() []httpapi.Route {
	const post, put, remove = http.MethodPost, http.MethodPut, http.MethodDelete
	const create, edit = permission.PolicyConfigurationCreate, permission.PolicyConfigurationEdit
	const approve, archive = permission.PolicyConfigurationApprove, permission.PolicyConfigurationArchive
	const versions = commandsPath + ofPolicy + "/versions"
	return []httpapi.Route{
		command(post, commandsPath, create, platform.Endpoint(s.createPolicy)),
		command(post, versions+"/draft", create, platform.Endpoint(s.createDraft)),
		command(post, versions+"/draft-from-version", create, platform.Endpoint(s.createDraftFrom)),
		command(put, commandsPath+ofPolicy+"/publish", approve, platform.Endpoint(s.publish)),
		command(put, commandsPath+ofPolicy+"/lock-workspace", edit, platform.Endpoint(s.setLocked(true))),
		command(put, commandsPath+ofPolicy+"/unlock-workspace", edit, platform.Endpoint(s.setLocked(false))),
		command(put, commandsPath+ofVersion+"/archive", archive, platform.Endpoint(s.archive, platform.OptionalBody())),
		command(remove, commandsPath+ofVersion, edit, platform.Endpoint(s.discard)),
	}
}

func (s *Policies) fieldCommands() []httpapi.Route {
	const post, put, remove = http.MethodPost, http.MethodPut, http.MethodDelete
	const edit = permission.PolicyConfigurationEdit
	const field, jurisdiction = commandsPath + ofField, commandsPath + ofJurisdiction
	return []httpapi.Route{
		command(post, commandsPath+ofPolicy+"/fields", edit, platform.Endpoint(s.addField)),
		command(put, field, edit, platform.Endpoint(s.updateField)),
		command(remove, field, edit, platform.Endpoint(s.changeByID("fieldId", errNoField, policy.Store.DeleteField))),
		command(put, field+"/revert", edit,
			platform.Endpoint(s.changeByID("fieldId", errNoField, policy.Store.RevertField))),
		command(post, commandsPath+ofPolicy+"/jurisdictions", edit, platform.Endpoint(s.addJurisdiction)),
		command(put, jurisdiction, edit, platform.Endpoint(s.updateJurisdiction)),
		command(remove, jurisdiction, edit, platform.Endpoint(
			s.changeByID("jurisdictionId", errNoJurisdiction, policy.Store.DeleteJurisdiction))),
		command(put, jurisdiction+"/revert", edit, platform.Endpoint(
			s.changeByID("jurisdictionId", errNoJurisdiction, policy.Store.RevertJurisdiction))),
	}
}

func (s *Policies) queries() []httpapi.Route {
	const get, post = http.MethodGet, http.MethodPost
	return []httpapi.Route{
		query(get, queriesPath, platform.Endpoint(s.listPolicies)),
		query(get, queriesPath+ofPolicy, platform.Endpoint(s.getPolicy)),
		query(get, queriesPath+ofPolicy+"/summary", platform.Endpoint(s.summarizePolicy)),
		query(get, queriesPath+ofPolicy+"/versions", platform.Endpoint(s.listVersions)),
		query(get, queriesPath+ofPolicy+"/versions/{versionNumber}", platform.Endpoint(s.getVersion)),
		query(get, queriesPath+ofPolicy+"/jurisdictions", platform.Endpoint(s.listJurisdictions)),
		query(get, queriesPath+ofVersion+"/jurisdictions", platform.Endpoint(s.listJurisdictions)),
		query(get, queriesPath+ofVersion+"/data-groups", platform.Endpoint(s.listPinnedGroups)),
		query(get, queriesPath+ofField, platform.Endpoint(s.getField)),
		query(post, queriesPath+ofPolicy+"/fields", platform.Endpoint(s.searchFields, platform.ReadOnly())),
		query(post, queriesPath+ofVersion+"/fields", platform.Endpoint(s.searchFields, platform.ReadOnly())),
		query(post, queriesPath+ofPolicy+"/fields/summary", platform.Endpoint(s.summarizeFields, platform.ReadOnly())),
		query(get, queriesPath+"/fields/{entityType}/indexable", platform.Endpoint(s.listIndexable)),
	}
}

// command makes the route of a command, which needs a permission and PolicyConfigurationAccess as well.
func command(method, path, needed string, next httpapi.Endpoint) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Permissions: []string{needed},
		Beside: permission.PolicyConfigurationAccess, Endpoint: next}
}

func requirePermission(c httpapi.Caller, needed string) error {
	if slices.Contains(c.Permissions, needed) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "permission_missing", "The client lacks the permission %s.", needed)
}

// query makes the route of a query. A query that changes overtake too often is unavailable, not a conflict.
func query(method, path string, next httpapi.Endpoint) httpapi.Route {
	return httpapi.Route{Method: method, Path: path, Permissions: []string{permission.PolicyConfigurationAccess},
		Endpoint: func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
			reply, err := next(ctx, c, r)
			if errors.Is(err, errBusy) {
				err = errReadBusy.WithCause(err)
			}
			return reply, err
		}}
}
