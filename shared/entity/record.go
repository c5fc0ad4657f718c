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

// Record is what the platform knows of an entity beside its life cycle. An entity that was only imported has an empty one.
type Record struct {
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
	Changed       map[string]int64             `json:"changed"` // the version that last changed a property; absent: as created

	Settled  LifecycleStatus `json:"settled"`  // with no draft open
	Open     int64           `json:"open"`     // drafts in progress
	Revision int64           `json:"revision"` // one more with every write
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
	ID            string                       `json:"id"`
	EntityID      string                       `json:"entityId"`
	ParentID      string                       `json:"parentId,omitempty"`
	JourneyID     string                       `json:"journeyId"`
	Type          string                       `json:"type"`
	Role          string                       `json:"role"`
	Status        DraftStatus                  `json:"status"`
	Created       time.Time                    `json:"created"`
	Properties    map[string]property.Property `json:"properties"` // of the entity, with the changes
	Changes       map[string]property.Property `json:"changes"`    // that verifying brings to the entity
	Jurisdictions []string                     `json:"jurisdictions"`
	Layers        access.Layers                `json:"layers"`        // of the entity; never change
	EntityVersion int64                        `json:"entityVersion"` // that the draft was made of
	Resolved      int64                        `json:"resolved"`      // version of the entity that the draft has no conflict with
	Version       int64                        `json:"version"`       // 1, and one more with every change
}

// Member is a draft as a journey lists it.
type Member struct {
	DraftID  string
	EntityID string
	Layers   access.Layers
	Position string // in the journey's list, for Page.After
}

// Page is a part of the drafts of a journey, in order of creation time, then id.
type Page struct {
	Journey    string
	After      string // position of the last member before the page; "": from the beginning
	Limit      int
	Descending bool
}

// Change is one step of the life cycle, written whole or not at all.
type Change struct {
	Record Record // as it shall be; its revision is one more than what was read
	Was    LifecycleStatus
	Status LifecycleStatus
	Draft  Draft // as it shall be; version 1 for a new one
}

var (
	// ErrNotFound means that the tenant has no such entity or draft.
	ErrNotFound = errors.New("entity: not found")
	// ErrChanged means that someone else wrote in between.
	ErrChanged = errors.New("entity: changed in between")
	// ErrEnded means that a draft is verified or rejected already.
	ErrEnded = errors.New("entity: the draft has ended")
)

// status is what the drafts make of the settled status.
func (r Record) status() LifecycleStatus {
	switch {
	case r.Open == 0:
		return r.Settled
	case r.Settled.Onboarded():
		return MaintenanceInProgress
	}
	return OnboardingInProgress
}

// seen takes in what an import has done to the entity since the record was written: the status that stands counts.
func (r Record) seen(current LifecycleStatus) Record {
	if r.status() != current {
		r.Settled = current
	}
	return r
}

// Begin is the step that adds a draft to an entity whose status is current.
func Begin(r Record, current LifecycleStatus, d Draft) Change {
	r = r.seen(current)
	r.Open++
	r.Revision++
	d.EntityID, d.Type, d.Role, d.Status = r.ID, r.Type, r.Role, InProgress
	d.Layers, d.EntityVersion, d.Resolved, d.Version, d.Jurisdictions = r.Layers, r.Version, r.Version, 1, r.Jurisdictions
	d.Properties = property.Merge(r.Properties, d.Changes)
	return Change{r, current, r.status(), d}
}

// Verify is the step that brings a draft's changes to its entity, with resolutions over them: the entity is compliant.
func Verify(r Record, current LifecycleStatus, d Draft, resolutions map[string]property.Property) (Change, error) {
	c, err := end(r, current, d, Verified)
	if err != nil {
		return Change{}, err
	}
	changes := property.Merge(d.Changes, resolutions)
	c.Record.Properties = property.Merge(r.Properties, changes)
	c.Record.Settled = Compliant
	c.Record.Version++
	c.Record.Changed = maps.Clone(r.Changed)
	for key := range changes {
		if c.Record.Changed == nil {
			c.Record.Changed = map[string]int64{}
		}
		c.Record.Changed[key] = c.Record.Version
	}
	c.Draft.Resolved = r.Version
	c.Status = c.Record.status()
	return c, nil
}

// Conflicts returns the properties, in order, that a draft changes although other drafts have given them other values since it
// began, and that no resolution decides.
func Conflicts(r Record, d Draft, resolutions map[string]property.Property) []string {
	var keys []string
	for key, ours := range d.Changes {
		_, resolved := resolutions[key]
		if r.Changed[key] > d.EntityVersion && !resolved && !reflect.DeepEqual(ours, r.Properties[key]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Reject is the step that ends a draft without effect: the entity's status is what it was before.
func Reject(r Record, current LifecycleStatus, d Draft) (Change, error) {
	return end(r, current, d, Rejected)
}

func end(r Record, current LifecycleStatus, d Draft, as DraftStatus) (Change, error) {
	if d.Status != InProgress {
		return Change{}, ErrEnded
	}
	r = r.seen(current)
	r.Open = max(0, r.Open-1)
	r.Revision++
	d.Status = as
	d.Version++
	return Change{r, current, r.status(), d}, nil
}

// Update lays properties over a draft.
func (d Draft) Update(properties map[string]property.Property) (Draft, error) {
	if d.Status != InProgress {
		return Draft{}, ErrEnded
	}
	d.Properties = property.Merge(d.Properties, properties)
	d.Changes = property.Merge(d.Changes, properties)
	d.Version++
	return d, nil
}
