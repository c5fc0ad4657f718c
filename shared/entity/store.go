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

// Store keeps profiles and drafts. It is safe for concurrent use; a read sees every acknowledged write. A write whose outcome is
// unknown may be repeated: if it was applied, the repetition returns ErrChanged.
type Store interface {
	// Create stores the profile of a new entity and its base status as lifecycle status. It returns ErrChanged if the entity
	// exists.
	Create(ctx context.Context, tenant string, p Profile) error
	// GetProfile reads an entity and its lifecycle status. It returns ErrNotFound if there is no such entity.
	GetProfile(ctx context.Context, tenant, id string) (Profile, LifecycleStatus, error)
	// GetProfiles reads those of the profiles that exist, each once, in the order of the IDs. An entity that was only imported
	// has none.
	GetProfiles(ctx context.Context, tenant string, ids []string) ([]Profile, error)
	// GetDraft reads one draft. It returns ErrNotFound if there is no such draft.
	GetDraft(ctx context.Context, tenant, id string) (Draft, error)
	// GetDrafts reads those of the drafts that exist, each once, in the order of the IDs.
	GetDrafts(ctx context.Context, tenant string, ids []string) ([]Draft, error)
	// ListDrafts reads a page of the drafts of a journey and the position after it, "" at the end of the list. A page may have
	// fewer drafts than its limit although the list goes on.
	ListDrafts(ctx context.Context, tenant string, p DraftPage) (page []DraftRef, next string, err error)
	// UpdateDraft replaces a draft whose Version is one more than the stored one. It returns ErrChanged if the stored version is
	// another one.
	UpdateDraft(ctx context.Context, tenant string, d Draft) error
	// ApplyUpdate writes one step of the lifecycle. It returns ErrChanged if profile, draft or lifecycle status are not those
	// from which the step was made.
	ApplyUpdate(ctx context.Context, tenant string, u Update) error
}
