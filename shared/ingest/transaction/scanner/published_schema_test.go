package scanner_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/errtest"
)

// The published JSON Schema and the scanner come from one table. A validator that others wrote must find the same lines
// invalid as the scanner, but for the rules that a schema cannot express.
func TestPublishedSchemaAgreesWithTheScanner(t *testing.T) {
	lineSchema := compileSchema(t)
	s := scanner.New(transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		MaxFuture: 720 * time.Hour})
	rejected := make(map[transaction.Code]int)
	for _, line := range sampledata.Lines(6000, 3, 0.5) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		valid := err == nil && lineSchema.Validate(v) == nil
		findings := s.Line(line).Findings
		if len(findings) == 0 {
			if !valid {
				t.Fatalf("the schema rejects a line that the scanner accepts: %s\n%v", line, lineSchema.Validate(v))
			}
			continue
		}
		if valid && !beyondSchema[findings[0].Code] {
			t.Fatalf("the schema accepts a line that the scanner rejects with %v: %s", findings, line)
		}
		rejected[findings[0].Code]++
	}
	t.Logf("rejected: %v", rejected)
}

// beyondSchema are the codes of errors that a JSON Schema cannot express, or that a JSON library hides when it reads
// the line.
var beyondSchema = map[transaction.Code]bool{
	transaction.CodeJSONInvalid:         true,
	transaction.CodeJSONDuplicateKey:    true,
	transaction.CodeJSONTooDeep:         true,
	transaction.CodeLineTooLong:         true,
	transaction.CodeCreatedAtOutOfRange: true,
	transaction.CodeMainEntityUnknown:   true,
	transaction.CodeNumberRange:         true,
	transaction.CodeIntegerType:         true,
	transaction.CodeDateTime:            true,
	transaction.CodeStringTooLong:       true,
}

// compileSchema compiles the published JSON Schema of a line.
func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc := errtest.Must(jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSONSchema())))(t)
	const url = "mem:///line.json" // a mere name would be that of a file
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	errtest.Fatal(t, c.AddResource(url, doc))
	return c.MustCompile(url)
}
