package property

import "maps"

// Changes are properties as a client sends them to be merged into others: null removes a property.
type Changes map[string]*Property

// Normalized returns the changes with null in place of properties without a value.
func (c Changes) Normalized() Changes {
	out := maps.Clone(c)
	for key, p := range out {
		if p != nil && p.IsEmpty() {
			out[key] = nil
		}
	}
	return out
}

// Values returns the properties for Validate; null counts as a single property without a value.
func (c Changes) Values() map[string]Property {
	out := make(map[string]Property, len(c))
	for key, p := range c {
		if out[key] = (Property{Type: Single}); p != nil {
			out[key] = *p
		}
	}
	return out
}

// With returns the changes and, over them, those of later. Neither is changed.
func (c Changes) With(later Changes) Changes {
	all := maps.Clone(c)
	if all == nil {
		all = Changes{}
	}
	maps.Copy(all, later)
	return all
}

// Apply returns the properties after the changes. The map is not changed.
func (c Changes) Apply(old map[string]Property) map[string]Property {
	out := Merge(old, nil)
	for key, p := range c {
		if p == nil {
			delete(out, key)
			continue
		}
		out[key] = *p
	}
	return out
}
