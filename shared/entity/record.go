package entity

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"sluice/shared/access"
	"sluice/shared/property"
)

// Profile is what the platform knows of an entity beside its life cycle. An entity that was only imported has an empty one.
type Profile struct {
	ID            string                       `json:"id"`
	Type          string                       `json:"type"` // Company, Individual, Other, Entity Group; "": imported
	Role          string                       `json:"role"` // Client, Related Party
	AlternateID   string                       `json:"alternateId,omitempty"`
	Properties    map[string]property.Property `json:"properties"`
	Jurisdictions []string                     `json:"jurisdictions"`
	Category      []string                     `json:"category"`
	Layers        access.Layers                `json:"layers"`
	Created       time.Time                    `json:"created"`
	Version       int64                        `json:"version"` // one more with every verified draft
	LastChangedIn map[string]int64             `json:"changed"` // the version that last changed a property; absent: as created

	BaseStatus LifecycleStatus `json:"settled"`  // with no draft open
	OpenDrafts int64           `json:"open"`     // drafts in progress
	Revision   int64           `json:"revision"` // one more with every write
}

// DraftStatus is where a draft stands.
type DraftStatus string

// A draft ends as verified or rejected and stays readable.
const (
	InProgress DraftStatus = "InProgress"
	Verified   DraftStatus = "Verified"
	Rejected   DraftStatus = "Rejected"
)

// Draft is a proposed change of an entity within a journey.
type Draft struct {
	ID                  string                       `json:"id"`
	EntityID            string                       `json:"entityId"`
	ParentID            string                       `json:"parentId,omitempty"`
	JourneyID           string                       `json:"journeyId"`
	Type                string                       `json:"type"`
	Role                string                       `json:"role"`
	Status              DraftStatus                  `json:"status"`
	Created             time.Time                    `json:"created"`
	Properties          map[string]property.Property `json:"properties"` // of the entity, with the changes
	Changes             map[string]property.Property `json:"changes"`    // that verifying brings to the entity
	Jurisdictions       []string                     `json:"jurisdictions"`
	Layers              access.Layers                `json:"layers"`        // of the entity; never change
	BaseVersion         int64                        `json:"entityVersion"` // that the draft was made of
	ConflictsResolvedIn int64                        `json:"resolved"`      // version of the entity that the draft has no conflict with
	Version             int64                        `json:"version"`       // 1, and one more with every change
}

// DraftRef is a draft as a journey lists it.
type DraftRef struct {
	DraftID  string
	EntityID string
	Layers   access.Layers
	Position string // in the journey's list, for Page.After
}

// DraftPage is a part of the drafts of a journey, in order of creation time, then id.
type DraftPage struct {
	JourneyID  string
	After      string // position of the last member before the page; "": from the beginning
	Limit      int
	Descending bool
}

// Update is one step of the life cycle, written whole or not at all.
type Update struct {
	Profile        Profile // as it shall be; its revision is one more than what was read
	PreviousStatus LifecycleStatus
	Status         LifecycleStatus
	Draft          Draft // as it shall be; version 1 for a new one
}

var (
	// ErrNotFound means that the tenant has no such entity or draft.
	ErrNotFound = errors.New("entity: not found")
	// ErrChanged means that someone else wrote in between.
	ErrChanged = errors.New("entity: changed in between")
	// ErrDraftEnded means that a draft is verified or rejected already.
	ErrDraftEnded = errors.New("entity: the draft has ended")
)

// lifecycleStatus is what the drafts make of the settled lifecycleStatus.
func (r Profile) lifecycleStatus() LifecycleStatus {
	switch {
	case r.OpenDrafts == 0:
		return r.BaseStatus
	case r.BaseStatus.IsOnboarded():
		return MaintenanceInProgress
	}
	return OnboardingInProgress
}

// absorbImport takes in what an import has done to the entity since the record was written: the status that stands counts.
func (r Profile) absorbImport(current LifecycleStatus) Profile {
	if r.lifecycleStatus() != current {
		r.BaseStatus = current
	}
	return r
}

// BeginDraft is the step that adds a draft to an entity whose status is current.
func BeginDraft(r Profile, current LifecycleStatus, d Draft) Update {
	r = r.absorbImport(current)
	r.OpenDrafts++
	r.Revision++
	d.EntityID, d.Type, d.Role, d.Status = r.ID, r.Type, r.Role, InProgress
	d.Layers, d.BaseVersion, d.ConflictsResolvedIn, d.Version, d.Jurisdictions = r.Layers, r.Version, r.Version, 1, r.Jurisdictions
	d.Properties = property.Merge(r.Properties, d.Changes)
	return Update{r, current, r.lifecycleStatus(), d}
}

// VerifyDraft is the step that brings a draft's changes to its entity, with resolutions over them: the entity is compliant.
func VerifyDraft(r Profile, current LifecycleStatus, d Draft, resolutions map[string]property.Property) (Update, error) {
	c, err := endDraft(r, current, d, Verified)
	if err != nil {
		return Update{}, err
	}
	changes := property.Merge(d.Changes, resolutions)
	c.Profile.Properties = property.Merge(r.Properties, changes)
	c.Profile.BaseStatus = Compliant
	c.Profile.Version++
	c.Profile.LastChangedIn = maps.Clone(r.LastChangedIn)
	for key := range changes {
		if c.Profile.LastChangedIn == nil {
			c.Profile.LastChangedIn = map[string]int64{}
		}
		c.Profile.LastChangedIn[key] = c.Profile.Version
	}
	c.Draft.ConflictsResolvedIn = r.Version
	c.Status = c.Profile.lifecycleStatus()
	return c, nil
}

// FindConflicts returns the properties, in order, that a draft changes although other drafts have given them other values since it
// began, and that no resolution decides.
func FindConflicts(r Profile, d Draft, resolutions map[string]property.Property) []string {
	var keys []string
	for key, ours := range d.Changes {
		_, resolved := resolutions[key]
		if r.LastChangedIn[key] > d.BaseVersion && !resolved && !reflect.DeepEqual(ours, r.Properties[key]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// RejectDraft is the step that ends a draft without effect: the entity's status is what it was before.
func RejectDraft(r Profile, current LifecycleStatus, d Draft) (Update, error) {
	return endDraft(r, current, d, Rejected)
}

func endDraft(r Profile, current LifecycleStatus, d Draft, as DraftStatus) (Update, error) {
	if d.Status != InProgress {
		return Update{}, ErrDraftEnded
	}
	r = r.absorbImport(current)
	r.OpenDrafts = max(0, r.OpenDrafts-1)
	r.Revision++
	d.Status = as
	d.Version++
	return Update{r, current, r.lifecycleStatus(), d}, nil
}

// WithProperties lays properties over a draft.
func (d Draft) WithProperties(properties map[string]property.Property) (Draft, error) {
	if d.Status != InProgress {
		return Draft{}, ErrDraftEnded
	}
	d.Properties = property.Merge(d.Properties, properties)
	d.Changes = property.Merge(d.Changes, properties)
	d.Version++
	return d, nil
}
