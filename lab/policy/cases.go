package main

import (
	"fmt"
	"math/rand/v2"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
)

// benchCase is one condition in the language of each engine. All of them read the single values of an entity by data
// key.
type benchCase struct {
	name      string
	condition policy.Condition
	// expr and cel are what a user of those languages would write for it. Values are texts, so numbers are converted.
	expr, cel string
}

// operand compares a value with others.
func operand(field string, operation policy.Operation, values ...string) policy.Operand {
	return policy.Operand{FieldName: field, Operation: operation, Value: values}
}

// combine combines operands.
func combine(logical policy.Logical, operands ...policy.Operand) policy.Operand {
	return policy.Operand{LogicalOperation: logical, Operands: operands}
}

// benchCases returns the conditions that are measured.
func benchCases() []benchCase {
	one := func(o policy.Operand) policy.Condition {
		return policy.Condition{ID: "c", Operands: []policy.Operand{o}}
	}
	risky := combine(policy.Or,
		operand("country", policy.Equal, "IR", "KP", "SY"),
		combine(policy.And, operand("legalForm", policy.Equal, "Trust"), operand("isListed", policy.NotEqual, "true")),
	)
	return []benchCase{
		{
			name:      "equal",
			condition: one(operand("country", policy.Equal, "DE")),
			expr:      `p["country"] == "DE"`,
			cel:       `"country" in p && p["country"] == "DE"`,
		},
		{
			name:      "equal, one of 8",
			condition: one(operand("country", policy.Equal, "DE", "FR", "IT", "ES", "NL", "BE", "LU", "AT")),
			expr:      `p["country"] in ["DE", "FR", "IT", "ES", "NL", "BE", "LU", "AT"]`,
			cel:       `"country" in p && p["country"] in ["DE", "FR", "IT", "ES", "NL", "BE", "LU", "AT"]`,
		},
		{
			name: "nested and, or",
			condition: policy.Condition{ID: "c", LogicalOperation: policy.And, Operands: []policy.Operand{
				operand("status", policy.Equal, "Active"), risky,
			}},
			expr: `p["status"] == "Active" && (p["country"] in ["IR", "KP", "SY"] || ` +
				`(p["legalForm"] == "Trust" && p["isListed"] != "true"))`,
			cel: `"status" in p && p["status"] == "Active" && ` +
				`("country" in p && p["country"] in ["IR", "KP", "SY"] || ` +
				`("legalForm" in p && p["legalForm"] == "Trust" && !("isListed" in p && p["isListed"] == "true")))`,
		},
		{
			name:      "number",
			condition: one(operand("turnover", policy.GreaterThanOrEqual, "1000000.50")),
			expr:      `p["turnover"] != "" && float(p["turnover"]) >= 1000000.50`,
			cel:       `"turnover" in p && double(p["turnover"]) >= 1000000.50`,
		},
		{
			name:      "contains",
			condition: one(operand("name", policy.Contains, "Holding")),
			expr:      `p["name"] contains "Holding"`,
			cel:       `"name" in p && p["name"].contains("Holding")`,
		},
		{
			name:      "missing, equal",
			condition: one(operand("nothing", policy.Equal, "x")),
			expr:      `p["nothing"] == "x"`,
			cel:       `"nothing" in p && p["nothing"] == "x"`,
		},
		{
			name:      "missing, not equal",
			condition: one(operand("nothing", policy.NotEqual, "x")),
			expr:      `p["nothing"] != "x"`,
			cel:       `!("nothing" in p && p["nothing"] == "x")`,
		},
	}
}

// entityCount is the number of entities for which conditions are evaluated.
const entityCount = 256

// entity is what conditions are evaluated for.
type entity struct {
	// index is the position among all entities.
	index int
	// values are the single values by data key, as other engines read them.
	values map[string]string
	// properties are the same values in the form that requests have.
	properties property.Split
}

// randomEntities returns entities, some of which lack some values.
func randomEntities() []*entity {
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	var all []*entity
	for i := range entityCount {
		e := map[string]string{
			"country":   pick("DE", "FR", "IR", "US", "AT", "KP"),
			"status":    pick("Active", "Active", "Closed"),
			"legalForm": pick("Trust", "Company", "Foundation"),
			"isListed":  pick("true", "false"),
			"turnover":  pick("1000000.5", "1000000.49", "12", fmt.Sprint(random.IntN(5_000_000))),
			"name":      pick("Example Holding AG", "Holding", "Example Trading Limited of a long name", "A"),
		}
		for _, key := range []string{"country", "status", "legalForm", "isListed", "turnover", "name"} {
			if random.IntN(8) == 0 {
				delete(e, key)
			}
		}
		for extra := range 30 {
			e[fmt.Sprintf("other field %d", extra)] = fmt.Sprint(i)
		}
		properties := property.Split{SingleProperties: map[string]property.Text{}}
		for key, value := range e {
			properties.SingleProperties[key] = property.Text{Value: &value}
		}
		all = append(all, &entity{i, e, properties})
	}
	return all
}
