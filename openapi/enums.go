package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nameEnums makes a component of each enumeration inside a schema. It has the name of the component and of the members
// that lead to the enumeration; where a component of that name exists, it must be the same enumeration. Generators
// otherwise invent names, which are those of other types at times.
func nameEnums(schemas *yaml.Node) error {
	for i := 0; i < len(schemas.Content); i += 2 { // components that are added are visited too, and have nothing inside
		if err := nameEnumsInside(schemas, schemas.Content[i].Value, schemas.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// nameEnumsInside names the enumerations inside a schema, which has a name itself. It leaves those of conditions, which
// are no types.
func nameEnumsInside(schemas *yaml.Node, name string, schema *yaml.Node) error {
	type member struct {
		suffix string
		schema *yaml.Node
	}
	members := []member{{"Item", memberOf(schema, "items")}, {"Value", memberOf(schema, "additionalProperties")}}
	if properties := memberOf(schema, "properties"); properties != nil {
		for i := 0; i < len(properties.Content); i += 2 {
			members = append(members, member{upperCamel(properties.Content[i].Value), properties.Content[i+1]})
		}
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if forms := memberOf(schema, union); forms != nil {
			form, _ := onlyForm(forms)
			members = append(members, member{"", form})
		}
	}
	for _, m := range members {
		if m.schema == nil {
			continue
		}
		replaceNull(m.schema)
		nameInside := nameEnumsInside
		if memberOf(m.schema, "enum") != nil {
			nameInside = moveEnum
		}
		if err := nameInside(schemas, name+m.suffix, m.schema); err != nil {
			return err
		}
	}
	return nil
}

// replaceNull writes a value that is always null as one of its type that may be null, a text without characters: of the
// constant, ogen makes Go that does not compile.
func replaceNull(schema *yaml.Node) {
	kind, _ := kindOf(schema)
	for i := 0; i < len(schema.Content); i += 2 {
		switch {
		case schema.Content[i].Value != "const" || schema.Content[i+1].Tag != "!!null":
		case kind == "string":
			schema.Content[i] = text("maxLength")
			schema.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "0"}
			return
		default:
			schema.Content = slices.Delete(schema.Content, i, i+2)
			return
		}
	}
}

// moveEnum moves the type and the values of an enumeration into the component of a name. It leaves a reference in their
// place, or a union of that with null where the enumeration may be null, and keeps the other keywords.
func moveEnum(schemas *yaml.Node, name string, schema *yaml.Node) error {
	named, rest := &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}
	kind, isNullable := kindOf(schema)
	for i := 0; i < len(schema.Content); i += 2 {
		switch key, value := schema.Content[i].Value, schema.Content[i+1]; key {
		case "type":
			setMember(named, key, text(kind))
		case "enum":
			values := *value
			values.Content = nil
			for _, v := range value.Content {
				if v.Tag != "!!null" {
					values.Content = append(values.Content, v)
				}
			}
			setMember(named, key, &values)
		default:
			setMember(rest, key, value)
		}
	}
	existing := memberOf(schemas, name)
	if existing != nil && !isSameEnum(existing, named) {
		return fmt.Errorf("an enumeration would be named %s like another schema: make it a component of its own", name)
	}
	if existing == nil {
		setMember(schemas, name, named)
	}
	reference := &yaml.Node{Kind: yaml.MappingNode}
	setMember(reference, "$ref", text(schemaPrefix+name))
	*schema = yaml.Node{Kind: yaml.MappingNode}
	if !isNullable {
		*schema = *reference
	} else {
		null := &yaml.Node{Kind: yaml.MappingNode}
		setMember(null, "type", text("null"))
		setMember(schema, "anyOf", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{reference, null}})
	}
	schema.Content = append(schema.Content, rest.Content...)
	return nil
}

// isSameEnum reports whether two schemas are enumerations of the same values in the same order.
func isSameEnum(a, b *yaml.Node) bool {
	values, others := memberOf(a, "enum"), memberOf(b, "enum")
	return values != nil && slices.EqualFunc(values.Content, others.Content, func(v, w *yaml.Node) bool {
		return v.Tag == w.Tag && v.Value == w.Value
	})
}

// upperCamel returns the name of a member as part of the name of a type: on_duplicate becomes OnDuplicate.
func upperCamel(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}
