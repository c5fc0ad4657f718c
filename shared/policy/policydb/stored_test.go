package policydb_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
	"sluice/shared/policy/policytest"
)

// TestStoredPolicies pins the stored format; see the golden items.
func TestStoredPolicies(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	full := fullField("a")
	_, err := h.AddField(ctx, h.ws("first"), full)
	h.must(err)
	h.add("first", "b", "c")
	_, err = h.AddJurisdiction(ctx, h.ws("first"), policy.Jurisdiction{ID: "j", Name: "Lux",
		Description: "Luxembourg", Conditions: full.Conditions})
	h.must(err)
	h.publish(1)
	h.draft("second")
	second := h.ws("second")
	second.Client = "author"
	_, err = h.UpdateField(ctx, second, fullField("a"))
	h.must(err)
	_, err = h.DeleteField(ctx, h.ws("second"), "b")
	h.must(err)
	_, err = h.UpdateJurisdiction(ctx, h.ws("second"), policy.Jurisdiction{ID: "j", Name: "Luxembourg"})
	h.must(err)
	_, err = h.SetLocked(ctx, h.ws("second"), true)
	h.must(err)
	h.draft("third")
	h.publish(3)
	_, err = h.Archive(ctx, h.tenant, policyID, 3, "a mistake", stamp(9))
	h.must(err)
	group := h.group("g", policy.DataGroupPublished, field("g1", "1"))
	_, err = h.AddDataGroupVersion(ctx, h.tenant, group)
	h.must(err)
	_, err = h.PagingKey(ctx, make([]byte, 32))
	h.must(err)
	dynamotest.CompareStored(t, h.db, policytest.Table, "policies")

	read := func(s *policydb.Store) (all []any) {
		p, err := s.GetPolicy(ctx, h.tenant, policyID)
		h.must(err)
		versions, _, err := s.ListVersions(ctx, h.tenant, policyID, "", 10)
		h.must(err)
		snapshot, err := s.ReadContents(ctx, h.tenant, policyID, 2)
		h.must(err)
		groups, _, err := s.ListDataGroupVersions(ctx, h.tenant, "g", "", 10)
		h.must(err)
		return []any{p, versions, snapshot, groups}
	}
	want := read(h.Store)
	db := dynamotest.Start(t)
	dynamotest.LoadStored(t, db, policytest.Table, "policies")
	got := read(policydb.New(db, policytest.Table, h.files, policytest.CountIDs("other")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read from the golden items (-stored +golden)\n%s", diff)
	}
	if got := want[2].(policy.Snapshot).Fields[0]; !cmp.Equal(got, withVersion(full, 2)) {
		t.Errorf("field (-want +got)\n%s", cmp.Diff(withVersion(full, 2), got))
	}
}

func withVersion(f policy.Field, version int64) policy.Field {
	f.Version = version
	return f
}

// fullField returns a field that has everything.
func fullField(id string) policy.Field {
	condition := policy.Condition{
		ID: "condition", Name: "Large", Description: "A large company", LogicalOperation: policy.Or,
		Operands: []policy.Operand{
			{FieldName: "turnover", Value: []string{"1000000"}, ValueType: "Number", Operation: policy.GreaterThan},
			{LogicalOperation: policy.And, Operands: []policy.Operand{
				{FieldName: "country", ValueID: []string{"lu"}, DataSource: "mainEntity", Operation: policy.Equal},
				{FieldName: "opened", ValueField: "closed", Operation: policy.LessThan},
			}},
		},
	}
	text, yes, limit := "none", true, int64(5)
	rule := &policy.Rule{IsActive: true, StaticRule: &policy.RuleValue{
		ErrorMessage: "wrong", RegexValue: "^[a-z]+$", IsCaseSensitive: &yes, MinValue: "1", MaxValue: "2.5",
		MinDate: "2026-01-01", MaxDate: "2026-12-31", Limit: &limit, OverallMinimumCount: &limit,
		RequiredTypesMinCount: []policy.RequiredTypeMinCount{{Type: "Owner", MinCount: 1}},
		ProviderID:            "provider", TimeZoneID: "Europe/Luxembourg"},
		DynamicRules: []policy.DynamicRule{
			{Condition: condition, Value: policy.RuleValue{ErrorMessage: "bad"}, Priority: 2}}}
	return policy.Field{
		ID: id, Name: "Turnover", Description: "Of a year", DataKey: "turnover", FieldType: policy.TypeCollection,
		FieldTypeID: "g", Order: 1.5, LinkChildFieldDataKey: "child", LinkedParentFieldDataKey: "parent",
		Tags:       []string{"tag"},
		References: []policy.Reference{{Type: "Law", Description: "§ 1", URL: "https://law.example"}},
		Categories: []string{"Basic"}, TargetEntities: []string{"Client"}, JurisdictionIDs: []string{"j"},
		DataProtectionJurisdictionID: "j", Classification: "Internal",
		AccessLayers: &policy.AccessLayers{Geographic: []string{"Global"}, BusinessRelated: []string{"Risk"}},
		IsReadOnly:   true, IsJourneyLevelData: true, IsIndexable: true, IsSensitiveData: true, IsMaterialData: true,
		ClearValueIfTriggerConditionNotMet: true, UIDecoration: "bold", UIDecorationColor: "red",
		ExternalSearchAPIProviderID: "search", Conditions: []policy.Condition{condition},
		ConditionalValues: []policy.ConditionalValue{{Condition: condition, Value: "x", ValueID: "y", Priority: 1}},
		DefaultValue:      &text,
		ValidationRules: policy.ValidationRules{
			Mandatory: rule, ReadOnly: rule, SpecialCharacters: rule, NoNumbers: rule, OnlyInteger: rule,
			NoNegative: rule, OnlyDecimal: rule, Regex: rule, CharacterLimit: rule, NumberLimit: rule,
			NoFutureDates: rule, NoPastDates: rule, DateLimit: rule, MultiSelectLimit: rule,
			CollectionMinimumCount: rule, CollectionMaximumCount: rule, ExternalProvider: rule,
			ExternalDataGroupProvider: rule, ConditionalLimit: rule, TimeZoneID: rule},
		FormulaSchema: &policy.FormulaSchema{FormulaSetID: "set", VersionNumber: 1, FormulaString: "{a} + {b}",
			FormulaVariables: []string{"a", "b"}},
		DateTimePeriodFormulaSchema: &policy.DateTimePeriodFormulaSchema{FormulaSetID: "set", VersionNumber: 2,
			FormulaString: "{c}", FormulaVariables: []string{"c"}},
	}
}
