package entity

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"sluice/shared/access"
	"sluice/shared/platform/property"
)

var (
	// ErrNotFound means that the tenant has no entity or draft of that ID.
	ErrNotFound = errors.New("entity: not found")
	// ErrChanged means that someone else has written the entity or the draft since it was read.
	ErrChanged = errors.New("entity: changed since it was read")
	// ErrDraftEnded means that the draft is verified or rejected already.
	ErrDraftEnded = errors.New("entity: the draft has ended")
)

// Profile is everything the platform stores of an entity beside its lifecycle status. The profile of an entity of
// which an earlier release imported the status alone holds nothing but the ID.
type Profile struct {
	ID string
	// Type is Company, Individual, Other or Entity Group; "" if an earlier release imported the entity.
	Type string
	// Role is Client or Related Party; "" if an earlier release imported the entity.
	Role          string
	AlternateID   string
	Properties    map[string]property.Property
	Jurisdictions []string
	Category      []string
	Layers        access.Layers
	// Created is when the entity came to the platform; zero if an earlier release imported it.
	Created time.Time
	// Version is 1 for a new entity and grows by one with every verified draft.
	Version int64
	// LastChangedIn maps a property to the version that changed it last. A property that is not in it is as it was
	// created.
	LastChangedIn map[string]int64

	// BaseStatus is the lifecycle status that the entity has while no draft is open.
	BaseStatus LifecycleStatus
	// OpenDrafts counts the drafts in progress.
	OpenDrafts int64
	// Revision is 1 for a new profile and grows by one with every write. Writes are conditional on it. It is 0 while
	// the profile is as an import has made it.
	Revision int64

	// Imported means that the entity came from outside; see IsImported.
	Imported bool
	// ListedAs is the place of the entity in the list of the tenant's entities. It belongs to the store; "" if the
	// entity is not listed, because an earlier release wrote it.
	ListedAs string
}

// DraftStatus is the state of a draft.
type DraftStatus string

// A draft begins in progress, ends verified or rejected, and stays readable.
const (
	InProgress DraftStatus = "InProgress"
	Verified   DraftStatus = "Verified"
	Rejected   DraftStatus = "Rejected"
)

// Draft is a proposed change of an entity within a journey.
type Draft struct {
	ID        string
	EntityID  string
	ParentID  string
	JourneyID string
	Type      string
	Role      string
	Status    DraftStatus
	Created   time.Time
	// Properties are the properties of the entity with the draft's changes applied.
	Properties map[string]property.Property
	// Changes are what verification does to the properties of the entity.
	Changes       property.Changes
	Jurisdictions []string
	// Layers are the layers of the entity when the draft began; they never change.
	Layers access.Layers
	// BaseVersion is the version of the entity from which the draft was made.
	BaseVersion int64
	// ConflictsResolvedIn is the version of the entity with which the draft has no conflict.
	ConflictsResolvedIn int64
	// Version is 1 for a new draft and grows by one with every change. Writes are conditional on it.
	Version int64
	// Authors are the IDs of the clients that made the draft or changed it; an earlier release recorded none.
	Authors []string
}

// WithAuthor returns the draft with a client among its authors.
func (d Draft) WithAuthor(client string) Draft {
	if !slices.Contains(d.Authors, client) {
		d.Authors = append(slices.Clip(d.Authors), client)
	}
	return d
}

// Update is one step of the lifecycle: a profile, a draft and a lifecycle status that are written together or not at
// all.
type Update struct {
	// Profile is the new profile. Its Revision is one more than the revision that was read.
	Profile Profile
	// PreviousStatus is the lifecycle status that was read; the write is conditional on it.
	PreviousStatus LifecycleStatus
	// Status is the new lifecycle status.
	Status LifecycleStatus
	// Draft is the new draft. Its Version is 1 if it begins with this step, and otherwise one more than the version
	// that was read.
	Draft Draft
}

// lifecycleStatus derives the status from the base status and the open drafts.
func (p Profile) lifecycleStatus() LifecycleStatus {
	switch {
	case p.OpenDrafts == 0:
		return p.BaseStatus
	case p.BaseStatus.IsOnboarded():
		return MaintenanceInProgress
	}
	return OnboardingInProgress
}

// absorbImport returns the profile after an import that may have set the lifecycle status since the profile was
// written: the current status becomes the base status unless it is the one that the profile would have given the
// entity.
func (p Profile) absorbImport(current LifecycleStatus) Profile {
	if p.lifecycleStatus() != current {
		p.BaseStatus = current
	}
	return p
}

// BeginDraft returns the update that adds a draft to an entity with the given profile and current status. Of the draft,
// the ID, ParentID, JourneyID, Created and Changes are given; the rest follows from the profile.
func BeginDraft(p Profile, current LifecycleStatus, d Draft) Update {
	p = p.absorbImport(current)
	p.OpenDrafts++
	p.Revision++
	d.EntityID, d.Type, d.Role, d.Layers, d.Jurisdictions = p.ID, p.Type, p.Role, p.Layers, p.Jurisdictions
	d.Status, d.Version = InProgress, 1
	d.BaseVersion, d.ConflictsResolvedIn = p.Version, p.Version
	d.Properties = d.Changes.Apply(p.Properties)
	return Update{p, current, p.lifecycleStatus(), d}
}

// VerifyDraft returns the update that brings a draft's changes, with the resolutions applied over them, to the entity,
// which becomes Compliant. It returns ErrDraftEnded for a draft that is not in progress.
func VerifyDraft(p Profile, current LifecycleStatus, d Draft, resolutions property.Changes) (Update, error) {
	u, err := endDraft(p, current, d, Verified)
	if err != nil {
		return Update{}, err
	}
	changes := d.Changes.With(resolutions)
	u.Profile.Properties = changes.Apply(p.Properties)
	u.Profile.BaseStatus = Compliant
	u.Profile.Version++
	u.Profile.LastChangedIn = maps.Clone(p.LastChangedIn)
	for key := range changes {
		if u.Profile.LastChangedIn == nil {
			u.Profile.LastChangedIn = map[string]int64{}
		}
		u.Profile.LastChangedIn[key] = u.Profile.Version
	}
	u.Draft.ConflictsResolvedIn = p.Version
	u.Status = u.Profile.lifecycleStatus()
	return u, nil
}

// FindConflicts returns, in order, the properties that a draft changes, that other drafts have set to other values
// since it began, and for which no resolution is given.
func FindConflicts(p Profile, d Draft, resolutions property.Changes) []string {
	var keys []string
	for key, ours := range d.Changes {
		_, resolved := resolutions[key]
		if p.LastChangedIn[key] > d.BaseVersion && !resolved && !p.has(key, ours) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// has reports whether a property of the entity is as a change would make it; nil is a property that is removed.
func (p Profile) has(key string, value *property.Property) bool {
	current, ok := p.Properties[key]
	if value == nil {
		return !ok
	}
	return ok && reflect.DeepEqual(*value, current)
}

// RejectDraft returns the update that ends a draft without effect: the entity gets the status that it had without the
// draft. It returns ErrDraftEnded for a draft that is not in progress.
func RejectDraft(p Profile, current LifecycleStatus, d Draft) (Update, error) {
	return endDraft(p, current, d, Rejected)
}

func endDraft(p Profile, current LifecycleStatus, d Draft, end DraftStatus) (Update, error) {
	if d.Status != InProgress {
		return Update{}, ErrDraftEnded
	}
	p = p.absorbImport(current)
	p.OpenDrafts = max(0, p.OpenDrafts-1)
	p.Revision++
	d.Status = end
	d.Version++
	return Update{p, current, p.lifecycleStatus(), d}, nil
}

// WithProperties returns the draft with the given changes of properties added to its own. It returns ErrDraftEnded for
// a draft that is not in progress.
func (d Draft) WithProperties(properties property.Changes) (Draft, error) {
	if d.Status != InProgress {
		return Draft{}, ErrDraftEnded
	}
	d.Properties = properties.Apply(d.Properties)
	d.Changes = d.Changes.With(properties)
	d.Version++
	return d, nil
}
