package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/output"
	"sluice/internal/command"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// fakeStack has the alarms, queues and settings of a deployed stack.
type fakeStack struct {
	// variables are the settings of functions by their names; messages the messages of queues by theirs.
	variables map[string]map[string]string
	messages  map[string]string
	// alarms are descriptions of alarms in ALARM by their names; others are OK.
	alarms map[string]string
	// metrics are values by namespace, name and dimension value. Without them, CloudWatch refuses all requests.
	metrics map[string][]float64
	since   time.Time
}

// serve answers a request of the status, and returns false for others.
func (s *fakeStack) serve(w http.ResponseWriter, r *http.Request) bool {
	_, operation, isCloudWatch := strings.Cut(r.URL.Path, "/service/GraniteServiceVersion20100801/operation/")
	queueOperation, isQueue := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	function, isFunction := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/")
	switch body, _ := io.ReadAll(r.Body); {
	case isCloudWatch:
		in, _ := cbor.Decode(body)
		out, status := s.cloudWatch(operation, in.(cbor.Map)), http.StatusOK
		if s.metrics == nil {
			out, status = cbor.Map{"__type": cbor.String("AccessDenied"), "message": cbor.String("not for you")}, 403
		}
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		w.WriteHeader(status)
		_, _ = w.Write(cbor.Encode(out))
	case isQueue:
		var in struct{ QueueName, QueueUrl string }
		_ = json.Unmarshal(body, &in)
		out := map[string]any{"QueueUrl": "https://sqs.test/1/" + in.QueueName}
		if queueOperation == "GetQueueAttributes" {
			n := s.messages[strings.TrimPrefix(in.QueueUrl, "https://sqs.test/1/")]
			out = map[string]any{"Attributes": map[string]string{"ApproximateNumberOfMessages": n}}
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(out)
	case isFunction && r.Method == http.MethodGet:
		variables := s.variables[strings.TrimSuffix(function, "/configuration")]
		if variables == nil {
			w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Environment": map[string]any{"Variables": variables}})
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	return true
}

func (s *fakeStack) cloudWatch(operation string, in cbor.Map) cbor.Map {
	results := cbor.List{}
	if operation == "DescribeAlarms" {
		for _, name := range in["AlarmNames"].(cbor.List) {
			alarm := cbor.Map{"AlarmName": name, "StateValue": cbor.String("OK")}
			if description, isOn := s.alarms[string(name.(cbor.String))]; isOn {
				alarm["StateValue"], alarm["AlarmDescription"] = cbor.String("ALARM"), cbor.String(description)
				alarm["StateTransitionedTimestamp"] = &cbor.Tag{ID: 1, Value: cbor.Float64(s.since.Unix())}
			}
			results = append(results, alarm)
		}
		return cbor.Map{"MetricAlarms": results}
	}
	for _, query := range in["MetricDataQueries"].(cbor.List) {
		q := query.(cbor.Map)
		metric := q["MetricStat"].(cbor.Map)["Metric"].(cbor.Map)
		key := string(metric["Namespace"].(cbor.String) + " " + metric["MetricName"].(cbor.String))
		if dimensions, has := metric["Dimensions"].(cbor.List); has {
			key += " " + string(dimensions[0].(cbor.Map)["Value"].(cbor.String))
		}
		values := cbor.List{}
		for _, v := range s.metrics[key] {
			values = append(values, cbor.Float64(v))
		}
		results = append(results, cbor.Map{"Id": q["Id"], "Values": values})
	}
	return cbor.Map{"MetricDataResults": results}
}

// The status asks for the alarms and the queues of the template.
func TestStatusKnowsTheTemplate(t *testing.T) {
	template := errtest.Must(os.ReadFile("../../../../template.yaml"))(t)
	for property, want := range map[string][]string{`AlarmName: !Sub "\$\{Prefix\}-([a-z-]+)"`: alarmNames,
		`QueueName: !Sub "\$\{Prefix\}-([a-z]+)-dead-letters"`: deadLetterQueues} {
		var got []string
		for _, match := range regexp.MustCompile(property).FindAllStringSubmatch(string(template), -1) {
			got = append(got, match[1])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-status +template):\n%s", property, diff)
		}
	}
}

// storeWork stores two batches that await their upload and a third that has a slot while a fourth waits for one.
func (f *fakeInstallation) storeWork(t *testing.T) {
	t.Helper()
	store := batchdb.New(f.db, "test-batches")
	f.newBatch(t, store, "")
	f.newBatch(t, store, "")
	uploaded := batch.Transition{To: batch.Uploaded, Object: &batch.Object{Key: "uploads/k", Size: 100},
		ReceivedAt: time.Now()}
	queue := admissiondb.New(f.db, "test-admission")
	for i := range 2 {
		place := admission.Place{Tenant: f.tenant, Batch: f.newBatch(t, store, "", uploaded),
			ReceivedAt: time.Now().Add(-time.Hour)}
		if i == 0 {
			errtest.Fatal(t, errtest.Of(queue.Admit(t.Context(), admission.Gate{Pool: admission.LargeIngestion},
				time.Now(), admission.Ticket{Place: place})))
			continue
		}
		ticket := admission.Ticket{Pool: admission.LargeIngestion, Place: place, Token: "t"}
		errtest.Fatal(t, queue.Put(t.Context(), ticket))
	}
}

// checkStatus compares a status without its times, which it checks to be of the past.
func checkStatus(t *testing.T, got, want statusOutput) {
	t.Helper()
	for i := range got.OpenBatches {
		got.OpenBatches[i].OldestSeconds = 0
	}
	for i, s := range got.Slots {
		difftest.Equal(t, fmt.Sprintf("the first batch waits for %v", s.OldestSeconds), s.OldestSeconds >= 3600,
			s.Waiting > 0)
		got.Slots[i].OldestSeconds = 0
	}
	got.At = time.Time{}
	difftest.Equal(t, "status", want, got)
}

func TestStatusOfALocalCloud(t *testing.T) {
	f := newFakeInstallation(t)
	f.logFails = true // the status is shown all the same
	f.storeWork(t)
	want := statusOutput{Prefix: "test", Place: f.data,
		OpenBatches: []openOutput{{Status: batch.AwaitingUpload, Batches: 2}, {Status: batch.Uploaded, Batches: 2}},
		Slots: []slotsOutput{{Stage: "validation"}, {Stage: "validation-small"},
			{Stage: "ingestion", Used: 1, Waiting: 1}, {Stage: "ingestion-small"}},
		DeadLetters: []deadLetterOutput{},
		NotThere: map[string]string{"alarms": "a local cloud has no alarms",
			"throttles": "the local cloud has no log yet"}}
	checkStatus(t, runAdmin[statusOutput](t, f, "status", "--json"), want)

	letter := filepath.Join(f.data, "dead-letters", "1.json")
	errtest.Fatal(t, os.Mkdir(filepath.Dir(letter), 0o700))
	errtest.Fatal(t, os.WriteFile(letter, nil, 0o600))
	then := time.Now().Add(-3 * time.Hour)
	errtest.Fatal(t, os.Chtimes(letter, then, then))
	errtest.Fatal(t, os.Mkdir(filepath.Join(f.data, "logs"), 0o700))
	errtest.Fatal(t, os.WriteFile(filepath.Join(f.data, "logs", "functions.log"), nil, 0o600))
	code, stdout, stderr := f.run(t, "status")
	for _, text := range []string{"test in " + f.data, "\nOpen batches 2 AWAITING_UPLOAD (the oldest for ",
		"\nSlots        validation: 0 in use, 0 waiting\n",
		"             ingestion: 1 in use, 1 waiting (the first was received 60 min ago)\n",
		"\nDead letters 1 in " + filepath.Dir(letter) + " (the oldest for 3 h)\n",
		"\nAlarms       a local cloud has no alarms\n", "\nThrottled    none in the past hour\n"} {
		if !strings.Contains(stdout, text) {
			t.Errorf("%q is not in\n%s", text, stdout)
		}
	}
	difftest.Equal(t, "exit code and stderr", []any{command.ExitOK, ""}, []any{code, stderr})
}

func TestStatusOfADeployedStack(t *testing.T) {
	f := newFakeInstallation(t)
	f.storeWork(t)
	f.stack = &fakeStack{
		variables: map[string]map[string]string{
			"test-admit":   {"TABLE_BATCHES": "test-batches", "TABLE_ADMISSION": "test-admission"},
			"test-verdict": {"SLOTS": "4/2 10/5/20 30/10"},
			"test-ingest":  {"TABLE_TRANSACTIONS": "test-t2"},
		},
		messages: map[string]string{"test-announce-dead-letters": "0", "test-close-dead-letters": "3",
			"test-conduct-dead-letters": "0", "test-deliver-dead-letters": "0", "test-export-dead-letters": "1",
			"test-index-dead-letters": "0",
			"test-scan-dead-letters":  "0"},
		alarms: map[string]string{"test-api-slow": "Slow (ticket)", "test-api-failing": "Fails (page)"},
		metrics: map[string][]float64{"AWS/SQS ApproximateAgeOfOldestMessage test-close-dead-letters": {7200, 6900},
			"AWS/Lambda Throttles": {1, 2}, "AWS/DynamoDB WriteThrottleEvents test-t2": {5}},
		since: time.Now().Add(-time.Hour).Truncate(time.Second).UTC(),
	}
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": f.endpoint, "AWS_REGION": "eu-west-3",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "SLUICE_DATA": "", "AWS_PROFILE": ""} {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	run := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		c := Command()
		output.AddFormats(c)
		code := commandtest.Run(t.Context(), []*cobra.Command{c},
			append([]string{"admin", "status", "--prefix", "test"}, args...), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	four, ten, thirty, twoHours := 4, 10, 30, 7200.
	want := statusOutput{Prefix: "test", Place: "eu-west-3",
		OpenBatches: []openOutput{{Status: batch.AwaitingUpload, Batches: 2}, {Status: batch.Uploaded, Batches: 2}},
		Slots: []slotsOutput{{Stage: "validation", Of: &four}, {Stage: "validation-small", Of: &thirty},
			{Stage: "ingestion", Used: 1, Of: &ten, Waiting: 1}, {Stage: "ingestion-small", Of: &thirty}},
		DeadLetters: []deadLetterOutput{{Queue: "test-announce-dead-letters"},
			{Queue: "test-close-dead-letters", Messages: 3, OldestSeconds: &twoHours},
			{Queue: "test-conduct-dead-letters"}, {Queue: "test-deliver-dead-letters"},
			{Queue: "test-export-dead-letters", Messages: 1},
			{Queue: "test-index-dead-letters"}, {Queue: "test-scan-dead-letters"}},
		Alarms: &alarmsOutput{Checked: len(alarmNames), InAlarm: []alarmOutput{
			{"api-failing", "page", f.stack.since, "Fails"}, {"api-slow", "ticket", f.stack.since, "Slow"}}},
		Throttles: []throttleOutput{{"functions of the account", 3}, {"reads of batches", 0}, {"writes of batches", 0},
			{"writes of transactions", 5}, {"requests to the API", 0}},
	}
	code, stdout, stderr := run("--json")
	var got statusOutput
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != command.ExitOK {
		t.Fatalf("exit code %d, %v, stderr %q, stdout %s", code, err, stderr, stdout)
	}
	checkStatus(t, got, want)
	if code, stdout, _ = run(); code != command.ExitOK || !strings.Contains(stdout, "PAGE    api-failing since ") ||
		!strings.Contains(stdout, "validation: 0 of 4 in use") {
		t.Errorf("exit code %d, stdout\n%s", code, stdout)
	}
	code, stdout, stderr = run("--query", "alarms.in_alarm[?severity=='page'].alarm | [0]")
	if code != command.ExitOK || strings.TrimSpace(stdout) != `"api-failing"` {
		t.Errorf("exit code %d, the query selects %s, stderr %s", code, stdout, stderr)
	}

	f.stack.metrics = nil // CloudWatch refuses
	delete(f.stack.variables, "test-verdict")
	code, stdout, stderr = run()
	for _, text := range []string{"Open batches 2 AWAITING_UPLOAD", "Slots        NOT READ: there is no function ",
		"Alarms       NOT READ: ", "not for you", "Dead letters 3 in test-close-dead-letters\n"} {
		if !strings.Contains(stdout, text) {
			t.Errorf("%q is not in\n%s", text, stdout)
		}
	}
	if code != command.ExitFailed || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, "not read: alarms, dead_letters, slots, throttles;") {
		t.Errorf("exit code %d, stderr %q; want 2 and the parts that were not read", code, stderr)
	}
}
