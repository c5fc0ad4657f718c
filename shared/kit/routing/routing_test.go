package routing_test

import (
	"maps"
	"testing"

	"sluice/shared/kit/routing"
)

func TestFind(t *testing.T) {
	var table routing.Table[string]
	for _, path := range []string{"/a", "/a/{id}/clone", "/a/error/{id}", "/a/{id}", "/a/product/{id}",
		"/a/product/{id}/clone", "/a/{id}/part/{part}/copy", "/a/deal/{id}/part/{part}"} {
		table.Add("PUT", path, path)
	}
	table.Add("GET", "/a/{name}", "GET /a/{name}")
	for _, test := range []struct {
		method, path, want string
		parameters         map[string]string
	}{
		{"PUT", "/a", "/a", nil},
		{"PUT", "/a/7", "/a/{id}", map[string]string{"id": "7"}},
		{"GET", "/a/7", "GET /a/{name}", map[string]string{"name": "7"}},
		{"PUT", "/a/b%2Fc", "/a/{id}", map[string]string{"id": "b%2Fc"}},
		{"PUT", "/a/7/clone", "/a/{id}/clone", map[string]string{"id": "7"}},
		{"PUT", "/a/error/clone", "/a/error/{id}", map[string]string{"id": "clone"}},
		{"PUT", "/a/product/clone", "/a/product/{id}", map[string]string{"id": "clone"}},
		{"PUT", "/a/product/7/clone", "/a/product/{id}/clone", map[string]string{"id": "7"}},
		{"PUT", "/a/product", "/a/{id}", map[string]string{"id": "product"}},
		{"PUT", "/a/7/part/8/copy", "/a/{id}/part/{part}/copy", map[string]string{"id": "7", "part": "8"}},
		{"PUT", "/a/deal/part/part/copy", "/a/deal/{id}/part/{part}", map[string]string{"id": "part", "part": "copy"}},
		// The routes that the path means lack the method.
		{"HEAD", "/a/7", "", nil}, {"GET", "/a", "", nil}, {"GET", "/a/error/7", "", nil},
		{"PUT", "/", "", nil}, {"PUT", "", "", nil}, {"PUT", "/a/", "", nil}, {"PUT", "/a/7/", "", nil},
		{"PUT", "//a", "", nil}, {"PUT", "/a//clone", "", nil}, {"PUT", "/a/7/other", "", nil},
		{"PUT", "/A", "", nil}, {"PUT", "/%61", "", nil},
	} {
		got, parameters, found := table.Find(test.method, test.path)
		if got != test.want || found != (test.want != "") || !maps.Equal(parameters, test.parameters) {
			t.Errorf("%s %s: got %q, %v, %t, want %q, %v", test.method, test.path, got, parameters, found, test.want,
				test.parameters)
		}
	}
}

func TestARouteIsAddedOnce(t *testing.T) {
	var table routing.Table[int]
	table.Add("GET", "/a/{id}", 1)
	table.Add("PUT", "/a/{id}", 2)
	table.Add("GET", "/a/x", 3)
	defer func() {
		if recover() == nil {
			t.Error("a second route for the same requests was added")
		}
	}()
	table.Add("GET", "/a/{name}", 4)
}
