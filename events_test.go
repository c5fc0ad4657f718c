package house

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/httpapi/identity"
	"sluice/shared/intake"
	"sluice/shared/pipeline"
)

// inputs is what each function is run with; a function that takes several kinds of events has a file for each, whose name begins
// with the function's and a hyphen.
var inputs = map[string]any{
	"token":         &events.APIGatewayProxyRequest{},
	"authorizer":    &identity.AuthorizerRequest{},
	"batch":         &events.APIGatewayProxyRequest{},
	"transaction":   &events.APIGatewayProxyRequest{},
	"entity":        &events.APIGatewayProxyRequest{},
	"document":      &events.APIGatewayProxyRequest{},
	"scan":          &events.S3Event{},
	"scan-result":   &intake.ScanResult{},
	"scan-schedule": &events.CloudWatchEvent{},
	"plan":          &pipeline.BatchInput{},
	"validate":      &pipeline.ChunkInput{},
	"reconcile":     &pipeline.PartitionInput{},
	"settle":        &pipeline.ChunkInput{},
	"verdict":       &pipeline.BatchInput{},
	"admit":         &pipeline.BatchInput{},
	"ingest":        &pipeline.ChunkInput{},
	"close":         &pipeline.CloseInput{},
}

func TestEveryFunctionHasItsSampleEvent(t *testing.T) {
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range mains {
		if name := filepath.Base(filepath.Dir(path)); inputs[name] == nil {
			t.Errorf("function %s is missing in this test", name)
		}
	}
	files, err := filepath.Glob("events/*.json")
	if err != nil || len(files) != len(inputs) {
		t.Errorf("%d sample events, %d are known here: %v", len(files), len(inputs), err)
	}
	for name, into := range inputs {
		text, err := os.ReadFile("events/" + name + ".json")
		if err != nil {
			t.Error(err)
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(into); err != nil {
			t.Errorf("events/%s.json: %v", name, err)
		}
		// What was decoded must be all there was: a type that drops a field would pass otherwise.
		back, err := json.Marshal(into)
		if err != nil {
			t.Fatal(err)
		}
		if missing := lost(text, back); len(missing) > 0 {
			t.Errorf("events/%s.json: lost in decoding: %s", name, strings.Join(missing, ", "))
		}
	}
}

// lost returns the paths of values that are in one JSON text and not in the other; null and empty count as absent.
func lost(from, in []byte) []string {
	var a, b any
	if json.Unmarshal(from, &a) != nil || json.Unmarshal(in, &b) != nil {
		return []string{"not JSON"}
	}
	var missing []string
	compare("", a, b, &missing)
	return missing
}

func compare(path string, a, b any, missing *[]string) {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for key, value := range a {
			compare(path+"/"+key, value, other[key], missing)
		}
	case []any:
		other, _ := b.([]any)
		for i, value := range a {
			if i >= len(other) {
				*missing = append(*missing, path)
				return
			}
			compare(path, value, other[i], missing)
		}
	case nil, bool:
		if a != nil && a != b && a != false {
			*missing = append(*missing, path)
		}
	default:
		if a != b && a != "" {
			*missing = append(*missing, path)
		}
	}
}
