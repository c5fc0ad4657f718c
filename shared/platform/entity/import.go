package entity

import (
	"reflect"
	"time"

	"sluice/shared/platform/property"
)

// The type and role of an imported entity whose line names none.
const (
	DefaultType = "Other"
	DefaultRole = "Client"
)

// Types are the types that an entity may have, and Roles the roles.
var (
	Types = []string{"Company", "Individual", "Other", "Entity Group"}
	Roles = []string{"Client", "Related Party"}
)

// Import is one entity that comes from outside.
type Import struct {
	ID     string
	Status LifecycleStatus
	// Type and Role replace those of the entity; "" leaves them as they are.
	Type, Role string
	// Properties replace those of the entity one by one; the others stay.
	Properties map[string]property.Property
}

// ImportOptions say how entities are imported.
type ImportOptions struct {
	// Overwrite changes entities that were made on the platform, too.
	Overwrite bool
	// At is when a new entity is created.
	At time.Time
}

// ImportOutcome is the effect of an import on an entity.
type ImportOutcome string

// The outcomes of an import. An entity whose status and profile have both changed counts as ProfileChanged.
const (
	ImportCreated        ImportOutcome = "created"
	ImportStatusChanged  ImportOutcome = "status_changed"
	ImportProfileChanged ImportOutcome = "profile_changed"
	ImportUnchanged      ImportOutcome = "unchanged"
	// ImportRefused: the entity was made on the platform, and ImportOptions.Overwrite is not set.
	ImportRefused ImportOutcome = "refused"
)

// Reindexed counts the entities that were looked at for the list of a tenant's entities.
type Reindexed struct {
	Inspected int `json:"inspected"`
	// Listed counts those that were not in the list, or not as they are, and now are.
	Listed int `json:"listed"`
}

// Add adds the counts of another part of the entities.
func (r *Reindexed) Add(other Reindexed) {
	r.Inspected += other.Inspected
	r.Listed += other.Listed
}

// ImportResult is the effect of an import on an entity, and the lifecycle status before it, "" if it did not exist.
type ImportResult struct {
	ID             string
	Outcome        ImportOutcome
	PreviousStatus LifecycleStatus
	Status         LifecycleStatus
}

// IsImported reports whether the entity came from outside. Its drafts do not change that.
func (p Profile) IsImported() bool { return p.Imported || p.Created.IsZero() }

// New returns the profile of an entity that does not exist yet.
func (e Import) New(o ImportOptions) Profile {
	p := Profile{ID: e.ID, Imported: true, Created: o.At, Version: 1, Revision: 1, BaseStatus: e.Status}
	e.fill(&p)
	return p
}

// Apply returns the entity after the import, given its lifecycle status. The profile is the same unless the outcome is
// a change; then its Revision is one more. A change of properties is a new version, so that drafts that were begun
// before it find their conflicts.
func (e Import) Apply(p Profile, current LifecycleStatus, o ImportOptions) (Profile, ImportOutcome) {
	if !p.IsImported() && !o.Overwrite {
		return p, ImportRefused
	}
	changed := p.absorbImport(current)
	isNew := p.Created.IsZero() // only its status was imported, by an earlier release
	if isNew {
		changed.Imported, changed.Created, changed.Version = true, o.At, 1
	}
	e.fill(&changed)
	changed.LastChangedIn = p.LastChangedIn
	if isSame := reflect.DeepEqual(property.Merge(p.Properties, nil), changed.Properties); !isSame && !isNew {
		changed = changed.withNewVersion(p)
	}
	profileChanged := isNew || p.Type != changed.Type || p.Role != changed.Role ||
		p.Version != changed.Version
	switch {
	case !profileChanged && current == e.Status:
		return p, ImportUnchanged
	case current != e.Status:
		changed.BaseStatus = e.Status
	}
	changed.Revision++
	if profileChanged {
		return changed, ImportProfileChanged
	}
	return changed, ImportStatusChanged
}

// fill sets the profile's values of the import, and the defaults of values that neither has.
func (e Import) fill(p *Profile) {
	for _, field := range []struct {
		of              *string
		given, fallback string
	}{{&p.Type, e.Type, DefaultType}, {&p.Role, e.Role, DefaultRole}} {
		if field.given != "" {
			*field.of = field.given
		} else if *field.of == "" {
			*field.of = field.fallback
		}
	}
	p.Properties = property.Merge(p.Properties, e.Properties)
}

// withNewVersion returns the profile as the version after that of before, with the properties that differ marked.
func (p Profile) withNewVersion(before Profile) Profile {
	p.Version++
	marked := make(map[string]int64, len(before.LastChangedIn)+1)
	for key, version := range before.LastChangedIn {
		marked[key] = version
	}
	for key, value := range p.Properties {
		if !reflect.DeepEqual(value, before.Properties[key]) {
			marked[key] = p.Version
		}
	}
	p.LastChangedIn = marked
	return p
}
