package entitydb

import (
	"context"
	"maps"
	"slices"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
)

// Most imported entities never change on the platform. As long as nothing has changed the profile that an import made,
// it stands in the attribute profile of the row of the entity's status, so that an import writes two rows for an entity
// instead of three. The first change of the profile removes the attribute and writes the profile in a row of its own,
// in one transaction: an entity never has both, and never neither. A change of the status alone leaves the profile
// where it is.

// profileAttribute is the attribute of a status's row that holds an imported profile.
const profileAttribute = "profile"

// maxImportedProfile is the largest profile, in bytes, that is stored with the status. With its key the row then has
// less than the 4 KB of one read unit: lookups of statuses cost the same as without it. A larger profile has a row of
// its own from the start.
const maxImportedProfile = 3000

// importedProfile returns the profile that is stored with the status, and false if it does not exist. Its Revision is
// 0, because it has no row of its own, and its base status is its status.
func (s storedStatus) importedProfile() (entity.Profile, bool, error) {
	if s.row[profileAttribute] == nil {
		return entity.Profile{}, false, nil
	}
	var body profileBody
	if err := unmarshalAttribute(s.row, profileAttribute, &body); err != nil {
		return entity.Profile{}, false, err
	}
	p := entity.Profile(body)
	p.Revision, p.BaseStatus = 0, s.LifecycleStatus
	return p, true, nil
}

// createWrites returns the writes that store an entity that an import has made. They hold only if it does not exist.
func (s *Profiles) createWrites(tenant string, p entity.Profile) ([]dynamo.Write, error) {
	p.ListedAs = listPart(p)
	body, err := marshalProfile(p)
	if err != nil {
		return nil, err
	}
	if len(body) > maxImportedProfile {
		return s.entityWrites(tenant, p, p.BaseStatus, "")
	}
	create := s.createStatus(tenant, p.ID, p.BaseStatus)
	create.Put.Item[profileAttribute] = dynamo.Binary(body)
	return []dynamo.Write{create, s.putInList(tenant, p, p.BaseStatus)}, nil
}

// changeStatusWrites returns the writes that change the status of an entity whose profile is stored with it, and leave
// the profile there. They hold only if it is still there and the status is the previous one.
func (s *Profiles) changeStatusWrites(tenant string, p entity.Profile, status,
	previous entity.LifecycleStatus) []dynamo.Write {
	change := s.changeStatus(tenant, p.ID, status, previous, "", " AND attribute_exists(#"+profileAttribute+")")
	return []dynamo.Write{change, s.putInList(tenant, p, status)}
}

// createStatus returns the write of the status of an entity that must not exist.
func (s *Profiles) createStatus(tenant, id string, status entity.LifecycleStatus) dynamo.Write {
	return s.statusTable.Put(statusItem(tenant, id, status), "attribute_not_exists(#entity)", nil)
}

// changeStatus returns the write of the status of an entity that must have the previous one. Its update and condition
// have the given ends.
func (s *Profiles) changeStatus(tenant, id string, status, previous entity.LifecycleStatus, updateEnd,
	conditionEnd string) dynamo.Write {
	return s.statusTable.Update(statusKey(tenant, id), "SET lifecycle_status = :status"+updateEnd,
		"lifecycle_status = :previous"+conditionEnd, dynamo.Item{
			":status": dynamo.String(string(status)), ":previous": dynamo.String(string(previous)),
		})
}

// putInList returns the write of an entity's row in the list.
func (s *Profiles) putInList(tenant string, p entity.Profile, status entity.LifecycleStatus) dynamo.Write {
	return s.table.Put(listItem(tenant, p, status), "", nil)
}

// findProfiles returns the profiles of the given entities by the IDs under which they are stored: those that are stored
// with their statuses, which must have been found with profileAttribute, and those with rows of their own. An entity of
// which an earlier release imported the status alone has no profile.
func (s *Profiles) findProfiles(ctx context.Context, tenant string, found map[string]storedStatus) (
	map[string]entity.Profile, error) {
	profiles := make(map[string]entity.Profile, len(found))
	elsewhere := map[string]bool{}
	for _, status := range found {
		p, isImported, err := status.importedProfile()
		if err != nil {
			return nil, err
		}
		if isImported {
			profiles[p.ID] = p
		} else {
			elsewhere[status.ID] = true
		}
	}
	rows, err := s.profileRows(ctx, tenant, slices.Sorted(maps.Keys(elsewhere)))
	for _, p := range rows {
		profiles[p.ID] = p
	}
	return profiles, err
}

// profileRows reads the profiles with rows of their own that are stored under exactly the given IDs, each once.
func (s *Profiles) profileRows(ctx context.Context, tenant string, ids []string) ([]entity.Profile, error) {
	return getAll(ctx, s, ids, func(id string) dynamo.Item { return profileKey(tenant, id) }, unmarshalProfile,
		func(p entity.Profile) string { return p.ID })
}

// GetProfiles implements entity.Store. It looks for rows of their own first, which entities with drafts have.
func (s *Profiles) GetProfiles(ctx context.Context, tenant string, ids []string) ([]entity.Profile, error) {
	var forms []string
	for _, id := range ids {
		forms = append(forms, entityid.Forms(id)...)
	}
	rows, err := s.profileRows(ctx, tenant, forms)
	if err != nil {
		return nil, err
	}
	profiles := make(map[string]entity.Profile, len(rows))
	for _, p := range rows {
		profiles[p.ID] = p
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(entityid.Forms(id), func(form string) bool {
			_, ok := profiles[form]
			return ok
		})
	})
	if len(missing) > 0 {
		found, err := s.statuses().find(ctx, tenant, missing, profileAttribute)
		if err != nil {
			return nil, err
		}
		others, err := s.findProfiles(ctx, tenant, found)
		if err != nil {
			return nil, err
		}
		maps.Copy(profiles, others)
	}
	all := make([]entity.Profile, 0, len(profiles))
	for _, form := range forms {
		if p, ok := profiles[form]; ok {
			all = append(all, p)
			delete(profiles, form)
		}
	}
	return all, nil
}
