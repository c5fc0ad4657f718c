package e2e

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// Names in the sample events of events/ that the tests replace by real ones.
const (
	sampleTenant      = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	sampleClient      = "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01"
	sampleSecret      = "not-a-secret"
	sampleToken       = "x.y.z"
	sampleBatch       = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"
	sampleTransaction = "1c0a5f2e-0d7a-4b3f-8f53-3f4f7f0f8f10"
	sampleETag        = "0123456789abcdef0123456789abcdef"
	sampleSize        = "1104000"
	sampleTaskToken   = "AQCoAAAAKgAAAAMAAAAAAAAAAWF0b2tlbg"
	sampleRegion      = "eu-central-1"
	sampleBucket      = "sluice-uploads-123456789012-eu-central-1"
)

// Every function answers `sam local invoke` with its sample event. The functions work on the stores of a local cloud
// whose own functions are held back, so that each step of a batch is run here, in its turn.
func TestSAMInvoke(t *testing.T) {
	skipWithout(t, samCLI)
	s := newSAMInvoker(t)
	s.replacements[sampleToken] = tokenOf(t, s.invokeAPI("token", 200, `"token_type":"Bearer"`))
	s.invoke("authorizer", `"principalId":"`+s.cloud.ClientID+`"`, `"tenant":"`+s.cloud.TenantID+`"`,
		`"Effect":"Allow"`)

	u := s.newUpload()
	s.replacements[sampleBatch] = u.BatchID
	lines := validLines(3)
	content := jsonLines(lines...)
	sum := md5.Sum(content)
	s.replacements[sampleTransaction] = lines[0].transactionID()
	s.replacements[sampleETag], s.replacements[sampleSize] = hex.EncodeToString(sum[:]), fmt.Sprint(len(content))
	expectPut(t, 200, u, content)
	s.waitForInvocation("sluice-scan", u.BatchID)
	s.invoke("scan", "null")
	// The execution has begun, and waits for its first step.
	s.replacements[sampleTaskToken] = taskTokenOf(t, s.waitForInvocation("sluice-admit", u.BatchID))
	s.invoke("admit", "{}")
	s.waitForInvocation("sluice-plan", u.BatchID)
	s.invoke("plan", `"chunks":[0]`, `"partitions":[{"first":0,"end":16}`, `"whole":true`)
	s.invoke("validate", "{}")
	s.run("digest", map[string]string{"batch_id": u.BatchID}, "{}")
	s.invoke("reconcile", "{}")
	s.invoke("settle", "{}")
	s.invoke("verdict", `"ingest":true`)
	s.invoke("ingest", `{"done":true}`)
	s.run("close", map[string]string{"batch_id": u.BatchID}, "{}")
	s.invoke("process", `{"done":true}`) // it finds that all of these have run
	s.invoke("announce", "{}")
	s.invoke("export", "{}")
	s.invoke("index", "{}")
	s.invokeAPI("find", 200, `"items"`, `"searched"`)
	s.invokeAPI("receipt", 200)
	s.invokeAPI("transaction", 200, lines[0].modificationID(), u.BatchID)

	failed := s.newUpload()
	s.replacements[sampleBatch] = failed.BatchID
	s.invoke("close", "{}")

	s.invokeAPI("entity", 200, `"data"`)
	s.invokeAPI("document", 202, `"id"`)
	s.invokeAPI("externalauth", 202, `"configurationId"`)
	s.invokeAPI("screening", 202, `"batchId"`)
	s.invokeAPI("provider", 202, `"defaultConfigurationSetId"`)
	s.invokeAPI("testadapter", 200, `"accepted":false`)
	s.invokeAPI("matchname", 400, "no_watch_lists")
	s.invokeAPI("policy", 202, `"versionNumber":1`)
	s.invokeAPI("evaluate", 404, "policy_version_not_found")
	s.invoke("certificate", "null")
	s.invoke("watchlist", "null")
	s.invokeAPI("outbound", 200, `"decisions"`)
	s.invokeAPI("receive", 400, "entity_not_found")
	s.invokeAPI("webhook", 200, `"secret"`)
	// Of provider.json, whose messages are not authenticated: the sample's is not one of its adapter.
	s.invokeAPI("receptor", 403, "response_not_valid")
	s.invoke("conduct", `"providers":[]`)
	s.invoke("notify", "null")
	s.invoke("deliver", `"done":true`)
	// A failure is reported as one, though SAM exits with 0.
	for _, function := range []string{"screennames", "search", "ask"} {
		errtest.Fails(t, function+" of what is not screened", errtest.Of(s.runSAM(function, s.event(function))),
			"errorType")
	}
	s.checkAllRun()
}

// checkAllRun checks that each function of the template was run.
func (s *samInvoker) checkAllRun() {
	template := ok(os.ReadFile("../template.yaml"))(s.t)
	functions := regexp.MustCompile(`(?m)^  (\w+Function):$`).FindAllSubmatch(template, -1)
	assert(s.t, len(functions) > 0, "the template has no function")
	for _, f := range functions {
		assert(s.t, s.ran[string(f[1])], "the function %s was not run", f[1])
	}
}

// samInvoker runs functions by SAM against a local cloud.
type samInvoker struct {
	t     *testing.T
	cloud *Environment
	// settings is the file with the functions' environment.
	settings string
	// replacements are the real names by those of the samples.
	replacements map[string]string
	// ran has the functions that were run, by their names in the template.
	ran map[string]bool
	// invocations are those that the local cloud wanted to make.
	invocations chan invocation
}

type invocation struct {
	function string
	payload  []byte
}

// newSAMInvoker starts a local cloud that passes its invocations to an endpoint which holds them back.
func newSAMInvoker(t *testing.T) *samInvoker {
	t.Helper()
	s := &samInvoker{t: t, settings: filepath.Join(t.TempDir(), "sam.json"), ran: map[string]bool{},
		invocations: make(chan invocation, 16)}
	release := make(chan struct{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		function := strings.Split(r.URL.Path, "/")[3]
		s.invocations <- invocation{function, payload}
		if function == "sluice-admit" {
			io.WriteString(w, "{}") // a step that waits for its token goes on after this answer only
			return
		}
		<-release
	}))
	var err error
	s.cloud, err = startUncheckedCloud(t.TempDir(), "--listen", "0.0.0.0", "--functions", endpoint.URL, "--sam-env",
		s.settings)
	must(t, err)
	t.Cleanup(func() {
		errtest.Is(t, "stop", s.cloud.stop(), nil)
		close(release)
		endpoint.Close()
	})
	onboardEntities(t, s.cloud)
	s.replacements = map[string]string{
		sampleTenant: s.cloud.TenantID,
		sampleClient: s.cloud.ClientID,
		sampleSecret: s.cloud.ClientSecret,
		sampleBucket: "sluice-uploads-000000000000-us-east-1",
		sampleRegion: s.cloud.Region,
	}
	return s
}

// waitForInvocation waits until the local cloud wants to run a function for a batch, and returns the event.
func (s *samInvoker) waitForInvocation(function, batchID string) (event []byte) {
	s.t.Helper()
	for deadline := time.After(30 * time.Second); ; {
		select {
		case got := <-s.invocations:
			if got.function == function && bytes.Contains(got.payload, []byte(batchID)) {
				return got.payload
			}
		case <-deadline:
			s.t.Fatalf("%s is not run for the batch %s", function, batchID)
		}
	}
}

// event returns the sample event of a function with the real names in it.
func (s *samInvoker) event(function string) json.RawMessage {
	s.t.Helper()
	text := ok(os.ReadFile("../events/" + function + ".json"))(s.t)
	pairs := []string{sampleBucket, s.replacements[sampleBucket]} // before the region, which is part of it
	for sample, name := range s.replacements {
		pairs = append(pairs, sample, name)
	}
	return json.RawMessage(strings.NewReplacer(pairs...).Replace(string(text)))
}

// invoke runs a function with its sample event and checks that its answer contains texts.
func (s *samInvoker) invoke(function string, wants ...string) string {
	s.t.Helper()
	return s.run(function, s.event(function), wants...)
}

func (s *samInvoker) run(function string, event any, wants ...string) string {
	s.t.Helper()
	answer := ok(s.runSAM(function, event))(s.t)
	for _, want := range wants {
		assert(s.t, strings.Contains(answer, want), "%s answers %.1000s; want %s", function, answer, want)
	}
	return answer
}

// runSAM returns what a function answers. A function that failed, or did not answer, is an error.
func (s *samInvoker) runSAM(function string, event any) (string, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return "", err
	}
	logical := logicalID(function)
	s.ran[logical] = true
	cmd := s.cloud.samLocal(s.settings, "invoke", logical, "--event", "-")
	var out, log outputBuffer
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

// logicalID returns the name of a function in the template.
func logicalID(function string) string {
	words := map[string]string{"externalauth": "ExternalAuth", "matchname": "MatchName", "testadapter": "TestAdapter"}
	return cmp.Or(words[function], strings.ToUpper(function[:1])+function[1:]) + "Function"
}

// invokeAPI runs a function as API Gateway does and checks the status of its answer and that the body contains texts.
func (s *samInvoker) invokeAPI(function string, status int, wants ...string) (body string) {
	s.t.Helper()
	var reply struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
	}
	if err := json.Unmarshal([]byte(s.invoke(function)), &reply); err != nil || reply.StatusCode != status {
		s.t.Fatalf("%s answers %+v (%v), want the status %d", function, reply, err, status)
	}
	for _, want := range wants {
		assert(s.t, strings.Contains(reply.Body, want), "%s answers %.1000s, want %s", function, reply.Body, want)
	}
	return reply.Body
}

// tokenOf returns the access token of a token reply.
func tokenOf(t *testing.T, body string) string {
	t.Helper()
	var reply struct {
		AccessToken string `json:"access_token"`
	}
	must(t, json.Unmarshal([]byte(body), &reply))
	return reply.AccessToken
}

// taskTokenOf returns the token by which the state machine is told that a step has ended.
func taskTokenOf(t *testing.T, event []byte) string {
	t.Helper()
	var step struct{ Token string }
	must(t, json.Unmarshal(event, &step))
	return step.Token
}

// newUpload creates a batch, whose URL clients outside the containers can use.
func (s *samInvoker) newUpload() client.Upload {
	s.t.Helper()
	var u client.Upload
	decodeStrictly(s.t, []byte(s.invokeAPI("batch", 200, `"url":"`+s.cloud.S3URL+"/")), &u)
	return u
}
