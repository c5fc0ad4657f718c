package evaluate_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/platform/property"
	"sluice/shared/policy/evaluate"
)

// request returns a request that reads the same names.
func (p *fuzzedPolicy) request() evaluate.Request {
	r := evaluate.Request{
		TargetEntity: one(p.dice, "", "Client"), EvaluateJurisdictions: p.roll(2) > 0, Jurisdictions: one(p.dice, nil,
			[]string{"j1"}),
		Categories: one(p.dice, nil, []string{"KYC"}), Properties: p.properties(2),
		DataSources:          map[string]jsontext.Value{},
		SkipValuesEvaluation: p.roll(4) == 3, ReturnValidationErrors: p.roll(4) != 3,
		EnableAccessLayersFiltering:          p.roll(2) > 0,
		DisableFilteringForConditionalValues: p.roll(4) == 3, Explain: p.roll(2) > 0,
		Layers: one(p.dice, access.Layers{}, access.Layers{Geographic: []string{"DE"}}), Now: time.Date(2026, 2, 1, 0,
			0, 0, 0, time.UTC),
	}
	for range p.roll(3) {
		name := one(p.dice, "mainEntity", "relatedParties", "screeningMateriality", "currentField",
			"currentDataGroupItem")
		r.DataSources[name] = jsontext.Value(one(p.dice, `{}`, `{"a":1e2,"group":[{"a":"x"}],"x":{"y":null}}`,
			`[{"a":"12"},{"b":[1,true]}]`, `"text"`,
			`{"properties":{"a":"12"},"propertiesInfo":{"a":{"valueId":"i"}}}`,
			`{"collectionId":"g1","items":{"1":{"properties":{"a":{"value":"1"}}}}}`,
			strings.Repeat("[", 40)+strings.Repeat("]", 40), `{`, "null", p.text()))
	}
	return r
}

func (p *fuzzedPolicy) properties(depth int) property.Split {
	values := func() map[string]property.Text {
		out := map[string]property.Text{}
		for range p.roll(4) {
			value, id := p.text(), p.text()
			out[p.key()] = property.Text{Value: one(p.dice, &value, nil), ValueID: one(p.dice, nil, &id)}
		}
		return out
	}
	out := property.Split{SingleProperties: values(), CollectionProperties: map[string]property.SplitCollection{},
		CustomProperties: map[string]property.Split{}}
	for range p.roll(2) {
		items := map[string]property.SplitItem{}
		for i := range p.roll(4) {
			items[fmt.Sprint("item", i)] = property.SplitItem{Properties: values()}
		}
		out.CollectionProperties[p.key()] = property.SplitCollection{CollectionID: "g1", Items: items}
	}
	if depth > 0 && p.roll(2) > 0 {
		out.CustomProperties[p.key()] = p.properties(depth - 1)
	}
	return out
}
