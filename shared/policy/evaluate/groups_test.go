package evaluate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// groupContents is a policy with a collection and with custom groups in each other.
func groupContents() policy.Contents {
	isIn := func(source, field, v string) []policy.Condition {
		return []policy.Condition{{ID: field + " is " + v, Operands: []policy.Operand{
			{DataSource: source, FieldName: field, Operation: policy.Equal, Value: []string{v}},
		}}}
	}
	return policy.Contents{
		Fields: []policy.Field{
			{
				ID: "1", DataKey: "owners", Name: "Owners", FieldType: policy.TypeCollection, FieldTypeID: "owner",
				Order:      1,
				Categories: []string{"Ownership"}, Conditions: when("a company", "company"), IsReadOnly: true,
			},
			{
				ID: "2", DataKey: "address", Name: "Address", FieldType: policy.TypeCustom, FieldTypeID: "place",
				Order:                              2,
				ClearValueIfTriggerConditionNotMet: true, Conditions: when("a company", "company"),
			},
		},
		DataGroups: []policy.DataGroup{
			{ID: "owner", Version: 3, Name: "Owner", PrimaryField: "role", Fields: []policy.Field{
				{ID: "o1", DataKey: "name", Name: "Name", FieldType: "Text", Order: 1},
				{ID: "o2", DataKey: "share", Order: 2, Conditions: isIn("currentDataGroupItem", "role", "shareholder")},
				{ID: "o3", DataKey: "licence", Order: 3, Conditions: isIn("", "address.country", "IE")},
				{ID: "o4", DataKey: "name", Name: "Second name", Order: 4},
			}},
			{ID: "place", Version: 1, Name: "Place", Fields: []policy.Field{
				{ID: "p1", DataKey: "city", Order: 2},
				{ID: "p2", DataKey: "region", Order: 1, FieldType: policy.TypeCustom, FieldTypeID: "region",
					Conditions: isIn("", "address.country", "IE")},
			}},
			{ID: "region", Version: 7, Name: "Region", Fields: []policy.Field{{ID: "r1", DataKey: "county"}}},
		},
	}
}

func groupRequest(kind string) evaluate.Request {
	item := func(role string) property.SplitItem {
		return property.SplitItem{Properties: map[string]property.Text{"role": value(role)}}
	}
	return evaluate.Request{Explain: true, Properties: property.Split{
		SingleProperties: map[string]property.Text{"kind": value(kind)},
		CollectionProperties: map[string]property.SplitCollection{"owners": {Items: map[string]property.SplitItem{
			"i1": item("shareholder"), "i2": item("director"), "i3": {},
		}}},
		CustomProperties: map[string]property.Split{"address": {
			SingleProperties: map[string]property.Text{"country": value("ie")},
		}},
	}}
}

// TestGroups evaluates a collection and custom groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	got := evaluated(t, groupContents(), groupRequest("company"))
	if len(got.EvaluatedFields) != 0 || len(got.EvaluatedCollectionDataGroups) != 1 ||
		len(got.EvaluatedCustomDataGroups) != 1 {
		t.Fatalf("got %d fields, %d collections, %d groups, want 0, 1, 1", len(got.EvaluatedFields),
			len(got.EvaluatedCollectionDataGroups), len(got.EvaluatedCustomDataGroups))
	}
	g := got.EvaluatedCollectionDataGroups[0]
	items := map[string]string{}
	for id, item := range g.EvaluatedItems {
		for _, f := range item.EvaluatedFields {
			items[id] += fmt.Sprint(f.DataKey, f.DecidedBy, " ")
		}
	}
	difftest.Equal(t, "the items differ", map[string]string{
		"i1": "name[] share[role is shareholder] licence[address.country is IE] ",
		"i2": "name[] licence[address.country is IE] ",
		"i3": "name[] licence[address.country is IE] ",
	}, items)
	if g.EvaluatedItems["i2"].EvaluatedFields[0] != g.EvaluatedItems["i3"].EvaluatedFields[0] {
		t.Error("equal fields of items are not shared")
	}
	g.EvaluatedItems = nil
	primary := "role"
	if diff := cmp.Diff(evaluate.CollectionDataGroup{CollectionHeader: evaluate.CollectionHeader{
		DataKey: "owners", DataGroupID: "owner", DataGroupVersionNumber: 3, DataGroupName: "Owner", Name: "Owners",
		Category: "Ownership", Order: 1, IsReadOnly: true, IsConditional: true, PrimaryDataGroupField: &primary,
		Columns: []evaluate.Column{
			{DataKey: "name", FieldType: "Text", Name: "Name", Order: 1}, {DataKey: "share", Order: 2,
				IsConditional: true},
			{DataKey: "licence", Order: 3, IsConditional: true},
		},
		ValidationData: map[string]evaluate.ResolvedRule{}, ValidationErrors: []evaluate.ValidationError{},
		DecidedBy: []string{"a company"},
	}}, g); diff != "" {
		t.Errorf("the collection differs (-want +got):\n%s", diff)
	}
	custom := got.EvaluatedCustomDataGroups[0]
	if len(custom.SingleFields) != 1 || custom.SingleFields[0].DataKey != "city" ||
		len(custom.CustomNestedFields) != 1 ||
		custom.CustomNestedFields[0].DataGroupID != "region" || custom.CustomNestedFields[0].VersionNumber != 7 ||
		len(custom.CustomNestedFields[0].SingleFields) != 1 || custom.DataGroupName != "Place" ||
		custom.Name != "Address" {
		t.Errorf("the custom group is %+v", custom)
	}
}

// TestGroupsThatAreNotShown leaves out a collection, and returns a custom group that has a value to be cleared as a
// field.
func TestGroupsThatAreNotShown(t *testing.T) {
	t.Parallel()
	got := evaluated(t, groupContents(), groupRequest("person"))
	difftest.Equal(t, "fields are", "address clear conditional a company", keysOf(got.EvaluatedFields))
	if n := len(got.EvaluatedCollectionDataGroups) + len(got.EvaluatedCustomDataGroups); n > 0 {
		t.Errorf("%d groups are shown", n)
	}
}

// A program answers a request like a new program, independently of earlier requests. Callers use a program at the
// same time in the tests of the example policies, in cmd/sluice: a goroutine here would put all tests of this package
// under the race detector.
func TestProgramsKeepNothingOfRequests(t *testing.T) {
	t.Parallel()
	p := newMaskedPolicy(1)
	var requests []evaluate.Request
	var want []string
	for seed := range uint64(16) {
		request := newMaskedWorld(hiddenKeys{}, seed, 0).request(p.request)
		requests, want = append(requests, request), append(want, asJSON(evaluated(t, p.contents, request)))
	}
	program := mustCompile(t, p.contents)
	for turn := range 2 {
		for i, request := range requests {
			if got, _ := reply(t, program, request); got != want[i] {
				t.Errorf("turn %d: request %d is answered differently:\n%s", turn, i, difference(want[i], got))
			}
		}
	}
}
