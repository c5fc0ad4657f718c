// Package access holds access layers: who may reach an object inside a tenant.
package access

import "slices"

// The layers that everyone holds.
const (
	Global     = "Global"
	Enterprise = "Enterprise"
)

// Layers are names in two dimensions, of an object or of a caller.
type Layers struct {
	Geographic      []string `json:"geographic"`
	BusinessRelated []string `json:"businessRelated"`
}

// OrDefault returns the layers with Global and Enterprise in place of what is empty.
func (l Layers) OrDefault() Layers {
	if len(l.Geographic) == 0 {
		l.Geographic = []string{Global}
	}
	if len(l.BusinessRelated) == 0 {
		l.BusinessRelated = []string{Enterprise}
	}
	return l
}

// Reach reports whether a caller of these layers reaches an object: in each dimension the object bears the layer that everyone
// holds, or one of the caller's.
func (l Layers) Reach(object Layers) bool {
	object = object.OrDefault()
	return share(l.Geographic, object.Geographic, Global) && share(l.BusinessRelated, object.BusinessRelated, Enterprise)
}

func share(caller, object []string, everyone string) bool {
	return slices.ContainsFunc(object, func(layer string) bool { return layer == everyone || slices.Contains(caller, layer) })
}

// Widen returns the layers with those of more added, each once, in order of first mention. It never takes reach away.
func (l Layers) Widen(more Layers) Layers {
	return Layers{union(l.Geographic, more.Geographic), union(l.BusinessRelated, more.BusinessRelated)}
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
