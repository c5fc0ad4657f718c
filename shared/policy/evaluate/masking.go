package evaluate

import "sluice/shared/policy"

// masking is a data key that can be hidden, with the fields that can hide it.
type masking struct {
	// key is the index of the data key.
	key int
	by  []hiding
}

// hiding is how fields hide their data key: from callers who lack the layers, if the fields are sensitive or fields are
// filtered by layers.
type hiding struct {
	// layers is the index of the access layers.
	layers      int
	isSensitive bool
}

// findMaskings finds the data keys that can be hidden. It comes before everything else is compiled, because whatever
// reads a data key must know whether it can be hidden.
func (c *compiler) findMaskings(contents policy.Contents) {
	byKey := map[int]int{}
	find := func(fields []policy.Field) {
		for i := range fields {
			layers := c.layerIndex(fields[i].AccessLayers)
			key := c.keyIndex(fields[i].DataKey)
			if layers == 0 {
				continue
			}
			at, ok := byKey[key]
			if !ok {
				at = len(c.program.maskings)
				byKey[key], c.maskable[key] = at, true
				c.program.maskings = append(c.program.maskings, masking{key: key})
			}
			m := &c.program.maskings[at]
			m.by = append(m.by, hiding{layers, fields[i].IsSensitiveData})
		}
	}
	find(contents.Fields)
	for i := range contents.DataGroups {
		find(contents.DataGroups[i].Fields)
	}
}

// hideKeys finds the data keys that are hidden from the caller.
func (e *evaluation) hideKeys() {
	e.reaches = make([]bool, len(e.program.layers))
	for i, layers := range e.program.layers {
		e.reaches[i] = e.request.Layers.CanReach(layers)
	}
	e.hidden = make([]bool, len(e.program.keys))
	for _, m := range e.program.maskings {
		for _, by := range m.by {
			if !e.reaches[by.layers] && (by.isSensitive || e.request.EnableAccessLayersFiltering) {
				e.hidden[m.key] = true
				if e.hiddenNames == nil {
					e.hiddenNames = map[string]bool{}
				}
				e.hiddenNames[e.program.keys[m.key]] = true
			}
		}
	}
}

// isHidden reports whether one of the data keys is hidden.
func (e *evaluation) isHidden(keys []int) bool {
	for _, key := range keys {
		if e.hidden[key] {
			return true
		}
	}
	return false
}

// isHiddenName reports whether a name in a data source is that of a hidden data key.
func (e *evaluation) isHiddenName(name string) bool { return e.hiddenNames[name] }

// isHiddenKeyName reports whether a value is the name of a hidden data key.
func (e *evaluation) isHiddenKeyName(v *value) bool { return e.hiddenNames[v.scalar()] }

// isMasked reports whether a field is sensitive and the caller lacks its layers.
func (e *evaluation) isMasked(f *field) bool { return f.source.IsSensitiveData && !e.reaches[f.layers] }

// isOwnHidden reports whether the value of a field is hidden.
func (e *evaluation) isOwnHidden(f *field) bool { return e.isHidden(f.own.keys) }
