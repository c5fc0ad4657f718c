package main

import (
	"bytes"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/minio/simdjson-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/lab/scanner/table"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/schema"
)

// simd is the name of the row of simdjson-go.
const simd = "simdjson-go, parse only"

// peers returns the rows of libraries that others would use.
func peers(in *table.Input) []*table.Row {
	unmarshalV2 := func(line []byte, v any) error { return jsonv2.Unmarshal(line, v) }
	rows := []*table.Row{
		{Name: "json/v2 + checks", Note: "strict", Run: table.RunUnmarshal(in, unmarshalV2)},
		{Name: "sonic + checks", Note: table.Lenient, Run: table.RunUnmarshal(in, sonic.ConfigStd.Unmarshal)},
		{Name: "JSON Schema validator", Note: "santhosh-tekuri/jsonschema on encoding/json", Run: runSchema(in)},
	}
	if simdjson.SupportedCPU() {
		rows = append(rows, &table.Row{Name: simd, Note: "no checks; the valid lines in large blocks",
			Run: runSimd(in, scanner.New(table.Rules))})
	}
	return rows
}

// simdBlockBytes is the largest block that the library gets at once.
const simdBlockBytes = 8 << 20

// runSimd parses blocks of many lines, as the library prefers. One unreadable line would end a block, so invalid lines
// are left out.
func runSimd(in *table.Input, s *scanner.Scanner) func() int {
	var text []byte
	for _, line := range in.Lines {
		if r := s.Line(line); len(r.Findings) == 0 {
			text = append(append(text, line...), '\n')
		}
	}
	var parsed *simdjson.ParsedJson
	return func() int {
		var err error
		for block := text; len(block) > 0; {
			end := len(block)
			if end > simdBlockBytes {
				end = bytes.LastIndexByte(block[:simdBlockBytes], '\n') + 1
			}
			if parsed, err = simdjson.ParseND(block[:end], parsed, simdjson.WithCopyStrings(false)); err != nil {
				panic(err)
			}
			block = block[end:]
		}
		return table.Unjudged
	}
}

// compileSchema compiles the published JSON Schema of a line.
func compileSchema() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSONSchema()))
	if err != nil {
		panic(err)
	}
	const url = "mem:///line.json" // a mere name would be that of a file
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(url, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(url)
}

// runSchema validates each line against the published JSON Schema.
func runSchema(in *table.Input) func() int {
	lineSchema := compileSchema()
	return func() (accepted int) {
		for _, line := range in.Lines {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err == nil && lineSchema.Validate(v) == nil {
				accepted++
			}
		}
		return accepted
	}
}
