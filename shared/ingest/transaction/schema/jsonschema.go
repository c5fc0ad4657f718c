package schema

import (
	"encoding/json"
	"maps"

	"sluice/shared/ingest/transaction"
)

// JSONSchema describes a line as a JSON Schema of draft 2020-12, made from the table of this package. The descriptions
// add the rules that the language cannot express: duplicate keys, lengths in bytes and the main entity.
func JSONSchema() []byte {
	defs := map[string]any{
		"Country":  map[string]any{"enum": Countries()},
		"Currency": map[string]any{"enum": Currencies()},
	}
	for _, o := range Objects[1:] {
		defs[o.Name] = o.jsonSchema()
	}
	root := Transaction.jsonSchema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A line of a batch: one transaction"
	root["description"] = "A null as the value of a key counts as absent. No object may have a key twice. " +
		"Sender or receiver must be known."
	root["$defs"] = defs
	root["examples"] = []any{json.RawMessage(ExampleLine)}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // the table is wrong
	}
	return append(text, '\n')
}

func (o *Object) jsonSchema() map[string]any {
	properties, required := make(map[string]any), []string{}
	for i := range o.Fields {
		f := &o.Fields[i]
		if f.Kind == KindForbidden {
			forbidden := onlyNull()
			forbidden["description"] = f.Message(transaction.CodeEntityAmbiguous)
			properties[f.Name] = forbidden
			continue
		}
		schema := f.jsonSchema()
		if f.Required {
			required = append(required, f.Name)
		} else {
			schema = orNull(schema)
		}
		describe(schema, o.Description(f))
		properties[f.Name] = schema
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if o.Closed {
		schema["additionalProperties"] = false
	}
	if o == Entity {
		maps.Copy(schema, entityForms)
	}
	return schema
}

// describe puts the explanation of a field before the description that its schema already has.
func describe(schema map[string]any, meaning string) {
	if rule, ok := schema["description"].(string); ok {
		meaning += ". " + rule
	}
	schema["description"] = meaning
}

// entityForms requires that an entity is given either as a known one or as an unknown one. The keywords are ones that
// generators of code leave aside, which would else make two types of an entity.
var entityForms = map[string]any{
	"if": map[string]any{
		"required":   []string{"by_external_id"},
		"properties": map[string]any{"by_external_id": typed("string")},
	},
	"then": map[string]any{
		// All three are named here and below, because some linters let each branch stand for the whole object.
		"properties": map[string]any{
			"by_external_id": typed("string"), "external_entity_type": onlyNull(), "unknown": onlyNull(),
		},
	},
	"else": map[string]any{
		"required": []string{"external_entity_type", "unknown"},
		"properties": map[string]any{
			"by_external_id": onlyNull(), "external_entity_type": typed("string"), "unknown": typed("object"),
		},
	},
}

// onlyNull is the schema of null for generators of code, most of which know no type of null alone.
func onlyNull() map[string]any {
	return map[string]any{"type": []string{"string", "null"}, "const": nil}
}

func typed(name string) map[string]any { return map[string]any{"type": name} }

func reference(name string) map[string]any { return map[string]any{"$ref": "#/$defs/" + name} }

func orNull(schema map[string]any) map[string]any {
	if t, ok := schema["type"].(string); ok && schema["enum"] == nil {
		schema["type"] = []string{t, "null"}
		return schema
	}
	return map[string]any{"anyOf": []any{schema, typed("null")}}
}

const (
	uuidSyntax     = `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`
	bicSyntax      = `^[0-9A-Za-z]{8}([0-9A-Za-z]{3})?$`
	dateTimeSyntax = `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d` +
		`(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$`
)

func (f *Field) jsonSchema() map[string]any {
	switch f.Kind {
	case KindNumber:
		return typed("number")
	case KindInteger:
		return map[string]any{"type": "integer", "minimum": f.Min, "maximum": f.Max}
	case KindObject, KindEntity:
		return reference(f.Object.Name)
	case KindObjects:
		return map[string]any{"type": "array", "items": reference(f.Object.Name)}
	case KindStrings:
		return map[string]any{"type": "array", "items": typed("string")}
	case KindStringMap:
		return map[string]any{"type": "object", "additionalProperties": orNull(typed("string"))}
	case KindCountry:
		return reference("Country")
	case KindCurrency:
		return reference("Currency")
	}
	s := typed("string")
	switch f.Kind {
	case KindEnum:
		s["enum"] = f.Enum
	case KindEntityType:
		s["enum"] = []string{"unknown"}
	case KindID:
		s["description"] = "1 to 255 bytes of UTF-8"
	case KindUUID:
		s["pattern"] = uuidSyntax
	case KindBIC:
		s["pattern"] = bicSyntax
	case KindDateTime, KindCreatedAt:
		s["pattern"] = dateTimeSyntax
	case KindIP:
		// Either, in keywords that generators of code leave aside.
		s["if"] = map[string]any{"not": map[string]any{"format": "ipv4"}}
		s["then"] = map[string]any{"format": "ipv6"}
	}
	if f.Min > 0 {
		s["minLength"] = f.Min
	}
	if f.Max != Unlimited {
		s["maxLength"] = f.Max
	}
	return s
}
