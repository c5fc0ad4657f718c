package scanner

import (
	"math/bits"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// object is an object of the schema table, prepared for reading.
type object struct {
	// closed is set if a key that is not in the table is an error.
	closed bool

	fields []field
	byName map[string]*field
}

// field is a field of the schema table, prepared for reading.
type field struct {
	schema.Field

	// key is the field's name.
	key []byte

	// bit represents the field in sets of fields: bit i is the field with the index i.
	bit uint64

	// enum finds the values of a schema.KindEnum.
	enum *enumTable

	// object describes the value of the field, or its items.
	object *object

	// isFree is set for a string without any rule.
	isFree bool

	// messages holds the message for each code of a finding at the field.
	messages map[transaction.Code]string
}

// compiled holds the objects that have been prepared, so that each of them exists once.
var compiled = make(map[*schema.Object]*object)

// compile prepares an object and those inside it.
func compile(from *schema.Object) *object {
	if o := compiled[from]; o != nil || from == nil {
		return o
	}
	o := &object{
		closed: from.Closed,
		fields: make([]field, len(from.Fields)),
		byName: make(map[string]*field, len(from.Fields)),
	}
	compiled[from] = o
	for i := range from.Fields {
		f := &o.fields[i]
		*f = field{
			Field:    from.Fields[i],
			key:      []byte(from.Fields[i].Name),
			bit:      1 << i,
			object:   compile(from.Fields[i].Object),
			isFree:   from.Fields[i].Kind == schema.KindString && from.Fields[i].Max == schema.Unlimited,
			messages: make(map[transaction.Code]string),
		}
		if f.Kind == schema.KindEnum {
			f.enum = newEnumTable(f.Enum)
		}
		for _, code := range f.Codes() {
			f.messages[code] = f.Message(code)
		}
		o.byName[f.Name] = f
	}
	return o
}

// fieldOf returns the field of the lowest bit in a set of fields.
func (o *object) fieldOf(set uint64) *field { return &o.fields[bits.TrailingZeros64(set)] }
