package policydb_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
)

// model is the state of a policy after some operations, in the simplest form. Operations return the expected error.
type model struct {
	last, base, published int64
	versions              map[int64]*modelVersion
}

type modelVersion struct {
	status    policy.Status
	workspace string
	isLocked  bool
	// fields are the fields of a version that is not a draft, as fieldsOf returns them.
	fields map[string]modelField
	// changes are the changes of a draft.
	changes map[string]modelChange
}

type modelField struct {
	name    string
	version int64
}

type modelChange struct {
	kind  policy.ChangeType
	field modelField
}

func (m *model) baseFields() map[string]modelField {
	if m.base == 0 {
		return nil
	}
	return m.versions[m.base].fields
}

// fieldsOf returns the fields of a version.
func (m *model) fieldsOf(v *modelVersion) map[string]modelField {
	if v.status != policy.Draft {
		return v.fields
	}
	fields := maps.Clone(m.baseFields())
	if fields == nil {
		fields = map[string]modelField{}
	}
	for id, c := range v.changes {
		if c.kind == policy.Deleted {
			delete(fields, id)
		} else {
			fields[id] = c.field
		}
	}
	return fields
}

func (m *model) draftOf(workspace string) *modelVersion {
	for _, v := range m.versions {
		if v.status == policy.Draft && v.workspace == workspace {
			return v
		}
	}
	return nil
}

// lockOf returns the workspace, other than the given one, that has changed a field.
func (m *model) lockOf(id, workspace string) string {
	for _, v := range m.versions {
		if _, isChanged := v.changes[id]; isChanged && v.status == policy.Draft && v.workspace != workspace {
			return v.workspace
		}
	}
	return ""
}

func (m *model) createDraft(workspace string) error {
	if m.draftOf(workspace) != nil {
		return policy.ErrExists
	}
	m.last++
	m.versions[m.last] = &modelVersion{status: policy.Draft, workspace: workspace, changes: map[string]modelChange{}}
	return nil
}

func (m *model) createDraftFrom(source int64, workspace string) error {
	from := m.versions[source]
	switch {
	case from == nil:
		return policy.ErrNotFound
	case from.status == policy.Draft:
		return policy.ErrIsDraft
	case m.draftOf(workspace) != nil:
		return policy.ErrExists
	}
	changes, base := map[string]modelChange{}, m.baseFields()
	for id, f := range from.fields {
		was, had := base[id]
		switch {
		case !had:
			changes[id] = modelChange{policy.Added, modelField{f.name, f.version + 1}}
		case was.name != f.name:
			changes[id] = modelChange{policy.Updated, modelField{f.name, was.version + 1}}
		}
	}
	for id, was := range base {
		if _, has := from.fields[id]; !has {
			changes[id] = modelChange{policy.Deleted, was}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		if by := m.lockOf(id, workspace); by != "" {
			return &policy.LockedError{ID: id, WorkspaceID: by}
		}
	}
	m.last++
	m.versions[m.last] = &modelVersion{status: policy.Draft, workspace: workspace, changes: changes}
	return nil
}

// edit applies one of the operations add, update, delete and revert to a field.
func (m *model) edit(operation, workspace, id, name string) error {
	v := m.draftOf(workspace)
	if v == nil {
		return policy.ErrNoDraft
	}
	if by := m.lockOf(id, workspace); by != "" {
		return &policy.LockedError{ID: id, WorkspaceID: by}
	}
	was, isInBase := m.baseFields()[id]
	_, isThere := m.fieldsOf(v)[id]
	_, isChanged := v.changes[id]
	switch {
	case operation == "add" && isThere:
		return policy.ErrExists
	case (operation == "update" || operation == "delete") && !isThere:
		return policy.ErrNotFound
	case operation == "revert" && !isInBase && !isChanged:
		return policy.ErrNotFound
	case operation == "revert" && !isChanged:
		return nil
	case v.isLocked:
		return policy.ErrWorkspaceLocked
	case operation == "revert", operation == "delete" && !isInBase:
		delete(v.changes, id)
	case operation == "delete":
		v.changes[id] = modelChange{policy.Deleted, was}
	case isInBase:
		v.changes[id] = modelChange{policy.Updated, modelField{name, was.version + 1}}
	default:
		v.changes[id] = modelChange{policy.Added, modelField{name, 1}}
	}
	return nil
}

func (m *model) setLocked(workspace string, isLocked bool) error {
	v := m.draftOf(workspace)
	if v == nil {
		return policy.ErrNoDraft
	}
	v.isLocked = isLocked
	return nil
}

func (m *model) discard(number int64) error {
	switch v := m.versions[number]; {
	case v == nil:
		return policy.ErrNotFound
	case v.status != policy.Draft:
		return policy.ErrNotDraft
	}
	delete(m.versions, number)
	return nil
}

func (m *model) publish(number int64) error {
	v := m.versions[number]
	switch {
	case v == nil:
		return policy.ErrNotFound
	case v.status == policy.Published:
		return nil
	case v.status == policy.Archived:
		return policy.ErrNotDraft
	}
	v.fields, v.changes = m.fieldsOf(v), nil
	v.status, m.base, m.published = policy.Published, number, number
	return nil
}

func (m *model) archive(number int64) error {
	v := m.versions[number]
	switch {
	case v == nil:
		return policy.ErrNotFound
	case number != m.base:
		return policy.ErrNotLastPublished
	}
	v.status, m.published = policy.Archived, 0
	return nil
}

// Random operations in several workspaces have the same results and errors in the store and in the model.
func TestStoreDoesWhatTheModelDoes(t *testing.T) {
	t.Parallel()
	const seed, operations = 7, 130
	random := rand.New(rand.NewPCG(seed, 0))
	h := start(t)
	m := &model{last: 1, versions: map[int64]*modelVersion{
		1: {status: policy.Draft, workspace: "first", changes: map[string]modelChange{}}}}
	workspaces := []string{"first", "second", "third"}
	outcomes := map[string]int{}
	for i := range operations {
		name := fmt.Sprint("name ", i)
		done, got, want := randomOperation(h, m, random, workspaces[random.IntN(len(workspaces))], name)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("operation %d, %s: got the error %v, want %v", i, done, got, want)
		}
		if want != nil && !errors.Is(got, want) && !errors.As(got, new(*policy.LockedError)) {
			t.Fatalf("operation %d, %s: got the error %#v, want %#v", i, done, got, want)
		}
		operation, _, _ := strings.Cut(done, " ")
		outcomes[fmt.Sprint(operation, " succeeds ", want == nil)]++
		// Only the last versions change; all are compared at the end.
		oldest := m.last - 3
		if i == operations-1 {
			oldest = 1
		}
		difftest.Equal(t, fmt.Sprintf("after operation %d, %s", i, done), m.state(oldest), h.state(oldest, m.last))
	}
	difftest.Len(t, "not each of 10 operations has succeeded and failed", 20, outcomes)
}

// randomOperation makes an operation on the store and the model. It returns its name and both errors.
func randomOperation(h *harness, m *model, random *rand.Rand, workspaceID, name string) (done string, got, want error) {
	ctx, w := h.Context(), h.ws(workspaceID)
	number := max(1, m.last-random.Int64N(5))
	id := string(rune('a' + random.IntN(8)))
	switch n := random.IntN(100); {
	case n < 25:
		_, got = h.AddField(ctx, w, field(id, name))
		return "add " + id + " in " + workspaceID, got, m.edit("add", workspaceID, id, name)
	case n < 45:
		_, got = h.UpdateField(ctx, w, field(id, name))
		return "update " + id + " in " + workspaceID, got, m.edit("update", workspaceID, id, name)
	case n < 55:
		_, got = h.DeleteField(ctx, w, id)
		return "delete " + id + " in " + workspaceID, got, m.edit("delete", workspaceID, id, name)
	case n < 62:
		_, got = h.RevertField(ctx, w, id)
		return "revert " + id + " in " + workspaceID, got, m.edit("revert", workspaceID, id, name)
	case n < 74:
		_, got = h.CreateDraft(ctx, h.tenant, policyID, newDraft(workspaceID))
		return "draft in " + workspaceID, got, m.createDraft(workspaceID)
	case n < 82:
		_, got = h.CreateDraftFrom(ctx, h.tenant, policyID, number, newDraft(workspaceID))
		return fmt.Sprint("from ", number, " a draft in ", workspaceID), got, m.createDraftFrom(number, workspaceID)
	case n < 86:
		isLocked := random.IntN(2) == 0
		_, got = h.SetLocked(ctx, w, isLocked)
		return fmt.Sprint("lock ", workspaceID, isLocked), got, m.setLocked(workspaceID, isLocked)
	case n < 89:
		return fmt.Sprint("discard ", number), h.Discard(ctx, h.tenant, policyID, number), m.discard(number)
	case n < 96:
		_, got = h.Publish(ctx, h.tenant, policyID, number, policy.Publication{By: stamp(1)})
		return fmt.Sprint("publish ", number), got, m.publish(number)
	}
	_, got = h.Archive(ctx, h.tenant, policyID, number, "why", stamp(2))
	return fmt.Sprint("archive ", number), got, m.archive(number)
}

// state returns the policy and its versions from a number on in the model, in the form of harness.state.
func (m *model) state(oldest int64) []string {
	var lines []string
	newest := int64(0)
	for number, v := range m.versions {
		newest = max(newest, number)
		for id, c := range v.changes {
			lines = append(lines, fmt.Sprintf("change of %s: %s by %s", id, c.kind, v.workspace))
		}
		if number < oldest {
			continue
		}
		line := fmt.Sprintf("version %03d: %s in %s, locked %t:", number, v.status, v.workspace, v.isLocked)
		fields := m.fieldsOf(v)
		for _, id := range slices.Sorted(maps.Keys(fields)) {
			line += fmt.Sprintf(" %s=%s v%d", id, fields[id].name, fields[id].version)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprintf("policy: newest %d, base %d, published %d", newest, m.base, m.published))
}

// state reads the policy and its versions of the given numbers from the store.
func (h *harness) state(oldest, newest int64) []string {
	h.Helper()
	var lines []string
	for number := max(oldest, 1); number <= newest; number++ {
		s, err := h.ReadContents(h.Context(), h.tenant, policyID, number)
		if errors.Is(err, policy.ErrNotFound) {
			continue
		}
		h.must(err)
		line := fmt.Sprintf("version %03d: %s in %s, locked %t:", number, s.Status, s.WorkspaceID, s.IsLocked)
		for _, f := range s.Fields {
			line += fmt.Sprintf(" %s=%s v%d", f.ID, f.Name, f.Version)
		}
		lines = append(lines, line)
	}
	for id, change := range h.changes() {
		lines = append(lines, fmt.Sprintf("change of %s: %s", id, change))
	}
	slices.Sort(lines)
	p, err := h.GetPolicy(h.Context(), h.tenant, policyID)
	h.must(err)
	return append(lines, fmt.Sprintf("policy: newest %d, base %d, published %d", p.NewestVersion, p.BaseVersion,
		p.PublishedVersion))
}
