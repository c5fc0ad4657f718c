package policyfile

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"sluice/internal/spelling"
)

// decoder sets Go values to what a tree has, strictly: a key that is unknown or given twice and a value of another type
// are problems. It goes on after a problem, so that all of them are found at once.
type decoder struct {
	problems []Problem
	// nodes is how many values have been read.
	nodes int
}

// maxProblems is how many problems of a file are reported. Others are reported once these are repaired.
const maxProblems = 100

func (d *decoder) report(n *yaml.Node, place, format string, args ...any) {
	if len(d.problems) == maxProblems {
		return
	}
	d.problems = append(d.problems, Problem{Line: n.Line, Place: place, Message: fmt.Sprintf(format, args...)})
}

// kindNames says what a value is, by its tag.
var kindNames = map[string]string{
	"!!map": "an object", "!!seq": "a list", "!!str": "text", "!!int": "a number", "!!float": "a number",
	"!!bool": "true or false", "!!null": "nothing", "!!timestamp": "a date without quotes", "!!binary": "binary data",
}

// resolve follows aliases.
func resolve(n *yaml.Node) *yaml.Node {
	for range maxDepth {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

// decode sets v to what the tree has. Place is where that is.
func (d *decoder) decode(n *yaml.Node, place string, v reflect.Value, depth int) {
	n = resolve(n)
	d.nodes++
	switch {
	case d.nodes == maxNodes:
		d.report(n, place, "the file has more than %d values", maxNodes)
	case depth == maxDepth:
		d.report(n, place, "values are nested more than %d deep", maxDepth)
	}
	if d.nodes >= maxNodes || depth >= maxDepth {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		d.decode(n, place, target.Elem(), depth+1)
		v.Set(target)
	case reflect.Struct:
		if d.hasKind(n, place, yaml.MappingNode, "an object") {
			d.decodeStruct(n, place, v, depth)
		}
	case reflect.Slice:
		if d.hasKind(n, place, yaml.SequenceNode, "a list") {
			v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
			for i, inner := range n.Content {
				d.decode(inner, fmt.Sprintf("%s[%d]", place, i), v.Index(i), depth+1)
			}
		}
	default:
		d.decodeScalar(n, place, v)
	}
}

func (d *decoder) hasKind(n *yaml.Node, place string, kind yaml.Kind, name string) bool {
	if n.Kind != kind {
		d.report(n, place, "must be %s, not %s", name, kindOf(n))
	}
	return n.Kind == kind
}

// kindOf says what a value is.
func kindOf(n *yaml.Node) string {
	if name := kindNames[n.ShortTag()]; name != "" {
		return name
	}
	return "a value of the type " + n.ShortTag()
}

func (d *decoder) decodeScalar(n *yaml.Node, place string, v reflect.Value) {
	tag := n.ShortTag()
	wrong := func(wanted string) { d.report(n, place, "must be %s, not %s", wanted, kindOf(n)) }
	switch v.Kind() {
	case reflect.String:
		switch {
		case n.Kind != yaml.ScalarNode || tag == "!!null":
			wrong("text")
		case tag != "!!str":
			d.report(n, place, "must be text, not %s: put it in quotes, \"%s\"", kindOf(n), n.Value)
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if tag != "!!bool" {
			wrong("true or false")
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int64:
		number, err := strconv.ParseInt(n.Value, 10, 64)
		if tag != "!!int" {
			wrong("a whole number")
		} else if err != nil {
			d.report(n, place, "must be a whole number of at most 18 digits")
		}
		v.SetInt(number)
	case reflect.Float64:
		number, err := strconv.ParseFloat(n.Value, 64)
		if tag != "!!int" && tag != "!!float" {
			wrong("a number")
		} else if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
			d.report(n, place, "must be a decimal number")
		}
		v.SetFloat(number)
	default:
		panic(fmt.Sprintf("policyfile: no way to read a %s", v.Type()))
	}
}

// decodeStruct sets the fields of a struct by their JSON names. Those of embedded structs count as its own.
func (d *decoder) decodeStruct(n *yaml.Node, place string, v reflect.Value, depth int) {
	members := membersOf(v.Type())
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), n.Content[i+1]
		inner := joinPlace(place, key.Value)
		m := members.byName[key.Value]
		switch first := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.report(key, place, "a key must be text, not %s", kindOf(key))
		case first > 0:
			d.report(key, inner, "this key is in line %d already", first)
		case m == nil && members.close(key.Value) != "":
			d.report(key, inner, "there is no such key; did you mean %q?", members.close(key.Value))
		case m == nil:
			d.report(key, inner, "there is no such key; there are %s", strings.Join(members.names, ", "))
		default:
			d.decode(value, inner, v.FieldByIndex(m), depth+1)
		}
		seen[key.Value] = key.Line
	}
}

func joinPlace(place, key string) string {
	switch {
	case place == "":
		return key
	case strings.HasPrefix(place, "field ") && !strings.Contains(place, ","):
		return place + ", " + key
	}
	return place + "." + key
}

// members are those of a struct by their JSON names.
type members struct {
	names  []string
	byName map[string][]int
}

// knownMembers are the members of types that have been asked for.
var knownMembers sync.Map

// membersOf returns the members of a struct, and of those that it embeds, but for hiddenMembers.
func membersOf(t reflect.Type) members {
	if m, isKnown := knownMembers.Load(t); isKnown {
		return m.(members)
	}
	m := members{byName: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" || slices.Contains(hiddenMembers[t], name) {
			continue
		}
		m.names = append(m.names, name)
		m.byName[name] = f.Index
	}
	knownMembers.Store(t, m)
	return m
}

// close returns the name that a text may be meant to be, or "".
func (m members) close(text string) string { return spelling.Closest(text, m.names) }
