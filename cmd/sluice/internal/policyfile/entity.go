package policyfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
)

// Entity is an entity for which a policy is evaluated.
type Entity struct {
	ID           string
	Type         string
	TargetEntity string
	JourneyID    string
	Properties   property.Split
	// DataSources are what conditions read beside the properties. The metadata of the entity are among them if the file
	// has its ID or type.
	DataSources map[string]jsontext.Value
}

// ParseEntity reads an entity from JSON or YAML: an object with the members id, type, status, targetEntity, journeyId,
// properties and dataSources, of which only the properties are needed. Properties have their kinds as in the interface,
// in split form, or are plain: a text, number or boolean is a value, a list of them several values, an object a custom
// group, and a list of objects a collection.
func ParseEntity(name string, text []byte) (*Entity, error) {
	root, problem := parseTree(text)
	if problem != nil {
		return nil, &Error{name, []Problem{*problem}}
	}
	r := entityReader{}
	e := r.read(root)
	if len(r.problems) > 0 {
		return nil, &Error{name, r.problems}
	}
	return e, nil
}

// entityReader reads an entity from a tree.
type entityReader struct{ decoder }

func (r *entityReader) read(root *yaml.Node) *Entity {
	e := &Entity{DataSources: map[string]jsontext.Value{}}
	var properties *yaml.Node
	var status string
	texts := map[string]*string{"id": &e.ID, "type": &e.Type, "status": &status, "lifecycleStatus": &status,
		"targetEntity": &e.TargetEntity, "journeyId": &e.JourneyID}
	r.each(root, "", func(key string, value *yaml.Node) {
		switch {
		case texts[key] != nil:
			*texts[key] = r.text(value, key)
		case key == "properties":
			properties = value
		case key == "dataSources":
			r.each(value, key, func(source string, value *yaml.Node) {
				e.DataSources[source] = r.value(value, key+"."+source, 0)
			})
		default:
			r.report(value, key, "there is no such key; there are id, type, status, targetEntity, journeyId, "+
				"properties, dataSources")
		}
	})
	if e.TargetEntity != "" && !slices.Contains(policy.TargetEntities, e.TargetEntity) {
		r.report(root, "targetEntity", "%q is not one of %s", e.TargetEntity, strings.Join(policy.TargetEntities, ", "))
	}
	if properties == nil {
		r.report(root, "", "properties are missing")
		return e
	}
	e.Properties = r.properties(properties, "properties", 0)
	if e.DataSources["entityDataMetadata"] == nil && (e.ID != "" || e.Type != "") {
		metadata, err := json.Marshal(struct {
			EntityID   string `json:"entityId,omitempty"`
			EntityType string `json:"entityType,omitempty"`
		}{e.ID, e.Type})
		if err == nil {
			e.DataSources["entityDataMetadata"] = metadata
		}
	}
	return e
}

// each calls use with the members of an object.
func (r *entityReader) each(n *yaml.Node, place string, use func(key string, value *yaml.Node)) {
	n = resolve(n)
	if r.nodes += 1 + len(n.Content); r.nodes > maxNodes {
		r.reportTooLarge(n, place)
		return
	}
	if !r.hasKind(n, place, yaml.MappingNode, "an object") {
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch first := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			r.report(key, place, "a key must be text, not %s", kindOf(key))
		case first > 0:
			r.report(key, joinPlace(place, key.Value), "this key is in line %d already", first)
		default:
			seen[key.Value] = key.Line
			use(key.Value, resolve(n.Content[i+1]))
		}
	}
}

// reportTooLarge reports that the rest of the file is not read, unless there is something else to repair first.
func (r *entityReader) reportTooLarge(n *yaml.Node, place string) {
	if len(r.problems) == 0 {
		r.report(n, place, "the file has too many values, or they are nested too deep")
	}
}

func (r *entityReader) text(n *yaml.Node, place string) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.report(n, place, "must be text, not %s", kindOf(n))
	}
	return n.Value
}

// properties reads properties in any of their forms.
func (r *entityReader) properties(n *yaml.Node, place string, depth int) property.Split {
	for _, key := range []string{"singleProperties", "collectionProperties", "customProperties"} {
		if child(n, key).Kind != 0 {
			var split property.Split
			r.decodeJSON(n, place, &split)
			return split
		}
	}
	if depth > property.MaxDepth {
		r.report(n, place, "properties are nested more than %d deep", property.MaxDepth)
		return property.Split{}
	}
	typed := map[string]property.Property{}
	out := property.SplitByKind(nil)
	r.each(n, place, func(key string, value *yaml.Node) {
		inner := place + "." + key
		switch kind := child(value, "type").Value; {
		case value.Kind == yaml.ScalarNode:
			out.SingleProperties[key] = property.Text{Value: r.scalar(value)}
		case value.Kind == yaml.SequenceNode && isListOfObjects(value):
			out.CollectionProperties[key] = r.items(value, inner)
		case value.Kind == yaml.SequenceNode:
			out.SingleProperties[key] = property.Text{Value: r.several(value, inner)}
		case kind == property.Single || kind == property.Collection || kind == property.Custom:
			var p property.Property
			r.decodeJSON(value, inner, &p)
			typed[key] = p
		default:
			out.CustomProperties[key] = r.properties(value, inner, depth+1)
		}
	})
	split := property.SplitByKind(typed)
	for key, text := range split.SingleProperties {
		out.SingleProperties[key] = text
	}
	for key, collection := range split.CollectionProperties {
		out.CollectionProperties[key] = collection
	}
	for key, custom := range split.CustomProperties {
		out.CustomProperties[key] = custom
	}
	return out
}

func isListOfObjects(n *yaml.Node) bool {
	return len(n.Content) > 0 && resolve(n.Content[0]).Kind == yaml.MappingNode
}

// items reads a plain collection. Its items have the IDs 1, 2 and so on, with as many digits as the last one, so that
// the order of the IDs is that of the items.
func (r *entityReader) items(n *yaml.Node, place string) property.SplitCollection {
	items, digits := map[string]property.SplitItem{}, len(strconv.Itoa(len(n.Content)))
	for i, item := range n.Content {
		inner := fmt.Sprintf("%s[%d]", place, i)
		texts := map[string]property.Text{}
		r.each(item, inner, func(key string, value *yaml.Node) {
			if value.Kind == yaml.SequenceNode && !isListOfObjects(value) {
				texts[key] = property.Text{Value: r.several(value, inner+"."+key)}
			} else if r.hasKind(value, inner+"."+key, yaml.ScalarNode, "a single value, as all of an item are") {
				texts[key] = property.Text{Value: r.scalar(value)}
			}
		})
		items[fmt.Sprintf("%0*d", digits, i+1)] = property.SplitItem{Properties: texts}
	}
	return property.SplitCollection{Items: items}
}

// scalar returns a value as text, nil for null.
func (r *entityReader) scalar(n *yaml.Node) *string {
	if n.ShortTag() == "!!null" {
		return nil
	}
	return &n.Value
}

// several returns the text of several values: a JSON array of texts.
func (r *entityReader) several(n *yaml.Node, place string) *string {
	texts := []string{}
	for i, element := range n.Content {
		element = resolve(element)
		if r.hasKind(element, fmt.Sprintf("%s[%d]", place, i), yaml.ScalarNode, "a single value") {
			texts = append(texts, element.Value)
		}
	}
	text, err := json.Marshal(texts)
	if err != nil {
		r.report(n, place, "%v", err)
	}
	list := string(text)
	return &list
}

// decodeJSON sets a value to what a tree has, strictly.
func (r *entityReader) decodeJSON(n *yaml.Node, place string, into any) {
	text := r.value(n, place, 0)
	if len(r.problems) > 0 {
		return
	}
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true))
	if wrong := new(json.SemanticError); errors.As(err, &wrong) {
		place += strings.ReplaceAll(string(wrong.JSONPointer), "/", ".")
		message := "has another form than such properties have"
		if errors.Is(err, json.ErrUnknownName) {
			message = "there is no such key"
		}
		r.report(n, place, "%s", message)
	} else if err != nil {
		r.report(n, place, "%v", err)
	}
}

// value returns a tree as JSON.
func (r *entityReader) value(n *yaml.Node, place string, depth int) jsontext.Value {
	n = resolve(n)
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth {
		r.reportTooLarge(n, place)
		return jsontext.Value("null")
	}
	var out any = n.Value
	switch n.Kind {
	case yaml.MappingNode:
		members := map[string]jsontext.Value{}
		r.each(n, place, func(key string, value *yaml.Node) {
			members[key] = r.value(value, joinPlace(place, key), depth+1)
		})
		out = members
	case yaml.SequenceNode:
		list := []jsontext.Value{}
		for i, element := range n.Content {
			list = append(list, r.value(element, fmt.Sprintf("%s[%d]", place, i), depth+1))
		}
		out = list
	default:
		number := jsontext.Value(n.Value)
		switch tag := n.ShortTag(); {
		case tag == "!!null":
			out = nil
		case tag == "!!bool":
			out = strings.EqualFold(n.Value, "true")
		case (tag == "!!int" || tag == "!!float") && number.IsValid():
			return number
		}
	}
	text, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		r.report(n, place, "%v", err)
	}
	return text
}
