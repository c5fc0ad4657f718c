package policyfile

import (
	"strings"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"
)

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
