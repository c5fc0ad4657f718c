package entity

import (
	"context"

	"sluice/shared/access"
)

// DraftRef is a draft as the list of its journey holds it.
type DraftRef struct {
	DraftID  string
	EntityID string
	Layers   access.Layers
	// Position is the place of the draft in the list, for DraftPage.After.
	Position string
}

// DraftPage selects a part of the drafts of a journey, which are in the order of creation time, then ID.
type DraftPage struct {
	JourneyID string
	// After is the position of the last draft before the page; "" for the first page.
	After string
	// Limit is the largest number of drafts in the page.
	Limit      int
	Descending bool
}

// Ref is an entity as the list of the tenant's entities holds it.
type Ref struct {
	ID      string
	Type    string
	Name    string
	Status  LifecycleStatus
	Version int64
	Layers  access.Layers
	// Position is the place of the entity in the list, for Page.After.
	Position string
}

// Page selects a part of the list of a tenant's entities.
type Page struct {
	// NamePrefix selects the entities whose names begin with it, in any case; "" selects all.
	NamePrefix string
	// After is the position of the last entity before the page; "" for the first page.
	After string
	// Limit is the largest number of entities in the page.
	Limit int
}

// Store keeps profiles and drafts. It is safe for concurrent use; a read sees every acknowledged write. A write whose
// outcome is unknown may be repeated: if it was applied, the repetition returns ErrChanged.
type Store interface {
	// Create stores the profile of a new entity and its base status as lifecycle status. It returns ErrChanged if the
	// entity exists.
	Create(ctx context.Context, tenant string, p Profile) error
	// GetProfile reads an entity and its lifecycle status. It returns ErrNotFound if there is no such entity.
	GetProfile(ctx context.Context, tenant, id string) (Profile, LifecycleStatus, error)
	// GetProfiles reads the existing profiles of the IDs, each once, in the order of the IDs. An entity has no profile
	// if an earlier release imported its status alone.
	GetProfiles(ctx context.Context, tenant string, ids []string) ([]Profile, error)
	// ListEntities reads a part of the list of a tenant's entities, in the order of their names, then IDs, and the
	// position after it, "" at the end of the list. A page may have fewer entities than its limit although the list
	// goes on.
	ListEntities(ctx context.Context, tenant string, p Page) (page []Ref, next string, err error)
	// Import creates or changes entities, and returns the result for each, in their order. An entry that comes later
	// counts against the result of those before it. It returns no error for an entity that it refuses. Each entity is
	// changed as a whole, on the condition that it is as it was read; after an error the entities before the end of the
	// results are as they say, and others may have been changed. Repeating the call is safe.
	Import(ctx context.Context, tenant string, entries []Import, o ImportOptions) ([]ImportResult, error)
	// GetDraft reads one draft. It returns ErrNotFound if there is no such draft.
	GetDraft(ctx context.Context, tenant, id string) (Draft, error)
	// GetDrafts reads the existing drafts of the IDs, each once, in the order of the IDs.
	GetDrafts(ctx context.Context, tenant string, ids []string) ([]Draft, error)
	// ListDrafts reads a page of the drafts of a journey and the position after it, "" at the end of the list. A page
	// may have fewer drafts than its limit although the list goes on.
	ListDrafts(ctx context.Context, tenant string, p DraftPage) (page []DraftRef, next string, err error)
	// UpdateDraft replaces a draft whose Version is one more than the stored one. It returns ErrChanged if the stored
	// version is another one.
	UpdateDraft(ctx context.Context, tenant string, d Draft) error
	// ApplyUpdate writes one step of the lifecycle. It returns ErrChanged if profile, draft or lifecycle status are not
	// those from which the step was made.
	ApplyUpdate(ctx context.Context, tenant string, u Update) error
}
