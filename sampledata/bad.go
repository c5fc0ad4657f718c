package sampledata

import "slices"

// duplicateSlots is how many of the slots are duplicates.
const duplicateSlots = 8

// largeCycles is in how many cycles of the slots the faults that make huge lines are used.
const largeCycles = 2

// slot is what the bad lines are in turn: a fault, or a member of a set of duplicates.
type slot struct {
	fault *fault // nil: a duplicate
	rank  int    // of a duplicate: how many slots before are duplicates
}

// slots returns each fault once and the duplicates, in an order that depends on the seed.
func slots(seed uint64) []slot {
	out := make([]slot, 0, len(faults)+duplicateSlots)
	for i := range faults {
		out = append(out, slot{fault: &faults[i]})
	}
	out = append(out, make([]slot, duplicateSlots)...)
	r := stream(seed, domainSlots, 0)
	for i := len(out) - 1; i > 0; i-- {
		j := r.below(uint64(i + 1))
		out[i], out[j] = out[j], out[i]
	}
	rank := 0
	for i := range out {
		out[i].rank = rank
		if out[i].fault == nil {
			rank++
		}
	}
	return out
}

// Kinds returns every kind of error that bad lines have.
func Kinds() []string {
	kinds := []string{kindDuplicate}
	for _, f := range faults {
		kinds = append(kinds, f.kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// EveryKind is how many bad lines a batch must have for every way of being bad to be among them.
func EveryKind() int64 { return int64(len(faults) + duplicateSlots) }

// duplicatesBefore counts the duplicates among the first j bad lines.
func (g *Generator) duplicatesBefore(j int64) int64 {
	n := int64(len(g.slots))
	return j/n*duplicateSlots + int64(g.slots[j%n].rank)
}

// badLineText makes line n, which is the j-th bad one.
func (g *Generator) badLineText(n, j int64) (text []byte, kind string) {
	s := g.slots[j%int64(len(g.slots))]
	f := s.fault
	switch {
	case f == nil && g.dups > 1:
		g.line(n, []edit{{modification, "external_id", `"` + g.sharedID(g.duplicatesBefore(j)) + `"`}})
		return g.w.buf, kindDuplicate
	case f == nil, f.large && j/int64(len(g.slots)) >= largeCycles:
		f = &faults[0]
	}
	edits := f.edits
	if f.fill != nil {
		edits = f.fill(g, g.r.next())
	}
	if edits == nil {
		edits = []edit{} // a bad line all the same
	}
	g.line(n, edits)
	if f.bytes != nil {
		g.w.buf = f.bytes(g.w.buf, &g.r)
	}
	return g.w.buf, f.kind
}

// sharedID is the modification ID of the d-th duplicate. Sets have two or three members, two fifths of the file apart;
// the very small number of duplicates that makes no such sets makes one.
func (g *Generator) sharedID(d int64) string {
	sets := max(g.dups*2/5, 1)
	return g.id(domainShared, uint64(d%sets))
}
