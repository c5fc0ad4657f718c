package policyfile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"sluice/shared/policy/evaluate"
)

// Problem is one thing wrong with a file.
type Problem struct {
	// Line is the number of the line, from 1; 0 if the problem has no line.
	Line int
	// Place is where in the policy it is, such as "field legalName, conditions[0].operands[1]"; "" for the file as a
	// whole.
	Place string
	// Message says what is wrong and what to do.
	Message string
}

// Error is everything that is wrong with a file, in the order of its lines.
type Error struct {
	// Name is that of the file.
	Name     string
	Problems []Problem
}

// Error returns one line for each problem: the file, the line, the place and the message.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Name
		if p.Line > 0 {
			lines[i] += fmt.Sprintf(":%d", p.Line)
		}
		if p.Place != "" {
			lines[i] += ": " + p.Place
		}
		lines[i] += ": " + p.Message
	}
	return strings.Join(lines, "\n")
}

// Explain says where in the file the problems of compiling it are.
func (f *File) Explain(problems evaluate.Problems) *Error {
	e := &Error{Name: f.Name}
	names := newScopes(f.Contents)
	for _, p := range problems {
		node, place := f.nodes[[2]string{p.DataGroupID, p.FieldID}], ""
		switch {
		case p.JurisdictionID != "":
			node, place = f.nodes[[2]string{"", p.JurisdictionID}], "jurisdiction "+names.rename(p.JurisdictionID)
		case p.DataGroupID != "":
			place = "field " + names.rename(p.DataGroupID) + "/" + p.DataKey
		case p.DataKey != "":
			place = "field " + p.DataKey
		}
		if p.Path != "" {
			place = strings.TrimPrefix(place+", "+p.Path, ", ")
		}
		e.Problems = append(e.Problems, Problem{Line: lineOf(node, p.Path), Place: place, Message: p.Message})
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return e
}

// Line returns the line of what a path leads to in a field, or in a jurisdiction, that has the ID in the file; 0 if the
// file does not have it. Group is the ID of the field's data group; without an ID, the group itself is meant.
func (f *File) Line(group, id, path string) int { return lineOf(f.nodes[[2]string{group, id}], path) }

// step is a part of a path: a name, or a place in a list.
var step = regexp.MustCompile(`[^.\[\]]+`)

// lineOf returns the line of what a path leads to, or of the last step that exists; 0 without a node.
func lineOf(node *yaml.Node, path string) int {
	if node == nil {
		return 0
	}
	for _, name := range step.FindAllString(path, -1) {
		var key any = name
		if i, err := strconv.Atoi(name); err == nil {
			key = i
		}
		next := child(node, key)
		if next.Kind == 0 {
			break
		}
		node = next
	}
	return node.Line
}

// resolve returns the ID of what a name means. A UUID is an ID itself.
func (r *reader) resolve(node *yaml.Node, place, kind, name string, names nameTable) string {
	switch ids := names[name]; {
	case isUUID(name):
		return name
	case len(ids) == 1:
		return ids[0]
	case len(ids) > 1:
		r.report(node, place, "there are %d of the name %q: write the ID of one in place of the name", len(ids), name)
	default:
		r.report(node, place, "there is no %s %q in this file", kind, name)
	}
	return ""
}

// nameTable has the IDs of jurisdictions, or of data groups, by their names.
type nameTable map[string][]string

func (t nameTable) add(name, id string) { t[name] = append(t[name], id) }

// nameOf returns the name of an ID or, if it has none of its own, the ID.
func (t nameTable) nameOf(id string) string {
	for name, ids := range t {
		if len(ids) == 1 && ids[0] == id && name != "" && !isUUID(name) {
			return name
		}
	}
	return id
}

func isUUID(text string) bool {
	_, err := uuid.Parse(text)
	return err == nil && len(text) == len(uuid.Nil.String())
}

// identify returns the ID that the file gives or, if it gives none, one that follows from names.
func (r *reader) identify(node *yaml.Node, place, id string, names ...string) string {
	if id == "" {
		return uuid.NewSHA1(space, []byte(strings.Join(append(names, r.file.Contents.EntityType), "\x00"))).String()
	}
	if !isUUID(id) {
		r.report(node, place, "the ID %q is not a UUID", id)
	}
	r.file.explicit[id] = true
	return id
}

// space is the name space of IDs that follow from names.
var space = uuid.MustParse("6f2f0d5c-5a0b-5d1b-9e0b-7c1a0f6d2b11")
