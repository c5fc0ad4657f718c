package e2e

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/setup"
)

// technicalFailure is a part of the message of every batch that ended for a technical reason.
const technicalFailure = "Processing failed for a technical reason"

// A batch whose execution is stopped ends in ERROR, although the execution did not reach the state that says so.
func TestStoppedExecutionEndsItsBatch(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	api := login(t, environment)
	var file bytes.Buffer
	for range 3000 {
		file.Write(jsonLines(validLine()))
	}
	id := api.startBatch(true, file.Bytes())
	stopExecution(t, environment, id)
	last, _ := api.follow(id)
	if last.Status != "ERROR" || !strings.Contains(last.ErrorMessage, technicalFailure) {
		t.Fatalf("the batch ended with %s (%q), want ERROR with %q", last.Status, last.ErrorMessage, technicalFailure)
	}
	if r := api.result(id); r.Valid != nil || r.ErrorsFileURL != "" || r.Message != last.ErrorMessage {
		t.Errorf("the validation result is %+v, want valid null, no URL and the message of the status", r)
	}
	// Nothing that a step does after the end of its batch changes the batch, and neither does a second stop.
	stopExecution(t, environment, id)
	if again, _ := api.follow(id); again.Status != "ERROR" || !again.UpdatedAt.Equal(last.UpdatedAt) {
		t.Errorf("later the status is %s of %v, want ERROR of %v", again.Status, again.UpdatedAt, last.UpdatedAt)
	}
}

// stopExecution stops the execution of a batch as soon as there is one.
func stopExecution(t *testing.T, e *Environment, batchID string) {
	t.Helper()
	cfg, err := setup.LoadAWS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.AWSEndpointURL != "" {
		cfg.BaseEndpoint, cfg.Region = &e.AWSEndpointURL, e.Region
		cfg.Credentials = credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, "")
	}
	machines := sfn.NewFromConfig(cfg)
	list, err := machines.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.StateMachines {
		if *m.Name != e.Prefix+"-batch" {
			continue
		}
		arn := strings.Replace(*m.StateMachineArn, ":stateMachine:", ":execution:", 1) + ":" + batchID
		eventually(t, "an execution to stop", func() bool {
			_, err := machines.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn})
			var missing *types.ExecutionDoesNotExist
			if err != nil && !errors.As(err, &missing) {
				t.Fatal(err)
			}
			return err == nil
		})
		return
	}
	t.Fatalf("there is no state machine %s-batch", e.Prefix)
}
