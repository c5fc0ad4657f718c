package main

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/minio/simdjson-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
	"sluice/shared/transaction/schema"
)

// rules are those of a batch that has just been received.
var rules = transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour}

// contenders are the rows of the table: floors, peers, ours.
func contenders(in *input) []*row {
	scanner := scanner.New(rules)
	rows := []*row{
		{name: "newline split", note: "floor", run: func() int { return splitLines(in.text) }},
		{name: "utf8.Valid", note: "floor", run: func() int { return validUTF8(in.lines) }},
		{name: reference, note: "takes invalid UTF-8 and duplicate keys", run: decoded(in, json.Unmarshal)},
		{name: "json/v2 + checks", note: "strict", run: decoded(in, func(line []byte, v any) error { return jsonv2.Unmarshal(line, v) })},
		{name: "sonic + checks", note: "takes invalid UTF-8 and duplicate keys", run: decoded(in, sonic.ConfigStd.Unmarshal)},
	}
	if simdjson.SupportedCPU() {
		rows = append(rows, &row{name: simd, note: "no checks; the good lines as one block", run: simdRun(in, scanner)})
	}
	return append(rows,
		&row{name: "JSON Schema validator", note: "santhosh-tekuri/jsonschema on encoding/json", run: schemaRun(in)},
		&row{name: "sluice scanner", note: "all checks, all findings with their places", run: func() int { return scan(scanner, in.lines) }},
	)
}

func splitLines(text []byte) int {
	for {
		at := bytes.IndexByte(text, '\n')
		if at < 0 {
			return -1
		}
		text = text[at+1:]
	}
}

// validUTF8 goes line by line: at the first invalid byte of a text the library stops.
func validUTF8(lines [][]byte) int {
	for _, line := range lines {
		utf8.Valid(line)
	}
	return -1
}

func scan(s *scanner.Scanner, lines [][]byte) (valid int) {
	for _, line := range lines {
		if len(s.Line(line).Findings) == 0 {
			valid++
		}
	}
	return valid
}

func decoded(in *input, unmarshal func([]byte, any) error) func() int {
	return func() (valid int) {
		for _, line := range in.lines {
			var r record
			if unmarshal(line, &r) == nil && r.valid() {
				valid++
			}
		}
		return valid
	}
}

// simdRun parses in one block, as the library wants it, which one unreadable line would spoil: those are left out.
func simdRun(in *input, s *scanner.Scanner) func() int {
	var text []byte
	for _, line := range in.lines {
		if r := s.Line(line); len(r.Findings) == 0 {
			text = append(append(text, line...), '\n')
		}
	}
	var parsed *simdjson.ParsedJson
	return func() int {
		var err error
		for block := text; len(block) > 0; {
			end := len(block)
			if end > 8<<20 {
				end = bytes.LastIndexByte(block[:8<<20], '\n') + 1
			}
			if parsed, err = simdjson.ParseND(block[:end], parsed, simdjson.WithCopyStrings(false)); err != nil {
				panic(err)
			}
			block = block[end:]
		}
		return -1
	}
}

func compiled() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSONSchema()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("line.json", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("line.json")
}

func schemaRun(in *input) func() int {
	schema := compiled()
	return func() (valid int) {
		for _, line := range in.lines {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
			if err == nil && schema.Validate(v) == nil {
				valid++
			}
		}
		return valid
	}
}
