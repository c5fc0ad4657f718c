package main

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/sampledata"
	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
)

// The published JSON Schema and the scanner come from one table; here a validator of others holds them against each
// other.
func TestPublishedSchemaJudgesAsTheScanner(t *testing.T) {
	schema := compiled()
	s := scanner.New(rules)
	refused := make(map[transaction.Code]int)
	for _, line := range sampledata.Lines(6000, 3, 0.5) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		valid := err == nil && schema.Validate(v) == nil
		findings := s.Line(line).Findings
		if len(findings) == 0 {
			if !valid {
				t.Fatalf("the schema refuses what the scanner takes: %s\n%v", line, schema.Validate(v))
			}
			continue
		}
		if valid && !beyondSchema[findings[0].Code] {
			t.Fatalf("the schema takes what the scanner refuses with %v: %s", findings, line)
		}
		refused[findings[0].Code]++
	}
	t.Logf("refused: %v", refused)
}

// beyondSchema are the codes of what a JSON Schema cannot say, or what is lost when a library has read the line.
var beyondSchema = map[transaction.Code]bool{
	transaction.CodeJSONInvalid: true, transaction.CodeJSONDuplicateKey: true, transaction.CodeJSONTooDeep: true,
	transaction.CodeLineTooLong: true, transaction.CodeCreatedAtOutOfRange: true, transaction.CodeMainEntityUnknown: true,
	transaction.CodeNumberRange: true, transaction.CodeIntegerType: true, transaction.CodeDateTime: true, transaction.CodeStringTooLong: true,
}
