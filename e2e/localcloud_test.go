package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/functions/setup/setuptest"
	"sluice/shared/kit/errtest"
)

// startDemo runs the demo with a folder of its own for temporary files.
func startDemo(t *testing.T, args ...string) (demo *process, folder string) {
	t.Helper()
	// A folder with a short name: the demo makes sockets in it, whose paths are limited to about a hundred bytes.
	folder = ok(os.MkdirTemp("", "demo-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	cmd := exec.Command(ok(builtProgram("sluice"))(t), append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder)
	return ok(startProcess(cmd))(t), folder
}

// checkNothingLeft checks that the demo has removed its files and ended its processes.
func checkNothingLeft(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	assert(t, err == nil && len(left) == 0, "the demo left the files %v (%v), want none", left, err)
	running := processesNaming(t, folder)
	assert(t, len(running) == 0, "the demo left the processes %v", running)
}

func TestDemo(t *testing.T) {
	beginParallel(t, processes)
	demo, folder := startDemo(t)
	err := <-demo.exited
	require(t, err == nil, "%v:\n%s", err, demo.output)
	expectTexts(t, demo.output.String(), "2,000 lines, 2,000 accepted, 0 invalid, 2,000 stored", "read back",
		"VALIDATION_FAILED", "invalid lines are dropped", "duplicate_modification_id", "main_entity_unknown",
		"line_too_long", "Version 1 of the policy", "Say where the wealth comes from.", "stopped")
	checkNothingLeft(t, folder)
}

func TestInterruptedDemo(t *testing.T) {
	skipWithout(t, processes)
	t.Parallel()
	for _, moment := range []string{"a local cloud answers", "A good batch", "VALIDATION_STARTED"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			demo, folder := startDemo(t, "--lines", "50000")
			isReached := func() bool { return strings.Contains(demo.output.String(), moment) }
			must(t, demo.waitFor(time.Minute, isReached))
			must(t, demo.Process.Signal(syscall.SIGINT))
			err := <-demo.exited
			code := demo.ProcessState.ExitCode()
			assert(t, code == 130 && strings.Contains(demo.output.String(), "interrupted"),
				"exit code %d (%v), want 130 and the word interrupted:\n%s", code, err, demo.output)
			checkNothingLeft(t, folder)
		})
	}
}

// A function sends no requests before its first event: a cold start must not wait for a network.
func TestFunctionsStartAlone(t *testing.T) {
	const limit, attempts = 5 * time.Second, 5 // another attempt if the machine is busy with other things
	programs, err := filepath.Glob("../bin/functions/*")
	require(t, err == nil && len(programs) != 0, "there are no functions: run `make build` first (%v)", err)
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			took, requests, err := setuptest.Init(t.Context(), program)
			for attempt := 1; err == nil && requests == 0 && took > limit && attempt < attempts; attempt++ {
				took, requests, err = setuptest.Init(t.Context(), program)
			}
			must(t, err)
			assert(t, requests == 0 && took <= limit,
				"%d requests and %v before the first event, want none and at most %v", requests, took, limit)
		})
	}
}

// DynamoDB answers only who has keys of the local cloud, and no web page may read what it answers.
func TestDatabaseAnswersOnlyKeysOfTheCloud(t *testing.T) {
	skipWithout(t, processes)
	t.Parallel()
	tables := func(key, secret string) error {
		db := dynamodb.New(dynamodb.Options{
			Region: environment.Region, BaseEndpoint: &environment.DynamoDBURL, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
		})
		_, err := db.Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String(environment.Prefix + "-clients"), Limit: aws.Int32(1),
		})
		return err
	}
	errtest.Is(t, "with the cloud's keys", tables(environment.AccessKeyID, environment.SecretAccessKey), nil)
	for name, keys := range map[string][2]string{
		"unknown key": {"local", "local"}, "wrong secret": {environment.AccessKeyID, "wrong"},
	} {
		errtest.Fails(t, "with "+name, tables(keys[0], keys[1]))
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodOptions} {
		request, err := http.NewRequestWithContext(t.Context(), method, environment.DynamoDBURL,
			strings.NewReader(`{"TableName":"`+environment.Prefix+`-clients"}`))
		must(t, err)
		request.Header.Set("Origin", "https://evil.example.com")
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810.Scan")
		// The server behind it takes any signature.
		request.Header.Set("X-Amz-Date", "20260101T000000Z")
		request.Header.Set("Authorization",
			"AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
		resp, err := http.DefaultClient.Do(request)
		must(t, err)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		assert(t, err == nil && resp.StatusCode >= 400 && !strings.Contains(string(text), "Items"),
			"%s without the cloud's keys: %s %s, %v; want a refusal", method, resp.Status, text, err)
		for name := range resp.Header {
			assert(t, !strings.HasPrefix(name, "Access-Control-"), "%s: the reply has the header %s", method, name)
		}
	}
}

// What the S3 server prints about an upload that was broken off is in its log and not on the operator's terminal.
func TestForeignLogLinesAreInTheLog(t *testing.T) {
	upload := begin(t, functionLog).newUpload(true)
	u := ok(url.Parse(upload.URL))(t)
	log := environment.logFile("s3.log")
	eventually(t, "a line in the S3 server's log", func() bool {
		conn, err := net.Dial("tcp", u.Host)
		must(t, err)
		defer conn.Close()
		ok(fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nIf-None-Match: *\r\nContent-Length: "+
			"1000\r\n\r\n%s",
			u.RequestURI(), u.Host, "the beginning"))(t)
		conn.Close()
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), "INTERNAL ERROR")
	})
	printed := environment.cloud.output.String()
	assert(t, !strings.Contains(printed, "INTERNAL ERROR"), "the local cloud printed\n%s", printed)
}

// The commands of docs/ten-minutes.md work as they are.
func TestTenMinutesGuide(t *testing.T) {
	c := beginTenant(t)
	c.enableBatches()
	must(t, environment.admin(nil, "entities", "import", "--tenant", c.TenantID,
		writeFile(t, "entities.jsonl", `{"id":"customer-1001","status":"Compliant"}`)))
	c.runGuide("docs/ten-minutes.md", nil, `"status": "PROCESSED"`, `"code": "missing"`,
		`{"line":2,"errors":[{"type":"missing","pointer":"/modification/amount"`,
		`"modification_external_id": "tx-42-settled"`)
}
