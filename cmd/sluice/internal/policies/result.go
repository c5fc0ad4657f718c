package policies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/cmd/sluice/internal/policyfile"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// resultPrinter prints the result of an evaluation for people.
type resultPrinter struct {
	ui *terminal.Terminal
	// properties are those of the entity, whose values the result does not repeat.
	properties property.Split
	// isReadOnly leaves values out, as read-only results have none.
	isReadOnly bool
	// names are those of conditions, by data key and ID, as far as they are known.
	names map[[2]string]string
}

// namesOfConditions returns the names of the conditions of a policy by data key and ID.
func namesOfConditions(c policy.Contents) map[[2]string]string {
	names := map[[2]string]string{}
	all := slices.Clone(c.Fields)
	for _, g := range c.DataGroups {
		all = append(all, g.Fields...)
	}
	for _, f := range all {
		policyfile.EachCondition(&f, func(c *policy.Condition) { names[[2]string{f.DataKey, c.ID}] = c.Name })
	}
	return names
}

// decidedBy names the conditions that decided about a field.
func (p *resultPrinter) decidedBy(f *evaluate.GroupField) string {
	var all []string
	for _, id := range f.DecidedBy {
		if name := p.names[[2]string{f.DataKey, id}]; name != "" {
			id += " (" + name + ")"
		}
		all = append(all, id)
	}
	return "decided by " + linefile.Printable(strings.Join(all, ", "))
}

// resultPart is a field, a collection or a custom group of a result.
type resultPart struct {
	category string
	order    float64
	print    func()
}

// print prints the parts of a result by category, in the order of the policy.
func (p *resultPrinter) print(r evaluate.Result) {
	var parts []resultPart
	for _, f := range r.EvaluatedFields {
		parts = append(parts, resultPart{f.Category, f.Order, func() {
			p.printField("  ", &f.GroupField, p.properties.SingleProperties)
		}})
	}
	for _, g := range r.EvaluatedCollectionDataGroups {
		parts = append(parts, resultPart{g.Category, g.Order, func() { p.printCollection(g) }})
	}
	for _, g := range r.EvaluatedCustomDataGroups {
		parts = append(parts, resultPart{g.Category, g.Order, func() {
			p.printCustom("  ", g, p.properties.CustomProperties[g.DataKey])
		}})
	}
	first := map[string]float64{}
	for _, part := range parts {
		if order, ok := first[part.category]; !ok || part.order < order {
			first[part.category] = part.order
		}
	}
	slices.SortStableFunc(parts, func(a, b resultPart) int {
		return cmp.Or(cmp.Compare(first[a.category], first[b.category]), strings.Compare(a.category, b.category),
			cmp.Compare(a.order, b.order))
	})
	var names []string
	for _, j := range r.EvaluatedJurisdictions {
		names = append(names, linefile.Printable(j.Name))
	}
	if !p.isReadOnly {
		p.ui.Printf("jurisdictions: %s\n", cmp.Or(strings.Join(names, ", "), "none"))
	}
	for i, part := range parts {
		if i == 0 || parts[i-1].category != part.category {
			p.ui.Printf("%s\n", p.ui.Paint(terminal.Bold, linefile.Printable(part.category)))
		}
		part.print()
	}
	if !p.isReadOnly {
		p.ui.Printf("%s, %s\n", terminal.CountOf(int64(countFields(r)), "field"),
			terminal.CountOf(int64(countErrors(r)), "wrong value"))
	}
}

func (p *resultPrinter) printCollection(g evaluate.CollectionDataGroup) {
	p.ui.Printf("  %-28s %s\n", linefile.Printable(g.DataKey), p.ui.Paint(terminal.Dim,
		terminal.CountOf(int64(len(g.EvaluatedItems)), "item")))
	p.printErrors("  ", g.ValidationErrors)
	items := p.properties.CollectionProperties[g.DataKey].Items
	for _, id := range slices.Sorted(maps.Keys(g.EvaluatedItems)) {
		p.ui.Printf("    %s\n", linefile.Printable(id))
		for _, f := range g.EvaluatedItems[id].EvaluatedFields {
			p.printField("      ", f, items[id].Properties)
		}
	}
}

func (p *resultPrinter) printCustom(indent string, g evaluate.CustomDataGroup, values property.Split) {
	p.ui.Printf("%s%s\n", indent, linefile.Printable(g.DataKey))
	for _, f := range g.SingleFields {
		p.printField(indent+"  ", &f, values.SingleProperties)
	}
	for _, inner := range g.CustomNestedFields {
		p.printCustom(indent+"  ", inner, values.CustomProperties[inner.DataKey])
	}
}

// printField prints a field: its key, value and marks, and below them what is wrong and what decided.
func (p *resultPrinter) printField(indent string, f *evaluate.GroupField, values map[string]property.Text) {
	var marks []string
	for _, mark := range []struct {
		name  string
		isSet bool
	}{
		{"required", f.IsRequired}, {"read-only", f.IsReadOnly}, {"conditional", f.IsConditional},
		{"sensitive", f.IsSensitiveData},
		{"clear the value", f.ShouldClearValue},
	} {
		if mark.isSet {
			marks = append(marks, mark.name)
		}
	}
	line := fmt.Sprintf("%-*s %-30s %s", max(30-len(indent), 8), linefile.Printable(f.DataKey), p.valueOf(f,
		values[f.DataKey]),
		p.ui.Paint(terminal.Dim, strings.Join(marks, ", ")))
	p.ui.Printf("%s%s\n", indent, strings.TrimRight(line, " "))
	p.printErrors(indent, f.ValidationErrors)
	if f.DecidedBy != nil {
		p.ui.Printf("%s  %s\n", indent, p.ui.Paint(terminal.Dim, p.decidedBy(f)))
	}
}

// valueOf returns the value of a field: that of the entity, and what the policy gives it.
func (p *resultPrinter) valueOf(f *evaluate.GroupField, own property.Text) string {
	shown := func(text *string) string {
		if text == nil {
			return ""
		}
		return linefile.Printable(*text)
	}
	switch {
	case p.isReadOnly:
		return ""
	case f.IsMasked:
		return "********"
	case f.HasCalculatedValue:
		return shown(f.CalculatedFieldResult) + " (calculated)"
	case f.HasEvaluatedConditionalValue:
		return shown(f.EvaluatedConditionalValue) + " (conditional)"
	case own.Value != nil:
		return shown(own.Value)
	case f.HasEvaluatedDefaultValue:
		return shown(f.DefaultValue) + " (default)"
	}
	return "-"
}

func (p *resultPrinter) printErrors(indent string, errs []evaluate.ValidationError) {
	for _, e := range errs {
		p.ui.Printf("%s  %s\n", indent, p.ui.Paint(terminal.Red, e.Validator+": "+linefile.Printable(e.Message)))
	}
}

// countErrors counts what is wrong with the values of an entity.
func countErrors(r evaluate.Result) int {
	n := 0
	eachGroupField(r, func(f *evaluate.GroupField) { n += min(len(f.ValidationErrors), 1) })
	for _, g := range r.EvaluatedCollectionDataGroups {
		n += min(len(g.ValidationErrors), 1)
	}
	return n
}

func countFields(r evaluate.Result) int {
	n := 0
	eachGroupField(r, func(*evaluate.GroupField) { n++ })
	return n
}

// eachGroupField calls use with each field of a result, those of groups and items included.
func eachGroupField(r evaluate.Result, use func(f *evaluate.GroupField)) {
	for i := range r.EvaluatedFields {
		use(&r.EvaluatedFields[i].GroupField)
	}
	for _, g := range r.EvaluatedCollectionDataGroups {
		for _, item := range g.EvaluatedItems {
			for i := range item.EvaluatedFields {
				use(item.EvaluatedFields[i])
			}
		}
	}
	var custom func(all []evaluate.CustomDataGroup)
	custom = func(all []evaluate.CustomDataGroup) {
		for _, g := range all {
			for i := range g.SingleFields {
				use(&g.SingleFields[i])
			}
			custom(g.CustomNestedFields)
		}
	}
	custom(r.EvaluatedCustomDataGroups)
}

// plainOf returns a read-only result in the form of the plain one, without what it does not have.
func plainOf(r evaluate.ReadOnlyResult) evaluate.Result {
	var out evaluate.Result
	for _, f := range r.EvaluatedFields {
		out.EvaluatedFields = append(out.EvaluatedFields, evaluate.EvaluatedField{
			GroupField: *displayedField(&f.DisplayField), Category: f.Category,
		})
	}
	for _, g := range r.EvaluatedCollectionDataGroups {
		items := map[string]evaluate.EvaluatedItem{}
		for id, item := range g.EvaluatedItems {
			var fields []*evaluate.GroupField
			for _, ref := range item.EvaluatedFieldRefs {
				fields = append(fields, displayedField(g.EvaluatedFields[ref]))
			}
			items[id] = evaluate.EvaluatedItem{EvaluatedFields: fields}
		}
		out.EvaluatedCollectionDataGroups = append(out.EvaluatedCollectionDataGroups, evaluate.CollectionDataGroup{
			CollectionHeader: evaluate.CollectionHeader{DataKey: g.DataKey, Category: g.Category, Order: g.Order},
			EvaluatedItems:   items,
		})
	}
	return out
}

func displayedField(f *evaluate.DisplayField) *evaluate.GroupField {
	return &evaluate.GroupField{DataKey: f.DataKey, Order: f.Order, IsMasked: f.IsMasked,
		IsSensitiveData: f.IsSensitiveData, DecidedBy: f.DecidedBy}
}

// distinctOf returns a normalized result in the form of the plain one, with one item that has all distinct fields.
func distinctOf(r evaluate.NormalizedResult) evaluate.Result {
	out := evaluate.Result{EvaluatedFields: r.EvaluatedFields, EvaluatedCustomDataGroups: r.EvaluatedCustomDataGroups}
	for _, g := range r.EvaluatedCollectionDataGroups {
		all := map[string]evaluate.EvaluatedItem{"": {EvaluatedFields: g.EvaluatedFields}}
		out.EvaluatedCollectionDataGroups = append(out.EvaluatedCollectionDataGroups,
			evaluate.CollectionDataGroup{CollectionHeader: g.CollectionHeader, EvaluatedItems: all})
	}
	return out
}
