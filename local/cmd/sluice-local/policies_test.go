package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// waitForDenial waits for the denial of an action in the log.
func waitForDenial(t *testing.T, data, function, action string) {
	t.Helper()
	want := function + ` - {"type":"platform.accessDenied","action":"` + action + `"`
	waitUntil(t, want+" in the log", func() bool {
		log, err := os.ReadFile(filepath.Join(data, "logs", "functions.log"))
		return err == nil && strings.Contains(string(log), want)
	})
}

// Without a statement that allows it, a call to any of the services fails as it does on AWS.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	startWith := func(t *testing.T, template string) (*localCloud, string, string) {
		data := filepath.Join(t.TempDir(), "data")
		r := start(t, data, "--project", newProject(t, template, true))
		t.Cleanup(func() { r.end(t) })
		return r, data, r.token(t)
	}
	t.Run("S3", func(t *testing.T) {
		t.Parallel()
		r, data, token := startWith(t, changedTemplate(t, "Sid: SignUploads", "/uploads/*", "/elsewhere/*"))
		_, batch := r.newBatch(t, token) // signing does not call S3
		difftest.Reply(t, "upload", 403, "<Code>AccessDenied</Code>")(r.upload(t, batch.URL))
		waitForDenial(t, data, "sluice-batch", "s3:PutObject")
	})
	t.Run("DynamoDB", func(t *testing.T) {
		t.Parallel()
		r, data, token := startWith(t,
			changedTemplate(t, "FunctionName: !Sub \"${Prefix}-batch\"", "dynamodb:GetItem, dynamodb:PutItem",
				"dynamodb:GetItem"))
		difftest.Reply(t, "status", 500)(r.newBatch(t, token))
		waitForDenial(t, data, "sluice-batch", "dynamodb:PutItem")
	})
	t.Run("Step Functions", func(t *testing.T) {
		t.Parallel()
		r, data, token := startWith(t,
			changedTemplate(t, "Sid: StartBatches", "states:StartExecution", "states:StopExecution"))
		_, batch := r.newBatch(t, token)
		difftest.Reply(t, "upload", 200)(r.upload(t, batch.URL))
		waitForDenial(t, data, "sluice-scan", "states:StartExecution")
	})
	t.Run("the role of the state machine", func(t *testing.T) {
		t.Parallel()
		r, data, token := startWith(t,
			changedTemplate(t, "Sid: RunSteps", `- !Sub "${PlanFunction.Arn}:*"`, `- !Sub "${TokenFunction.Arn}:*"`))
		_, batch := r.newBatch(t, token)
		difftest.Reply(t, "upload", 200)(r.upload(t, batch.URL))
		waitForDenial(t, data, "states/sluice-batch", "lambda:InvokeFunction")
	})
	t.Run("KMS", func(t *testing.T) {
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		project := newProject(t, changedTemplate(t, "Sid: Sign\n", "kms:Sign", "kms:Verify"), true)
		out, err := startAndFail(t, "--project", project, "--data", data)
		if err == nil || !bytes.Contains(out, []byte("the token endpoint responds with 500")) {
			t.Errorf("ended with %v, want an error naming the cause: %s", err, out)
		}
		waitForDenial(t, data, "sluice-token", "kms:Sign")
	})
	t.Run("an unsupported policy", func(t *testing.T) {
		t.Parallel()
		project := newProject(t, changedTemplate(t, "Sid: ReadClients", "dynamodb:BatchGetItem, ", "{any: thing}, "),
			true)
		if out, err := startAndFail(t, "--project", project, "--data", t.TempDir()); err == nil ||
			!bytes.Contains(out, []byte("sluice-authorizer has a policy")) {
			t.Errorf("ended with %v, want an error naming the cause: %s", err, out)
		}
	})
}

func TestPolicyReport(t *testing.T) {
	t.Parallel()
	r := start(t, filepath.Join(t.TempDir(), "data"))
	defer r.end(t)
	r.token(t)
	var report struct {
		Statements []struct {
			Principal, Sid, Action string
			Statement, Count       int
		}
		Denied []json.RawMessage
	}
	request := errtest.Must(http.NewRequest(http.MethodGet, r.AWSEndpointURL+"/_sluice/policies", nil))(t)
	keys := aws.Credentials{AccessKeyID: r.AccessKeyID, SecretAccessKey: r.SecretAccessKey}
	nothing := sha256.Sum256(nil)
	errtest.Fatal(t, v4.NewSigner().SignHTTP(t.Context(), keys, request, hex.EncodeToString(nothing[:]), "sluice",
		r.Region, time.Now()))
	decode(t, errtest.Must(http.DefaultClient.Do(request))(t), &report)
	used := map[string]int{}
	for _, s := range report.Statements {
		used[s.Principal+" "+s.Sid+" "+s.Action] = s.Count
	}
	// One signature serves both tokens: that with which the start was checked, and ours.
	if used["sluice-token Sign kms:Sign"] < 1 || used["sluice-token ReadClients dynamodb:GetItem"] < 2 ||
		len(report.Denied) != 0 {
		t.Errorf("uses %v and denials %s; want a used token function and no denials", used, report.Denied)
	}
}
