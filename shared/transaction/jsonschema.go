package transaction

import (
	"encoding/json"
	"slices"
	"strings"
)

// Countries lists the country codes that a line may use, sorted.
func Countries() []string { return sortedCodes(countriesInForce + countriesBeside) }

// Currencies lists the currency codes that a line may use, sorted.
func Currencies() []string { return sortedCodes(currenciesInForce + currenciesWithdrawn) }

func sortedCodes(lists string) []string {
	codes := strings.Fields(lists)
	slices.Sort(codes)
	return codes
}

// JSONSchema describes a line as a JSON Schema of draft 2020-12, made from the table by which the scanner works. What that
// language cannot say stands in the descriptions: duplicate keys, lengths in bytes, the window of created_at, the main entity
// and onboarding.
func JSONSchema() []byte {
	defs := map[string]any{
		"Country":  map[string]any{"enum": Countries()},
		"Currency": map[string]any{"enum": Currencies()},
	}
	for _, o := range schemaObjects[1:] {
		defs[o.name] = o.jsonSchema()
	}
	root := lineObject.jsonSchema()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A line of a batch: one transaction"
	root["description"] = "null stands for absent everywhere. No object may have a key twice. Sender or receiver must be known."
	root["$defs"] = defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // a defect of the table
	}
	return append(text, '\n')
}

func (o *object) jsonSchema() map[string]any {
	properties, required := make(map[string]any), []string{}
	for i := range o.fields {
		f := &o.fields[i]
		if f.kind == kindNotHere {
			properties[f.name] = map[string]any{"type": "null", "description": sentence(CodeEntityAmbiguous, f)}
			continue
		}
		schema := f.jsonSchema()
		if f.required {
			required = append(required, f.name)
		} else {
			schema = orNull(schema)
		}
		properties[f.name] = schema
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if o.closed {
		schema["additionalProperties"] = false
	}
	if o == entityObject {
		schema["oneOf"] = entityForms
	}
	return schema
}

// entityForms says that an entity is given in exactly one of two ways.
var entityForms = []any{
	map[string]any{
		"title":      "known",
		"required":   []string{"by_external_id"},
		"properties": map[string]any{"by_external_id": typed("string"), "external_entity_type": typed("null"), "unknown": typed("null")},
	},
	map[string]any{
		"title":      "unknown",
		"required":   []string{"external_entity_type", "unknown"},
		"properties": map[string]any{"by_external_id": typed("null"), "external_entity_type": typed("string"), "unknown": typed("object")},
	},
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
	dateTimeSyntax = `^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?$`
)

func (f *field) jsonSchema() map[string]any {
	switch f.kind {
	case kindNumber:
		return typed("number")
	case kindInteger:
		return map[string]any{"type": "integer", "minimum": f.min, "maximum": f.max}
	case kindObject, kindEntity:
		return reference(f.object.name)
	case kindObjects:
		return map[string]any{"type": "array", "items": orNull(reference(f.object.name))}
	case kindTexts:
		return map[string]any{"type": "array", "items": orNull(typed("string"))}
	case kindTextMap:
		return map[string]any{"type": "object", "additionalProperties": orNull(typed("string"))}
	case kindCountry:
		return reference("Country")
	case kindCurrency:
		return reference("Currency")
	}
	s := typed("string")
	switch f.kind {
	case kindEnum:
		s["enum"] = f.enum
	case kindEntityType:
		s["enum"] = []string{"unknown"}
	case kindID:
		s["description"] = "1 to 255 bytes of UTF-8"
	case kindUUID:
		s["pattern"] = uuidSyntax
	case kindBIC:
		s["pattern"] = bicSyntax
	case kindDateTime, kindCreatedAt:
		s["pattern"] = dateTimeSyntax
	case kindIP:
		s["anyOf"] = []any{map[string]any{"format": "ipv4"}, map[string]any{"format": "ipv6"}}
	}
	if f.min > 0 {
		s["minLength"] = f.min
	}
	if f.max != unlimited {
		s["maxLength"] = f.max
	}
	return s
}
