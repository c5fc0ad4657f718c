package policydb

import (
	"context"

	"sluice/shared/dynamo"
	"sluice/shared/policy"
)

// DefaultProgramBytes bounds the programs that are kept, in bytes of the JSON of their contents, data groups counted
// once for each field that refers to them. A program, with the contents to which it refers, takes about eight times as
// much memory: 7.3 times for 2,000 fields with two conditions and three rules each.
const DefaultProgramBytes = 32 << 20

// Programs compiles versions of policies, and keeps the programs from one request to the next. A version that is
// published or archived never changes: once its program is held, nothing is read for it. Of a draft it is read each
// time, in one request, whether the draft or what it depends on has changed. It is safe for concurrent use; several
// calls that need the same program make it once.
type Programs[P any] struct {
	store   *Store
	compile func(policy.Contents) (P, error)
	cache   cache[programKey, compiled[P]]
}

// programKey names what a version says. The last three are 0 if it never changes.
type programKey struct {
	tenant, policyID string
	number           int64
	// revision is that of a draft.
	revision int64
	// base is the version from which a draft goes on.
	base int64
	// groups is how often the tenant's published data groups have changed.
	groups int64
}

// compiled is a program, or why there is none.
type compiled[P any] struct {
	program P
	err     error
}

// NewPrograms returns programs that are compiled by compile from the contents that s has. They take at most maxBytes,
// 0 for DefaultProgramBytes; see there.
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
// if others change the draft again and again meanwhile, and the error of compile as it is.
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

// load reads what a version is, and makes its program unless it is held. It returns errOvertaken if the version is a
// draft that has changed meanwhile.
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

// programOverhead is what a program of no contents takes.
const programOverhead = 4 << 10
