package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"sluice/openapi/wire"
)

const (
	policyCommands = "/policycommand/api/v2/policies"
	policyQueries  = "/policyquery/api/v4/policies"
)

// Policy is a policy in one of its versions (docs/contract/policy.md).
type Policy struct {
	wire.Policy
	Original
}

// PolicyDraft is what is given for a new draft.
type PolicyDraft = wire.CreatePolicyDraft

// PolicyVersion names a version of a policy.
type PolicyVersion = wire.PolicyVersionCreated

// PolicyField is a field of a version as a workspace sees it.
type PolicyField struct {
	wire.PolicyField
	Original
}

// PolicyJurisdiction is a jurisdiction of a version as a workspace sees it.
type PolicyJurisdiction struct {
	wire.PolicyJurisdiction
	Original
}

// PolicyLock says which workspace has changed a field or jurisdiction that others therefore cannot change.
type PolicyLock = wire.PolicyLock

// Forms of an evaluation.
const (
	EvaluatePlain      = ""
	EvaluateNormalized = "/normalized"
	EvaluateReadOnly   = "/read-only/normalized"
)

func policyPath(base, id string) string { return base + "/" + url.PathEscape(id) }

// policyVersionPath returns the path of a version; number 0 is what is published, seen by no workspace.
func policyVersionPath(id string, number int64) string {
	if number == 0 {
		return policyPath(policyQueries, id)
	}
	return policyPath(policyQueries, id) + "/version/" + strconv.FormatInt(number, 10)
}

func inWorkspace(path, workspaceID string) string {
	return path + "?" + url.Values{"workspaceId": {workspaceID}}.Encode()
}

// Policies returns all policies of the tenant, each in the version that is published or, if none is, in its newest one.
func (c *Client) Policies(ctx context.Context) ([]Policy, error) {
	return listPlatform[Policy](ctx, c, policyQueries)
}

// PolicyVersions returns all versions of a policy, newest first.
func (c *Client) PolicyVersions(ctx context.Context, id string) ([]Policy, error) {
	return listPlatform[Policy](ctx, c, policyPath(policyQueries, id)+"/versions")
}

// Policy returns a policy in the version that is published or, if none is, in its newest one.
func (c *Client) Policy(ctx context.Context, id string) (Policy, error) {
	return c.getPolicy(ctx, policyPath(policyQueries, id))
}

// PolicyVersion returns a policy in one of its versions.
func (c *Client) PolicyVersion(ctx context.Context, id string, number int64) (Policy, error) {
	return c.getPolicy(ctx, policyPath(policyQueries, id)+"/versions/"+strconv.FormatInt(number, 10))
}

// FindPolicyDraft returns the draft of a policy in a workspace, nil if there is none.
func (c *Client) FindPolicyDraft(ctx context.Context, id, workspaceID string) (*Policy, error) {
	p, err := c.getPolicy(ctx, inWorkspace(policyPath(policyQueries, id), workspaceID))
	if refused := new(Error); errors.As(err, &refused) && refused.Code == "policy_draft_not_found" {
		return nil, nil
	}
	return &p, err
}

func (c *Client) getPolicy(ctx context.Context, path string) (Policy, error) {
	var p Policy
	err := c.platform(ctx, http.MethodGet, path, nil, &p)
	return p, err
}

// CreatePolicy makes a policy with an ID that the caller chooses, a UUID, for a type of entities, with a draft. An ID
// that is taken is a 409 *Error: after an answer that was lost it is the policy that the first call has made.
func (c *Client) CreatePolicy(ctx context.Context, id, entityType string, d PolicyDraft) (PolicyVersion, error) {
	in := wire.CreatePolicy{EntityPolicyID: id, EntityType: entityType, VersionNote: d.VersionNote,
		WorkspaceID: d.WorkspaceID}
	var out PolicyVersion
	return out, c.platform(ctx, http.MethodPost, policyCommands, in, &out)
}

// CreatePolicyDraft makes a draft from what is published. A workspace that has one is a 409 *Error.
func (c *Client) CreatePolicyDraft(ctx context.Context, id string, d PolicyDraft) (PolicyVersion, error) {
	var out PolicyVersion
	return out, c.platform(ctx, http.MethodPost, policyPath(policyCommands, id)+"/versions/draft", d, &out)
}

// PublishPolicy publishes the draft of a workspace. A version that cannot be evaluated is a 400 *Error with what is
// wrong.
func (c *Client) PublishPolicy(ctx context.Context, id, workspaceID string) (PolicyVersion, error) {
	var out PolicyVersion
	path := inWorkspace(policyPath(policyCommands, id)+"/publish", workspaceID)
	return out, c.platform(ctx, http.MethodPut, path, nil, &out)
}

// DiscardPolicyDraft removes a draft with its changes.
func (c *Client) DiscardPolicyDraft(ctx context.Context, id string, number int64) error {
	path := policyPath(policyCommands, id) + "/version/" + strconv.FormatInt(number, 10)
	return c.platform(ctx, http.MethodDelete, path, nil, nil)
}

// PolicyFields returns all fields of a version in the order of their IDs; those that a draft deletes are among them.
// Number 0 is what is published, with the locks of all workspaces.
func (c *Client) PolicyFields(ctx context.Context, id string, number int64) ([]PolicyField, error) {
	all := []PolicyField{}
	err := platformPages(func(token string, page any) error {
		in := map[string]any{"filters": struct{}{}, "pageSize": platformPage}
		if token != "" {
			in["paginationToken"] = token
		}
		return c.platform(ctx, http.MethodPost, policyVersionPath(id, number)+"/fields", in, page)
	}, decodeItems(&all))
	return all, err
}

// PolicyJurisdictions returns all jurisdictions of a version in the order of their IDs; those that a draft deletes are
// among them. Number 0 is what is published, with the locks of all workspaces.
func (c *Client) PolicyJurisdictions(ctx context.Context, id string, number int64) ([]PolicyJurisdiction, error) {
	return listPlatform[PolicyJurisdiction](ctx, c, policyVersionPath(id, number)+"/jurisdictions")
}

// PolicyPart is a kind of what a policy consists of.
type PolicyPart string

// The parts of a policy.
const (
	PolicyFieldPart        PolicyPart = "fields"
	PolicyJurisdictionPart PolicyPart = "jurisdictions"
)

func (p PolicyPart) path(policyID, id, workspaceID string) string {
	path := policyPath(policyCommands, policyID) + "/" + string(p)
	if id != "" {
		path += "/" + url.PathEscape(id)
	}
	return inWorkspace(path, workspaceID)
}

// AddToPolicy adds a field or a jurisdiction to the draft of a workspace. One that has an ID of the client's own and is
// there already is a 409 *Error, so that the call can be repeated.
func (c *Client) AddToPolicy(ctx context.Context, part PolicyPart, policyID, workspaceID string, data any) error {
	return c.platform(ctx, http.MethodPost, part.path(policyID, "", workspaceID), data, nil)
}

// UpdateInPolicy replaces a field or a jurisdiction in the draft of a workspace.
func (c *Client) UpdateInPolicy(ctx context.Context, part PolicyPart, policyID, workspaceID, id string,
	data any) error {
	return c.platform(ctx, http.MethodPut, part.path(policyID, id, workspaceID), data, nil)
}

// DeleteFromPolicy deletes a field or a jurisdiction in the draft of a workspace.
func (c *Client) DeleteFromPolicy(ctx context.Context, part PolicyPart, policyID, workspaceID, id string) error {
	return c.platform(ctx, http.MethodDelete, part.path(policyID, id, workspaceID), nil, nil)
}

// RevertInPolicy takes back what the draft of a workspace does to a field or a jurisdiction.
func (c *Client) RevertInPolicy(ctx context.Context, part PolicyPart, policyID, workspaceID, id string) error {
	path := policyPath(policyCommands, policyID) + "/" + string(part) + "/" + url.PathEscape(id) + "/revert"
	return c.platform(ctx, http.MethodPut, inWorkspace(path, workspaceID), nil, nil)
}

// EvaluatePolicy evaluates a version for an entity, in one of the forms, and returns the data of the reply as they
// came. The request has the members that docs/contract/policy.md lists.
func (c *Client) EvaluatePolicy(ctx context.Context, id string, number int64, form string, explain bool, request any) (
	json.RawMessage, error) {
	path := policyVersionPath(id, number) + "/fields/evaluate" + form
	if explain {
		path += "?explain=true"
	}
	var reply json.RawMessage
	err := c.platform(ctx, http.MethodPost, path, request, &reply)
	return reply, err
}
