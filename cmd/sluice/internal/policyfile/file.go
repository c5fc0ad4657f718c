// Package policyfile reads and writes policies as files, so that a policy can live in a repository: YAML or JSON with
// the names of the interface, jurisdictions and data groups by name, and IDs only where they are wanted (docs/policy.md
// has the format). It compares two policies, and matches those of files, which may have no IDs, with those of the
// service.
package policyfile

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/shared/policy"
)

// File is a policy as a file has it. Whatever the file gives no ID has one that follows from its names, so that reading
// the file again gives the same.
type File struct {
	// Name is that of the file, for messages.
	Name     string
	Contents policy.Contents
	// explicit has the IDs that the file gives.
	explicit map[string]bool
	// nodes are the values of fields, by the ID of their data group ("" for the policy itself) and their own, of data
	// groups, by their ID and "", and of jurisdictions, by "" and their ID.
	nodes map[[2]string]*yaml.Node
}

// fileContents is the form of a file.
type fileContents struct {
	EntityType    string             `json:"entityType"`
	Jurisdictions []fileJurisdiction `json:"jurisdictions"`
	DataGroups    []fileGroup        `json:"dataGroups"`
	Fields        []fileField        `json:"fields"`
}

// fileJurisdiction is a jurisdiction of a file.
type fileJurisdiction struct {
	policy.Jurisdiction
}

// fileGroup is a data group of a file.
type fileGroup struct {
	Name                                string      `json:"name"`
	ID                                  string      `json:"dataGroupId"`
	Description                         string      `json:"description"`
	PrimaryField                        string      `json:"primaryDataGroupField"`
	DisableMultiselectPrimaryFieldOnAdd bool        `json:"disableMultiselectPrimaryFieldOnAdd"`
	Fields                              []fileField `json:"dataGroupFields"`
}

// fileField is a field of a file. It names data groups and jurisdictions.
type fileField struct {
	policy.Field
	DataGroup                  string   `json:"dataGroup"`
	Jurisdictions              []string `json:"jurisdictions"`
	DataProtectionJurisdiction string   `json:"dataProtectionJurisdiction"`
}

// hiddenMembers are members of embedded structs that files do not have: names take the place of IDs, and versions are
// the service's.
var hiddenMembers = map[reflect.Type][]string{
	reflect.TypeFor[fileField](): {"fieldVersion", "jurisdictionIds", "dataProtectionJurisdictionId"},
}

// Parse reads a policy from a text. Its error is an *Error with everything that is wrong with the form of the file.
// What conditions, rules and formulas mean is not looked at: that is compiling.
func Parse(name string, text []byte) (*File, error) {
	root, problem := parseTree(text)
	if problem != nil {
		return nil, &Error{name, []Problem{*problem}}
	}
	var contents fileContents
	d := decoder{}
	d.decode(root, "", reflect.ValueOf(&contents).Elem(), 0)
	r := reader{decoder: d, file: &File{Name: name, explicit: map[string]bool{}, nodes: map[[2]string]*yaml.Node{}}}
	if len(d.problems) == 0 {
		r.read(contents, resolve(root))
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, &Error{name, r.problems}
	}
	return r.file, nil
}

// reader turns the form of a file into contents.
type reader struct {
	decoder
	file                  *File
	jurisdictions, groups nameTable
}

func (r *reader) read(c fileContents, root *yaml.Node) {
	if c.EntityType == "" {
		r.report(root, "", "entityType is missing; it is one of %s", strings.Join(policy.EntityTypes, ", "))
	} else if !slices.Contains(policy.EntityTypes, c.EntityType) {
		r.report(child(root, "entityType"), "entityType", "%q is not one of %s", c.EntityType,
			strings.Join(policy.EntityTypes, ", "))
	}
	r.file.Contents = policy.Contents{EntityType: c.EntityType}
	r.readJurisdictions(c.Jurisdictions, child(root, "jurisdictions"))
	r.readGroups(c.DataGroups, child(root, "dataGroups"))
	r.file.Contents.Fields = r.readFields("", "field ", c.Fields, child(root, "fields"))
}

func (r *reader) readJurisdictions(all []fileJurisdiction, list *yaml.Node) {
	r.jurisdictions = nameTable{}
	for i, j := range all {
		node := child(list, i)
		place := fmt.Sprintf("jurisdictions[%d]", i)
		j.ID = r.identifyNamed(node, place, j.ID, "jurisdiction", j.Name, r.jurisdictions)
		completeConditions(j.Conditions)
		r.file.nodes[[2]string{"", j.ID}] = node
		r.file.Contents.Jurisdictions = append(r.file.Contents.Jurisdictions, j.Jurisdiction)
	}
}

// identifyNamed returns the ID of a jurisdiction or a data group and adds it to the names. Two of them have the same
// name only if both have an ID.
func (r *reader) identifyNamed(node *yaml.Node, place, id, kind, name string, names nameTable) string {
	if name == "" {
		r.report(node, place, "name is missing")
		return id
	}
	place = kind + " " + name
	isGiven := id != ""
	id = r.identify(node, place, id, kind, name)
	for _, other := range names[name] {
		switch {
		case !isGiven || !r.file.explicit[other]:
			r.report(node, place, "this name is used above already: give both an ID, or one of them another name")
		case other == id:
			r.report(node, place, "the ID is used above already")
		}
	}
	names.add(name, id)
	return id
}

func (r *reader) readGroups(all []fileGroup, list *yaml.Node) {
	r.groups = nameTable{}
	ids := make([]string, len(all))
	for i, g := range all {
		node, place := child(list, i), fmt.Sprintf("dataGroups[%d]", i)
		ids[i] = r.identifyNamed(node, place, g.ID, "data group", g.Name, r.groups)
	}
	for i, g := range all {
		node, id := child(list, i), ids[i]
		r.file.nodes[[2]string{id, ""}] = node
		fields := r.readFields(id, "field "+g.Name+"/", g.Fields, child(node, "dataGroupFields"))
		r.file.Contents.DataGroups = append(r.file.Contents.DataGroups, policy.DataGroup{
			ID: id, Name: g.Name, Description: g.Description, PrimaryField: g.PrimaryField,
			DisableMultiselectPrimaryFieldOnAdd: g.DisableMultiselectPrimaryFieldOnAdd,
			Fields:                              fields,
		})
	}
}

// readFields reads the fields of the policy, or of a data group. Prefix begins their places.
func (r *reader) readFields(group, prefix string, all []fileField, list *yaml.Node) []policy.Field {
	fields := make([]policy.Field, len(all))
	order, used := 0.0, map[string]*fileField{}
	for i := range all {
		f, node := &all[i], child(list, i)
		place := fmt.Sprintf("%s[%d]", strings.TrimSuffix(prefix, " "), i)
		if f.DataKey != "" {
			place = prefix + f.DataKey
		}
		r.checkField(f, node, place, group == "")
		r.resolveNames(f, node, place)
		key := FieldKey(f.Field)
		if before := used[key]; before != nil && (f.ID == "" || !r.file.explicit[before.ID]) {
			r.report(node, place, "a field above has the same data key, categories and jurisdictions: give both a "+
				"fieldId")
		}
		used[key] = f
		f.ID = r.identify(node, place, f.ID, "field", group, key)
		if where := [2]string{group, f.ID}; r.file.nodes[where] != nil {
			r.report(node, place, "the fieldId is that of line %d, too", r.file.nodes[where].Line)
		} else {
			r.file.nodes[where] = node
		}
		if child(node, "order").Kind == 0 {
			f.Order = order + 1
		}
		order = f.Order
		completeField(&f.Field)
		fields[i] = f.Field
	}
	return fields
}

func (r *reader) checkField(f *fileField, node *yaml.Node, place string, isOfPolicy bool) {
	for _, required := range [][2]string{{"name", f.Name}, {"dataKey", f.DataKey}, {"fieldType", f.FieldType}} {
		if required[1] == "" {
			r.report(node, place, "%s is missing", required[0])
		}
	}
	if isOfPolicy && len(f.Categories) == 0 {
		r.report(node, place, "categories are missing: a field has at least one")
	}
	for i, target := range f.TargetEntities {
		if !slices.Contains(policy.TargetEntities, target) {
			r.report(child(child(node, "targetEntities"), i), place+fmt.Sprintf(", targetEntities[%d]", i),
				"%q is not one of %s", target, strings.Join(policy.TargetEntities, ", "))
		}
	}
}

// resolveNames sets the IDs of the data group and of the jurisdictions that a field names.
func (r *reader) resolveNames(f *fileField, node *yaml.Node, place string) {
	switch {
	case f.HasDataGroup() && f.DataGroup == "":
		r.report(node, place, "dataGroup is missing: a field of the type %s names one", f.FieldType)
	case f.HasDataGroup() && f.FieldTypeID != "":
		r.report(child(node, "fieldTypeId"), place, "fieldTypeId is for other types: dataGroup names the group")
	case f.HasDataGroup():
		f.FieldTypeID = r.resolve(child(node, "dataGroup"), place, "data group", f.DataGroup, r.groups)
	case f.DataGroup != "":
		r.report(child(node, "dataGroup"), place, "only fields of the types %s and %s have a dataGroup",
			policy.TypeCollection, policy.TypeCustom)
	}
	for i, name := range f.Jurisdictions {
		at := child(child(node, "jurisdictions"), i)
		f.JurisdictionIDs = append(f.JurisdictionIDs, r.resolve(at, place, "jurisdiction", name, r.jurisdictions))
	}
	if name := f.DataProtectionJurisdiction; name != "" {
		at := child(node, "dataProtectionJurisdiction")
		f.DataProtectionJurisdictionID = r.resolve(at, place, "jurisdiction", name, r.jurisdictions)
	}
}
