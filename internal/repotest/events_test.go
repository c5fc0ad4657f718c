package repotest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/auth/authhttp"
	"sluice/shared/connect/announce"
	"sluice/shared/connect/delivery"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/execution"
)

// eventTypes are the inputs of the functions with the names of their sample events: the function's name on AWS, and
// after a hyphen a word if the function takes more than one kind of event.
var eventTypes = map[any]string{
	&events.APIGatewayProxyRequest{}: "token batch receive receipt transaction find entity document externalauth " +
		"screening provider matchname testadapter evaluate receptor outbound policy webhook",
	&events.CloudWatchEvent{}: "certificate watchlist scan-schedule index-schedule deliver-event close-event " +
		"conduct-event conduct-schedule",
	&events.S3Event{}:             "scan",
	&authhttp.AuthorizerRequest{}: "authorizer",
	&intake.ScanEvent{}:           "scan-result",
	&intake.PlanEvent{}:           "scan-plan",
	&pipeline.BatchInput{}:        "plan process verdict export index",
	&pipeline.ChunkInput{}:        "validate settle ingest",
	&pipeline.DigestInput{}:       "digest",
	&pipeline.PartitionInput{}:    "reconcile screennames",
	&pipeline.AdmitInput{}:        "admit",
	&pipeline.CloseInput{}:        "close close-cancelled",
	&announce.Input{}:             "announce announce-message",
	&delivery.Input{}:             "deliver",
	&execution.ConductInput{}:     "conduct",
	&execution.SearchInput{}:      "search",
	&execution.AskInput{}:         "ask",
	&execution.Notice{}:           "notify",
}

// Every function has a sample event, which decodes into the type that the function takes. TestSAMInvoke of the
// end-to-end suite runs the functions with them.
func TestSampleEventsAreOfTheirTypes(t *testing.T) {
	known, functions := map[string]bool{}, loadTemplate(t).functions(t)
	for event, names := range eventTypes {
		for name := range strings.FieldsSeq(names) {
			known[name] = true
			decoder := json.NewDecoder(bytes.NewReader(readFile(t, "events/"+name+".json")))
			decoder.DisallowUnknownFields()
			errtest.Is(t, "events/"+name+".json", decoder.Decode(event), nil)
			if e, ok := event.(*events.APIGatewayProxyRequest); ok {
				_, exists := functions[name].Routes[e.HTTPMethod+" "+e.Resource]
				if _, isGreedy := functions[name].Routes[anyMethod+" "+e.Resource]; !exists && !isGreedy {
					t.Errorf("events/%s.json: the template leads from %s to another function", name, e.Resource)
				}
			}
		}
	}
	for name := range functions {
		if !known[name] {
			t.Errorf("the function %s is missing in eventTypes", name)
		}
	}
	samples := errtest.Must(filepath.Glob("events/*.json"))(t)
	for _, path := range samples {
		if !known[strings.TrimSuffix(filepath.Base(path), ".json")] {
			t.Errorf("%s is missing in eventTypes", path)
		}
	}
}
