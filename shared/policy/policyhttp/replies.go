package policyhttp

import (
	"time"

	"sluice/shared/policy"
)

// PolicyReply is a policy in one of its versions. Members of the version are null for a policy without versions.
type PolicyReply struct {
	EntityPolicyID         string         `json:"entityPolicyId"`
	EntityType             string         `json:"entityType"`
	Status                 *policy.Status `json:"status"`
	VersionNumber          *int64         `json:"versionNumber"`
	PublishedVersionNumber *int64         `json:"publishedVersionNumber"`
	LastPublishedOn        *time.Time     `json:"lastPublishedOn"`
	VersionNotes           string         `json:"versionNotes"`
	IsLocked               bool           `json:"isLocked"`
	ArchiveReason          *string        `json:"archiveReason"`
	WorkspaceID            *string        `json:"workspaceId"`
	Created                *time.Time     `json:"created"`
	CreatedBy              *string        `json:"createdBy"`
	Published              *time.Time     `json:"published"`
	PublishedBy            *string        `json:"publishedBy"`
	Archived               *time.Time     `json:"archived"`
	ArchivedBy             *string        `json:"archivedBy"`
}

// policyReplyOf returns a policy in a version, whose number is 0 if it has none.
func policyReplyOf(p policy.Policy, v policy.Version) PolicyReply {
	reply := PolicyReply{EntityPolicyID: p.ID, EntityType: p.EntityType}
	reply.LastPublishedOn, _ = stampReply(policy.Stamp{At: p.LastPublishedAt})
	if p.PublishedVersion > 0 {
		reply.PublishedVersionNumber = &p.PublishedVersion
	}
	if v.Number == 0 {
		reply.Created, reply.CreatedBy = stampReply(p.Created)
		return reply
	}
	reply.Status, reply.VersionNumber, reply.WorkspaceID = &v.Status, &v.Number, &v.WorkspaceID
	reply.VersionNotes, reply.IsLocked = v.Notes, v.IsLocked && v.Status == policy.Draft
	if v.Status == policy.Archived {
		reply.ArchiveReason = &v.ArchiveReason
	}
	reply.Created, reply.CreatedBy = stampReply(v.Created)
	reply.Published, reply.PublishedBy = stampReply(v.Published)
	reply.Archived, reply.ArchivedBy = stampReply(v.Archived)
	return reply
}

// stampReply returns the members of a stamp, nil for the zero stamp.
func stampReply(s policy.Stamp) (*time.Time, *string) {
	if s.At.IsZero() {
		return nil, nil
	}
	return &s.At, &s.By
}

// SummaryReply is a policy with its drafts and the sizes of its version.
type SummaryReply struct {
	PolicyReply
	FieldsCount        int          `json:"fieldsCount"`
	JurisdictionsCount int          `json:"jurisdictionsCount"`
	Drafts             []DraftReply `json:"drafts"`
}

// DraftReply names a draft of a policy.
type DraftReply struct {
	WorkspaceID   string `json:"workspaceId"`
	VersionNumber int64  `json:"versionNumber"`
}

// LockReply is the lock of a field or jurisdiction by a workspace. The name of a workspace is its ID.
type LockReply struct {
	WorkspaceID   string            `json:"lockedByWorkspaceId"`
	WorkspaceName string            `json:"lockedByWorkspaceName"`
	ChangeType    policy.ChangeType `json:"lockChangeType"`
}

func lockReplyOf(l *policy.Lock) *LockReply {
	if l == nil {
		return nil
	}
	return &LockReply{l.WorkspaceID, l.WorkspaceID, l.Type}
}

// FieldReply is a field of a version of a policy.
type FieldReply struct {
	EntityPolicyID string `json:"entityPolicyId"`
	VersionNumber  int64  `json:"versionNumber"`
	policy.Field
	MandatoryType MandatoryType     `json:"mandatoryType"`
	ChangeType    policy.ChangeType `json:"changeType"`
	LockDetails   *LockReply        `json:"lockDetails"`
}

func fieldReplyOf(v policy.Version, f policy.FieldView) FieldReply {
	return FieldReply{EntityPolicyID: v.PolicyID, VersionNumber: v.Number, Field: f.Field,
		MandatoryType: mandatoryTypeOf(f.Field), ChangeType: f.ChangeType, LockDetails: lockReplyOf(f.Lock)}
}

// MandatoryType is the obligation of a field to have a value.
type MandatoryType string

// The types: Conditional means that a condition decides.
const (
	Optional    MandatoryType = "Optional"
	Required    MandatoryType = "Required"
	Conditional MandatoryType = "Conditional"
)

func mandatoryTypeOf(f policy.Field) MandatoryType {
	switch rule := f.ValidationRules.Mandatory; {
	case rule == nil || !rule.IsActive:
		return Optional
	case len(rule.DynamicRules) > 0:
		return Conditional
	}
	return Required // the rule needs no static rule, as it has no members
}

// JurisdictionReply is a jurisdiction of a version of a policy.
type JurisdictionReply struct {
	policy.Jurisdiction
	ChangeType  policy.ChangeType `json:"changeType"`
	LockDetails *LockReply        `json:"lockDetails"`
}

func jurisdictionReplyOf(j policy.JurisdictionView) JurisdictionReply {
	return JurisdictionReply{j.Jurisdiction, j.ChangeType, lockReplyOf(j.Lock)}
}
