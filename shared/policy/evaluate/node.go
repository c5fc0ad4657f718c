package evaluate

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/platform/property"
)

// node is a place in the properties of the entity or in a data source: an object in which names are looked up, a list,
// or a single value. It holds one of five things: a text (isText and text), the properties of a group, a collection, an
// item of a collection, or a value of a data source. The zero node is nothing.
type node struct {
	isText     bool
	text       property.Text
	properties *property.Split
	collection map[string]property.SplitItem
	item       map[string]property.Text
	value      *sourceValue
}

// isNothing reports whether nothing was found.
func (n node) isNothing() bool {
	return !n.isText && n.properties == nil && n.collection == nil && n.item == nil && n.value == nil
}

// source returns the data source of a name in the request.
func (e *evaluation) source(name string) node {
	if name == sourceProperties {
		return node{properties: &e.request.Properties}
	}
	v, ok := e.sources[name]
	if !ok {
		v = e.withoutHidden(name, parseValue(e.request.DataSources[name]))
		e.sources[name] = v
	}
	return node{value: v}
}

// gather adds all values at the end of the steps from a node to a reading. A step that meets a list goes on from each
// of its elements.
func (e *evaluation) gather(to *reading, n node, steps []string) {
	if n.isNothing() {
		return
	}
	if len(steps) == 0 {
		e.addLeaf(to, n)
		return
	}
	elements, isList := n.elements()
	if !isList {
		e.gather(to, n.lookup(steps[0]), steps[1:])
		return
	}
	to.isList = true
	for _, element := range elements {
		if v := element.value; v != nil && v.kind == scalarValue {
			if len(steps) == 1 && v.text == steps[0] { // a name in a list of names, such as changedFields
				e.addLeaf(to, element)
			}
			continue
		}
		e.gather(to, element, steps)
	}
}

// addLeaf adds the value that a node is.
func (e *evaluation) addLeaf(to *reading, n node) {
	if t, ok := n.asText(); ok {
		to.isDefined = true
		to.addText(t)
		return
	}
	if elements, ok := n.elements(); ok {
		to.isDefined, to.isList = true, true
		for _, element := range elements {
			to.items = append(to.items, element)
			if t, ok := element.asText(); ok && (t.hasValue || t.hasID) {
				to.add(t)
			}
		}
		return
	}
	to.isDefined = true
	to.hasMembers = to.hasMembers || e.hasValue(n)
}

// addText adds one text, or the texts that it lists.
func (r *reading) addText(t text) {
	values, ok := parseList(t.value)
	if !ok {
		if t.hasValue || t.hasID {
			r.add(t)
		}
		return
	}
	r.isList = true
	ids, ok := parseList(t.id)
	if !ok && t.hasID {
		ids = []string{t.id}
	}
	for i := range max(len(values), len(ids)) {
		var one text
		if i < len(values) {
			one.value, one.hasValue = values[i], true
		}
		if i < len(ids) {
			one.id, one.hasID = ids[i], true
		}
		r.add(one)
	}
}

// isEmptyList reports whether a text has neither a value nor an ID, or is a list of nothing but empty values.
func (t text) isEmptyList() bool {
	if t.isEmpty() || t.value == "" || t.value[0] != '[' {
		return t.isEmpty()
	}
	var r reading
	r.addText(t)
	return r.isEmpty()
}

// parseList returns the values of a text that is a JSON array of strings. It returns false for every other text, which
// is one value.
func parseList(s string) ([]string, bool) {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, false
	}
	d := jsontext.NewDecoder(strings.NewReader(s))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	var out []string
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		out = append(out, token.String())
	}
	if _, err := d.ReadToken(); err != nil || d.InputOffset() != int64(len(s)) || d.StackDepth() != 0 {
		return nil, false
	}
	return out, true
}

// lookup returns the node of a name.
func (n node) lookup(name string) node {
	switch {
	case n.properties != nil:
		if t, ok := n.properties.SingleProperties[name]; ok {
			return node{isText: true, text: t}
		}
		if c, ok := n.properties.CollectionProperties[name]; ok {
			return node{collection: nonNil(c.Items)}
		}
		if inner, ok := n.properties.CustomProperties[name]; ok {
			found := inner // on the heap, but only if there is one
			return node{properties: &found}
		}
	case n.item != nil:
		if t, ok := n.item[name]; ok {
			return node{isText: true, text: t}
		}
	case n.value != nil:
		return n.value.lookup(name)
	}
	return node{}
}

func nonNil[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

// elements returns the items of a collection or the elements of a list, in any order.
func (n node) elements() ([]node, bool) {
	switch {
	case n.collection != nil:
		out := make([]node, 0, len(n.collection))
		for _, item := range n.collection {
			out = append(out, node{item: nonNil(item.Properties)})
		}
		return out, true
	case n.value != nil:
		return n.value.elements()
	}
	return nil, false
}

// asText returns the value of a node that is a single value. One that is null has neither a value nor an ID.
func (n node) asText() (text, bool) {
	switch {
	case n.isText:
		return textOf(n.text), true
	case n.value != nil:
		return n.value.asText()
	}
	return text{}, false
}

func textOf(t property.Text) text {
	var out text
	if t.Value != nil {
		out.value, out.hasValue = *t.Value, true
	}
	if t.ValueID != nil {
		out.id, out.hasID = *t.ValueID, true
	}
	return out
}

// hasValue reports whether a group has a value in it that is not hidden.
func (e *evaluation) hasValue(n node) bool {
	switch {
	case n.properties != nil:
		for key, t := range n.properties.SingleProperties {
			if !textOf(t).isEmptyList() && !e.isHiddenName(key) {
				return true
			}
		}
		for key, c := range n.properties.CollectionProperties {
			if len(c.Items) > 0 && !e.isHiddenName(key) {
				return true
			}
		}
		for key, inner := range n.properties.CustomProperties {
			if !e.isHiddenName(key) && e.hasValue(node{properties: &inner}) {
				return true
			}
		}
	case n.item != nil:
		for key, t := range n.item {
			if !textOf(t).isEmptyList() && !e.isHiddenName(key) {
				return true
			}
		}
	case n.value != nil:
		return n.value.hasValue()
	}
	return false
}
