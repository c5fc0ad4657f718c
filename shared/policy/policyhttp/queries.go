package policyhttp

import (
	"cmp"
	"context"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
)

// listPolicies returns a page of the tenant's policies, each in the version that is published or, without one, in its
// newest version.
func (s *Policies) listPolicies(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[PolicyReply],
	error) {
	place, err := s.openPage(r, "policies", maxPage)
	if err != nil {
		return Page[PolicyReply]{}, err
	}
	policies, next, err := s.Store.ListPolicies(ctx, r.Tenant, place.after, place.size)
	if err != nil {
		return Page[PolicyReply]{}, err
	}
	var refs []policy.VersionRef
	for _, p := range policies {
		if number := mainVersion(p); number > 0 {
			refs = append(refs, policy.VersionRef{PolicyID: p.ID, Number: number})
		}
	}
	versions, err := s.Store.GetVersions(ctx, r.Tenant, refs)
	if err != nil {
		return Page[PolicyReply]{}, err
	}
	byPolicy := map[string]policy.Version{}
	for _, v := range versions {
		byPolicy[v.PolicyID] = v
	}
	items := make([]PolicyReply, len(policies))
	for i, p := range policies {
		items[i] = policyReplyOf(p, byPolicy[p.ID])
	}
	return newPage(s, place, items, next), nil
}

// mainVersion returns the number of the version that stands for a policy, 0 if it has none.
func mainVersion(p policy.Policy) int64 { return cmp.Or(p.PublishedVersion, p.NewestVersion) }

// getPolicy returns a policy in its main version, or in the draft of a workspace.
func (s *Policies) getPolicy(ctx context.Context, r *platform.Request, _ platform.NoBody) (PolicyReply, error) {
	p, v, err := s.findVersion(ctx, r)
	return policyReplyOf(p, v), err
}

// findVersion reads the policy that a path names, and its draft in the workspace that a request names; without one, its
// main version, whose number is 0 if the policy has no version.
func (s *Policies) findVersion(ctx context.Context, r *platform.Request) (p policy.Policy, v policy.Version,
	err error) {
	workspace, err := workspaceID(r)
	if err != nil {
		return p, v, err
	}
	if p, err = s.findPolicy(ctx, r); err != nil {
		return p, v, err
	}
	switch number := mainVersion(p); {
	case workspace != "":
		v, err = s.Store.FindDraft(ctx, policy.Workspace{Tenant: r.Tenant, PolicyID: p.ID, ID: workspace})
	case number > 0:
		v, err = s.Store.GetVersion(ctx, r.Tenant, p.ID, number)
	}
	return p, v, faultOf(err, errNoVersion)
}

// summarizePolicy returns a policy with its drafts and the sizes of its version.
func (s *Policies) summarizePolicy(ctx context.Context, r *platform.Request, _ platform.NoBody) (SummaryReply, error) {
	p, v, err := s.findVersion(ctx, r)
	if err != nil {
		return SummaryReply{}, err
	}
	reply := SummaryReply{PolicyReply: policyReplyOf(p, v), Drafts: []DraftReply{}}
	for _, d := range p.Drafts {
		reply.Drafts = append(reply.Drafts, DraftReply{d.WorkspaceID, d.Number})
	}
	if v.Number == 0 {
		return reply, nil
	}
	contents, err := s.Store.ReadContents(ctx, r.Tenant, p.ID, v.Number)
	reply.FieldsCount, reply.JurisdictionsCount = len(contents.Fields), len(contents.Jurisdictions)
	return reply, faultOf(err, errNoVersion)
}

// listVersions returns a page of the versions of a policy, newest first.
func (s *Policies) listVersions(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[PolicyReply],
	error) {
	p, err := s.findPolicy(ctx, r)
	if err != nil {
		return Page[PolicyReply]{}, err
	}
	place, err := s.openPage(r, "versions "+p.ID, maxPage)
	if err != nil {
		return Page[PolicyReply]{}, err
	}
	versions, next, err := s.Store.ListVersions(ctx, r.Tenant, p.ID, place.after, place.size)
	items := make([]PolicyReply, len(versions))
	for i, v := range versions {
		items[i] = policyReplyOf(p, v)
	}
	return newPage(s, place, items, next), err
}

// getVersion returns a policy in one of its versions.
func (s *Policies) getVersion(ctx context.Context, r *platform.Request, _ platform.NoBody) (PolicyReply, error) {
	_, number, err := versionOfPath(r)
	if err != nil {
		return PolicyReply{}, err
	}
	p, err := s.findPolicy(ctx, r)
	if err != nil {
		return PolicyReply{}, err
	}
	v, err := s.Store.GetVersion(ctx, r.Tenant, p.ID, number)
	return policyReplyOf(p, v), faultOf(err, errNoVersion)
}

// readView reads a version as a workspace sees it: the version in the path or, without one, the draft of the workspace
// in the request or, without one, the published version.
func (s *Policies) readView(ctx context.Context, r *platform.Request) (v policy.Version,
	view policy.View,
	err error) {
	id, err := policyID(r)
	if err != nil {
		return v, view, err
	}
	if r.PathValue("versionNumber") != "" {
		number, err := pathNumber(r)
		if err != nil {
			return v, view, err
		}
		return s.readVersionView(ctx, r.Tenant, id, number)
	}
	workspace, err := workspaceID(r)
	if err != nil {
		return v, view, err
	}
	if workspace != "" {
		v, err := s.Store.FindDraft(ctx, policy.Workspace{Tenant: r.Tenant, PolicyID: id, ID: workspace})
		if err != nil {
			return v, view, faultOf(err, errNoPolicy)
		}
		return s.readVersionView(ctx, r.Tenant, id, v.Number)
	}
	return s.readPublishedView(ctx, r.Tenant, id)
}

// readVersionView reads a version as its own workspace sees it.
func (s *Policies) readVersionView(ctx context.Context, tenant, id string, number int64) (policy.Version, policy.View,
	error) {
	snapshot, err := s.Store.ReadContents(ctx, tenant, id, number)
	if err != nil {
		return policy.Version{}, policy.View{}, faultOf(err, errNoVersion)
	}
	return snapshot.Version, policy.NewView(snapshot.Contents, snapshot.Changes, snapshot.WorkspaceID), nil
}

// readPublishedView reads the published version of a policy, with the locks of all workspaces.
func (s *Policies) readPublishedView(ctx context.Context, tenant, id string) (v policy.Version, view policy.View,
	err error) {
	p, err := s.Store.GetPolicy(ctx, tenant, id)
	if err != nil {
		return v, view, faultOf(err, errNoPolicy)
	}
	if p.PublishedVersion == 0 {
		return v, view, errNotPublished
	}
	snapshot, err := s.Store.ReadContents(ctx, tenant, id, p.PublishedVersion)
	if err != nil {
		return v, view, faultOf(err, errNoVersion)
	}
	changes, err := s.Store.ReadChanges(ctx, tenant, id)
	return snapshot.Version, policy.NewView(snapshot.Contents, changes, ""), err
}
