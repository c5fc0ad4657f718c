package evaluate

import (
	"strings"
)

// The names of the data sources that are treated specially. All others are only looked up in the request.
const (
	sourceProperties  = ""
	sourceCurrentItem = "currentDataGroupItem"
	sourceMetadata    = "entityDataMetadata"
	sourceChanges     = "changedFields"
	sourceMateriality = "screeningMateriality"
)

// scope says where the operands of a condition look values up.
type scope struct {
	kind scopeKind
	// frame is the frame of the item, or 0, the frame of the request, in requestScope.
	frame int
	// isFiltered means that only the values of fields that take part are seen, unless the request says otherwise.
	isFiltered bool
}

// scopeKind is the subject of the operands of a condition.
type scopeKind int

const (
	// wholeRequest is for conditions about the entity.
	wholeRequest scopeKind = iota
	// groupItem is for the fields of a collection, which are evaluated for each item.
	groupItem
	// innerItem is for the operands inside any, all and none.
	innerItem
)

// requestScope is the scope of the fields of the policy itself, and of jurisdictions.
var requestScope = scope{}

func (s scope) isItem() bool { return s.kind != wholeRequest }

// newScope returns a scope with a frame of its own.
func (c *compiler) newScope(kind scopeKind) scope {
	c.program.frames = append(c.program.frames, frameLayout{})
	return scope{kind: kind, frame: len(c.program.frames) - 1}
}

// frameLayout lists the reads of a program from one root: the request, an item of a collection, or an item that an
// operand with any, all or none looks at.
type frameLayout struct {
	reads []readSpec
}

// readSpec is one read from a frame.
type readSpec struct {
	// source is the name of the data source. It is not used in the frame of an item.
	source string
	// name is a name with points. It is looked up as a whole first, and by its steps only if that finds nothing. It is
	// "" if there are less than two steps.
	name string
	// steps are the names that lead to the value, from the root on. Without steps, the value is the root.
	steps []string
}

// readKey finds a readSpec in a frame; its path is the steps.
type readKey struct {
	frame              int
	source, name, path string
}

// ref is where a compiled operand finds its value: in a slot of a frame. Reading it for the first time fills the slot.
type ref struct {
	frame, slot int
	// keys are the data keys on the way to the value that can be hidden.
	keys []int
	// itemKeys are the data keys on the way to the value if it is in the item that the request gives.
	itemKeys []int
	// filteredBy are the data keys on the way to the value if the values of fields that do not take part are not seen.
	filteredBy []int
}

// refTo returns the ref for the value of a name in a data source, and whether it is read from the item of the scope.
func (c *compiler) refTo(source, name string, in scope) (ref, bool) {
	frame := 0
	if in.isItem() && source == sourceCurrentItem || in.kind == innerItem && source == sourceProperties {
		frame, source = in.frame, sourceProperties
	}
	spec := readSpec{source: source}
	if name != "" {
		spec.steps = strings.Split(name, ".")
	}
	if len(spec.steps) > 1 {
		spec.name = name
	}
	r := c.addRead(frame, spec, !isContractMember(source, name))
	if frame == 0 && source == sourceCurrentItem {
		c.program.readsGivenItem = true
		r.itemKeys = c.fieldKeys(append([]string{name}, spec.steps...))
	}
	if in.isFiltered && source == sourceProperties {
		r.filteredBy = c.fieldKeys(append([]string{name}, spec.steps...))
	}
	return r, frame != 0
}

// ownRef returns the ref for the value of a field.
func (c *compiler) ownRef(f *field) ref {
	return c.valueRef(f, f.parent, f.source.DataKey)
}

// valueRef returns the ref for the value of a data key in a group around a field, or in the entity.
func (c *compiler) valueRef(f, parent *field, key string) ref {
	frame, steps := 0, []string{key}
	if parent != nil {
		frame = f.scope.frame
	}
	keys := steps
	for p := parent; p != nil; p = p.parent {
		if keys = append([]string{p.source.DataKey}, keys...); !p.group.isCollection {
			steps = keys
		}
	}
	r := c.addRead(frame, readSpec{steps: steps}, false)
	r.keys = c.maskableKeys(keys)
	return r
}

// addRead adds a read to a frame, unless it is there already.
func (c *compiler) addRead(frame int, spec readSpec, holdsProperties bool) ref {
	key := readKey{frame, spec.source, spec.name, strings.Join(spec.steps, "\x00")}
	slot, ok := c.reads[key]
	if !ok {
		layout := &c.program.frames[frame]
		slot = len(layout.reads)
		layout.reads = append(layout.reads, spec)
		c.reads[key] = slot
	}
	if spec.source == sourceMateriality {
		c.program.readsMateriality = true
	}
	r := ref{frame: frame, slot: slot}
	if holdsProperties {
		r.keys = c.maskableKeys(append([]string{spec.name}, spec.steps...))
	}
	return r
}

// maskableKeys returns which of the names are data keys that can be hidden.
func (c *compiler) maskableKeys(names []string) []int {
	var out []int
	for _, name := range names {
		if i, ok := c.keys[name]; ok && c.maskable[i] {
			out = append(out, i)
		}
	}
	return out
}

// fieldKeys returns which of the names are data keys.
func (c *compiler) fieldKeys(names []string) []int {
	var out []int
	for _, name := range names {
		if i, ok := c.keys[name]; ok {
			out = append(out, i)
		}
	}
	return out
}

// frame is the state of a frameLayout in one evaluation.
type frame struct {
	// root is the item that is looked at. In the frame of the request it is nothing: values are looked up in sources.
	root node
	// slots are the readings from the root, in the order of the layout. A slot with another generation than the frame
	// was read from an earlier root.
	slots      []reading
	generation uint32
}

// setRoot sets the item from which a frame reads, and makes all its readings invalid.
func (e *evaluation) setRoot(index int, item node) {
	f := &e.frames[index]
	if f.slots == nil {
		f.slots = make([]reading, len(e.program.frames[index].reads))
	}
	f.root = item
	f.generation++
}

// read returns the value that a ref leads to. The reading is valid until the next setRoot of its frame.
func (e *evaluation) read(r ref) *reading {
	if e.isFilteredOut(r.filteredBy) {
		return &e.absent
	}
	f := &e.frames[r.frame]
	slot := &f.slots[r.slot]
	if slot.generation != f.generation {
		e.lookUp(slot, f, &e.program.frames[r.frame].reads[r.slot], r.frame == 0)
		slot.generation = f.generation
	}
	return slot
}

// lookUp fills a slot with the value of its readSpec.
func (e *evaluation) lookUp(slot *reading, f *frame, spec *readSpec, isRequest bool) {
	*slot = reading{}
	root := f.root
	if isRequest {
		root = e.source(spec.source)
	}
	if spec.name != "" {
		if e.gather(slot, root, []string{spec.name}); slot.isDefined {
			return
		}
	}
	e.gather(slot, root, spec.steps)
}

// ownValue returns the value of a field. It is valid until another item of the collection is evaluated.
func (e *evaluation) ownValue(f *field) *reading { return e.read(f.own) }
