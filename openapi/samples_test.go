package openapi_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Every operation shows how it is called, with values for all that it requires and in Go that can be parsed.
func TestEveryOperationHasSamples(t *testing.T) {
	d := load(t)
	for _, o := range d.Operations {
		node := d.Root["paths"].(map[string]any)[o.Path].(map[string]any)[strings.ToLower(o.Method)].(map[string]any)
		samples, _ := node["x-codeSamples"].([]any)
		if len(samples) != 3 {
			t.Errorf("%s has %d samples, want 3", o, len(samples))
			continue
		}
		for _, sample := range samples {
			sample := sample.(map[string]any)
			source := sample["source"].(string)
			if strings.Contains(source, "VALUE") || strings.ContainsAny(strings.SplitN(source, "\n", 2)[0], "{") &&
				sample["lang"] != "Go" {
				t.Errorf("%s: a parameter has no example:\n%s", o, source)
			}
			if sample["lang"] == "Go" {
				program := "package main\nfunc call() error {\n" + source + "\n}\n"
				if _, err := parser.ParseFile(token.NewFileSet(), "sample.go", program, 0); err != nil {
					t.Errorf("%s: %v in\n%s", o, err, source)
				}
			}
		}
	}
}

// Every operation shows a body wherever it takes or gives one.
func TestEveryOperationHasExamples(t *testing.T) {
	d := load(t)
	paths := d.Root["paths"].(map[string]any)
	for _, o := range d.Operations {
		node := paths[o.Path].(map[string]any)[strings.ToLower(o.Method)].(map[string]any)
		bodies := map[string]any{}
		if body, ok := node["requestBody"]; ok {
			bodies["request"] = body
		}
		for status, reply := range node["responses"].(map[string]any) {
			bodies[status] = reply
		}
		if len(bodies) < 2 {
			t.Errorf("%s has %d bodies, want a success and failures", o, len(bodies))
		}
		for name, body := range bodies {
			body := body.(map[string]any)
			if to, ok := body["$ref"].(string); ok {
				body = (sampler{d.Root, 0}).at(to)
			}
			content, _ := body["content"].(map[string]any)
			for media, c := range content {
				if c := c.(map[string]any); c["example"] == nil && c["examples"] == nil {
					t.Errorf("%s: %s %s has no example", o, name, media)
				}
			}
		}
	}
}
