// Package routing finds the route that a request is for, as API Gateway does.
package routing

import (
	"fmt"
	"strings"
)

// Table holds routes and a value for each. The zero Table is empty.
type Table[T any] struct{ routes []route[T] }

type route[T any] struct {
	method   string
	segments []string
	value    T
}

// Add adds a route, whose path has {parameters}. It panics if the table has a route for the same requests.
func (t *Table[T]) Add(method, path string, value T) {
	added := route[T]{method, strings.Split(path, "/"), value}
	for _, r := range t.routes {
		if r.method == method && matches(r.segments, added.segments) && matches(added.segments, r.segments) {
			panic(fmt.Sprintf("there are two routes %s %s", method, path))
		}
	}
	t.routes = append(t.routes, added)
}

// Find returns the value of the route for a request, and its parameters by name. The path and the parameters are
// percent-encoded, as they are sent. The path alone decides which routes are meant: of those that match it, the ones
// whose fixed segment comes first. If these lack the method, no other is found.
func (t *Table[T]) Find(method, path string) (value T, parameters map[string]string, found bool) {
	segments := strings.Split(path, "/")
	var best route[T]
	for _, r := range t.routes {
		if matches(r.segments, segments) && (best.segments == nil || precedes(r.segments, best.segments) ||
			r.method == method && !precedes(best.segments, r.segments)) {
			best = r
		}
	}
	if best.segments == nil || best.method != method {
		return value, nil, false
	}
	parameters = map[string]string{}
	for i, s := range best.segments {
		if isParameter(s) {
			parameters[strings.Trim(s, "{}")] = segments[i]
		}
	}
	return best.value, parameters, true
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// matches reports whether the segments of a path match those of a route. A parameter is not empty.
func matches(route, path []string) bool {
	if len(route) != len(path) {
		return false
	}
	for i, s := range route {
		if isParameter(s) && path[i] == "" || !isParameter(s) && s != path[i] {
			return false
		}
	}
	return true
}

// precedes reports whether, at the first difference of two routes that match one path, a has a fixed segment and b a
// parameter.
func precedes(a, b []string) bool {
	for i := range a {
		if isParameter(a[i]) != isParameter(b[i]) {
			return isParameter(b[i])
		}
	}
	return false
}
