package openapi

import (
	"fmt"
	"strings"
)

// Operation is one method of one path.
type Operation struct {
	// Method is in upper case.
	Method string
	// Path has parameters in braces.
	Path string
	// ID is the operationId.
	ID string
	// Public is set if the operation needs no token.
	Public bool
	// Permissions are alternative sets of permissions: a client needs all permissions of one set.
	Permissions [][]string

	pointer    string
	parameters []parameter
	segments   []string
}

// parameter is a value that a request has beside its body.
type parameter struct {
	name string
	// in is path, query or header.
	in       string
	required bool
	// schema is the pointer to the parameter's schema.
	schema string
}

// String returns the method and the path.
func (o Operation) String() string { return o.Method + " " + o.Path }

// isMethod has the members of a path item that are operations.
var isMethod = map[string]bool{
	"get": true, "put": true, "post": true, "delete": true, "options": true, "head": true, "patch": true, "trace": true,
}

func (d *Document) collectOperations() ([]Operation, error) {
	var all []Operation
	paths, _ := d.resolveObject("#/paths")
	for _, path := range sortedKeys(paths) {
		item, pointer := d.resolveObject("#/paths/" + escapePointer.Replace(path))
		for _, method := range sortedKeys(item) {
			if !isMethod[method] {
				continue
			}
			o := Operation{
				Method: strings.ToUpper(method), Path: path, pointer: pointer + "/" + method,
				segments: strings.Split(path, "/"),
			}
			node, _ := d.resolveObject(o.pointer)
			o.ID, _ = node["operationId"].(string)
			o.Public, o.Permissions = d.security(node)
			for _, owner := range []string{pointer, o.pointer} {
				parameters, err := d.parametersAt(owner + "/parameters")
				if err != nil {
					return nil, fmt.Errorf("%s: %w", o, err)
				}
				o.parameters = append(o.parameters, parameters...)
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// security returns who may call an operation, whose own requirements replace those of the document.
func (d *Document) security(operation map[string]any) (public bool, permissions [][]string) {
	requirements, isOwn := operation["security"].([]any)
	if !isOwn {
		requirements, _ = d.Root["security"].([]any)
	}
	public = len(requirements) == 0
	for _, r := range requirements {
		public = public || len(r.(map[string]any)) == 0 // what follows is optional
		for _, roles := range r.(map[string]any) {
			var all []string
			for _, role := range roles.([]any) {
				all = append(all, role.(string))
			}
			if all != nil {
				permissions = append(permissions, all)
			}
		}
	}
	return public, permissions
}

// parametersAt returns the parameters in the list at a pointer, none if there is no list.
func (d *Document) parametersAt(pointer string) ([]parameter, error) {
	list, _, err := d.resolve(pointer)
	if err != nil {
		return nil, nil
	}
	var all []parameter
	for i := range list.([]any) {
		described, at := d.resolveObject(fmt.Sprintf("%s/%d", pointer, i))
		if described == nil {
			return nil, fmt.Errorf("the description has no parameter at %s", at)
		}
		all = append(all, parameter{
			described["name"].(string), described["in"].(string), isRequired(described), at + "/schema",
		})
	}
	return all, nil
}

// Find returns the operation of a request, whose path is as it is sent.
func (d *Document) Find(method, path string) (Operation, bool) {
	o, _, found := d.routes.Find(method, path)
	return o, found
}

// OperationList returns the methods and paths of the operations, one in a line, which package wire has.
func (d *Document) OperationList() []byte {
	var out []byte
	for _, o := range d.Operations {
		out = fmt.Appendln(out, o)
	}
	return out
}

// PathParameters returns the names of the described parameters in the path, in the order of the path.
func (o Operation) PathParameters() []string {
	var names []string
	for _, s := range o.segments {
		for _, p := range o.parameters {
			if p.in == "path" && s == "{"+p.name+"}" {
				names = append(names, p.name)
			}
		}
	}
	return names
}
