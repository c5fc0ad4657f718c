package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Generators of clients understand less of JSON Schema than validators do, and they name what has no name of its own.
// The functions of this file therefore rewrite the description, without changing what it accepts: no schema extends
// another, none but that of a property may be null, every body and every enumeration has a component of its own, and no
// two components of the description share a name.

const schemaPrefix = "#/components/schemas/"

// normalize rewrites the merged description for generators of clients.
func (b *bundler) normalize() error {
	components := memberOf(b.entry, "components")
	schemas := memberOf(components, "schemas")
	bases := map[string]bool{}
	if err := flatten(schemas, components, bases); err != nil {
		return err
	}
	for _, kind := range []struct{ name, schemaSuffix, ownSuffix string }{
		{"requestBodies", "Body", "RequestBody"}, {"responses", "Reply", "Response"},
	} {
		all := memberOf(components, kind.name)
		for i := 0; all != nil && i < len(all.Content); i += 2 {
			name := all.Content[i].Value
			if err := nameSchemas(schemas, name+kind.schemaSuffix, all.Content[i+1]); err != nil {
				return err
			}
			all.Content[i].Value = name + kind.ownSuffix
		}
		renameReferences(b.entry, "#/components/"+kind.name+"/", kind.ownSuffix)
	}
	inlineOptional(schemas, b.entry, bases)
	removeUnused(b.entry, schemas, bases)
	return nameEnums(schemas)
}

// inlineOptional replaces each reference inside n to a schema that is another one or null by that schema, since a type
// that may be null has no name in most languages. It adds the names of the schemas that it replaced to replaced.
func inlineOptional(schemas, n *yaml.Node, replaced map[string]bool) {
	if to := memberOf(n, "$ref"); to != nil && strings.HasPrefix(to.Value, schemaPrefix) {
		name := strings.TrimPrefix(to.Value, schemaPrefix)
		target := memberOf(schemas, name)
		forms := memberOf(target, "anyOf")
		if forms != nil && len(forms.Content) == 2 && isNullType(forms.Content[1]) {
			replaced[name] = true
			inlined := cloneNode(target)
			for i := 0; i < len(n.Content); i += 2 {
				if keyword := n.Content[i].Value; keyword != "$ref" {
					setMember(inlined, keyword, n.Content[i+1])
				}
			}
			*n = *inlined
		}
	}
	for _, child := range n.Content {
		inlineOptional(schemas, child, replaced)
	}
}

// isNullType reports whether a schema is that of null.
func isNullType(n *yaml.Node) bool {
	kind := memberOf(n, "type")
	return kind != nil && kind.Value == "null"
}

// flatten replaces each schema inside n that extends others, by allOf and unevaluatedProperties, by one that has the
// properties of all of them. It adds the names of the schemas that were extended to bases.
func flatten(schemas, n *yaml.Node, bases map[string]bool) error {
	if closed := memberOf(n, "unevaluatedProperties"); closed != nil && memberOf(n, "allOf") != nil {
		merged := &yaml.Node{Kind: yaml.MappingNode}
		if err := mergeSchema(schemas, merged, n, bases); err != nil {
			return err
		}
		setMember(merged, "additionalProperties", closed)
		*n = *merged
	}
	for _, child := range n.Content {
		if err := flatten(schemas, child, bases); err != nil {
			return err
		}
	}
	return nil
}

// mergeSchema adds the keywords of a schema, and before them those of the schemas that it extends, to another one.
func mergeSchema(schemas, into, from *yaml.Node, bases map[string]bool) error {
	if parts := memberOf(from, "allOf"); parts != nil {
		for _, part := range parts.Content {
			name := strings.TrimPrefix(memberOf(part, "$ref").Value, schemaPrefix)
			base := memberOf(schemas, name)
			if base == nil {
				return fmt.Errorf("the schema %s, which another extends, does not exist", name)
			}
			bases[name] = true
			if err := mergeSchema(schemas, into, base, bases); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(from.Content); i += 2 {
		keyword, value := from.Content[i].Value, from.Content[i+1]
		switch existing := memberOf(into, keyword); {
		case keyword == "allOf" || keyword == "unevaluatedProperties":
		case keyword == "properties" && existing != nil:
			for j := 0; j < len(value.Content); j += 2 {
				mergeProperty(existing, value.Content[j].Value, value.Content[j+1])
			}
		case keyword == "required" && existing != nil:
			for _, name := range value.Content {
				if !slices.ContainsFunc(existing.Content, func(n *yaml.Node) bool { return n.Value == name.Value }) {
					existing.Content = append(existing.Content, name)
				}
			}
		default:
			setMember(into, keyword, cloneNode(value))
		}
	}
	return nil
}

// mergeProperty adds a property. If there is one of the name, its keywords remain unless the new one has them too.
func mergeProperty(properties *yaml.Node, name string, schema *yaml.Node) {
	existing := memberOf(properties, name)
	if existing == nil || existing.Kind != yaml.MappingNode || memberOf(schema, "$ref") != nil {
		setMember(properties, name, cloneNode(schema))
		return
	}
	for i := 0; i < len(schema.Content); i += 2 {
		setMember(existing, schema.Content[i].Value, cloneNode(schema.Content[i+1]))
	}
}

// nameSchemas moves the inline schemas of a body into components.
func nameSchemas(schemas *yaml.Node, name string, body *yaml.Node) error {
	content := memberOf(body, "content")
	for i := 1; content != nil && i < len(content.Content); i += 2 {
		schema := memberOf(content.Content[i], "schema")
		if schema == nil || memberOf(schema, "$ref") != nil {
			continue
		}
		if memberOf(schemas, name) != nil {
			return fmt.Errorf("the schema %s, which is to be that of a body, exists already", name)
		}
		setMember(schemas, name, cloneNode(schema))
		*schema = yaml.Node{Kind: yaml.MappingNode}
		setMember(schema, "$ref", text(schemaPrefix+name))
	}
	return nil
}

// renameReferences adds a suffix to the references that begin with a prefix.
func renameReferences(n *yaml.Node, prefix, suffix string) {
	if to := memberOf(n, "$ref"); to != nil && strings.HasPrefix(to.Value, prefix) {
		to.Value += suffix
	}
	for _, child := range n.Content {
		renameReferences(child, prefix, suffix)
	}
}

// removeUnused removes those of the named schemas to which no reference leads any more.
func removeUnused(root, schemas *yaml.Node, names map[string]bool) {
	used := map[string]bool{}
	var collect func(n *yaml.Node)
	collect = func(n *yaml.Node) {
		if to := memberOf(n, "$ref"); to != nil {
			used[strings.TrimPrefix(to.Value, schemaPrefix)] = true
		}
		for _, child := range n.Content {
			collect(child)
		}
	}
	collect(root)
	for i := 0; i < len(schemas.Content); {
		if name := schemas.Content[i].Value; names[name] && !used[name] {
			schemas.Content = slices.Delete(schemas.Content, i, i+2)
			continue
		}
		i += 2
	}
}

// setMember sets a key of a mapping.
func setMember(n *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, text(key), value)
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func cloneNode(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = cloneNode(child)
	}
	return &c
}
