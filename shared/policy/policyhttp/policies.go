package policyhttp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// PolicyRequest is a new policy with its first draft.
type PolicyRequest struct {
	// EntityPolicyID is the ID of the policy, if the client chooses it, so that creating it can be repeated.
	EntityPolicyID string `json:"entityPolicyId"`
	EntityType     string `json:"entityType"`
	DraftRequest
}

// Check validates the data.
func (in *PolicyRequest) Check(v *platform.ValidationErrors) {
	if in.EntityPolicyID != "" {
		v.RequireUUID("entityPolicyId", in.EntityPolicyID)
	}
	v.RequireOneOf("entityType", in.EntityType, policy.EntityTypes...)
	in.DraftRequest.Check(v)
}

// DraftRequest is a new draft.
type DraftRequest struct {
	WorkspaceID string `json:"workspaceId"`
	VersionNote string `json:"versionNote"`
}

// Check validates the data.
func (in *DraftRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("workspaceId", in.WorkspaceID, platform.MaxName)
	v.CheckText("versionNote", in.VersionNote, maxNote)
}

// DraftFromRequest is a new draft with the contents of a version.
type DraftFromRequest struct {
	SourceVersionNumber int64 `json:"sourceVersionNumber"`
	DraftRequest
}

// Check validates the data.
func (in *DraftFromRequest) Check(v *platform.ValidationErrors) {
	if in.SourceVersionNumber < 1 {
		v.Add("sourceVersionNumber", "The value must be the number of a version, 1 or more.", platform.CodeRange)
	}
	in.DraftRequest.Check(v)
}

// ArchiveRequest has the reason for archiving a version.
type ArchiveRequest struct {
	ArchiveReason string `json:"archiveReason"`
}

// Check validates the data.
func (in *ArchiveRequest) Check(v *platform.ValidationErrors) {
	v.CheckText("archiveReason", in.ArchiveReason, maxNote)
}

// VersionCreated is the reply to a new policy or draft, and to publishing one.
type VersionCreated struct {
	EntityPolicyID string        `json:"entityPolicyId"`
	VersionNumber  int64         `json:"versionNumber"`
	Status         policy.Status `json:"status"`
	WorkspaceID    string        `json:"workspaceId"`
}

func versionCreatedOf(ctx context.Context, v policy.Version) VersionCreated {
	audit.AddObject(ctx, "entityPolicyId", v.PolicyID)
	audit.AddObject(ctx, "versionNumber", strconv.FormatInt(v.Number, 10))
	return VersionCreated{v.PolicyID, v.Number, v.Status, v.WorkspaceID}
}

func (s *Policies) stampOf(r *platform.Request) policy.Stamp {
	return policy.Stamp{At: s.Now().UTC(), By: r.Client}
}

func (s *Policies) newDraft(r *platform.Request, in DraftRequest) policy.NewDraft {
	return policy.NewDraft{WorkspaceID: in.WorkspaceID, Notes: in.VersionNote, Created: s.stampOf(r)}
}

// createPolicy stores a new policy with its first draft.
func (s *Policies) createPolicy(ctx context.Context, r *platform.Request, in PolicyRequest) (VersionCreated, error) {
	id := strings.ToLower(in.EntityPolicyID)
	if id == "" {
		id = s.NewID()
	}
	_, v, err := s.Store.CreatePolicy(ctx, policy.Policy{ID: id, Tenant: r.Tenant, EntityType: in.EntityType,
		Created: s.stampOf(r)}, s.newDraft(r, in.DraftRequest))
	if err != nil {
		return VersionCreated{}, faultOf(err, errNoPolicy)
	}
	return versionCreatedOf(ctx, v), nil
}

// createDraft makes a new draft from the published version.
func (s *Policies) createDraft(ctx context.Context, r *platform.Request, in DraftRequest) (VersionCreated, error) {
	id, err := policyID(r)
	if err != nil {
		return VersionCreated{}, err
	}
	v, err := s.Store.CreateDraft(ctx, r.Tenant, id, s.newDraft(r, in))
	if errors.Is(err, policy.ErrExists) {
		err = errDraftExists
	}
	if err != nil {
		return VersionCreated{}, faultOf(err, errNoPolicy)
	}
	return versionCreatedOf(ctx, v), nil
}

// createDraftFrom makes a new draft with the contents of a version.
func (s *Policies) createDraftFrom(ctx context.Context, r *platform.Request, in DraftFromRequest) (VersionCreated,
	error) {
	p, err := s.findPolicy(ctx, r)
	if err != nil {
		return VersionCreated{}, err
	}
	v, err := s.Store.CreateDraftFrom(ctx, r.Tenant, p.ID, in.SourceVersionNumber, s.newDraft(r, in.DraftRequest))
	switch {
	case errors.Is(err, policy.ErrExists):
		err = errDraftExists
	case errors.Is(err, policy.ErrIsDraft):
		err = r.Invalid("sourceVersionNumber", "The version is a draft. Name a published or an archived one.",
			CodeVersion)
	}
	if err != nil {
		return VersionCreated{}, faultOf(err, errNoVersion)
	}
	return versionCreatedOf(ctx, v), nil
}

// publish publishes the draft of a workspace, if it can be evaluated.
func (s *Policies) publish(ctx context.Context, r *platform.Request, _ platform.NoBody) (VersionCreated, error) {
	draft, err := s.findDraft(ctx, r)
	if err != nil {
		return VersionCreated{}, err
	}
	v, err := s.Store.Publish(ctx, r.Tenant, draft.PolicyID, draft.Number, policy.Publication{
		By: s.stampOf(r),
		CheckAuthor: func(client string) error {
			return r.RequireOther("A client must not publish a draft whose last change is its own (four eyes). "+
				"Let another client publish it.", client)
		},
		Check: func(c policy.Contents) error {
			_, err := evaluate.Compile(c)
			return err
		},
	})
	if err != nil {
		return VersionCreated{}, faultOf(err, errNoVersion)
	}
	return versionCreatedOf(ctx, v), nil
}

// commandWithoutBody is the handler of a command without a body, whose reply has no data.
type commandWithoutBody func(context.Context, *platform.Request, platform.NoBody) (platform.NoData, error)

// setLocked returns the handler that locks the draft of a workspace, or unlocks it.
func (s *Policies) setLocked(isLocked bool) commandWithoutBody {
	return func(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
		w, err := workspaceOf(ctx, r)
		if err == nil {
			_, err = s.Store.SetLocked(ctx, w, isLocked)
		}
		return platform.NoData{}, faultOf(err, errNoPolicy)
	}
}

// archive archives the version that was published last.
func (s *Policies) archive(ctx context.Context, r *platform.Request, in ArchiveRequest) (platform.NoData, error) {
	id, number, err := versionOfPath(r)
	if err == nil {
		_, err = s.Store.Archive(ctx, r.Tenant, id, number, in.ArchiveReason, s.stampOf(r))
	}
	return platform.NoData{}, faultOf(err, errNoVersion)
}

// discard removes a draft with its changes.
func (s *Policies) discard(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	id, number, err := versionOfPath(r)
	if err == nil {
		err = s.Store.Discard(ctx, r.Tenant, id, number)
	}
	return platform.NoData{}, faultOf(err, errNoVersion)
}

// policyID returns the ID of the policy that the path names.
func policyID(r *platform.Request) (string, error) {
	return pathID(r, "entityPolicyId", errNoPolicy)
}

// pathID returns an ID of the path as it is stored, or missing for a text that is not a UUID.
func pathID(r *platform.Request, parameter string, missing error) (string, error) {
	id := r.PathValue(parameter)
	if !platform.IsUUID(id) {
		return "", missing
	}
	return strings.ToLower(id), nil
}

// pathNumber returns the version number of the path.
func pathNumber(r *platform.Request) (int64, error) {
	text := r.PathValue("versionNumber")
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 || strconv.FormatInt(number, 10) != text {
		return 0, r.InvalidParameter(fault.InPath, "versionNumber",
			"The value must be the number of a version, 1 or more.", platform.CodeRange)
	}
	return number, nil
}

// versionOfPath returns the policy and the version number of a path.
func versionOfPath(r *platform.Request) (id string, number int64, err error) {
	if id, err = policyID(r); err != nil {
		return "", 0, err
	}
	number, err = pathNumber(r)
	return id, number, err
}

// parameterWorkspace names the workspace of a request.
const parameterWorkspace = "workspaceId"

// workspaceOf returns the workspace of a command, which must name one.
func workspaceOf(ctx context.Context, r *platform.Request) (policy.Workspace, error) {
	id, err := policyID(r)
	if err != nil {
		return policy.Workspace{}, err
	}
	workspace, err := workspaceID(r)
	if err == nil && workspace == "" {
		err = r.InvalidParameter(fault.InQuery, parameterWorkspace, "The parameter is missing.", platform.CodeRequired)
	}
	audit.AddObject(ctx, parameterWorkspace, audit.Printable(workspace))
	return policy.Workspace{Tenant: r.Tenant, PolicyID: id, ID: workspace, Client: r.Client}, err
}

// workspaceID returns the workspace that a request names, "" if it names none.
func workspaceID(r *platform.Request) (string, error) {
	workspace := ""
	if values := r.Query(parameterWorkspace); len(values) > 0 {
		workspace = values[0]
	}
	return workspace, r.Validate(func(v *platform.ValidationErrors) {
		v.CheckRepeated(parameterWorkspace)
		if len([]rune(workspace)) > platform.MaxName {
			v.AddParameter(fault.InQuery, parameterWorkspace,
				fmt.Sprintf("The value has more than %d characters.", platform.MaxName), platform.CodeLength)
		}
	})
}

// findPolicy reads the policy that the path names.
func (s *Policies) findPolicy(ctx context.Context, r *platform.Request) (policy.Policy, error) {
	id, err := policyID(r)
	if err != nil {
		return policy.Policy{}, err
	}
	p, err := s.Store.GetPolicy(ctx, r.Tenant, id)
	return p, faultOf(err, errNoPolicy)
}

// findDraft reads the draft of the workspace that a command names.
func (s *Policies) findDraft(ctx context.Context, r *platform.Request) (policy.Version, error) {
	w, err := workspaceOf(ctx, r)
	if err != nil {
		return policy.Version{}, err
	}
	v, err := s.Store.FindDraft(ctx, w)
	return v, faultOf(err, errNoPolicy)
}
