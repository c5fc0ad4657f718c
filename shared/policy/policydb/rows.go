package policydb

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// policyRow is a policy as it is stored.
type policyRow struct {
	ID         string `dynamodbav:"id"`
	EntityType string `dynamodbav:"entity_type"`
	// LastNumber is the greatest number that a version has or had.
	LastNumber      int64      `dynamodbav:"last_number"`
	Newest          int64      `dynamodbav:"newest"`
	Published       int64      `dynamodbav:"published"`
	Base            int64      `dynamodbav:"base"`
	BaseDigest      string     `dynamodbav:"base_digest,omitempty"`
	LastPublishedAt string     `dynamodbav:"last_published_at,omitempty"`
	Drafts          []draftRow `dynamodbav:"drafts"`
	CreatedAt       string     `dynamodbav:"created_at"`
	CreatedBy       string     `dynamodbav:"created_by"`
	Revision        int64      `dynamodbav:"revision"`
}

// draftRow is a draft in the row of its policy.
type draftRow struct {
	Workspace string `dynamodbav:"workspace"`
	Number    int64  `dynamodbav:"number"`
	// Key names the draft in its changes.
	Key string `dynamodbav:"key"`
}

func (r policyRow) policy(tenant string) (policy.Policy, error) {
	p := policy.Policy{
		ID: r.ID, Tenant: tenant, EntityType: r.EntityType, NewestVersion: r.Newest, PublishedVersion: r.Published,
		BaseVersion: r.Base, Revision: r.Revision,
	}
	for _, d := range r.Drafts {
		p.Drafts = append(p.Drafts, policy.DraftRef{WorkspaceID: d.Workspace, Number: d.Number})
	}
	var err1, err2 error
	p.LastPublishedAt, err1 = dynamo.ParseTime(r.LastPublishedAt)
	p.Created, err2 = parseStamp(r.CreatedAt, r.CreatedBy)
	return p, errors.Join(err1, err2)
}

// draftOf returns the draft that is edited in a workspace.
func (r policyRow) draftOf(workspaceID string) (draftRow, bool) {
	i := slices.IndexFunc(r.Drafts, func(d draftRow) bool { return d.Workspace == workspaceID })
	if i < 0 {
		return draftRow{}, false
	}
	return r.Drafts[i], true
}

// isLive reports whether a change counts: whether its draft is listed.
func (r policyRow) isLive(c changeRow) bool {
	return slices.ContainsFunc(r.Drafts, func(d draftRow) bool { return d.Key == c.Draft })
}

// withoutDraft returns the row after one of its drafts was published or discarded.
func (r policyRow) withoutDraft(number int64) policyRow {
	r.Drafts = slices.DeleteFunc(slices.Clone(r.Drafts), func(d draftRow) bool { return d.Number == number })
	r.Revision++
	return r
}

// versionRow is a version as it is stored.
type versionRow struct {
	Policy        string        `dynamodbav:"policy"`
	Number        int64         `dynamodbav:"number"`
	Status        policy.Status `dynamodbav:"status"`
	Workspace     string        `dynamodbav:"workspace"`
	Notes         string        `dynamodbav:"notes,omitempty"`
	IsLocked      bool          `dynamodbav:"locked"`
	ArchiveReason string        `dynamodbav:"archive_reason,omitempty"`
	CreatedAt     string        `dynamodbav:"created_at"`
	CreatedBy     string        `dynamodbav:"created_by"`
	// ChangedBy is the client of the last change; "" if the draft was not changed since its creation.
	ChangedBy   string `dynamodbav:"changed_by,omitempty"`
	PublishedAt string `dynamodbav:"published_at,omitempty"`
	PublishedBy string `dynamodbav:"published_by,omitempty"`
	ArchivedAt  string `dynamodbav:"archived_at,omitempty"`
	ArchivedBy  string `dynamodbav:"archived_by,omitempty"`
	Digest      string `dynamodbav:"digest,omitempty"`
	// Key names the draft in its changes.
	Key string `dynamodbav:"key"`
	// Fields and Jurisdictions are the differences of their numbers to the base of the draft.
	Fields        int64 `dynamodbav:"fields"`
	Jurisdictions int64 `dynamodbav:"jurisdictions"`
	// Bytes is the size of all changes.
	Bytes    int64 `dynamodbav:"bytes"`
	Revision int64 `dynamodbav:"revision"`
}

func newDraftRow(policyID string, d policy.NewDraft, number int64, key string) versionRow {
	return versionRow{
		Policy: policyID, Number: number, Status: policy.Draft, Workspace: d.WorkspaceID, Notes: d.Notes,
		CreatedAt: dynamo.FormatTime(d.Created.At), CreatedBy: d.Created.By, Key: key, Revision: 1,
	}
}

func (r versionRow) version() (policy.Version, error) {
	v := policy.Version{
		PolicyID: r.Policy, Number: r.Number, Status: r.Status, WorkspaceID: r.Workspace, Notes: r.Notes,
		IsLocked: r.IsLocked, ArchiveReason: r.ArchiveReason, Digest: r.Digest, Revision: r.Revision,
	}
	var err1, err2, err3 error
	v.Created, err1 = parseStamp(r.CreatedAt, r.CreatedBy)
	v.Published, err2 = parseStamp(r.PublishedAt, r.PublishedBy)
	v.Archived, err3 = parseStamp(r.ArchivedAt, r.ArchivedBy)
	return v, errors.Join(err1, err2, err3)
}

func parseStamp(at, by string) (policy.Stamp, error) {
	t, err := dynamo.ParseTime(at)
	return policy.Stamp{At: t, By: by}, err
}

// changeRow is a draft's change of a field or a jurisdiction, as it is stored.
type changeRow struct {
	// Part is the row's key; it is not stored beside that.
	Part      string            `dynamodbav:"part"`
	Draft     string            `dynamodbav:"draft"`
	Workspace string            `dynamodbav:"workspace"`
	Type      policy.ChangeType `dynamodbav:"type"`
	// Field or Jurisdiction is the object as JSON, in the form that bundles have.
	Field        []byte `dynamodbav:"field,omitempty"`
	Jurisdiction []byte `dynamodbav:"jurisdiction,omitempty"`
	// Edit is different for every write of the row.
	Edit string `dynamodbav:"edit"`
}

func (r changeRow) size() int64 { return int64(len(r.Field) + len(r.Jurisdiction)) }

func (r changeRow) change() (policy.Change, error) {
	c := policy.Change{Type: r.Type, WorkspaceID: r.Workspace}
	var err error
	if r.Field != nil {
		c.Field = &policy.Field{}
		err = json.Unmarshal(r.Field, c.Field)
	} else {
		c.Jurisdiction = &policy.Jurisdiction{}
		err = json.Unmarshal(r.Jurisdiction, c.Jurisdiction)
	}
	if err != nil {
		return c, fmt.Errorf("read change %s of a policy: %w", r.Part, err)
	}
	return c, nil
}

// newChangeRow returns the row of a change. It returns policy.ErrTooLarge if the object is too large.
func newChangeRow(d draftRow, c policy.Change, edit string) (changeRow, error) {
	row := changeRow{Part: partOf(c), Draft: d.Key, Workspace: d.Workspace, Type: c.Type, Edit: edit}
	var err error
	if c.Field != nil {
		row.Field, err = json.Marshal(c.Field)
	} else {
		row.Jurisdiction, err = json.Marshal(c.Jurisdiction)
	}
	if err == nil && row.size() > policy.MaxFieldBytes {
		err = policy.ErrTooLarge
	}
	return row, err
}

const (
	fieldPrefix        = changePrefix + "field#"
	jurisdictionPrefix = changePrefix + "jurisdiction#"
)

// partOf is the part of the row of a change.
func partOf(c policy.Change) string {
	if c.Field != nil {
		return fieldPrefix + c.Field.ID
	}
	return jurisdictionPrefix + c.Jurisdiction.ID
}

// cutPart returns the prefix and the ID of the part of a change.
func cutPart(part string) (prefix, id string, ok bool) {
	for _, prefix := range []string{fieldPrefix, jurisdictionPrefix} {
		if id, ok := strings.CutPrefix(part, prefix); ok {
			return prefix, id, true
		}
	}
	return "", "", false
}
