package policyfile

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/shared/policy/evaluate"
)

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
