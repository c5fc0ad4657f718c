package policyfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/policy"
)

// FieldKey returns what a field without an ID is known by: its data key, categories and jurisdictions.
func FieldKey(f policy.Field) string {
	sorted := func(all []string) string { return strings.Join(slices.Sorted(slices.Values(all)), "\x01") }
	return strings.Join([]string{f.DataKey, sorted(f.Categories), sorted(f.JurisdictionIDs)}, "\x00")
}

// The beginnings of the IDs of conditions that have none in the file.
const (
	showingCondition = "condition"
	valueCondition   = "value"
)

// completeField gives IDs to the conditions of a field that have none.
func completeField(f *policy.Field) {
	eachCondition(f, func(c *policy.Condition, standard string) {
		if c.ID == "" {
			c.ID = standard
		}
	})
}

// completeConditions gives IDs to the conditions of a jurisdiction that have none.
func completeConditions(conditions []policy.Condition) {
	for i := range conditions {
		if c := &conditions[i]; c.ID == "" {
			c.ID = standardID(showingCondition, i)
		}
	}
}

// standardID is the ID of a condition to which a file gives none.
func standardID(name string, i int) string { return fmt.Sprintf("%s-%d", name, i+1) }

// EachCondition calls use with each condition of a field: those that show it, and those of its values and rules.
func EachCondition(f *policy.Field, use func(c *policy.Condition)) {
	eachCondition(f, func(c *policy.Condition, _ string) { use(c) })
}

// eachCondition calls use with each condition of a field and the ID that it has if the file gives none.
func eachCondition(f *policy.Field, use func(c *policy.Condition, standard string)) {
	for i := range f.Conditions {
		use(&f.Conditions[i], standardID(showingCondition, i))
	}
	for i := range f.ConditionalValues {
		use(&f.ConditionalValues[i].Condition, standardID(valueCondition, i))
	}
	for name, rule := range f.ValidationRules.All() {
		for i := range rule.DynamicRules {
			use(&rule.DynamicRules[i].Condition, standardID(name, i))
		}
	}
}

// Resolve returns the contents of a file with the IDs of what it is in the current contents, so that both can be
// compared. What has no counterpart there has the ID that the file gives, or one that follows from its names.
func (f *File) Resolve(current policy.Contents) policy.Contents { return align(f.Contents, current) }

// align returns contents with the IDs of their counterparts in others, by which they are found: by ID, else by name. A
// field is found by its ID, else by its data key, categories and jurisdictions, else by its data key if only one of
// each side is left that has it.
func align(contents, others policy.Contents) policy.Contents {
	jurisdictions := pairIDs(contents.Jurisdictions, others.Jurisdictions,
		func(j policy.Jurisdiction) string { return j.ID }, func(j policy.Jurisdiction) string { return j.Name })
	groups := pairIDs(contents.DataGroups, others.DataGroups,
		func(g policy.DataGroup) string { return g.ID }, func(g policy.DataGroup) string { return g.Name })
	out := policy.Contents{EntityType: contents.EntityType}
	for _, j := range contents.Jurisdictions {
		j.ID = jurisdictions[j.ID]
		out.Jurisdictions = append(out.Jurisdictions, j)
	}
	byID := map[string]policy.DataGroup{}
	for _, g := range others.DataGroups {
		byID[g.ID] = g
	}
	for _, g := range contents.DataGroups {
		g.ID = groups[g.ID]
		g.Fields = alignFields(g.Fields, byID[g.ID].Fields, jurisdictions, groups)
		out.DataGroups = append(out.DataGroups, g)
	}
	out.Fields = alignFields(contents.Fields, others.Fields, jurisdictions, groups)
	return out
}

func alignFields(fields, others []policy.Field, jurisdictions, groups map[string]string) []policy.Field {
	out := slices.Clone(fields)
	for i := range out {
		f := &out[i]
		f.JurisdictionIDs = slices.Clone(f.JurisdictionIDs)
		for n, id := range f.JurisdictionIDs {
			f.JurisdictionIDs[n] = cmp.Or(jurisdictions[id], id)
		}
		protection := &f.DataProtectionJurisdictionID
		*protection = cmp.Or(jurisdictions[*protection], *protection)
		if f.HasDataGroup() {
			f.FieldTypeID = cmp.Or(groups[f.FieldTypeID], f.FieldTypeID)
		}
	}
	ids := pairIDs(out, others, func(f policy.Field) string { return f.ID }, FieldKey,
		func(f policy.Field) string { return f.DataKey })
	for i := range out {
		out[i].ID = ids[out[i].ID]
	}
	return out
}

// pairIDs returns the IDs in others of the counterparts of all, by their own IDs: those with the same ID, then by each
// of the names in turn those left over whose name is that of one on each side. What has no counterpart keeps its ID.
func pairIDs[T any](all, others []T, id func(T) string, names ...func(T) string) map[string]string {
	pairs, taken := map[string]string{}, map[string]bool{}
	for _, name := range append([]func(T) string{id}, names...) {
		free := map[string][]string{}
		for _, o := range others {
			if !taken[id(o)] {
				free[name(o)] = append(free[name(o)], id(o))
			}
		}
		searching := map[string][]string{}
		for _, a := range all {
			if pairs[id(a)] == "" {
				searching[name(a)] = append(searching[name(a)], id(a))
			}
		}
		for text, ids := range searching {
			if len(ids) == 1 && len(free[text]) == 1 {
				pairs[ids[0]], taken[free[text][0]] = free[text][0], true
			}
		}
	}
	for _, a := range all {
		if pairs[id(a)] == "" {
			pairs[id(a)] = id(a)
		}
	}
	return pairs
}
