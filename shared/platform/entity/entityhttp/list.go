package entityhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/entityid"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
)

// listQuery has the parsed parameters of a list.
type listQuery struct {
	Name     string                 `json:"name"`
	Status   entity.LifecycleStatus `json:"status"`
	pageSize int
	token    *string
}

// List returns a page of the tenant's entities that the caller reaches, by name. The work for a page is bounded,
// however many entities there are and however few of them are wanted.
func (s *Entities) List(ctx context.Context, r *platform.Request, _ platform.NoBody) (wire.EntityPage, error) {
	q, err := readListQuery(r)
	if err != nil {
		return wire.EntityPage{}, err
	}
	name, err := json.Marshal(q)
	if err != nil {
		return wire.EntityPage{}, err
	}
	query := "list " + string(name)
	page := entity.Page{NamePrefix: q.Name}
	if q.token != nil {
		page.After, err = s.Paging.Open(r.Tenant, query, *q.token)
	} else {
		_, err = s.Paging.Open(r.Tenant, query, "")
	}
	if errors.Is(err, platform.ErrPageToken) || q.token != nil && *q.token == "" {
		return wire.EntityPage{}, r.InvalidParameter(fault.InQuery, "paginationToken",
			"The token does not belong to this search.", platform.CodePageToken)
	}
	if err != nil {
		return wire.EntityPage{}, err
	}
	items, next, err := s.listPage(ctx, r, page, q)
	reply := wire.EntityPage{Items: items}
	if token := s.Paging.Seal(r.Tenant, query, next); token != "" {
		reply.PaginationToken = &token
	}
	return reply, err
}

// listPage reads entities until a page is full and one more is known, or until maxListed have been inspected. It also
// returns the position after them, "" at the end.
func (s *Entities) listPage(ctx context.Context, r *platform.Request, page entity.Page, q listQuery) (
	[]wire.ListedEntity, string, error) {
	items, last := []wire.ListedEntity{}, ""
	m, err := s.maskFor(ctx, r)
	if err != nil {
		return nil, "", err
	}
	for inspected := 0; ; {
		page.Limit = q.pageSize + 1 - len(items)
		if q.Status != "" {
			page.Limit = max(page.Limit, listedTogether/2)
		}
		refs, next, err := s.Store.ListEntities(ctx, r.Tenant, page)
		if err != nil {
			return nil, "", err
		}
		names, err := s.visibleNames(ctx, r.Tenant, m, refs)
		if err != nil {
			return nil, "", err
		}
		for i, ref := range refs {
			if q.Status != "" && ref.Status != q.Status || !r.Layers.CanReach(ref.Layers) ||
				q.Name != "" && names[i] != ref.Name {
				continue
			}
			if len(items) == q.pageSize {
				return items, last, nil
			}
			items = append(items, wire.ListedEntity{ID: ref.ID, Type: ref.Type, Name: names[i],
				LifecycleStatus: string(ref.Status), Version: ref.Version})
			last = ref.Position
		}
		if next == "" {
			return items, "", nil
		}
		if inspected += len(refs); inspected >= maxListed {
			return items, next, nil
		}
		page.After = next
	}
}

// visibleNames returns the names of listed entities as the caller may see them. Only for a caller from whom a part of
// names is hidden it reads the entities themselves. Their order is that of their whole names for every caller.
func (s *Entities) visibleNames(ctx context.Context, tenant string, m mask, refs []entity.Ref) ([]string, error) {
	names := make([]string, len(refs))
	if !m.hidesNames() {
		for i, ref := range refs {
			names[i] = ref.Name
		}
		return names, nil
	}
	place := make(map[string]int, len(refs))
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i], place[entityid.Normalize(ref.ID)] = ref.ID, i
	}
	for chunk := range slices.Chunk(ids, readTogether) {
		profiles, err := s.Store.GetProfiles(ctx, tenant, chunk)
		if err != nil {
			return nil, err
		}
		for _, p := range profiles {
			names[place[entityid.Normalize(p.ID)]] = m.name(p.Properties)
		}
	}
	return names, nil
}

// readListQuery reads the parameters of a list, each of which may be absent.
func readListQuery(r *platform.Request) (listQuery, error) {
	first := func(name string) string { return cmp.Or(append(r.Query(name), "")...) }
	q := listQuery{Name: first("name"), Status: entity.LifecycleStatus(first("status")), pageSize: defaultPage}
	if tokens := r.Query("paginationToken"); len(tokens) > 0 {
		q.token = &tokens[0]
	}
	return q, r.Validate(func(v *platform.ValidationErrors) {
		if len(q.Name) > platform.MaxName {
			v.AddParameter(fault.InQuery, "name", fmt.Sprintf("The value must have at most %d bytes.",
				platform.MaxName), platform.CodeLength)
		}
		if q.Status != "" && !q.Status.IsKnown() {
			v.AddParameter(fault.InQuery, "status", "The value must be one of "+entity.StatusNames()+".",
				platform.CodeOneOf)
		}
		if size := first("pageSize"); size != "" {
			n, err := strconv.Atoi(size)
			if q.pageSize = n; err != nil || n < 1 || n > maxPage {
				v.AddParameter(fault.InQuery, "pageSize", fmt.Sprintf("The value must be a whole number from 1 to %d.",
					maxPage), platform.CodeRange)
			}
		}
	})
}
