package policydb

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// SensitiveKeys finds the data keys whose values the published policies of a tenant hide from a caller. It is safe for
// concurrent use.
//
// Each call reads one row, consistently: how often the tenant has published or archived a version, which is counted in
// the same transaction. What was found for that count is kept, so nothing else is read until the count changes, and a
// caller never sees a value that a version hides whose publication was acknowledged before. The policies are read after
// the count: what is kept may be newer than its count, never older.
type SensitiveKeys struct {
	store *Store
	// published has the keys of a tenant, contents those of one version, which never changes.
	published cache[publications, []sensitiveField]
	contents  cache[bundleKey, []sensitiveField]
}

// publications is a count of publications and archivals of a tenant.
type publications struct {
	tenant string
	count  int64
}

// sensitiveCacheBytes bounds each cache of SensitiveKeys.
const sensitiveCacheBytes = 8 << 20

// NewSensitiveKeys returns the sensitive data keys of the policies in s.
func NewSensitiveKeys(s *Store) *SensitiveKeys {
	k := &SensitiveKeys{store: s}
	k.published.maxBytes, k.contents.maxBytes = sensitiveCacheBytes, sensitiveCacheBytes
	return k
}

// HiddenFrom returns, in order, the data keys of the sensitive fields of the last published version of each policy of a
// tenant, unless it is archived, whose access layers a caller with the given ones does not reach. Evaluating the
// version hides the same keys.
func (k *SensitiveKeys) HiddenFrom(ctx context.Context, tenant string, caller access.Layers) ([]string, error) {
	row, err := k.store.table.Get(ctx, key(tenant, policiesOwner, countPart))
	if err != nil || row == nil { // a tenant without the row never had a policy
		return nil, err
	}
	fields, err := k.published.get(ctx, publications{tenant, dynamo.NumberAttribute(row, "publications")},
		func(ctx context.Context) ([]sensitiveField, int64, error) { return k.read(ctx, tenant) })
	var hidden []string
	for _, f := range fields {
		if !caller.CanReach(f.layers()) {
			hidden = append(hidden, f.DataKey)
		}
	}
	return slices.Compact(hidden), err
}

// read returns the sensitive fields of the published policies of a tenant in the order of their data keys, and their
// size.
func (k *SensitiveKeys) read(ctx context.Context, tenant string) ([]sensitiveField, int64, error) {
	listed, err := k.store.listAll(ctx, tenant+"#"+policiesOwner, policyPrefix)
	if err != nil {
		return nil, 0, err
	}
	keys := make([]dynamo.Item, len(listed))
	for i, item := range listed {
		keys[i] = policyKey(tenant, dynamo.StringAttribute(item, "part")[len(policyPrefix):])
	}
	rows, err := k.store.read(ctx, keys...)
	if err != nil {
		return nil, 0, err
	}
	var all []sensitiveField
	for _, item := range rows {
		row, err := decode[policyRow](item)
		if err != nil {
			return nil, 0, err
		}
		if row.Published == 0 {
			continue
		}
		of := bundleKey{tenant, row.BaseDigest} // of the version that was published last
		fields, err := k.contents.get(ctx, of, func(ctx context.Context) ([]sensitiveField, int64, error) {
			fields, err := k.store.bundles.sensitiveFields(ctx, of)
			return fields, sizeOf(fields), err
		})
		if err != nil {
			return nil, 0, err
		}
		all = append(all, fields...)
	}
	slices.SortFunc(all, sensitiveField.compare)
	all = slices.CompactFunc(all, func(a, b sensitiveField) bool { return a.compare(b) == 0 })
	return all, sizeOf(all), nil
}

// sensitiveField is what hides the values of a data key.
type sensitiveField struct {
	DataKey      string               `json:"dataKey"`
	IsSensitive  bool                 `json:"isSensitiveData"`
	AccessLayers *policy.AccessLayers `json:"accessLayers"`
}

func (f sensitiveField) layers() access.Layers {
	if f.AccessLayers == nil {
		return access.Layers{}
	}
	return access.Layers(*f.AccessLayers)
}

// compare orders fields by data key, then layers.
func (f sensitiveField) compare(other sensitiveField) int {
	a, b := f.layers(), other.layers()
	return cmp.Or(cmp.Compare(f.DataKey, other.DataKey), slices.Compare(a.Geographic, b.Geographic),
		slices.Compare(a.BusinessRelated, b.BusinessRelated))
}

// sizeOf estimates the bytes of fields in memory.
func sizeOf(fields []sensitiveField) int64 {
	size := int64(100)
	for _, f := range fields {
		size += int64(len(f.DataKey)) + 100
		for _, name := range slices.Concat(f.layers().Geographic, f.layers().BusinessRelated) {
			size += int64(len(name)) + 20
		}
	}
	return size
}

// sensitiveFields reads the sensitive fields of contents that some caller does not reach. It holds no more of the
// contents in memory than a field at a time.
func (b *bundles) sensitiveFields(ctx context.Context, k bundleKey) ([]sensitiveField, error) {
	var c struct {
		Fields     []sensitiveField `json:"fields"`
		DataGroups []struct {
			Fields []sensitiveField `json:"dataGroupFields"`
		} `json:"dataGroups"`
	}
	err := b.scan(ctx, k, func(text io.Reader) error { return json.UnmarshalRead(text, &c) })
	for _, g := range c.DataGroups {
		c.Fields = append(c.Fields, g.Fields...)
	}
	return slices.DeleteFunc(c.Fields, func(f sensitiveField) bool {
		return !f.IsSensitive || access.Layers{}.CanReach(f.layers())
	}), err
}
