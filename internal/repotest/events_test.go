package repotest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/access/auth/authhttp"
	"sluice/shared/connect/announce"
	"sluice/shared/connect/delivery"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/execution"
)

// eventTypes are the inputs of the functions by the name of their sample event: the function's name on AWS, followed
// by a hyphen and a word if the function takes more than one kind of event.
var eventTypes = map[string]any{
	"token":         &events.APIGatewayProxyRequest{},
	"authorizer":    &authhttp.AuthorizerRequest{},
	"batch":         &events.APIGatewayProxyRequest{},
	"receive":       &events.APIGatewayProxyRequest{},
	"receipt":       &events.APIGatewayProxyRequest{},
	"transaction":   &events.APIGatewayProxyRequest{},
	"entity":        &events.APIGatewayProxyRequest{},
	"document":      &events.APIGatewayProxyRequest{},
	"externalauth":  &events.APIGatewayProxyRequest{},
	"screening":     &events.APIGatewayProxyRequest{},
	"provider":      &events.APIGatewayProxyRequest{},
	"matchname":     &events.APIGatewayProxyRequest{},
	"evaluate":      &events.APIGatewayProxyRequest{},
	"receptor":      &events.APIGatewayProxyRequest{},
	"certificate":   &events.CloudWatchEvent{},
	"watchlist":     &events.CloudWatchEvent{},
	"outbound":      &events.APIGatewayProxyRequest{},
	"policy":        &events.APIGatewayProxyRequest{},
	"scan":          &events.S3Event{},
	"scan-result":   &intake.ScanEvent{},
	"scan-plan":     &intake.PlanEvent{},
	"scan-schedule": &events.CloudWatchEvent{},
	"plan":          &pipeline.BatchInput{},
	"validate":      &pipeline.ChunkInput{},
	"digest":        &pipeline.DigestInput{},
	"reconcile":     &pipeline.PartitionInput{},
	"screennames":   &pipeline.PartitionInput{},
	"settle":        &pipeline.ChunkInput{},
	"verdict":       &pipeline.BatchInput{},
	"admit":         &pipeline.AdmitInput{},
	"ingest":        &pipeline.ChunkInput{},
	"announce":      &announce.Input{},
	"export":        &pipeline.BatchInput{},
	"close":         &pipeline.CloseInput{},

	"close-cancelled": &pipeline.CloseInput{},

	"webhook":       &events.APIGatewayProxyRequest{},
	"deliver-event": &events.CloudWatchEvent{},
	"deliver":       &delivery.Input{},
	"close-event":   &events.CloudWatchEvent{},

	"conduct":          &execution.ConductInput{},
	"conduct-event":    &events.CloudWatchEvent{},
	"conduct-schedule": &events.CloudWatchEvent{},
	"search":           &execution.SearchInput{},
	"ask":              &execution.AskInput{},

	"notify": &execution.Notice{},

	"announce-message": &announce.Input{},
}

func TestEveryFunctionHasASampleEvent(t *testing.T) {
	for name := range loadTemplate(t).functions(t) {
		if eventTypes[name] == nil {
			t.Errorf("the function %s is missing in eventTypes", name)
		}
	}
	samples, err := filepath.Glob("events/*.json")
	errtest.Fatal(t, err)
	for _, path := range samples {
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); eventTypes[name] == nil {
			t.Errorf("%s is missing in eventTypes", path)
		}
	}
}

// withoutComputedMembers ignores what events.S3Event computes from other members.
var withoutComputedMembers = cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "urlDecodedKey" })

// A sample event decodes into the type that the function takes, and nothing of it is lost: encoding it again gives the
// same values.
func TestSampleEventsAreOfTheirTypes(t *testing.T) {
	for name, event := range eventTypes {
		t.Run(name, func(t *testing.T) {
			sample := readFile(t, "events/"+name+".json")
			decoder := json.NewDecoder(bytes.NewReader(sample))
			decoder.DisallowUnknownFields()
			errtest.Fatal(t, decoder.Decode(event))
			encoded, err := json.Marshal(event)
			errtest.Fatal(t, err)
			want, got := withoutZeroValues(t, sample), withoutZeroValues(t, encoded)
			if diff := cmp.Diff(want, got, withoutComputedMembers); diff != "" {
				t.Errorf("the sample (-) and the sample decoded and encoded again (+):\n%s", diff)
			}
		})
	}
}

// withoutZeroValues decodes a JSON text and removes members that are null, false, an empty string, or an empty object
// or array.
func withoutZeroValues(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	errtest.Fatal(t, json.Unmarshal(text, &v))
	return prune(v)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			if value = prune(value); value != nil {
				kept[key] = value
			}
		}
		if len(kept) > 0 {
			return kept
		}
	case []any:
		if len(v) > 0 {
			for i := range v {
				v[i] = prune(v[i])
			}
			return v
		}
	case bool:
		if v {
			return v
		}
	case string:
		if v != "" {
			return v
		}
	case float64:
		return v
	}
	return nil
}
