// Package parquetfile writes the accepted lines of a batch as a Parquet file, whose columns follow the table of the
// fields of a line (package schema). docs/parquet.md describes them for those who query the files.
//
// Objects are structs, arrays are lists and objects with any keys are maps, so that a column has the name and the place
// of its field. It is the only package that imports the Parquet library.
package parquetfile

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"

	"sluice/shared/ingest/transaction/schema"
)

// Version is the version of the columns. It is in each file under the key VersionKey. Readers find columns by their
// names, so that a column may be added with the next version, and none may be removed, renamed or change its type.
const Version = 1

// The keys of the metadata of a file.
const (
	VersionKey = "sluice.schema_version"
	TenantKey  = "sluice.tenant"
	BatchKey   = "sluice.batch_id"
)

// The columns that are not fields of a line.
const (
	batchColumn      = "batch_id"
	lineColumn       = "line"
	receivedColumn   = "received_at"
	mainEntityColumn = "main_entity"
	rawLineColumn    = "raw_line"
)

// decimalSuffix is added to the name of a number for the column that has its value. The column of its own name has its
// text as it was sent.
const decimalSuffix = "_decimal"

// Decimals have 38 digits, 18 of them after the point: what all readers know.
const (
	decimalPrecision = 38
	decimalScale     = 18
)

// table is the columns of a file: how they are declared, and how a line is divided into them.
type table struct {
	version int
	schema  *parquet.Schema
	// columns is the number of leaf columns.
	columns int
	// The leaf columns that are not fields of a line.
	batch, line, receivedAt, mainEntity, rawLine int
	root                                         *object
}

// object describes the columns of an object.
type object struct {
	// first and last are its leaf columns: [first, last).
	first, last int
	fields      map[string]*field
	// order is the fields in the order of their columns, and each field's index is its place in it.
	order []*field
}

// field describes the columns of a field.
type field struct {
	index int
	kind  schema.Kind
	// first and last are the leaf columns of the field: [first, last).
	first, last int
	// definition is the definition level of a value that is present and has no fields or items.
	definition int
	// repetition is the repetition level of the second and each further item of a list or map.
	repetition int
	// object describes the value of an object, or the items of a list of objects.
	object *object
}

// lineTable is the table of the files that this release writes.
var lineTable = newTable(schema.Transaction, Version)

// newTable returns the columns of a file whose lines are objects as described.
func newTable(line *schema.Object, version int) *table {
	t := &table{version: version}
	root := &orderedGroup{}
	t.batch = t.addLeaf(root, batchColumn, parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	t.line = t.addLeaf(root, lineColumn, parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked))
	t.receivedAt = t.addLeaf(root, receivedColumn, parquet.Encoded(timestamp(), &parquet.RLEDictionary))
	t.mainEntity = t.addLeaf(root, mainEntityColumn, parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
	t.root = t.addFields(root, line, 0, 0)
	t.rawLine = t.addLeaf(root, rawLineColumn, parquet.String())
	t.schema = parquet.NewSchema("line", root)
	return t
}

func timestamp() parquet.Node { return parquet.TimestampAdjusted(parquet.Microsecond, true) }

// addLeaf adds a column to a group and returns its number.
func (t *table) addLeaf(g *orderedGroup, name string, n parquet.Node) int {
	g.add(name, n)
	t.columns++
	return t.columns - 1
}

// addFields adds the columns of an object's fields to a group, whose values have a definition level and, if they are
// items of lists, a repetition level.
func (t *table) addFields(g *orderedGroup, o *schema.Object, definition, repetition int) *object {
	described := &object{first: t.columns, fields: make(map[string]*field, len(o.Fields))}
	for i := range o.Fields {
		f := &o.Fields[i]
		if f.Kind == schema.KindForbidden {
			continue
		}
		added := t.addField(g, f, definition, repetition)
		added.index = len(described.order)
		described.order = append(described.order, added)
		described.fields[f.Name] = added
	}
	described.last = t.columns
	return described
}

// addField adds the columns of a field to a group. A value of a group has the given levels; a field may be absent.
func (t *table) addField(g *orderedGroup, f *schema.Field, definition, repetition int) *field {
	added := &field{kind: f.Kind, first: t.columns, definition: definition + 1, repetition: repetition}
	switch f.Kind {
	case schema.KindObject, schema.KindEntity:
		inner := &orderedGroup{}
		added.object = t.addFields(inner, f.Object, definition+1, repetition)
		g.add(f.Name, parquet.Optional(inner))
	case schema.KindObjects: // an optional list of a repeated group with an optional item
		added.repetition++
		inner := &orderedGroup{}
		added.object = t.addFields(inner, f.Object, definition+3, repetition+1)
		g.add(f.Name, parquet.Optional(parquet.List(parquet.Optional(inner))))
	case schema.KindStrings:
		added.repetition++
		t.columns++
		g.add(f.Name, parquet.Optional(parquet.List(parquet.Optional(parquet.String()))))
	case schema.KindStringMap:
		added.repetition++
		t.columns += 2
		g.add(f.Name, parquet.Optional(parquet.Map(parquet.String(), parquet.Optional(parquet.String()))))
	case schema.KindNumber:
		t.addLeaf(g, f.Name, parquet.Optional(parquet.String()))
		t.addLeaf(g, f.Name+decimalSuffix,
			parquet.Optional(parquet.Decimal(decimalScale, decimalPrecision, parquet.FixedLenByteArrayType(16))))
	default:
		t.addLeaf(g, f.Name, parquet.Optional(leafNode(f.Kind)))
	}
	added.last = t.columns
	return added
}

// leafNode returns the column of a kind that has one. Columns with few distinct values have a dictionary.
func leafNode(kind schema.Kind) parquet.Node {
	switch kind {
	case schema.KindDateTime, schema.KindCreatedAt:
		return timestamp()
	case schema.KindInteger:
		return parquet.Int(32)
	case schema.KindEnum, schema.KindCountry, schema.KindCurrency, schema.KindEntityType:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case schema.KindString, schema.KindID, schema.KindUUID, schema.KindIP, schema.KindBIC:
		return parquet.String()
	}
	panic(fmt.Sprintf("package schema has a kind of values, %d, for which there is no kind of columns", kind))
}

// orderedGroup is a group whose fields keep the order in which they were added; those of a parquet.Group are sorted.
type orderedGroup struct {
	parquet.Group
	names []string
}

func (g *orderedGroup) add(name string, n parquet.Node) {
	if g.Group == nil {
		g.Group = parquet.Group{}
	}
	if g.Group[name] != nil {
		panic("two columns are called " + name)
	}
	g.Group[name] = n
	g.names = append(g.names, name)
}

// Fields returns the fields in the order in which they were added.
func (g *orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	place := make(map[string]int, len(g.names))
	for i, name := range g.names {
		place[name] = i
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place[a.Name()] - place[b.Name()] })
	return fields
}
