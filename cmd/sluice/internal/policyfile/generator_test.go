package policyfile_test

import (
	"math/rand/v2"
	"reflect"

	"github.com/google/uuid"

	"sluice/shared/policy"
)

// generator makes random policies.
type generator struct{ *rand.Rand }

func (g generator) id() string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(g.IntN(256))
	}
	return id.String()
}

// texts are what is not read as itself without quotes, among others.
var texts = []string{"a", "Legal name", "true", "no", "null", "~", "1", "1.50", "0x1F", "2024-01-01", "- a", "a: b",
	"#x", "é, ü", "\t\n x", "\"q\"", "'", "\u2028\u0085\ufeff", "\U0001F600", "\x00\x1b", "[", "{}", "<<", "*a", "&a",
	"!!int 1", " x ",
	"a #b", "|", ">", "%", "@", "`", "=", ".inf", "1_000", "12:30:45", "line\nline", "\\", "\x7f", "\U0010fffd", "..."}

func (g generator) text() string { return texts[g.IntN(len(texts))] }

func (g generator) contents() policy.Contents {
	c := policy.Contents{EntityType: "Company", Fields: []policy.Field{}}
	for range g.IntN(4) {
		c.Jurisdictions = append(c.Jurisdictions, policy.Jurisdiction{ID: g.id(), Name: g.text()})
		g.fill(reflect.ValueOf(&c.Jurisdictions[len(c.Jurisdictions)-1].Conditions).Elem(), 0)
	}
	for range g.IntN(4) {
		c.DataGroups = append(c.DataGroups, policy.DataGroup{ID: g.id(), Name: g.text(), Description: g.text(),
			PrimaryField: g.text(), DisableMultiselectPrimaryFieldOnAdd: g.IntN(2) == 0, Fields: []policy.Field{}})
	}
	for i := range c.DataGroups {
		c.DataGroups[i].Fields = g.fields(c)
	}
	c.Fields = g.fields(c)
	return c
}

func (g generator) fields(c policy.Contents) []policy.Field {
	all := []policy.Field{}
	for range g.IntN(5) {
		f := policy.Field{}
		g.fill(reflect.ValueOf(&f).Elem(), 0)
		f.ID, f.Version, f.JurisdictionIDs, f.DataProtectionJurisdictionID = g.id(), 0, nil, ""
		f.Categories = append(f.Categories, g.text())
		f.TargetEntities = policy.TargetEntities[:g.IntN(2)]
		if len(f.TargetEntities) == 0 {
			f.TargetEntities = nil
		}
		if len(c.Jurisdictions) > 0 && g.IntN(2) == 0 {
			f.JurisdictionIDs = append(f.JurisdictionIDs, c.Jurisdictions[g.IntN(len(c.Jurisdictions))].ID)
			f.DataProtectionJurisdictionID = g.id()
		}
		if len(c.DataGroups) > 0 && g.IntN(3) == 0 {
			f.FieldType, f.FieldTypeID = policy.TypeCollection, c.DataGroups[g.IntN(len(c.DataGroups))].ID
		}
		all = append(all, f)
	}
	return all
}

// fill sets a value to a random one.
func (g generator) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(g.text())
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt(g.Int64() >> g.IntN(64))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -3, 2.5, 1e21, 1e-7, 10, 9007199254740993}[g.IntN(8)])
	case reflect.Pointer:
		if g.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		for n := g.IntN(3); n > 0 && depth < 6; n-- {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			g.fill(v.Index(v.Len()-1), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			g.fill(v.Field(i), depth+1)
		}
	}
}
