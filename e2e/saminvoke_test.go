package e2e

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// What the sample events in events/ name, to be replaced by what is there.
const (
	sampleTenant      = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	sampleClient      = "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01"
	sampleBatch       = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"
	sampleTransaction = "1c0a5f2e-0d7a-4b3f-8f53-3f4f7f0f8f10"
	sampleBucket      = "sluice-uploads-123456789012-eu-central-1"
)

// Every function answers `sam local invoke` with its sample event. They work on the stores of a local cloud whose own
// functions are held, so that each step of the batch is taken here, in its turn.
func TestSAMInvoke(t *testing.T) {
	s := hold(t)
	token := s.api("token", 200, `"token_type":"Bearer"`).token(t)
	s.is["x.y.z"] = token
	s.invoke("authorizer", `"principalId":"`+s.cloud.ClientID+`"`, `"tenant":"`+s.cloud.TenantID+`"`, `"Effect":"Allow"`)

	u := s.batch()
	s.is[sampleBatch] = u.BatchID
	lines := []line{valid(), valid(), valid()}
	content := file(lines[0], lines[1], lines[2])
	sum := md5.Sum(content)
	s.is[sampleTransaction] = lines[0].id()
	s.is["0123456789abcdef0123456789abcdef"], s.is["1104000"] = hex.EncodeToString(sum[:]), fmt.Sprint(len(content))
	if code, text := put(t, u, content); code != 200 {
		t.Fatalf("put: %d %s", code, text)
	}
	s.held("sluice-scan", u.BatchID)
	s.invoke("scan", "null")
	s.held("sluice-plan", u.BatchID) // the execution has begun, and waits for its first step
	s.invoke("plan", `"chunks":[0]`, `"partitions":[{"first":0,"end":16}`)
	s.invoke("validate", "{}")
	s.invoke("reconcile", "{}")
	s.invoke("settle", "{}")
	s.invoke("verdict", `{"ingest":true}`)
	s.invoke("admit", "{}")
	s.invoke("ingest", `{"done":true}`)
	s.run("close", map[string]string{"batch_id": u.BatchID}, "{}")
	s.api("transaction", 200, lines[0].modification(), u.BatchID)

	failed := s.batch()
	s.is[sampleBatch] = failed.BatchID
	s.invoke("close", "{}")

	s.api("entity", 200, `"data"`)
	s.api("document", 202, `"id"`)

	// What went wrong is told as such, though SAM ends with 0.
	if _, err := s.sam("plan", map[string]string{"batch_id": uuid.NewString()}); err == nil || !strings.Contains(err.Error(), "errorType") {
		t.Errorf("plan of a batch that is not there: %v", err)
	}
}

// invoker runs functions by SAM against a local cloud.
type invoker struct {
	t        *testing.T
	cloud    *Home
	settings string
	is       map[string]string // what samples stand for
	came     chan invocation   // what the local cloud wanted to run
}

type invocation struct {
	function string
	payload  []byte
}

func hold(t *testing.T) *invoker {
	t.Helper()
	s := &invoker{t: t, settings: filepath.Join(t.TempDir(), "sam.json"), came: make(chan invocation, 16)}
	release := make(chan struct{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		s.came <- invocation{strings.Split(r.URL.Path, "/")[3], payload}
		<-release
	}))
	var err error
	if s.cloud, err = startCloud(t.TempDir(), "--listen", "0.0.0.0", "--functions", endpoint.URL, "--sam-env", s.settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.cloud.stop(); err != nil {
			t.Error(err)
		}
		close(release)
		endpoint.Close()
	})
	onboard(t, s.cloud)
	s.is = map[string]string{sampleTenant: s.cloud.TenantID, sampleClient: s.cloud.ClientID, "not-a-secret": s.cloud.ClientSecret,
		sampleBucket: "sluice-uploads-000000000000-us-east-1", "eu-central-1": s.cloud.Region}
	return s
}

// held waits until the local cloud wants to run a function for a batch.
func (s *invoker) held(function, batch string) {
	s.t.Helper()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case got := <-s.came:
			if got.function == function && bytes.Contains(got.payload, []byte(batch)) {
				return
			}
		case <-deadline:
			s.t.Fatalf("%s is not run for %s", function, batch)
		}
	}
}

// event is a sample with the real names in it.
func (s *invoker) event(function string) json.RawMessage {
	s.t.Helper()
	text, err := os.ReadFile("../events/" + function + ".json")
	if err != nil {
		s.t.Fatal(err)
	}
	var pairs []string
	for _, sample := range []string{sampleBucket} { // before what is part of it
		pairs = append(pairs, sample, s.is[sample])
	}
	for sample, is := range s.is {
		if sample != sampleBucket {
			pairs = append(pairs, sample, is)
		}
	}
	return json.RawMessage(strings.NewReplacer(pairs...).Replace(string(text)))
}

// invoke runs a function with its sample and wants all these texts in its answer; one that is the whole answer counts too.
func (s *invoker) invoke(function string, wants ...string) string {
	s.t.Helper()
	return s.run(function, s.event(function), wants...)
}

func (s *invoker) run(function string, event any, wants ...string) string {
	s.t.Helper()
	answer, err := s.sam(function, event)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(answer, want) {
			s.t.Errorf("%s answers %.1000s; want %s", function, answer, want)
		}
	}
	return answer
}

// sam returns what a function answers. A function that failed, or did not answer, is an error.
func (s *invoker) sam(function string, event any) (string, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return "", err
	}
	logical := strings.ToUpper(function[:1]) + function[1:] + "Function"
	cmd := s.cloud.sam(s.settings, "invoke", logical, "--template", filepath.Join(samBuild, "template.yaml"), "--event", "-")
	var out, log tail
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), &out, &log
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("sam local invoke %s: %w\n%s", logical, err, log.String())
	}
	var answer bytes.Buffer
	var failure struct {
		ErrorType string `json:"errorType"`
	}
	if err := json.Compact(&answer, []byte(out.String())); err != nil {
		return "", fmt.Errorf("%s answers %q: %w\n%s", function, out.String(), err, log.String())
	}
	if json.Unmarshal(answer.Bytes(), &failure) == nil && failure.ErrorType != "" {
		return "", fmt.Errorf("%s failed: %s\n%s", function, answer.String(), log.String())
	}
	s.t.Logf("%s: %.1f s, %.200s", logical, time.Since(began).Seconds(), answer.String())
	return answer.String(), nil
}

type body string

// api runs a function behind the API and wants a status and these texts in the body.
func (s *invoker) api(function string, status int, wants ...string) body {
	s.t.Helper()
	var reply struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
	}
	if err := json.Unmarshal([]byte(s.invoke(function)), &reply); err != nil || reply.StatusCode != status {
		s.t.Fatalf("%s: %v %+v", function, err, reply)
	}
	for _, want := range wants {
		if !strings.Contains(reply.Body, want) {
			s.t.Errorf("%s answers %.1000s; want %s", function, reply.Body, want)
		}
	}
	return body(reply.Body)
}

func (b body) token(t *testing.T) string {
	t.Helper()
	var out struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(b), &out); err != nil {
		t.Fatal(err)
	}
	return out.AccessToken
}

// batch makes a batch, whose URL clients outside the containers can use.
func (s *invoker) batch() upload {
	s.t.Helper()
	var u upload
	strict(s.t, []byte(s.api("batch", 200, `"url":"`+s.cloud.S3URL+"/")), &u)
	return u
}
