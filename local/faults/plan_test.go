package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/local/lambda"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const thing = "01900000-0000-7000-8000-000000000001"

// planFor returns a plan that strikes each call by faults of some kinds.
func planFor(kinds ...Kind) Plan {
	return Plan{Seed: 1, Name: "batch 1", Match: thing, OneIn: 1, EventsOneIn: 1, Kinds: kinds}
}

// journalText is what an injector has written to its journal. It may be read while a proxy still writes.
type journalText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journalText) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journalText) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func TestPlansThatStopNeedWhatStops(t *testing.T) {
	in := errtest.Must(New([]string{"none"}))(t)
	p := Plan{Name: "p", Match: "12345678", OneIn: 1, EventsOneIn: 1, Kinds: []Kind{Stop}}
	errtest.Fails(t, "an injector without OnStop follows a plan that stops executions", in.Follow(p))
	in.OnStop(func(string) {})
	errtest.Is(t, "with OnStop", in.Follow(p), nil)
}

// follow returns an injector that follows a plan, and its journal.
func follow(t *testing.T, p Plan) (*Injector, *journalText) {
	t.Helper()
	in := errtest.Must(New([]string{"none"}))(t)
	var journal journalText
	in.Journal(&journal)
	in.OnStop(func(string) {})
	errtest.Fatal(t, in.Follow(p))
	return in, &journal
}

// What strikes a call follows from the seed, the name, the function, the part and the number, and from nothing else.
func TestPlansAreDeterministic(t *testing.T) {
	t.Parallel()
	strikes := func(seed uint64, name, label string) (all []Kind) {
		p := Plan{Seed: seed, Name: name, Match: thing, OneIn: 10, EventsOneIn: 1}
		for call := range 2000 {
			s := p.strikeOf(label, call+1)
			if s == nil {
				s = &strike{}
			}
			all = append(all, s.Kind)
		}
		return all
	}
	first := strikes(1, "a", "validate chunk 1")
	if !slices.Equal(first, strikes(1, "a", "validate chunk 1")) {
		t.Error("the same plan has other faults the second time")
	}
	for name, other := range map[string][]Kind{
		"seed": strikes(2, "a", "validate chunk 1"), "name": strikes(1, "b", "validate chunk 1"),
		"part": strikes(1, "a", "validate chunk 2"), "function": strikes(1, "a", "settle chunk 1"),
	} {
		if slices.Equal(first, other) {
			t.Errorf("another %s has the same faults", name)
		}
	}
	counts := map[Kind]int{}
	for _, k := range first {
		counts[k]++
	}
	for _, k := range Kinds() {
		if wanted := !k.isOfEvents() && k != Stop; wanted != (counts[k] > 0) {
			t.Errorf("2000 calls are struck %d times by %s, want some: %v", counts[k], k, wanted)
		}
	}
	if n := 2000 - counts[""]; n < 150 || n > 600 {
		t.Errorf("%d of 2000 calls are struck, want about 300", n)
	}
}

// Faults of calls: what the service does, and what the caller learns.
func TestStrikes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind Kind
		// reached means that the call reaches the service, answered that the caller gets its whole answer.
		reached, answered bool
		status            int
		killed            string
	}{
		{KillBefore, false, false, 0, "before Operation"},
		{KillAfter, true, false, 0, "after Operation"},
		{Throttle, false, false, 400, ""},
		{Error, false, false, 500, ""},
		{Reset, false, false, 0, ""},
		{Drop, true, false, 0, ""},
		{Cut, true, false, 200, ""},
		{Delay, true, true, 200, ""},
		{Stop, true, true, 200, ""},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			t.Parallel()
			var reached atomic.Bool
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				reached.Store(true)
				_, _ = io.WriteString(w, "an answer of some length")
			}))
			defer service.Close()
			in, journal := follow(t, planFor(test.kind))
			p := &process{payload: `{"batch_id":"` + thing + `"}`}
			environment, stop, err := in.Interpose(p, map[string]string{"SERVICE": service.URL})
			errtest.Fatal(t, err)
			defer stop()
			_, address, _ := strings.Cut(environment[0], "=")
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("body"))
			errtest.Fatal(t, err)
			request.Header.Set("X-Amz-Target", "Service.Operation")
			status, answer := 0, ""
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
			if err == nil {
				var text []byte
				text, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				status, answer = resp.StatusCode, string(text)
			}
			isWhole := err == nil && answer == "an answer of some length"
			if reached.Load() != test.reached || isWhole != test.answered || status != test.status {
				t.Errorf("reached %v, answered with %d %q, %v; want %v, %d, the whole answer %v", reached.Load(),
					status, answer, err, test.reached, test.status, test.answered)
			}
			difftest.Equal(t, "killed", test.killed, p.killedAt())
			var r Record
			if err := json.Unmarshal([]byte(journal.String()), &r); err != nil || r.Kind != test.kind ||
				r.Function != "close" || r.Call != 1 || r.Operation != "Operation" {
				t.Errorf("the journal is %s, want %s at call 1 of close", journal, test.kind)
			}
		})
	}
}

// A service refuses calls in the form of its protocol.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, target, path string
		s                  strike
		status             int
		want               string
	}{
		{"throttled table", "DynamoDB_20120810.PutItem", "/", strike{Kind: Throttle}, 400,
			"ProvisionedThroughputExceeded"},
		{"throttled items", "DynamoDB_20120810.BatchWriteItem", "/", strike{Kind: Throttle, variant: 1}, 200,
			`{"UnprocessedItems":{"t":[1]}}`},
		{"throttled keys", "DynamoDB_20120810.BatchGetItem", "/", strike{Kind: Throttle, variant: 1}, 200,
			`{"Responses":{},"UnprocessedKeys":{"t":[1]}}`},
		{"broken table", "DynamoDB_20120810.PutItem", "/", strike{Kind: Error}, 500, "InternalServerError"},
		{"throttled key", "TrentService.Sign", "/", strike{Kind: Throttle}, 400, "ThrottlingException"},
		{"throttled function", "", "/2015-03-31/functions/f/invocations", strike{Kind: Throttle}, 429,
			"TooManyRequests"},
		{"broken function", "", "/2015-03-31/functions/f/invocations", strike{Kind: Error}, 500, "ServiceException"},
		{"throttled bucket", "", "/bucket/key", strike{Kind: Throttle}, 503, "<Code>SlowDown</Code>"},
		{"broken bucket", "", "/bucket/key", strike{Kind: Error}, 500, "<Code>InternalError</Code>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", test.path, strings.NewReader(`{"RequestItems":{"t":[1]}}`))
			if test.target != "" {
				r.Header.Set("X-Amz-Target", test.target)
			}
			w := httptest.NewRecorder()
			refuse(w, r, &test.s)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("answered with %d %s, want %d with %s", w.Code, w.Body, test.status, test.want)
			}
		})
	}
}

// Plans strike what concerns their thing: by the payload, or for a schedule by the call.
func TestPlansStrikeTheirThing(t *testing.T) {
	t.Parallel()
	const schedule = `{"detail-type":"Scheduled Event"}`
	for _, test := range []struct {
		name, payload, call string
		clients, want       bool
	}{
		{"a step", `{"batch_id":"` + thing + `"}`, "", false, true},
		{"a step of another", `{"batch_id":"other"}`, thing, false, false},
		{"a schedule", schedule, `{"Key":{"id":{"S":"` + thing + `"}}}`, false, true},
		{"a schedule for others", schedule, "other", false, false},
		{"a client", `{"httpMethod":"GET","path":"/` + thing + `"}`, "", false, false},
		{"a client, for a plan of clients", `{"httpMethod":"GET","path":"/` + thing + `"}`, "", true, true},
		{"a step, for a plan of clients", `{"batch_id":"` + thing + `"}`, "", true, false},
	} {
		p := planFor(Delay)
		p.Clients = test.clients
		in, _ := follow(t, p)
		if s, _ := in.strike("sluice-scan", []byte(test.payload), test.call, "c"); (s != nil) != test.want {
			t.Errorf("%s: struck %v, want %v", test.name, s != nil, test.want)
		}
		in.Forget(p.Seed, p.Name)
		if s, _ := in.strike("sluice-scan", []byte(test.payload), test.call, "c"); s != nil {
			t.Errorf("%s: struck after the plan was forgotten", test.name)
		}
	}
}

// The calls for each chunk are numbered by themselves.
func TestPartsAreNumberedApart(t *testing.T) {
	t.Parallel()
	in, journal := follow(t, planFor(Delay))
	for _, part := range []string{`"chunk":1`, `"chunk":2`, `"chunk":1`, `"partitions":{"first":0,"end":16}`} {
		in.strike("sluice-validate", []byte(`{"batch_id":"`+thing+`",`+part+`}`), "", "c")
	}
	var got []string
	for line := range strings.Lines(journal.String()) {
		var r Record
		errtest.Fatal(t, json.Unmarshal([]byte(line), &r))
		got = append(got, fmt.Sprint(r.Part, " ", r.Call))
	}
	difftest.Equal(t, "numbers", []string{"chunk 1 1", "chunk 2 1", "chunk 1 2", `{"first":0,"end":16} 1`}, got)
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	notification := `{"Records":[{"eventSource":"aws:s3","key":"` + thing + `"}]}`
	for _, test := range []struct {
		kind    Kind
		payload string
		// count is how often the request is delivered, later whether the last delivery is later.
		count int
		later bool
	}{
		{Twice, notification, 2, true},
		{Late, notification, 1, true},
		{Lost, notification, 0, false},
		{Lost, `{"batch_id":"` + thing + `"}`, 1, false},
		{Twice, `{"batch_id":"other"}`, 1, false},
	} {
		in, _ := follow(t, planFor(test.kind))
		got := in.Deliveries("sluice-scan", []byte(test.payload))
		if len(got) != test.count || test.count > 0 && (got[test.count-1] > 0) != test.later {
			t.Errorf("%s of %s: delivered after %v, want %d times, later: %v", test.kind, test.payload, got, test.count,
				test.later)
		}
		if len(got) == 2 && got[0] != 0 {
			t.Errorf("the first of two deliveries comes after %v, want at once", got[0])
		}
	}
}

// invoked counts the invocations that reach a function.
type invoked int

func (n *invoked) Invoke(context.Context, string, []byte) (lambda.Result, error) {
	*n++
	return lambda.Result{Payload: []byte("{}")}, nil
}

func TestInvocations(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]struct {
		errors  []string
		reached bool
	}{
		Throttle: {[]string{"Lambda.TooManyRequestsException"}, false},
		Error:    {[]string{"Lambda.ServiceException"}, false},
		Reset:    {[]string{"Lambda.SdkClientException"}, false},
		Drop:     {[]string{"Lambda.ClientExecutionTimeoutException", "Lambda.AWSLambdaException"}, true},
		Delay:    {[]string{""}, true},
		Stop:     {[]string{""}, true},
	} {
		in, _ := follow(t, planFor(kind))
		var n invoked
		r, err := Functions{in, &n}.Invoke(t.Context(), "sluice-close", []byte(`{"batch_id":"`+thing+`"}`))
		if err != nil || !slices.Contains(want.errors, r.ErrorType) || r.Failed != (r.ErrorType != "") ||
			(n > 0) != want.reached {
			t.Errorf("%s: %+v, %v, reached %v; want an error of %q, reached %v", kind, r, err, n > 0, want.errors,
				want.reached)
		}
	}
}

func TestServePlans(t *testing.T) {
	t.Parallel()
	in := errtest.Must(New([]string{"none"}))(t)
	call := func(operation, body string) int {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", TargetPrefix+operation)
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		return w.Code
	}
	const good = `{"plans":[{"Seed":7,"Name":"n","Match":"12345678","OneIn":2,"EventsOneIn":3,"Kinds":["drop"]}]}`
	for _, body := range []string{`{}`, `{"plans":[]}`, strings.Replace(good, "12345678", "1234567", 1),
		strings.Replace(good, "drop", "drip", 1), strings.Replace(good, `"OneIn":2`, `"OneIn":0`, 1)} {
		difftest.Equal(t, "Follow "+body, 400, call("Follow", body))
	}
	difftest.Equal(t, "Follow", 200, call("Follow", good))
	want := Plan{Seed: 7, Name: "n", Match: "12345678", OneIn: 2, EventsOneIn: 3, Kinds: []Kind{Drop}}
	if len(in.plans) != 1 || !reflect.DeepEqual(in.plans[0].Plan, want) {
		t.Errorf("plans %+v, want %+v", in.plans, want)
	}
	if code := call("Forget", `{"seed":7,"name":"n"}`); code != 200 || len(in.plans) != 0 {
		t.Errorf("Forget: %d, %d plans remain, want 200 and none", code, len(in.plans))
	}
}

func TestPausesAreShort(t *testing.T) {
	t.Parallel()
	p := planFor(Delay)
	for call := range 200 {
		if s := p.strikeOf("f", call+1); s == nil || s.pause < 0 || s.pause > 150*time.Millisecond {
			t.Fatalf("call %d: %+v, want a pause up to 150 ms", call+1, s)
		}
	}
}
