package policyhttp

import (
	"cmp"
	"context"
	"slices"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
)

// GroupHeader is a version of a data group in lists, without its fields.
type GroupHeader struct {
	DataGroupID           string                 `json:"dataGroupId"`
	VersionNumber         int64                  `json:"versionNumber"`
	Status                policy.DataGroupStatus `json:"status"`
	Name                  string                 `json:"name"`
	Description           string                 `json:"description,omitempty"`
	PrimaryDataGroupField string                 `json:"primaryDataGroupField,omitempty"`
	FieldsCount           int                    `json:"fieldsCount"`
	Reason                string                 `json:"reason,omitempty"`
	Revision              int64                  `json:"revision"`
}

func groupHeaderOf(g policy.DataGroup) GroupHeader {
	return GroupHeader{g.ID, g.Version, g.Status, g.Name, g.Description, g.PrimaryField, len(g.Fields), g.Reason,
		g.Revision}
}

func groupHeadersOf(groups []policy.DataGroup) []GroupHeader {
	headers := make([]GroupHeader, len(groups))
	for i, g := range groups {
		headers[i] = groupHeaderOf(g)
	}
	return headers
}

// listGroups returns a page of the tenant's data groups, each in its newest version.
func (s *Policies) listGroups(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[GroupHeader], error) {
	place, err := s.openPage(r, "data groups", maxPage)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	groups, next, err := s.Store.ListDataGroups(ctx, r.Tenant, place.after, place.size)
	return newPage(s, place, groupHeadersOf(groups), next), err
}

// listGroupVersions returns a page of the versions of a data group, newest first.
func (s *Policies) listGroupVersions(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[GroupHeader],
	error) {
	id, err := pathID(r, "dataGroupId", errNoGroup)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	place, err := s.openPage(r, "data group "+id, maxPage)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	groups, next, err := s.Store.ListDataGroupVersions(ctx, r.Tenant, id, place.after, place.size)
	if err == nil && len(groups) == 0 && place.after == "" {
		err = errNoGroup
	}
	return newPage(s, place, groupHeadersOf(groups), next), err
}

// getNewestGroup returns the newest version of a data group.
func (s *Policies) getNewestGroup(ctx context.Context, r *platform.Request, _ platform.NoBody) (policy.DataGroup,
	error) {
	id, err := pathID(r, "dataGroupId", errNoGroup)
	if err != nil {
		return policy.DataGroup{}, err
	}
	g, err := s.Store.GetNewestDataGroup(ctx, r.Tenant, id)
	return g, faultOf(err, errNoGroup)
}

// getGroup returns a version of a data group.
func (s *Policies) getGroup(ctx context.Context, r *platform.Request, _ platform.NoBody) (policy.DataGroup, error) {
	return s.groupOfPath(ctx, r)
}

// listPinnedGroups returns a page of the data groups of a version: the versions that it has pinned or, of a draft,
// those that are published at the moment.
func (s *Policies) listPinnedGroups(ctx context.Context, r *platform.Request, _ platform.NoBody) (Page[GroupHeader],
	error) {
	id, err := policyID(r)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	number, err := pathNumber(r)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	place, err := s.openPage(r, placeOf("data groups", r), maxPage)
	if err != nil {
		return Page[GroupHeader]{}, err
	}
	snapshot, err := s.Store.ReadContents(ctx, r.Tenant, id, number)
	if err != nil {
		return Page[GroupHeader]{}, faultOf(err, errNoVersion)
	}
	groups := slices.SortedFunc(slices.Values(snapshot.DataGroups),
		func(a, b policy.DataGroup) int { return cmp.Compare(a.ID, b.ID) })
	return cutPage(s, place, groups, func(g policy.DataGroup) string { return g.ID }, groupHeaderOf)
}
