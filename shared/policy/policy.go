// Package policy holds policies: which fields an entity of a type must have, under which conditions they are shown,
// which values they may have, and who may see them. A policy has versions. A draft is edited in a workspace, which
// locks the objects that it changes; publishing makes a version that never changes again. Package policy/policydb
// stores policies, policy/evaluate evaluates a version for an entity, policy/policyhttp serves both
// (docs/contract/policy.md).
package policy

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Status is the state of a version of a policy.
type Status string

// The statuses of a version. A draft becomes published, and the last published version can be archived. Versions that
// are published or archived do not change and can be evaluated.
const (
	Draft     Status = "Draft"
	Published Status = "Published"
	Archived  Status = "Archived"
)

// EntityTypes lists the types of entities that policies can have.
var EntityTypes = []string{
	"Individual", "Company", "Other", "Entity Group", "Managed Relationship", "Financial Crime Report", "Team Metadata",
	"Transaction Monitoring Case",
}

// TargetEntities lists the parts that an entity can play in a journey.
var TargetEntities = []string{"Client", "Related Party"}

// Limits of one policy.
const (
	// MaxPolicies is how many policies a tenant can have.
	MaxPolicies = 200
	// MaxDrafts is how many drafts a policy can have at once.
	MaxDrafts = 20
	// MaxFields is the largest number of fields of a version, including the fields of its data groups.
	MaxFields = 5000
	// MaxJurisdictions is how many jurisdictions a version can have.
	MaxJurisdictions = 500
	// MaxFieldBytes is the size of the largest field, jurisdiction or data group as JSON.
	MaxFieldBytes = 128 << 10
	// MaxBundleBytes is the size of the largest version as JSON.
	MaxBundleBytes = 64 << 20
)

var (
	// ErrNotFound means that the tenant has no such policy, version, field, jurisdiction or data group.
	ErrNotFound = errors.New("policy: not found")
	// ErrChanged means that someone else has written the object since it was read.
	ErrChanged = errors.New("policy: changed since it was read")
	// ErrExists means that an object with the ID exists already.
	ErrExists = errors.New("policy: exists already")
	// ErrNotDraft means that the version is not a draft.
	ErrNotDraft = errors.New("policy: the version is not a draft")
	// ErrIsDraft means that the version is a draft, where only published and archived versions will do.
	ErrIsDraft = errors.New("policy: the version is a draft")
	// ErrNoDraft means that the workspace has no draft of the policy.
	ErrNoDraft = errors.New("policy: the workspace has no draft")
	// ErrNotLastPublished means that the version is not the one that was published last.
	ErrNotLastPublished = errors.New("policy: the version is not the one that was published last")
	// ErrWorkspaceLocked means that the workspace of the draft is locked against changes.
	ErrWorkspaceLocked = errors.New("policy: the workspace is locked")
	// ErrTooMany means that the policy or the tenant has reached a limit.
	ErrTooMany = errors.New("policy: too many")
	// ErrTooLarge means that an object, or everything in a version, has too many bytes.
	ErrTooLarge = errors.New("policy: too large")
)

// LockedError means that the workspace of another draft has changed the field or jurisdiction. It is matched with
// errors.As.
type LockedError struct {
	// ID is the ID of the field or jurisdiction.
	ID string
	// WorkspaceID is the workspace of the draft that has changed it.
	WorkspaceID string
}

// Error implements error.
func (e *LockedError) Error() string {
	return "policy: " + e.ID + " is locked by workspace " + e.WorkspaceID
}

// Stamp is the time of an action, and its client. The zero Stamp means that it was not done.
type Stamp struct {
	At time.Time
	// By is the ID of the client.
	By string
}

// Policy is a policy as a whole; its versions have the contents.
type Policy struct {
	ID         string
	Tenant     string
	EntityType string
	// NewestVersion is the number of the newest version in any status. Numbers begin with 1; it is 0 if the only
	// version was a draft that was discarded.
	NewestVersion int64
	// PublishedVersion is the number of the version that was published last; 0 if there is none, or if it was archived.
	PublishedVersion int64
	// BaseVersion is the number of the version that was published last, also if it was archived since; 0 if there is
	// none. Drafts have its contents with their changes.
	BaseVersion int64
	// Drafts are the versions that are drafts, in the order of their numbers.
	Drafts []DraftRef
	// LastPublishedAt is when BaseVersion was published; zero if no version was.
	LastPublishedAt time.Time
	Created         Stamp
	// Revision is 1 for a new policy and grows by one with every write of the policy itself. Writes are conditional on
	// it.
	Revision int64
}

// DraftRef names a draft of a policy.
type DraftRef struct {
	WorkspaceID string
	Number      int64
}

// Version is a version of a policy without its contents.
type Version struct {
	PolicyID string
	Number   int64
	Status   Status
	// WorkspaceID names the workspace of the draft, also after it was published. No two
	// drafts of a policy have the same one.
	WorkspaceID string
	// Notes are the client's remarks about the version at the creation of the draft.
	Notes string
	// IsLocked means that the workspace refuses changes until it is unlocked, so that a draft stays as it is while
	// people review it. A draft that was published while it was locked keeps it, without an effect.
	IsLocked bool
	// ArchiveReason is the client's reason for archiving the version; "" before.
	ArchiveReason string
	Created       Stamp
	// Published and Archived are zero until the version is published or archived.
	Published Stamp
	Archived  Stamp
	// Digest is the SHA-256 of the contents of a version that is not a draft, in hexadecimal digits: the name of its
	// bundle in object storage.
	Digest string
	// Revision is 1 for a new draft and grows by one with every write of the draft and of anything in it.
	Revision int64
}

// Contents is everything in a version. Bundles store its JSON form.
type Contents struct {
	EntityType    string         `json:"entityType"`
	Fields        []Field        `json:"fields"`
	Jurisdictions []Jurisdiction `json:"jurisdictions,omitempty"`
	// DataGroups are the versions of the fields' data groups, pinned when the version is published.
	// In a draft they are the published ones at the moment.
	DataGroups []DataGroup `json:"dataGroups,omitempty"`
}

// Jurisdiction is an area of law with fields of its own. An entity is evaluated in the jurisdictions that the
// request names, or in those whose conditions it meets.
type Jurisdiction struct {
	ID          string `json:"jurisdictionId"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Conditions decide whether the entity belongs to the jurisdiction: if one of them is met, or if there are none.
	Conditions []Condition `json:"conditions,omitempty"`
}

// ChangeType is the kind of a draft's change of a field or a jurisdiction of its base.
type ChangeType string

// The change types. Locked means that the draft of another workspace has changed the object; only views have it.
const (
	Unchanged ChangeType = "Unchanged"
	Added     ChangeType = "Added"
	Updated   ChangeType = "Updated"
	Deleted   ChangeType = "Deleted"
	Locked    ChangeType = "Locked"
)

// Change is a draft's change of one field or jurisdiction. It locks the object for the workspaces of other drafts of
// the policy until the draft is published or discarded, or the change is reverted.
type Change struct {
	// Type is Unchanged, Added, Updated or Deleted.
	Type ChangeType
	// WorkspaceID is the workspace of the draft.
	WorkspaceID string
	// Field or Jurisdiction is the object after the change or, if it was deleted, before; the other one is nil.
	Field        *Field
	Jurisdiction *Jurisdiction
}

// DataGroupStatus is the state of a version of a data group.
type DataGroupStatus string

// The statuses of a version of a data group. A draft is submitted, and then published or rejected; a rejected one
// becomes a draft again. The last three never change, except that a published version can be archived.
const (
	DataGroupDraft     DataGroupStatus = "Draft"
	DataGroupPending   DataGroupStatus = "Pending"
	DataGroupRejected  DataGroupStatus = "Rejected"
	DataGroupPublished DataGroupStatus = "Published"
	DataGroupArchived  DataGroupStatus = "Archived"
	DataGroupDeleted   DataGroupStatus = "Deleted"
)

// Limits of data groups.
const (
	// MaxDataGroups is how many data groups a tenant can have.
	MaxDataGroups = 500
	// MaxDataGroupFields is how many fields a data group can have.
	MaxDataGroupFields = 200
	// MaxNesting is how deep custom groups can be nested.
	MaxNesting = 5
)

// DataGroup is a version of a group of fields: the fields of the items of a collection, or of a custom group.
type DataGroup struct {
	ID      string          `json:"dataGroupId"`
	Version int64           `json:"versionNumber"`
	Status  DataGroupStatus `json:"status"`
	Name    string          `json:"name"`
	// Description is the purpose of the group.
	Description string `json:"description,omitempty"`
	// PrimaryField is the data key of the field with the type of an item; "" if there is none.
	PrimaryField string `json:"primaryDataGroupField,omitempty"`
	// DisableMultiselectPrimaryFieldOnAdd tells the client's form to add one item at a time.
	DisableMultiselectPrimaryFieldOnAdd bool    `json:"disableMultiselectPrimaryFieldOnAdd,omitempty"`
	Fields                              []Field `json:"dataGroupFields"`
	// Reason is the reason for the status of the version. Bundles do not have it.
	Reason string `json:"reason,omitempty"`
	// Revision is 1 for a new version and grows by one with every write. Writes are conditional on it. Bundles do not
	// have it.
	Revision int64 `json:"revision,omitempty"`
}

// CheckNext returns a *StatusError if a version of a data group of the status s cannot get another one.
func (s DataGroupStatus) CheckNext(next DataGroupStatus) error {
	if slices.Contains(dataGroupTransitions[s], next) {
		return nil
	}
	return &StatusError{From: s, To: next, Allowed: dataGroupTransitions[s]}
}

// StatusError means that a version of a data group cannot get a status from the one that it has. It is matched with
// errors.As.
type StatusError struct {
	From, To DataGroupStatus
	// Allowed are the statuses that it can get, none if it stays as it is.
	Allowed []DataGroupStatus
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("policy: a data group cannot become %s from %s", e.To, e.From)
}

var dataGroupTransitions = map[DataGroupStatus][]DataGroupStatus{
	DataGroupDraft:     {DataGroupPending, DataGroupDeleted},
	DataGroupPending:   {DataGroupPublished, DataGroupRejected, DataGroupDraft},
	DataGroupRejected:  {DataGroupDraft, DataGroupDeleted},
	DataGroupPublished: {DataGroupArchived},
}
