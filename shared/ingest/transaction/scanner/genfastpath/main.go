// Genfastpath writes the scanner's fast path, fastpath_gen.go, from the schema table: for each object a function that
// jumps by a hash of the first bytes of a member's name, compares the whole name, and calls the function that reads the
// value.
//
// It runs by "go generate ./shared/ingest/transaction/scanner". It imports only the schema table, so that it runs even
// while the scanner does not compile. The names of the scanner's functions that it writes are in this file, in captures
// and readers, and in fastpath.tmpl.
package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
	"text/template"

	"sluice/shared/ingest/transaction/schema"
)

func main() {
	log.SetFlags(0)
	text, err := generate(schema.Objects)
	if err != nil {
		log.Fatalf("genfastpath: %v", err)
	}
	if err := os.WriteFile("fastpath_gen.go", text, 0o644); err != nil {
		log.Fatalf("genfastpath: write the generated code: %v", err)
	}
}

//go:embed fastpath.tmpl
var templateText string

// generate returns the generated code for a schema table.
func generate(objects []*schema.Object) ([]byte, error) {
	t, err := template.New("fastpath").Parse(templateText)
	if err != nil {
		return nil, fmt.Errorf("parse the template: %w", err)
	}
	var out bytes.Buffer
	var described []object
	for _, o := range objects {
		described = append(described, describe(o))
	}
	if err := t.Execute(&out, described); err != nil {
		return nil, fmt.Errorf("execute the template: %w", err)
	}
	text, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("format the generated code: %w", err)
	}
	return text, nil
}

// object has the properties of an object of the schema that the template needs.
type object struct {
	// Name is the name of the object's variable in package schema.
	Name string

	// Variable is the name of the object's variable in package scanner.
	Variable string

	// Required is the set of required fields, as a Go literal.
	Required string

	// HashBits, Factor and Shift are the hash of the first bytes of a name: a word of so many bits, multiplied and
	// shifted.
	HashBits int
	Factor   string
	Shift    int

	// Cases are the fields that have the same hash.
	Cases []hashCase
}

// hashCase is one case of the switch over the hash.
type hashCase struct {
	Hash   uint64
	Fields []field
}

// field has the properties of a field of the schema that the template needs.
type field struct {
	// Index is the field's place in its object, and the number of its bit in sets of fields.
	Index int

	// IsNamed is the Go expression that compares the name.
	IsNamed string

	// ValueAt is the number of bytes from the opening quotation mark of the name to the first byte after the colon.
	ValueAt int

	// Read is the Go expression that reads the value.
	Read string

	// Capture is the Go statement that keeps the value, or "".
	Capture string
}

// describe returns an object for the template.
func describe(o *schema.Object) object {
	prefixes, fields := groupByPrefix(o)
	h := findHash(prefixes)
	d := object{
		Name:     o.Name,
		Variable: strings.ToLower(o.Name[:1]) + o.Name[1:] + "Object",
		HashBits: 8 * len(prefixes[0]),
		Factor:   fmt.Sprintf("%#x", h.factor),
		Shift:    h.shift,
	}
	var required uint64
	for i, f := range o.Fields {
		if f.Required {
			required |= 1 << i
		}
	}
	d.Required = fmt.Sprintf("%#x", required)
	for _, prefix := range prefixes {
		c := hashCase{Hash: h.of(prefix)}
		for _, i := range fields[prefix] {
			f := &o.Fields[i]
			name := quotedName(f)
			c.Fields = append(c.Fields, field{
				Index:   i,
				IsNamed: comparison(name),
				ValueAt: len(name),
				Read:    readerOf(f, fmt.Sprintf("%s.fields[%d]", d.Variable, i)),
				Capture: captures[f.Capture],
			})
		}
		d.Cases = append(d.Cases, c)
	}
	return d
}

// quotedName returns a field's name as nearly every writer writes it, with its quotation marks and the colon.
func quotedName(f *schema.Field) string { return `"` + f.Name + `":` }

// groupByPrefix groups the fields of an object, by index, by the first bytes of their names: eight bytes, or four if a
// name is too short.
func groupByPrefix(o *schema.Object) (prefixes []string, fields map[string][]int) {
	width := 8
	for i := range o.Fields {
		if len(quotedName(&o.Fields[i])) < 1+width {
			width = 4
		}
	}
	fields = make(map[string][]int)
	for i := range o.Fields {
		if o.Fields[i].Kind == schema.KindForbidden {
			continue // the slow path refuses it
		}
		prefix := quotedName(&o.Fields[i])[1 : 1+width]
		if fields[prefix] == nil {
			prefixes = append(prefixes, prefix)
		}
		fields[prefix] = append(fields[prefix], i)
	}
	return prefixes, fields
}

// comparison returns the Go expression that compares a quoted name with k, the bytes of the line: in pieces of eight
// bytes, or four, the last of which may overlap the one before it. The compiler makes one comparison of a word of each.
func comparison(name string) string {
	width := 8
	if len(name) < width {
		width = 4
	}
	var pieces []string
	for from := 0; from < len(name); from += width {
		from := min(from, len(name)-width)
		pieces = append(pieces, fmt.Sprintf("string(k[%d:%d]) == %s", from, from+width, "`"+name[from:from+width]+"`"))
	}
	return strings.Join(pieces, " && ")
}

// captures are the Go statements that keep a string, without its quotation marks, by the purpose of the value. The type
// of an entity is kept by its reader, and so are the ID and the name of an unknown one.
var captures = map[schema.Capture]string{
	schema.CaptureRequestUUID:    "s.result.RequestUUID = b[value+1 : end-1]",
	schema.CapturePaymentID:      "s.result.PaymentExternalID = b[value+1 : end-1]",
	schema.CaptureTransactionID:  "s.result.TransactionExternalID = b[value+1 : end-1]",
	schema.CaptureModificationID: "s.result.ModificationID, s.result.ModificationOffset = b[value+1:end-1], value",
	schema.CapturePaymentType:    "s.paymentType = b[value+1 : end-1]",
	schema.CaptureByExternalID:   "s.entity.id, s.entity.idOffset = b[value+1:end-1], value",
}

// readers are the Go expressions that read a value, by its kind. FIELD stands for the field, MIN and MAX for its
// limits.
var readers = map[schema.Kind]string{
	schema.KindString:     "fastASCII(b, value, MIN, MAX)",
	schema.KindID:         "fastASCII(b, value, MIN, MAX)",
	schema.KindUUID:       "fastUUID(b, value)",
	schema.KindEnum:       "FIELD.enum.match(b, value)",
	schema.KindCountry:    "fastCountry(b, value)",
	schema.KindCurrency:   "fastCurrency(b, value)",
	schema.KindDateTime:   "s.fastDateTime(b, value, &FIELD)",
	schema.KindCreatedAt:  "s.fastDateTime(b, value, &FIELD)",
	schema.KindIP:         "fastIP(b, value, MIN, MAX)",
	schema.KindBIC:        "fastBIC(b, value)",
	schema.KindEntityType: "s.fastEntityType(b, value)",
	schema.KindNumber:     "fastNumber(b, value)",
	schema.KindInteger:    "fastInteger(b, value, MIN, MAX)",
	schema.KindObject:     "s.fastObject(b, value, &FIELD)",
	schema.KindEntity:     "s.fastEntity(b, value, &FIELD)",
	schema.KindObjects:    "s.fastArray(b, value, &FIELD)",
	schema.KindStrings:    "s.fastArray(b, value, &FIELD)",
	schema.KindStringMap:  "s.fastStringMap(b, value, &FIELD)",
}

// readerOf returns the Go expression that reads the value of a field, which the expression variable denotes.
func readerOf(f *schema.Field, variable string) string {
	switch f.Capture {
	case schema.CaptureUnknownID:
		return fmt.Sprintf("s.fastUnknownID(b, value, %d, %d)", f.Min, f.Max)
	case schema.CaptureFullName:
		return "s.fastFullName(b, value)"
	}
	if f.Kind == schema.KindString && f.Max == schema.Unlimited {
		return "s.fastString(b, value)"
	}
	reader, ok := readers[f.Kind]
	if !ok {
		panic("no function reads the kind of " + f.Name)
	}
	return strings.NewReplacer("FIELD", variable, "MIN", fmt.Sprint(f.Min), "MAX", fmt.Sprint(f.Max)).Replace(reader)
}

// hash maps the first bytes of a name to a small number: as a word, multiplied by factor and shifted right.
type hash struct {
	factor uint64
	shift  int
}

// of returns the hash of a prefix of four or eight bytes.
func (h hash) of(prefix string) uint64 {
	if len(prefix) == 4 {
		return uint64(binary.LittleEndian.Uint32([]byte(prefix)) * uint32(h.factor) >> h.shift)
	}
	return binary.LittleEndian.Uint64([]byte(prefix)) * h.factor >> h.shift
}

// findHash finds a hash that maps each prefix to a number of its own, with as few bits as possible.
func findHash(prefixes []string) hash {
	bits := 8 * len(prefixes[0])
	for size := 3; ; size++ {
		factor := uint64(0x9e3779b97f4a7c15)
		for range 1 << 12 {
			factor = (factor*6364136223846793005 + 1442695040888963407) >> (64 - bits)
			h := hash{factor, bits - size}
			used := make(map[uint64]bool)
			for _, prefix := range prefixes {
				used[h.of(prefix)] = true
			}
			if len(used) == len(prefixes) {
				return h
			}
		}
	}
}
