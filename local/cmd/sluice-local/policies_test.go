package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// without is the template with one text of it replaced, which must be there after the mark, as the first of its kind.
func without(t *testing.T, mark, old, replacement string) string {
	t.Helper()
	before, after, found := strings.Cut(declared(t), mark)
	if !found || !strings.Contains(after, old) {
		t.Fatalf("the template has no %s with %s", mark, old)
	}
	return before + mark + strings.Replace(after, old, replacement, 1)
}

// denied waits for the line that the log has for every denial.
func denied(t *testing.T, data, function, action string) {
	t.Helper()
	want := function + ` - {"type":"platform.accessDenied","action":"` + action + `"`
	until(t, "the log has "+want, func() bool {
		log, err := os.ReadFile(filepath.Join(data, "logs", "functions.log"))
		return err == nil && strings.Contains(string(log), want)
	})
}

type given struct {
	ID  string `json:"batch_id"`
	URL string `json:"url"`
}

func (r *running) newBatch(t *testing.T, token string) (int, given) {
	t.Helper()
	resp := r.do(t, http.MethodPost, r.APIURL+batches+"generate-upload-url", token, nil)
	var g given
	decode(t, resp, &g)
	return resp.StatusCode, g
}

func (r *running) upload(t *testing.T, url string) (int, string) {
	t.Helper()
	resp := r.do(t, http.MethodPut, url, "", strings.NewReader("{}\n"))
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// fails starts a local cloud that cannot start.
func fails(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, program, args...).CombinedOutput()
}

// Without the statement that allows it, a call fails as it would on AWS: in each service, and through the front door.
func TestWhatNoStatementAllowsIsDenied(t *testing.T) {
	begin := func(t *testing.T, template string) (*running, string, string) {
		data := filepath.Join(t.TempDir(), "data")
		r := start(t, data, "--project", elsewhere(t, template, true))
		t.Cleanup(func() { _ = r.stop(t, os.Interrupt) })
		return r, data, r.token(t)
	}
	t.Run("S3", func(t *testing.T) {
		r, data, token := begin(t, without(t, "Sid: SignUploads", "/uploads/*", "/elsewhere/*"))
		_, batch := r.newBatch(t, token) // to sign is no call
		if status, text := r.upload(t, batch.URL); status != 403 || !strings.Contains(text, "<Code>AccessDenied</Code>") {
			t.Errorf("%d %s", status, text)
		}
		denied(t, data, "sluice-batch", "s3:PutObject")
	})
	t.Run("DynamoDB", func(t *testing.T) {
		r, data, token := begin(t, without(t, "FunctionName: !Sub \"${Prefix}-batch\"", "dynamodb:PutItem", "dynamodb:Scan"))
		if status, _ := r.newBatch(t, token); status != 500 {
			t.Errorf("status %d", status)
		}
		denied(t, data, "sluice-batch", "dynamodb:PutItem")
	})
	t.Run("Step Functions", func(t *testing.T) {
		r, data, token := begin(t, without(t, "Sid: StartBatches", "states:StartExecution", "states:StopExecution"))
		_, batch := r.newBatch(t, token)
		if status, text := r.upload(t, batch.URL); status != 200 {
			t.Errorf("%d %s", status, text)
		}
		denied(t, data, "sluice-scan", "states:StartExecution")
	})
	t.Run("the role of the state machine", func(t *testing.T) {
		r, data, token := begin(t, without(t, "Sid: RunSteps", "- !GetAtt PlanFunction.Arn", "- !GetAtt TokenFunction.Arn"))
		_, batch := r.newBatch(t, token)
		if status, text := r.upload(t, batch.URL); status != 200 {
			t.Errorf("%d %s", status, text)
		}
		denied(t, data, "states/sluice-batch", "lambda:InvokeFunction")
	})
	t.Run("KMS", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		project := elsewhere(t, without(t, "Sid: Sign\n", "kms:Sign", "kms:Verify"), true)
		out, err := fails(t, "--project", project, "--data", data)
		if err == nil || !bytes.Contains(out, []byte("the token endpoint responds with 500")) {
			t.Errorf("%v: %s", err, out)
		}
		denied(t, data, "sluice-token", "kms:Sign")
	})
	t.Run("a policy that is not known", func(t *testing.T) {
		project := elsewhere(t, without(t, "Sid: ReadClients", "dynamodb:BatchGetItem, ", "{any: thing}, "), true)
		if out, err := fails(t, "--project", project, "--data", t.TempDir()); err == nil || !bytes.Contains(out, []byte("sluice-authorizer has a policy")) {
			t.Errorf("%v: %s", err, out)
		}
	})
}

func TestReportOfThePolicies(t *testing.T) {
	r := start(t, filepath.Join(t.TempDir(), "data"))
	defer func() { _ = r.stop(t, os.Interrupt) }()
	r.token(t)
	var report struct {
		Statements []struct {
			Principal, Sid, Action string
			Statement, Count       int
		}
		Denied []json.RawMessage
	}
	decode(t, r.do(t, http.MethodGet, r.AWSEndpointURL+"/_sluice/policies", "", nil), &report)
	used := map[string]int{}
	for _, s := range report.Statements {
		used[s.Principal+" "+s.Sid+" "+s.Action] = s.Count
	}
	if used["sluice-token Sign kms:Sign"] < 2 || used["sluice-token ReadClients dynamodb:GetItem"] < 2 || len(report.Denied) != 0 {
		t.Errorf("%v, denied %s", used, report.Denied)
	}
}
