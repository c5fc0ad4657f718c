package evaluate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/policy/evaluate"
)

// largeCollection returns a result with one collection of items with fields. With shared, equal fields have one
// address.
func largeCollection(items, fields int, shared bool) evaluate.Result {
	description, typeID := "The services of the party for its clients", "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10"
	list := make([]*evaluate.GroupField, fields)
	for i := range list {
		list[i] = &evaluate.GroupField{
			DataKey: fmt.Sprint("businessRelationshipField", i), Name: fmt.Sprint("Business relationship, field ", i),
			Description: &description, FieldType: "Select", FieldTypeID: &typeID, Order: float64(i), IsRequired: true,
			ValidationData: map[string]evaluate.ResolvedRule{
				"mandatory":      {Active: true, Message: "Enter a value."},
				"characterLimit": {Active: true, Message: "Keep it short.", MaxValue: "250"},
			},
			ValidationErrors: []evaluate.ValidationError{},
		}
	}
	all := make(map[string]evaluate.EvaluatedItem, items)
	for i := range items {
		own := list
		if !shared {
			own = make([]*evaluate.GroupField, fields)
			for j, f := range list {
				copied := *f
				own[j] = &copied
			}
		}
		all[fmt.Sprintf("6a3f5f57-5cf8-5d0f-9a53-%012d", i)] = evaluate.EvaluatedItem{EvaluatedFields: own}
	}
	return evaluate.Result{EvaluatedCollectionDataGroups: []evaluate.CollectionDataGroup{{EvaluatedItems: all}}}
}

func BenchmarkNormalize(b *testing.B) {
	for _, shared := range []bool{true, false} {
		b.Run(fmt.Sprint("shared=", shared), func(b *testing.B) {
			result := largeCollection(1000, 30, shared)
			b.ReportAllocs()
			for b.Loop() {
				normalized := errtest.Must(evaluate.Normalize(result, unlimited))(b)
				text := errtest.Must(json.Marshal(normalized))(b)
				b.ReportMetric(float64(len(text)), "bytes/reply")
			}
		})
	}
}
