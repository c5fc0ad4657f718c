// Package access holds access layers, which decide who inside a tenant reaches an object.
package access

import "slices"

// The layers that every caller holds, one in each dimension.
const (
	Global     = "Global"
	Enterprise = "Enterprise"
)

// Layers are the layers of an object or of a caller: names in two dimensions.
type Layers struct {
	Geographic      []string `json:"geographic"`
	BusinessRelated []string `json:"businessRelated"`
}

// OrDefault returns the layers with Global and Enterprise in the dimensions that are empty.
func (l Layers) OrDefault() Layers {
	if len(l.Geographic) == 0 {
		l.Geographic = []string{Global}
	}
	if len(l.BusinessRelated) == 0 {
		l.BusinessRelated = []string{Enterprise}
	}
	return l
}

// CanReach reports whether a caller with the layers l reaches an object: in each dimension the object has the layer
// that every caller holds, or one of the caller's.
func (l Layers) CanReach(object Layers) bool {
	object = object.OrDefault()
	return overlaps(l.Geographic, object.Geographic, Global) &&
		overlaps(l.BusinessRelated, object.BusinessRelated, Enterprise)
}

func overlaps(caller, object []string, everyone string) bool {
	return slices.ContainsFunc(object, func(layer string) bool {
		return layer == everyone ||
			slices.Contains(caller, layer)
	})
}

// Widen returns the layers of l and more, each once, in the order of first mention. A caller that reached an object
// with l reaches it with the result.
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
