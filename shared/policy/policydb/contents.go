package policydb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// ReadContents implements policy.ContentsReader.
func (s *Store) ReadContents(ctx context.Context, tenant, policyID string, number int64) (policy.Snapshot, error) {
	return retry(ctx, func() (policy.Snapshot, error) {
		row, version, err := s.readVersion(ctx, tenant, policyID, number)
		if err != nil {
			return policy.Snapshot{}, err
		}
		return s.snapshot(ctx, tenant, row, version)
	})
}

// snapshot reads the contents of a version. It returns errOvertaken if it is a draft that has changed since its row was
// read.
func (s *Store) snapshot(ctx context.Context, tenant string, row policyRow, version versionRow) (
	snapshot policy.Snapshot, err error) {
	if snapshot.Version, err = version.version(); err != nil {
		return snapshot, err
	}
	if version.Status == policy.Draft {
		snapshot.Contents, snapshot.Changes, err = s.draftContents(ctx, tenant, row, version)
	} else {
		snapshot.Contents, err = s.bundles.read(ctx, tenant, version.Digest)
	}
	return snapshot, err
}

// ReadChanges implements policy.ContentsReader.
func (s *Store) ReadChanges(ctx context.Context, tenant, policyID string) ([]policy.Change, error) {
	row, err := get[policyRow](ctx, s, policyKey(tenant, policyID))
	if errors.Is(err, policy.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.liveChanges(ctx, tenant, row)
	if err != nil {
		return nil, err
	}
	return changesOf(rows)
}

func changesOf(rows []changeRow) ([]policy.Change, error) {
	changes := make([]policy.Change, len(rows))
	for i, r := range rows {
		var err error
		if changes[i], err = r.change(); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// changeRows reads the changes of a policy, dead ones included, in the order of their parts.
func (s *Store) changeRows(ctx context.Context, tenant, policyID string) ([]changeRow, error) {
	items, err := s.listAll(ctx, tenant+"#policy#"+policyID, changePrefix)
	if err != nil {
		return nil, err
	}
	rows := make([]changeRow, len(items))
	for i, item := range items {
		if rows[i], err = decode[changeRow](item); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// liveChanges reads the changes of a policy that count.
func (s *Store) liveChanges(ctx context.Context, tenant string, row policyRow) ([]changeRow, error) {
	rows, err := s.changeRows(ctx, tenant, row.ID)
	return slices.DeleteFunc(rows, func(c changeRow) bool { return !row.isLive(c) }), err
}

// draftContents reads the contents of a draft, and the changes of all drafts of its policy. It returns errOvertaken if
// the draft or its base has changed since their rows were read.
func (s *Store) draftContents(ctx context.Context, tenant string, row policyRow, draft versionRow) (
	policy.Contents, []policy.Change, error) {
	c, err := s.baseContents(ctx, tenant, row)
	if err != nil {
		return c, nil, err
	}
	rows, err := s.liveChanges(ctx, tenant, row)
	if err != nil {
		return c, nil, err
	}
	items, err := s.read(ctx, policyKey(tenant, row.ID), versionKey(tenant, row.ID, draft.Number))
	if err != nil {
		return c, nil, err
	}
	if dynamo.NumberAttribute(items[0], "base") != row.Base ||
		dynamo.NumberAttribute(items[1], "revision") != draft.Revision {
		return c, nil, errOvertaken
	}
	changes, err := changesOf(rows)
	if err != nil {
		return c, nil, err
	}
	own := slices.DeleteFunc(slices.Clone(changes), func(c policy.Change) bool {
		return c.WorkspaceID != draft.Workspace
	})
	c = policy.Apply(c, own)
	c.DataGroups, err = s.publishedGroups(ctx, tenant, c.Fields)
	return c, changes, err
}

// baseContents reads the contents of the base of a policy's drafts.
func (s *Store) baseContents(ctx context.Context, tenant string, row policyRow) (policy.Contents, error) {
	if row.Base == 0 {
		return policy.Contents{EntityType: row.EntityType}, nil
	}
	return s.bundles.read(ctx, tenant, row.BaseDigest)
}

// findField returns the field of contents, which are in the order of the IDs, nil if they have none of this ID.
func findField(c policy.Contents, id string) *policy.Field {
	i, found := slices.BinarySearchFunc(c.Fields, id, func(f policy.Field, id string) int {
		return strings.Compare(f.ID, id)
	})
	if !found {
		return nil
	}
	return &c.Fields[i]
}

// findJurisdiction returns the jurisdiction of contents as findField does.
func findJurisdiction(c policy.Contents, id string) *policy.Jurisdiction {
	i, found := slices.BinarySearchFunc(c.Jurisdictions, id, func(j policy.Jurisdiction, id string) int {
		return strings.Compare(j.ID, id)
	})
	if !found {
		return nil
	}
	return &c.Jurisdictions[i]
}

// DefaultProgramBytes is the total size of the programs that are kept, in bytes of the JSON of their contents; data
// groups count once for each field that refers to them. In memory, a program and its contents take about eight times as
// much: 7.3 times for 2,000 fields with two conditions and three rules each.
const DefaultProgramBytes = 32 << 20

// Programs compiles versions of policies, and keeps the programs from one request to the next. The program of a
// published or archived version is kept without looking again, because such a version never changes. For a draft, each
// Load reads in one request whether the draft or anything that it depends on has changed. Programs is safe for
// concurrent use; calls that need the same program at the same time compile it once.
type Programs[P any] struct {
	store   *Store
	compile func(policy.Contents) (P, error)
	cache   cache[programKey, compiled[P]]
}

// programKey identifies the contents of a version. Revision, base and groups are 0 unless the version is a draft.
type programKey struct {
	tenant, policyID string
	number           int64
	// revision is the revision of a draft.
	revision int64
	// base is the base of a draft.
	base int64
	// groups is the number of changes of the tenant's published data groups so far.
	groups int64
}

// compiled is a program, or why there is none.
type compiled[P any] struct {
	program P
	err     error
}

// NewPrograms returns the programs that compile makes of the contents in s. It keeps at most maxBytes of them, measured
// as DefaultProgramBytes says, which 0 stands for.
func NewPrograms[P any](s *Store, compile func(policy.Contents) (P, error), maxBytes int64) *Programs[P] {
	if maxBytes == 0 {
		maxBytes = DefaultProgramBytes
	}
	return &Programs[P]{
		// Contents are not kept beside the programs that are made of them.
		store:   &Store{table: s.table, bundles: newBundles(s.bundles.files, 0)},
		compile: compile,
		cache:   cache[programKey, compiled[P]]{maxBytes: maxBytes},
	}
}

// Load returns the program of a version. It returns policy.ErrNotFound if there is no such version, policy.ErrChanged
// if every attempt to read the draft was overtaken by a change, and the error of compile as it is.
func (p *Programs[P]) Load(ctx context.Context, tenant, policyID string, number int64) (P, error) {
	final := programKey{tenant: tenant, policyID: policyID, number: number}
	if c, isHeld := p.cache.peek(final); isHeld {
		return c.program, c.err
	}
	c, err := retry(ctx, func() (compiled[P], error) { return p.load(ctx, final) })
	if err != nil {
		return c.program, err
	}
	return c.program, c.err
}

// load reads the rows of a version, and compiles its program unless it is held. It returns errOvertaken if the version
// is a draft that changed meanwhile.
func (p *Programs[P]) load(ctx context.Context, k programKey) (compiled[P], error) {
	items, err := p.store.read(ctx, policyKey(k.tenant, k.policyID), versionKey(k.tenant, k.policyID, k.number),
		key(k.tenant, groupsOwner, changesPart))
	if err != nil {
		return compiled[P]{}, err
	}
	row, err := decode[policyRow](items[0])
	if err != nil {
		return compiled[P]{}, err
	}
	version, err := decode[versionRow](items[1])
	if err != nil {
		return compiled[P]{}, err
	}
	if version.Status == policy.Draft {
		k.revision, k.base, k.groups = version.Revision, row.Base, dynamo.NumberAttribute(items[2], "revision")
	}
	return p.cache.get(ctx, k, func(ctx context.Context) (compiled[P], int64, error) {
		c, size, err := p.contents(ctx, k.tenant, row, version)
		if err != nil {
			return compiled[P]{}, 0, err
		}
		program, err := p.compile(c)
		if err != nil {
			return compiled[P]{program, err}, size + programOverhead, nil
		}
		inGroups, err := c.GroupBytes()
		return compiled[P]{program: program}, size + inGroups + programOverhead, err
	})
}

// contents reads the contents of a version, and the size of their JSON.
func (p *Programs[P]) contents(ctx context.Context, tenant string, row policyRow, version versionRow) (
	policy.Contents, int64, error) {
	if version.Status != policy.Draft {
		return p.store.bundles.decode(ctx, bundleKey{tenant, version.Digest})
	}
	c, _, err := p.store.draftContents(ctx, tenant, row, version)
	if err != nil {
		return c, 0, err
	}
	text, _, err := policy.EncodeContents(c)
	return c, int64(len(text)), err
}

// programOverhead is the size that is counted for a program beside its contents, in bytes.
const programOverhead = 4 << 10
