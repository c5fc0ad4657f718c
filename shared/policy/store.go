package policy

import "context"

// Store keeps policies, their drafts and published versions, and data groups. It is safe for concurrent use; a read
// sees every acknowledged write. Each method makes its change visible by one write, so readers see all of it or
// nothing, also after an error and after a process died. An error whose cause is lost, such as a timeout, does not say
// which.
//
// The contents and changes that a store returns may be shared with other readers. Callers must not modify them.
type Store interface {
	PolicyStore
	DraftStore
	ContentsReader
	DataGroupStore
}

// PolicyStore keeps policies and the list of their versions.
type PolicyStore interface {
	// CreatePolicy stores a new policy with its first version, a draft with the number 1 in the workspace of d. The
	// caller sets ID, Tenant, EntityType and Created of p; the store sets the rest and returns both as they are stored.
	// It returns ErrExists if the ID is taken, and ErrTooMany if the tenant has MaxPolicies.
	CreatePolicy(ctx context.Context, p Policy, d NewDraft) (Policy, Version, error)
	// GetPolicy reads a policy. It returns ErrNotFound if there is none.
	GetPolicy(ctx context.Context, tenant, id string) (Policy, error)
	// ListPolicies reads a part of the tenant's policies in the order of their IDs, beginning after a position ("" for
	// the first part). It returns at most limit policies. The next position is "" at the end of the list.
	ListPolicies(ctx context.Context, tenant, after string, limit int) (page []Policy, next string, err error)
	// GetVersion reads a version. It returns ErrNotFound if there is none, or if it was discarded.
	GetVersion(ctx context.Context, tenant, policyID string, number int64) (Version, error)
	// GetVersions reads the versions that exist, in the order of the references, which are distinct.
	GetVersions(ctx context.Context, tenant string, refs []VersionRef) ([]Version, error)
	// ListVersions reads a part of the versions of a policy, newest first, as ListPolicies does. It returns no
	// versions for a policy that does not exist.
	ListVersions(ctx context.Context, tenant, policyID, after string, limit int) (
		page []Version, next string, err error)
	// FindDraft reads the draft that is edited in a workspace. It returns ErrNotFound if there is no such policy, and
	// ErrNoDraft if the workspace has no draft of it.
	FindDraft(ctx context.Context, w Workspace) (Version, error)
	// Archive archives the version that was published last and returns it. Archiving it again succeeds and changes
	// nothing. It returns ErrNotFound if there is no such version, and ErrNotLastPublished for every other version.
	// Drafts are not changed: they go on from the contents of the archived version.
	Archive(ctx context.Context, tenant, policyID string, number int64, reason string, by Stamp) (Version, error)
}

// VersionRef names a version of one of a tenant's policies.
type VersionRef struct {
	PolicyID string
	Number   int64
}

// Workspace names a workspace of a policy, and who works there.
type Workspace struct {
	Tenant, PolicyID string
	ID               string
	// Client is the ID of the client, for changes; "" leaves the last one that has changed the draft.
	Client string
}

// NewDraft is the data of a new draft.
type NewDraft struct {
	WorkspaceID string
	Notes       string
	Created     Stamp
}

// DraftStore creates, changes and publishes drafts.
//
// A method that changes a field or jurisdiction returns ErrNotFound if there is no such policy, ErrNoDraft if the
// workspace has no draft, ErrWorkspaceLocked if it is locked, and a *LockedError if the draft of another workspace has
// changed the object. Of several workspaces that change an object at the same time exactly one succeeds. Of two
// changes of an object in the same workspace the later one counts. A change that meets the publication of its draft is
// either in the published version or refused. Changes that are too many are refused with ErrTooMany, those that are
// too large with ErrTooLarge: one object by MaxFieldBytes, all changes of a draft together by MaxBundleBytes.
//
// The methods that return a Change return the draft's change of the object after them; its Type is Unchanged if that
// is nothing. Field versions are set by the store.
type DraftStore interface {
	// CreateDraft makes a new draft of a policy, without changes. It returns ErrNotFound if there is no such policy,
	// ErrExists if the workspace has a draft of it already, and ErrTooMany if the policy has MaxDrafts.
	CreateDraft(ctx context.Context, tenant, policyID string, d NewDraft) (Version, error)
	// CreateDraftFrom makes a new draft with the contents of a version that is not a draft, as seen by readers
	// at once, however many changes that takes. Beside the errors of CreateDraft it returns ErrNotFound if there is no
	// such version, ErrIsDraft if it is a draft, and a *LockedError if the draft of another workspace has changed
	// something that would have to change.
	CreateDraftFrom(ctx context.Context, tenant, policyID string, source int64, d NewDraft) (Version, error)
	// SetLocked locks the workspace of a draft against changes or unlocks it, and returns the draft. Repeating it
	// succeeds and changes nothing. It returns ErrNotFound and ErrNoDraft.
	SetLocked(ctx context.Context, w Workspace, isLocked bool) (Version, error)
	// Discard removes a draft with its changes. Its number is not used again. It returns ErrNotFound if there is no
	// such version, also if it was discarded before, and ErrNotDraft if it is not a draft.
	Discard(ctx context.Context, tenant, policyID string, number int64) error
	// Publish publishes a draft, whether its workspace is locked or not, and returns the version. Check is called with
	// the contents first, maybe several times; its error is returned as it is, and nothing has changed. Publishing a
	// published version again succeeds and changes nothing. It returns ErrNotFound if there is no such version,
	// ErrNotDraft if it is archived, ErrTooMany and ErrTooLarge if the version would pass MaxFields, MaxJurisdictions
	// or MaxBundleBytes, and ErrChanged if others change the draft again and again meanwhile.
	Publish(ctx context.Context, tenant, policyID string, number int64, p Publication) (Version, error)

	// AddField adds a field of a new ID. It returns ErrExists if the draft has a field of this ID.
	AddField(ctx context.Context, w Workspace, f Field) (Change, error)
	// UpdateField replaces a field. It returns ErrNotFound if the draft has no such field.
	UpdateField(ctx context.Context, w Workspace, f Field) (Change, error)
	// DeleteField deletes a field. It returns ErrNotFound if the draft has no such field.
	DeleteField(ctx context.Context, w Workspace, fieldID string) (Change, error)
	// RevertField reverts the draft's change of a field. It succeeds without a change, and returns ErrNotFound if
	// neither the draft nor its base has such a field.
	RevertField(ctx context.Context, w Workspace, fieldID string) (Change, error)

	// AddJurisdiction adds a jurisdiction of a new ID. It returns ErrExists if the draft has a jurisdiction of this ID.
	AddJurisdiction(ctx context.Context, w Workspace, j Jurisdiction) (Change, error)
	// UpdateJurisdiction replaces a jurisdiction. It returns ErrNotFound if the draft has no such jurisdiction.
	UpdateJurisdiction(ctx context.Context, w Workspace, j Jurisdiction) (Change, error)
	// DeleteJurisdiction deletes a jurisdiction. It returns ErrNotFound if the draft has no such jurisdiction.
	DeleteJurisdiction(ctx context.Context, w Workspace, jurisdictionID string) (Change, error)
	// RevertJurisdiction reverts the draft's change of a jurisdiction, as RevertField does for a field.
	RevertJurisdiction(ctx context.Context, w Workspace, jurisdictionID string) (Change, error)
}

// Publication is how a draft is published.
type Publication struct {
	By Stamp
	// CheckAuthor returns an error if the draft must not be published, given the client of its last change or, if it
	// has none, of its creation; nil allows all. A change that comes later is not published without another check.
	CheckAuthor func(client string) error
	// Check returns an error if contents cannot be published.
	Check func(Contents) error
}

// ContentsReader reads what versions say.
type ContentsReader interface {
	// ReadContents reads a version with its contents, as they were at one moment. It returns ErrNotFound if there is
	// no such version, and ErrChanged if others change the draft again and again meanwhile.
	ReadContents(ctx context.Context, tenant, policyID string, number int64) (Snapshot, error)
	// ReadChanges reads the changes of all drafts of a policy, in the order of the IDs of their objects, fields
	// first. It returns none for a policy that does not exist.
	ReadChanges(ctx context.Context, tenant, policyID string) ([]Change, error)
}

// Snapshot is a version with its contents, which are in the order of the IDs.
type Snapshot struct {
	Version
	Contents
	// Changes are the changes of all drafts of the policy, as ReadChanges returns them, if the version is a draft.
	// NewView joins them with the contents.
	Changes []Change
}

// DataGroupStore keeps data groups. A group that is changed is conditional on the Revision that was read: the methods
// return ErrChanged if the stored one is another.
type DataGroupStore interface {
	// CreateDataGroup stores the first version of a new group, a draft of the number 1, and returns it. It returns
	// ErrExists if the ID is taken, ErrTooMany if the tenant has MaxDataGroups, and ErrTooLarge if it passes
	// MaxFieldBytes.
	CreateDataGroup(ctx context.Context, tenant string, g DataGroup) (DataGroup, error)
	// AddDataGroupVersion stores g as the next version of the group g.ID, a draft, and returns it. It returns
	// ErrNotFound if there is no such group, and ErrTooLarge.
	AddDataGroupVersion(ctx context.Context, tenant string, g DataGroup) (DataGroup, error)
	// SaveDataGroup replaces a draft whose stored revision is g.Revision, and returns it with the next one. It
	// returns ErrNotFound if there is no such version, ErrNotDraft if it is not a draft, and ErrTooLarge.
	SaveDataGroup(ctx context.Context, tenant string, g DataGroup) (DataGroup, error)
	// SetDataGroupStatus moves a version whose stored revision is g.Revision to a status, and returns it. A version
	// that has the status already is returned as it is. It returns ErrNotFound if there is no such version, and a
	// *StatusError if its status cannot become that one. Publishing a version puts it in the place of the one that was
	// published before, which stays Published; archiving the one that was published last leaves the group without one.
	SetDataGroupStatus(ctx context.Context, tenant string, g DataGroup, status DataGroupStatus, reason string) (
		DataGroup, error)
	// GetDataGroup reads a version. It returns ErrNotFound if there is none.
	GetDataGroup(ctx context.Context, tenant, id string, version int64) (DataGroup, error)
	// ListDataGroups reads the newest versions of a part of the tenant's groups, in the order of their IDs, as
	// ListPolicies does.
	ListDataGroups(ctx context.Context, tenant, after string, limit int) (page []DataGroup, next string, err error)
	// GetNewestDataGroup reads the newest version of a group in any status. It returns ErrNotFound if there is
	// no such group.
	GetNewestDataGroup(ctx context.Context, tenant, id string) (DataGroup, error)
	// ListDataGroupVersions reads a part of the versions of a group, newest first, as ListPolicies does. It returns
	// none for a group that does not exist.
	ListDataGroupVersions(ctx context.Context, tenant, id, after string, limit int) (
		page []DataGroup, next string, err error)
}
