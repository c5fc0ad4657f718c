package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/shared/kit/difftest"
)

// randomContents returns contents of some of ten fields and five jurisdictions.
func randomContents(random *rand.Rand) Contents {
	c := Contents{EntityType: "Company"}
	for i := range 10 {
		if random.IntN(2) == 0 {
			c.Fields = append(c.Fields, Field{ID: fmt.Sprint("f", i), Name: fmt.Sprint(random.IntN(2)),
				Version: 1 + random.Int64N(3), Tags: []string{}})
		}
	}
	for i := range 5 {
		if random.IntN(2) == 0 {
			c.Jurisdictions = append(c.Jurisdictions, Jurisdiction{ID: fmt.Sprint("j", i),
				Name: fmt.Sprint(random.IntN(2))})
		}
	}
	return c
}

// The differences between two versions, applied to one, make the other; between equal ones there are none.
func TestDifferencesMakeTheOther(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		from, to := randomContents(random), randomContents(random)
		changes := Differences(from, to)
		got := Apply(from, changes)
		if rest := Differences(got, to); len(rest) != 0 {
			t.Fatalf("from %v\nto %v\nby %v\nleaves %v", from, to, changes, rest)
		}
		if len(changes) > len(from.Fields)+len(to.Fields)+len(from.Jurisdictions)+len(to.Jurisdictions) {
			t.Fatalf("%d changes", len(changes))
		}
		versions := map[string]int64{}
		for _, f := range from.Fields {
			versions[f.ID] = f.Version
		}
		for _, c := range changes {
			if c.Type == Updated && c.Field != nil {
				versions[c.Field.ID]++
			}
		}
		for _, f := range got.Fields {
			if want := versions[f.ID]; want != 0 && f.Version != want {
				t.Fatalf("field %s has the version %d, want %d", f.ID, f.Version, want)
			}
		}
		if rest := Differences(to, to); rest != nil {
			t.Fatalf("differences of the same: %v", rest)
		}
	}
}

func TestDifferences(t *testing.T) {
	from := Contents{
		Fields: []Field{
			{ID: "a", Name: "1", Version: 1}, {ID: "b", Name: "1", Version: 1}, {ID: "same", Version: 1}},
		Jurisdictions: []Jurisdiction{{ID: "j", Name: "1"}, {ID: "k"}},
	}
	to := Contents{
		Fields: []Field{
			{ID: "same", Version: 7, Tags: []string{}}, {ID: "c", Version: 3}, {ID: "b", Name: "2", Version: 5}},
		Jurisdictions: []Jurisdiction{{ID: "l"}, {ID: "j", Name: "2"}},
	}
	want := []Change{
		{Type: Deleted, Field: &from.Fields[0]}, {Type: Updated, Field: &to.Fields[2]},
		{Type: Added, Field: &to.Fields[1]}, {Type: Updated, Jurisdiction: &to.Jurisdictions[1]},
		{Type: Deleted, Jurisdiction: &from.Jurisdictions[1]}, {Type: Added, Jurisdiction: &to.Jurisdictions[0]},
	}
	difftest.Equal(t, "differences", want, Differences(from, to))
	ids := ""
	for _, c := range want {
		ids += c.ObjectID()
	}
	if ids != "abcjkl" || (Change{}).ObjectID() != "" {
		t.Errorf("the objects are %q", ids)
	}
	got := Apply(from, want)
	wantFields := []Field{{ID: "b", Name: "2", Version: 2}, {ID: "c", Version: 3}, {ID: "same", Version: 1}}
	difftest.Equal(t, "fields", wantFields, got.Fields)
}

func TestView(t *testing.T) {
	field := func(id, name string) *Field { return &Field{ID: id, Name: name} }
	jurisdiction := func(id string) *Jurisdiction { return &Jurisdiction{ID: id} }
	base := Contents{
		Fields:        []Field{*field("deleted", ""), *field("locked", ""), *field("same", ""), *field("updated", "")},
		Jurisdictions: []Jurisdiction{*jurisdiction("j"), *jurisdiction("k"), *jurisdiction("l")},
	}
	changes := []Change{
		{Added, "here", field("added", "new"), nil},
		{Added, "there", field("added there", ""), nil},
		{Deleted, "here", field("deleted", ""), nil},
		{Deleted, "there", field("locked", ""), nil},
		{Updated, "here", field("updated", "new"), nil},
		{Updated, "there", nil, jurisdiction("j")},
		{Deleted, "here", nil, jurisdiction("k")},
		{Updated, "here", nil, jurisdiction("l")},
	}
	var own []Change
	for _, c := range changes {
		if c.WorkspaceID == "here" {
			own = append(own, c)
		}
	}
	lock := func(kind ChangeType) *Lock { return &Lock{"there", kind} }
	added := *field("added", "new")
	added.Version = 1
	updated := *field("updated", "new")
	updated.Version = 1
	want := View{
		Fields: []FieldView{
			{added, Added, nil}, {*field("deleted", ""), Deleted, nil}, {*field("locked", ""), Locked, lock(Deleted)},
			{*field("same", ""), Unchanged, nil}, {updated, Updated, nil}},
		Jurisdictions: []JurisdictionView{
			{*jurisdiction("j"), Locked, lock(Updated)}, {*jurisdiction("k"), Deleted, nil},
			{*jurisdiction("l"), Updated, nil}},
	}
	difftest.Equal(t, "view of the workspace", want, NewView(Apply(base, own), changes, "here"))
	here := func(kind ChangeType) *Lock { return &Lock{"here", kind} }
	want = View{
		Fields: []FieldView{
			{*field("deleted", ""), Locked, here(Deleted)}, {*field("locked", ""), Locked, lock(Deleted)},
			{*field("same", ""), Unchanged, nil}, {*field("updated", ""), Locked, here(Updated)}},
		Jurisdictions: []JurisdictionView{
			{*jurisdiction("j"), Locked, lock(Updated)}, {*jurisdiction("k"), Locked, here(Deleted)},
			{*jurisdiction("l"), Locked, here(Updated)}},
	}
	difftest.Equal(t, "view without a workspace", want, NewView(base, changes, ""))
}
