package openapi

import (
	"fmt"
	"strings"
)

// Operation is one method of one path.
type Operation struct {
	Method      string // in upper case
	Path        string // with {parameters}
	ID          string
	Public      bool     // no token is needed
	Permissions []string // any of them is enough

	pointer    string
	parameters []parameter
	segments   []string
}

// parameter is a value beside the body.
type parameter struct {
	name, in string
	required bool
	schema   string // pointer
}

func (o Operation) String() string { return o.Method + " " + o.Path }

var methods = map[string]bool{"get": true, "put": true, "post": true, "delete": true, "options": true, "head": true, "patch": true, "trace": true}

func (d *Document) operations() error {
	paths, _ := d.object("#/paths")
	for _, path := range keys(paths) {
		at := "#/paths/" + escape.Replace(path)
		item, at := d.object(at)
		for _, method := range keys(item) {
			if !methods[method] {
				continue
			}
			o := Operation{Method: strings.ToUpper(method), Path: path, pointer: at + "/" + method, segments: strings.Split(path, "/")}
			node, _ := d.object(o.pointer)
			o.ID, _ = node["operationId"].(string)
			o.Public, o.Permissions = d.security(node)
			for _, list := range []string{at, o.pointer} {
				found, err := d.parameters(list + "/parameters")
				if err != nil {
					return fmt.Errorf("%s: %w", o, err)
				}
				o.parameters = append(o.parameters, found...)
			}
			d.Operations = append(d.Operations, o)
		}
	}
	return nil
}

// security reads who may call: an operation's own requirements replace the document's.
func (d *Document) security(node map[string]any) (public bool, permissions []string) {
	requirements, own := node["security"].([]any)
	if !own {
		requirements, _ = d.Root["security"].([]any)
	}
	for _, r := range requirements {
		for _, roles := range r.(map[string]any) {
			for _, role := range roles.([]any) {
				permissions = append(permissions, role.(string))
			}
		}
	}
	return len(requirements) == 0, permissions
}

func (d *Document) parameters(pointer string) ([]parameter, error) {
	list, _, err := d.at(pointer)
	if err != nil {
		return nil, nil // there are none
	}
	var out []parameter
	for i, v := range list.([]any) {
		at := fmt.Sprintf("%s/%d", pointer, i)
		m := v.(map[string]any)
		if to, ok := m["$ref"].(string); ok {
			if m, at = d.object(to); m == nil {
				return nil, fmt.Errorf("nothing stands at %s", to)
			}
		}
		required, _ := m["required"].(bool)
		out = append(out, parameter{m["name"].(string), m["in"].(string), required, at + "/schema"})
	}
	return out, nil
}

// Find returns the operation that a request reaches: of paths that fit, the one with a fixed segment first. The path is as it is
// sent.
func (d *Document) Find(method, path string) (Operation, bool) {
	segments := strings.Split(path, "/")
	var best Operation
	for _, o := range d.Operations {
		if o.Method == method && fits(o.segments, segments) && (best.ID == "" || before(o.segments, best.segments)) {
			best = o
		}
	}
	return best, best.ID != ""
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

func fits(pattern, segments []string) bool {
	if len(pattern) != len(segments) {
		return false
	}
	for i, p := range pattern {
		if isParameter(p) && segments[i] == "" || !isParameter(p) && p != segments[i] {
			return false
		}
	}
	return true
}

func before(a, b []string) bool {
	for i := range a {
		if isParameter(a[i]) != isParameter(b[i]) {
			return isParameter(b[i])
		}
	}
	return false
}

// PathParameters returns the names of the described parameters of the path, in its order.
func (o Operation) PathParameters() []string {
	var out []string
	for _, s := range o.segments {
		for _, p := range o.parameters {
			if p.in == "path" && s == "{"+p.name+"}" {
				out = append(out, p.name)
			}
		}
	}
	return out
}
