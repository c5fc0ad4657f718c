package policydb

import (
	"context"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

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
		store:   &Store{db: s.db, table: s.table, bundles: newBundles(s.bundles.files, 0)},
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
