package policyfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"sluice/shared/policy"
)

// Format writes contents as a YAML file that Parse reads as the same contents: with all IDs but those that a file gives
// its conditions by itself.
func Format(c policy.Contents) ([]byte, error) {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(newTree(reflect.ValueOf(newFileContents(c)))); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

// FormatJSON writes contents as Format does, in JSON.
func FormatJSON(c policy.Contents) ([]byte, error) {
	var generic any
	if err := newTree(reflect.ValueOf(newFileContents(c))).Decode(&generic); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(generic)
	return out.Bytes(), err
}

// newFileContents gives contents the form of a file.
func newFileContents(c policy.Contents) fileContents {
	jurisdictions, groups := nameTable{}, nameTable{}
	for _, j := range c.Jurisdictions {
		jurisdictions.add(j.Name, j.ID)
	}
	for _, g := range c.DataGroups {
		groups.add(g.Name, g.ID)
	}
	out := fileContents{EntityType: c.EntityType, Fields: newFileFields(c.Fields, jurisdictions, groups)}
	for _, j := range c.Jurisdictions {
		j.Conditions = slices.Clone(j.Conditions)
		for i := range j.Conditions {
			if j.Conditions[i].ID == standardID(showingCondition, i) {
				j.Conditions[i].ID = ""
			}
		}
		out.Jurisdictions = append(out.Jurisdictions, fileJurisdiction{j})
	}
	for _, g := range c.DataGroups {
		out.DataGroups = append(out.DataGroups, fileGroup{
			ID: g.ID, Name: g.Name, Description: g.Description, PrimaryField: g.PrimaryField,
			DisableMultiselectPrimaryFieldOnAdd: g.DisableMultiselectPrimaryFieldOnAdd,
			Fields:                              newFileFields(g.Fields, jurisdictions, groups),
		})
	}
	return out
}

func newFileFields(all []policy.Field, jurisdictions, groups nameTable) []fileField {
	all = sortFields(all)
	out := make([]fileField, len(all))
	for i, f := range all {
		f = copyField(f)
		eachCondition(&f, func(c *policy.Condition, standard string) {
			if c.ID == standard {
				c.ID = ""
			}
		})
		file := fileField{Field: f, DataProtectionJurisdiction: jurisdictions.nameOf(f.DataProtectionJurisdictionID)}
		for _, id := range f.JurisdictionIDs {
			file.Jurisdictions = append(file.Jurisdictions, jurisdictions.nameOf(id))
		}
		if f.HasDataGroup() {
			file.DataGroup, file.FieldTypeID = groups.nameOf(f.FieldTypeID), ""
		}
		out[i] = file
	}
	return out
}

// sortFields returns the fields by their order, then their IDs.
func sortFields(all []policy.Field) []policy.Field {
	return slices.SortedStableFunc(slices.Values(all), func(a, b policy.Field) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
	})
}

// copyField returns a field that shares no conditions with the given one.
func copyField(f policy.Field) policy.Field {
	f.Conditions = slices.Clone(f.Conditions)
	f.ConditionalValues = slices.Clone(f.ConditionalValues)
	rules := reflect.ValueOf(&f.ValidationRules).Elem()
	for i := range rules.NumField() {
		if rule, _ := rules.Field(i).Interface().(*policy.Rule); rule != nil {
			clone := *rule
			clone.DynamicRules = slices.Clone(rule.DynamicRules)
			rules.Field(i).Set(reflect.ValueOf(&clone))
		}
	}
	return f
}

// firstMembers are written before all others, in this order.
var firstMembers = []string{"name", "fieldId", "jurisdictionId", "dataGroupId", "id", "dataKey", "description",
	"fieldType", "dataGroup", "order", "categories", "targetEntities", "jurisdictions", "fieldName", "dataSource",
	"operation", "value"}

// newTree returns the tree of a value. Members that are empty are left out, but for those whose absence means something
// else.
func newTree(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Pointer:
		return newTree(v.Elem())
	case reflect.String:
		return newText(v.String())
	case reflect.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.Bool())}
	case reflect.Int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v.Int(), 10)}
	case reflect.Float64:
		return newNumber(v.Float())
	case reflect.Slice:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			node.Content = append(node.Content, newTree(v.Index(i)))
		}
		if kind := v.Type().Elem().Kind(); kind == reflect.String {
			node.Style = yaml.FlowStyle
		}
		return node
	default:
		return newObject(v)
	}
}

func newObject(v reflect.Value) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	m := membersOf(v.Type())
	rank := func(name string) int {
		if i := slices.Index(firstMembers, name); i >= 0 {
			return i
		}
		return len(firstMembers)
	}
	byRank := func(a, b string) int { return rank(a) - rank(b) }
	for _, name := range slices.SortedStableFunc(slices.Values(m.names), byRank) {
		value := v.FieldByIndex(m.byName[name])
		if isOmitted(name, value) {
			continue
		}
		node.Content = append(node.Content, newText(name), newTree(value))
	}
	if isShort(v, node) {
		node.Style = yaml.FlowStyle
	}
	return node
}

// isOmitted reports whether a member is left out: if it is empty, and reading a file without it gives the same. A
// member that must be there is written, so that what is wrong with it is seen.
func isOmitted(name string, v reflect.Value) bool {
	switch name {
	case "order", "priority", "isActive", "minCount":
		return false
	case "value":
		return v.Kind() == reflect.Slice && v.Len() == 0
	}
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// isShort reports whether an object is written on one line: an operand without operands, or the value of a rule.
func isShort(v reflect.Value, node *yaml.Node) bool {
	length := 0
	for _, n := range node.Content {
		if n.Kind == yaml.MappingNode {
			return false
		}
		length += len(n.Value) + 4
		for _, inner := range n.Content {
			if length += len(inner.Value) + 2; inner.Kind != yaml.ScalarNode {
				return false
			}
		}
	}
	const longest = 100
	long := []reflect.Type{reflect.TypeFor[fileField](), reflect.TypeFor[fileGroup](),
		reflect.TypeFor[fileJurisdiction](), reflect.TypeFor[fileContents]()}
	return length < longest && !slices.Contains(long, v.Type())
}

// newText returns a text that is read as text, whatever it looks like.
func newText(s string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	isPlain := func(r rune) bool { return r < unicode.MaxASCII && unicode.IsPrint(r) || unicode.IsLetter(r) }
	if strings.ContainsFunc(s, func(r rune) bool { return !isPlain(r) }) || s == "<<" {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

func newNumber(f float64) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(f, 'g', -1, 64)}
	if _, err := strconv.ParseInt(node.Value, 10, 64); err == nil {
		node.Tag = "!!int"
	}
	return node
}
