package policyhttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/httpapi"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policyhttp"
)

// maxPayload is the largest reply that Lambda passes on.
const maxPayload = 6 << 20

// largePolicy has a collection with 30 fields, each with some rules, as a bank would define them.
func largePolicy() policy.Contents {
	var fields []policy.Field
	for i := range 30 {
		f := policy.Field{ID: fmt.Sprint("o", i), DataKey: fmt.Sprint("beneficialOwnerField", i), FieldType: "Text",
			Name: fmt.Sprint("Beneficial owner, field ", i), Description: "Data about the beneficial owner",
			Order: float64(i), ValidationRules: policy.ValidationRules{
				Mandatory: &policy.Rule{IsActive: true,
					StaticRule: &policy.RuleValue{ErrorMessage: "Enter a value."}},
				CharacterLimit: &policy.Rule{IsActive: true, StaticRule: &policy.RuleValue{ErrorMessage: "Too long.",
					Limit: new(int64(250))}},
			}}
		if i%3 == 0 {
			f.Conditions = []policy.Condition{{ID: fmt.Sprint("c", i),
				Operands: []policy.Operand{{FieldName: "ownerType", DataSource: "currentDataGroupItem",
					Operation: policy.Equal, Value: []string{"Individual", "Trust"}}}}}
		}
		addLogic(&f, i)
		fields = append(fields, f)
	}
	return policy.Contents{EntityType: "Company",
		DataGroups: []policy.DataGroup{{ID: owners, Version: 1, Status: policy.DataGroupPublished, Name: "Owners",
			Fields: fields}}, Fields: []policy.Field{{ID: "f", DataKey: "owners", Name: "Owners",
			FieldType: policy.TypeCollection, FieldTypeID: owners, Categories: []string{"Owners"}}}}
}

// addLogic gives some fields a conditional value, a dynamic rule or a formula.
func addLogic(f *policy.Field, i int) {
	isPerson := policy.Condition{ID: fmt.Sprint("person", i), Operands: []policy.Operand{{FieldName: "ownerType",
		DataSource: "currentDataGroupItem", Operation: policy.Equal, Value: []string{"Individual"}}}}
	switch i % 5 {
	case 1:
		f.ConditionalValues = []policy.ConditionalValue{{Condition: isPerson, Value: "Natural person"}}
	case 2:
		f.ValidationRules.Mandatory.DynamicRules = []policy.DynamicRule{{Condition: isPerson,
			Value: policy.RuleValue{ErrorMessage: "Enter the value of the person."}}}
	}
	if i == 3 {
		f.FieldType, f.FormulaSchema = "Number", &policy.FormulaSchema{FormulaString: "{share} * 2"}
	}
}

// withOwnersOf returns the data of a request with n owners, each with some values.
func withOwnersOf(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`"6a3f5f57-5cf8-5d0f-9a53-%012d":{"properties":{"ownerType":{"value":%q},`+
			`"beneficialOwnerField1":{"value":"Owner %d"},"beneficialOwnerField2":{"value":"17/03/1968"},`+
			`"share":{"value":"%d"}}}`, i, []string{"Individual", "Company", "Trust"}[i%3], i, i%10)
	}
	return `{"returnValidationErrors":true,"properties":{"collectionProperties":{"owners":{"collectionId":"` + owners +
		`","items":{` + strings.Join(items, ",") + `}}}}}`
}

// A thousand items of thirty fields are too large in the plain form and small in the normalized one.
func TestLargeCollections(t *testing.T) {
	t.Parallel()
	a, data := newEvaluationAPI(t, largePolicy()), withOwnersOf(1000)
	r := a.post(versionPath+plain, data)
	p := problemOf(t, r.StatusCode, r.Body)
	if p.Status != 413 || p.ErrorCode != "plain_evaluation_too_large" ||
		!strings.Contains(p.Detail, "/fields/evaluate/normalized") {
		t.Errorf("got %s, want 413 that names the normalized variant", r.Body)
	}
	r = a.post(versionPath+normalized, data)
	if r.StatusCode != 200 || len(r.Body) > 300_000 {
		t.Errorf("normalized: got %d with %d bytes, want 200 with at most 300,000", r.StatusCode, len(r.Body))
	}
	var n struct{ Data evaluate.NormalizedResult }
	errtest.Fatal(t, json.Unmarshal([]byte(r.Body), &n))
	g := n.Data.EvaluatedCollectionDataGroups[0]
	if len(g.EvaluatedItems) != 1000 || len(g.EvaluatedFields) > 60 {
		t.Errorf("got %d items and %d fields, want 1,000 and at most 60", len(g.EvaluatedItems), len(g.EvaluatedFields))
	}
	t.Logf("normalized: %d bytes, %d distinct fields", len(r.Body), len(g.EvaluatedFields))
}

// The largest plain reply is as large as the limit of Lambda, less the reserve for its header.
func TestLargestPlainReply(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, largePolicy())
	size := func(items int) (status, payload int) {
		r := a.post(versionPath+plain, withOwnersOf(items))
		return r.StatusCode, payloadOf(t, r)
	}
	_, three := size(3)
	_, six := size(6)
	perThree := six - three
	most := 3 * (1 + (maxPayload-three)/perThree)
	for range 8 { // owners are of three types, so that sizes grow in threes
		if status, payload := size(most); status == 200 {
			if payload > maxPayload || payload < maxPayload-20_000-perThree {
				t.Errorf("the largest plain reply, of %d items, is a payload of %d bytes, want just under %d", most,
					payload, maxPayload)
			}
			return
		}
		most -= 3
	}
	t.Errorf("%d items are refused, whose payload would have about %d bytes", most, three+(most/3-1)*perThree)
}

// payloadOf returns the size of a reply as Lambda counts it.
func payloadOf(t *testing.T, r events.APIGatewayProxyResponse) int {
	t.Helper()
	text := errtest.Must(json.Marshal(r))(t)
	return len(text)
}

// The plain reply is the JSON of the result, and is refused exactly where it does not fit.
func TestEncodePlain(t *testing.T) {
	t.Parallel()
	odd := "<&>\"\\\u2028é\n"
	shared := &evaluate.GroupField{DataKey: "a", Name: odd, Description: &odd}
	result := evaluate.Result{
		EvaluatedFields:           []evaluate.EvaluatedField{{Category: odd}, {}},
		EvaluatedCustomDataGroups: []evaluate.CustomDataGroup{{}},
		EvaluatedJurisdictions:    []evaluate.EvaluatedJurisdiction{{ID: "j", Name: odd}},
		EvaluatedCollectionDataGroups: []evaluate.CollectionDataGroup{
			{EvaluatedItems: map[string]evaluate.EvaluatedItem{}},
			{CollectionHeader: evaluate.CollectionHeader{DataKey: odd},
				EvaluatedItems: map[string]evaluate.EvaluatedItem{
					odd: {EvaluatedFields: []*evaluate.GroupField{}},
					"2": {EvaluatedFields: []*evaluate.GroupField{shared,
						{}}},
					"1": {EvaluatedFields: []*evaluate.GroupField{shared}}}},
		},
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	errtest.Fatal(t, e.Encode(result))
	text := bytes.TrimSuffix(want.Bytes(), []byte("\n"))
	inPayload := errtest.Must(json.Marshal(string(text)))(t)
	size := httpapi.ReplyBudget(len(inPayload) - len(`""`))
	for _, budget := range []httpapi.ReplyBudget{size, size + 1} {
		if got, err := policyhttp.EncodePlain(result, budget); err != nil || string(got) != string(text) {
			t.Errorf("within %d bytes: got %s, %v, want %s", budget, got, err, text)
		}
	}
	for budget := range size {
		if got, err := policyhttp.EncodePlain(result, budget); got != nil || err == nil {
			t.Fatalf("%d bytes fit into %d", size, budget)
		}
	}
}

// manyFields returns a policy of n single fields, each with a condition.
func manyFields(n int) policy.Contents {
	c := policy.Contents{EntityType: "Company"}
	for i := range n {
		c.Fields = append(c.Fields, policy.Field{ID: fmt.Sprint("f", i), DataKey: fmt.Sprint("field", i),
			FieldType: "Text", Name: fmt.Sprint("Field ", i), Order: float64(i), Categories: []string{"Basics"},
			Conditions: []policy.Condition{{
				ID: fmt.Sprint("c", i), Operands: []policy.Operand{{FieldName: fmt.Sprint("field", i+1),
					Operation: policy.IsEmpty}}}}})
	}
	return c
}

// BenchmarkEvaluate measures requests from the event of the gateway to the reply.
func BenchmarkEvaluate(b *testing.B) {
	for _, bench := range []struct {
		name, path, data string
		contents         policy.Contents
	}{
		{"plain, 150 items", plain, withOwnersOf(150), largePolicy()},
		{"plain, refused, 1000 items", plain, withOwnersOf(1000), largePolicy()},
		{"normalized, 1000 items", normalized, withOwnersOf(1000), largePolicy()},
		{"read-only, 1000 items", readOnlyPath, strings.Replace(withOwnersOf(1000), `"returnValidationErrors":true,`,
			"", 1), largePolicy()},
		{"plain, 2000 fields", plain, `{}`, manyFields(2000)},
		{"read-only, 2000 fields", readOnlyPath, `{}`, manyFields(2000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			a := newEvaluationAPI(b, bench.contents)
			b.ReportAllocs()
			for b.Loop() {
				b.ReportMetric(float64(len(a.post(versionPath+bench.path, bench.data).Body)), "bytes/reply")
			}
		})
	}
}
