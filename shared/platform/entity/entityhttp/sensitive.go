package entityhttp

import (
	"context"
	"encoding/json"
	"slices"

	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
)

// SensitiveKeys knows what the published policies of tenants hide.
type SensitiveKeys interface {
	// HiddenFrom returns, in order, the data keys whose values are hidden from a caller with the given access layers,
	// as of every publication acknowledged before.
	HiddenFrom(ctx context.Context, tenant string, caller access.Layers) ([]string, error)
}

// attributeMaskPartial is auth.AttributeMaskPartial: "true" if partial properties are masked, too.
const attributeMaskPartial = "maskPartialProperties"

// mask hides the sensitive properties of entities and drafts from a caller. A reply does not depend on hidden values,
// nor on whether there are any: each hidden key is among the masked properties of every entity.
type mask struct {
	keys []string
	has  map[string]bool
}

// maskFor returns the mask for the caller of a request.
func (s *Entities) maskFor(ctx context.Context, r *platform.Request) (mask, error) {
	keys, err := s.Sensitive.HiddenFrom(ctx, r.Tenant, r.Layers)
	keys = slices.DeleteFunc(keys, func(key string) bool { return len(key) > platform.MaxName }) // no property has it
	m := mask{keys, make(map[string]bool, len(keys))}
	for _, key := range keys {
		m.has[key] = true
	}
	return m, err
}

// masked returns the handler of requests that is given the mask for their caller.
func masked[In, Reply any](s *Entities, handle func(context.Context, *platform.Request, In, mask) (Reply, error)) func(
	context.Context, *platform.Request, In) (Reply, error) {
	return func(ctx context.Context, r *platform.Request, in In) (reply Reply, err error) {
		m, err := s.maskFor(ctx, r)
		if err != nil {
			return reply, err
		}
		return handle(ctx, r, in, m)
	}
}

// Shown is a property of a reply: as property.Property, but a masked one has its null value.
type Shown struct{ property.Property }

// MarshalJSON implements json.Marshaler.
func (p Shown) MarshalJSON() ([]byte, error) {
	if p.IsEmpty() {
		return []byte(`{"type":"Single","value":null}`), nil
	}
	return json.Marshal(p.Property)
}

// visible returns the properties that the caller may see.
func (m mask) visible(properties map[string]property.Property) map[string]property.Property {
	return property.Without(properties, m.has)
}

// shown returns properties as replies have them: hidden ones are single properties without a value.
func (m mask) shown(properties map[string]property.Property) map[string]Shown {
	out := make(map[string]Shown, len(properties)+len(m.keys))
	for key, p := range m.visible(properties) {
		out[key] = Shown{p}
	}
	for _, key := range m.keys {
		out[key] = Shown{property.Property{Type: property.Single}}
	}
	return out
}

// split returns properties apart by their kinds, with the hidden ones among the single ones.
func (m mask) split(properties map[string]property.Property) property.Split {
	out := property.SplitByKind(m.visible(properties))
	for _, key := range m.keys {
		out.SingleProperties[key] = property.Text{}
	}
	return out
}

// masked returns the list of masked properties of a reply.
func (m mask) masked() []string { return platform.OrEmpty(m.keys) }

// name returns the name of an entity as the caller may see it.
func (m mask) name(properties map[string]property.Property) string {
	return entity.DisplayName(m.visible(properties))
}

// hidesNames reports whether the mask can hide a part of a name.
func (m mask) hidesNames() bool {
	return slices.ContainsFunc(entity.NameKeys, func(key string) bool { return m.has[key] })
}

// keep returns changes of properties without those that remove what the caller cannot see: a client that sends back
// what it has read must not remove values by that.
func (m mask) keep(changes property.Changes) property.Changes {
	for _, key := range m.keys {
		if p, ok := changes[key]; ok && p == nil {
			delete(changes, key)
		}
	}
	return changes
}
