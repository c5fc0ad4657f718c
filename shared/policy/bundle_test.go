package policy

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "write the golden bundle instead of comparing with it")

// bundled are contents that have each kind of part, with names that JSON escapes.
func bundled() Contents {
	no := "no"
	return Contents{
		EntityType: "Company",
		Fields: []Field{
			{ID: "b", Version: 2, Name: "Grüße <&>", DataKey: "b", FieldType: TypeCollection, FieldTypeID: "g",
				Order: 0.1},
			{ID: "a", Version: 1, Name: "A", DataKey: "a", FieldType: "Text", Order: 1e21, DefaultValue: &no,
				Conditions: []Condition{{ID: "c", Operands: []Operand{{FieldName: "x", Operation: IsEmpty}}}}},
		},
		Jurisdictions: []Jurisdiction{{ID: "k", Name: "K"}, {ID: "j", Name: "J", Conditions: []Condition{{ID: "d"}}}},
		DataGroups: []DataGroup{
			{ID: "h", Version: 1, Status: DataGroupPublished, Name: "H", Fields: []Field{}},
			{ID: "g", Version: 3, Status: DataGroupPublished, Name: "G", Fields: []Field{{ID: "x", DataKey: "x"}},
				Reason: "because", Revision: 4},
		},
	}
}

// The golden bundle pins the stored format: existing bundles are read, and their names are their digests.
func TestStoredBundle(t *testing.T) {
	text, digest, err := EncodeContents(bundled())
	errtest.Fatal(t, err)
	const path = "testdata/stored/bundle.json"
	if *update {
		errtest.Fatal(t, errors.Join(os.MkdirAll("testdata/stored", 0o755), os.WriteFile(path, text, 0o644)))
	}
	want := errtest.Must(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("the bundle has changed: change the code, not the file (-golden +got)\n%s", diff)
	}
	difftest.Equal(t, "digest", "64f82d6b2154932e927a4b42460e268e81219f49a6834787eb4ca628fdb4ac6e", digest)
	c := errtest.Must(DecodeContents(want))(t)
	again, _, err := EncodeContents(c)
	errtest.Fatal(t, err)
	difftest.Equal(t, "read and written again", string(want), string(again))
}

// The same contents have the same bytes, independently of the order of their parts, and encoding does not change them.
func TestEncodeContentsIsDeterministic(t *testing.T) {
	want, wantDigest, err := EncodeContents(bundled())
	errtest.Fatal(t, err)
	c := bundled()
	slices.Reverse(c.Fields)
	slices.Reverse(c.Jurisdictions)
	slices.Reverse(c.DataGroups)
	for i := range c.DataGroups {
		c.DataGroups[i].Revision, c.DataGroups[i].Reason = 9, ""
	}
	c.Fields[0].Tags, c.Jurisdictions[0].Conditions = []string{}, []Condition{{ID: "d", Operands: []Operand{}}}
	c.DataGroups[1].Fields = nil
	before := c.Fields[0].ID + c.Jurisdictions[0].ID + c.DataGroups[0].ID
	got, gotDigest, err := EncodeContents(c)
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" || gotDigest != wantDigest {
		t.Errorf("error %v, digest %s, want %s (-want +got)\n%s", err, gotDigest, wantDigest, diff)
	}
	after := c.Fields[0].ID + c.Jurisdictions[0].ID + c.DataGroups[0].ID
	if after != before || c.DataGroups[0].Revision != 9 {
		t.Errorf("encoding has changed the contents: %s, before %s", after, before)
	}
	empty, _, err := EncodeContents(Contents{})
	if string(empty) != `{"entityType":"","fields":[]}` {
		t.Errorf("empty contents: %s, %v", empty, err)
	}
}

func TestLargestBundle(t *testing.T) {
	c := Contents{Fields: []Field{{ID: "a", Description: "x"}}}
	text, _, err := EncodeContents(c)
	errtest.Fatal(t, err)
	c.Fields[0].Description = strings.Repeat("x", MaxBundleBytes-len(text)+1)
	if text, _, err = EncodeContents(c); err != nil || len(text) != MaxBundleBytes {
		t.Errorf("got %d bytes and the error %v, want %d", len(text), err, MaxBundleBytes)
	}
	c.Fields[0].Description += "x"
	if _, _, err = EncodeContents(c); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte more: got the error %v, want %v", err, ErrTooLarge)
	}
}

func TestCheckSize(t *testing.T) {
	contents := func(fields, inGroups, jurisdictions int) Contents {
		return Contents{
			Fields: make([]Field, fields), Jurisdictions: make([]Jurisdiction, jurisdictions),
			DataGroups: []DataGroup{{Fields: make([]Field, inGroups)}, {}},
		}
	}
	cases := []struct {
		fields, inGroups, jurisdictions int
		want                            error
	}{
		{0, 0, 0, nil}, {MaxFields, 0, 0, nil}, {MaxFields + 1, 0, 0, ErrTooMany},
		{MaxFields - 2, 2, 0, nil}, {MaxFields - 2, 3, 0, ErrTooMany},
		{0, 0, MaxJurisdictions, nil}, {0, 0, MaxJurisdictions + 1, ErrTooMany},
	}
	for _, c := range cases {
		errtest.Is(t,
			fmt.Sprintf("%d fields, %d in groups, %d jurisdictions: got the error", c.fields, c.inGroups,
				c.jurisdictions), contents(c.fields, c.inGroups, c.jurisdictions).CheckSize(), c.want)
	}
}

func TestDataGroupIDs(t *testing.T) {
	got := DataGroupIDs([]Field{
		{FieldType: TypeCustom, FieldTypeID: "b"}, {FieldType: TypeCollection, FieldTypeID: "a"},
		{FieldType: TypeCollection, FieldTypeID: "b"}, {FieldType: "Lookup", FieldTypeID: "c"},
		{FieldType: TypeCustom}})
	difftest.Equal(t, "result", []string{"a", "b"}, got)
}

// A data group counts as often as fields refer to it, with the groups inside it.
func TestGroupBytes(t *testing.T) {
	refer := func(ids ...string) (fields []Field) {
		for _, id := range ids {
			fields = append(fields, Field{FieldType: TypeCustom, FieldTypeID: id})
		}
		return fields
	}
	inner := DataGroup{ID: "inner", Fields: []Field{{Name: "n"}}}
	outer := DataGroup{ID: "outer", Fields: refer("inner", "inner")}
	sizeOf := func(g DataGroup) int64 {
		text := errtest.Must(json.Marshal(g))(t)
		return int64(len(text))
	}
	a, b := sizeOf(inner), sizeOf(outer)
	for name, test := range map[string]struct {
		fields []Field
		want   int64
	}{
		"no field refers":     {[]Field{{FieldType: "Lookup", FieldTypeID: "inner"}}, 0},
		"no such group":       {refer("other"), 0},
		"one field refers":    {refer("inner"), a},
		"three fields refer":  {refer("inner", "inner", "inner"), 3 * a},
		"a group in a group":  {refer("outer"), b + 2*a},
		"several, and nested": {refer("outer", "inner", "outer"), 2*(b+2*a) + a},
	} {
		got := errtest.Must(Contents{Fields: test.fields, DataGroups: []DataGroup{outer, inner}}.GroupBytes())(t)
		difftest.Equal(t, name+": bytes", test.want, got)
	}
	circle := DataGroup{ID: "circle", Fields: refer(slices.Repeat([]string{"circle"}, MaxDataGroupFields)...)}
	c := Contents{Fields: refer(slices.Repeat([]string{"circle"}, MaxFields)...), DataGroups: []DataGroup{circle}}
	if got, err := c.GroupBytes(); err != nil || got != groupBytesLimit {
		t.Errorf("a circle: got %d bytes and the error %v, want %d", got, err, groupBytesLimit)
	}
}
