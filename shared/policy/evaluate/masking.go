package evaluate

import (
	"slices"

	"sluice/shared/policy"
)

// masking is a data key that can be hidden from callers, with the fields that can hide it.
type masking struct {
	// key is the index of the data key.
	key     int
	hidings []hiding
}

// hiding is the rule by which a field hides its data key: from callers who lack its layers, if it is sensitive or if
// the request filters fields by layers.
type hiding struct {
	// layers is the index of the access layers.
	layers      int
	isSensitive bool
}

// findMaskings finds the data keys that can be hidden. It precedes all other compilation, because every reader of a
// data key must know whether it can be hidden.
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
			m.hidings = append(m.hidings, hiding{layers, fields[i].IsSensitiveData})
		}
	}
	find(contents.Fields)
	for i := range contents.DataGroups {
		find(contents.DataGroups[i].Fields)
	}
}

// hideKeys finds the data keys that are hidden from the caller.
func (e *evaluation) hideKeys() {
	p := e.program
	e.reachesLayers = make([]bool, len(p.layers))
	for i, layers := range p.layers {
		e.reachesLayers[i] = e.request.Layers.CanReach(layers)
	}
	e.hidden = make([]bool, len(p.keys))
	for _, m := range p.maskings {
		for _, by := range m.hidings {
			if !e.reachesLayers[by.layers] && (by.isSensitive || e.request.EnableAccessLayersFiltering) {
				e.hidden[m.key] = true
				if e.hiddenNames == nil {
					e.hiddenNames = map[string]bool{}
				}
				e.hiddenNames[p.keys[m.key]] = true
			}
		}
	}
	if p.readsGivenItem && e.hiddenNames != nil {
		e.hiddenInItem, e.hiddenItemNames = make([]bool, len(p.keys)), map[string]bool{}
		e.hideInItem(p.fields)
	}
}

// hideInItem hides the data keys of all hidden groups in the item that the request gives, because the item can be one
// of such a group.
func (e *evaluation) hideInItem(fields []*field) {
	for _, f := range fields {
		if f.parent != nil && e.isHidden(f.parent.own.keys) {
			e.hiddenInItem[f.key], e.hiddenItemNames[f.source.DataKey] = true, true
		}
		if f.group != nil {
			e.hideInItem(f.group.fields)
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

// hides reports whether a data key on the path of a ref is hidden, so that the ref must not be read.
func (e *evaluation) hides(r ref) bool {
	if e.isHidden(r.keys) {
		return true
	}
	return e.hiddenInItem != nil && slices.ContainsFunc(r.itemKeys, func(key int) bool { return e.hiddenInItem[key] })
}

// isHiddenName reports whether a name is a hidden data key.
func (e *evaluation) isHiddenName(name string) bool { return e.hiddenNames[name] }

// contractMembers are, for each data source, the members that docs/contract/policy.md defines. They are not properties
// of entities, so they stay visible even if a hidden data key has the same name.
var contractMembers = map[string][]string{
	sourceMetadata: {"entityType", "entityId"}, "currentUser": {"teamIds", "isSystemUser"},
	"currentJourneys": {"inProgressJourneyTypes"},
	sourceMateriality: {
		"mainEntity", "materialityOutcome", "sanctionsProceedDecision",
		"pepMaterialityStatus", "sanctionsMaterialityStatus", "adverseMediaMaterialityStatus",
		"enforcementsMaterialityStatus", "otherMaterialityStatus",
		"pepMaterialityJurisdictions", "sanctionsMaterialityJurisdictions", "adverseMediaMaterialityJurisdictions",
		"enforcementsMaterialityJurisdictions", "otherMaterialityJurisdictions",
	},
}

// isContractMember reports whether a name in a data source is a member of it by its contract.
func isContractMember(source, name string) bool {
	return slices.Contains(contractMembers[source], name)
}

// withoutHidden removes hidden parts from a data source, because operands can reach values on paths that hides does not
// see: members named by hidden data keys, objects with a hidden dataKey and, in changedFields, hidden data keys
// themselves. It changes v.
func (e *evaluation) withoutHidden(source string, v *sourceValue) *sourceValue {
	if e.hiddenNames == nil || v == nil {
		return v
	}
	isHidden := e.isHiddenName
	if source == sourceCurrentItem {
		isHidden = func(name string) bool { return e.hiddenNames[name] || e.hiddenItemNames[name] }
	}
	kept := map[string]*sourceValue{}
	for _, name := range contractMembers[source] {
		if member := v.member(name); member != nil {
			kept[name] = member.without(isHidden, false)
		}
	}
	if v = v.without(isHidden, source == sourceChanges); v != nil {
		for name, member := range kept {
			if member != nil {
				v.members[name] = member
			}
		}
	}
	return v
}

// without removes the parts about hidden data keys from the value, and returns the value, or nil if all of it is about
// one. With isListOfKeys, the elements of lists are data keys.
func (v *sourceValue) without(isHidden func(name string) bool, isListOfKeys bool) *sourceValue {
	switch v.kind {
	case objectValue:
		if isHidden(v.member("dataKey").scalar()) {
			return nil
		}
		for name, member := range v.members {
			if isHidden(name) || member.without(isHidden, isListOfKeys) == nil {
				delete(v.members, name)
			}
		}
	case listValue:
		v.list = slices.DeleteFunc(v.list, func(element *sourceValue) bool {
			return isListOfKeys && element.kind == scalarValue && isHidden(element.text) ||
				element.without(isHidden, isListOfKeys) == nil
		})
	}
	return v
}

// isMasked reports whether a field is sensitive and the caller lacks its layers.
func (e *evaluation) isMasked(f *field) bool {
	return f.source.IsSensitiveData && !e.reachesLayers[f.layers]
}

// isOwnHidden reports whether the value of a field is hidden.
func (e *evaluation) isOwnHidden(f *field) bool { return e.isHidden(f.own.keys) }
