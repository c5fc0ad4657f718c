package faults

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/lateend"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// process is a process that records how it is killed.
type process struct {
	payload string
	mu      sync.Mutex
	killed  []string
}

func (p *process) FunctionName() string { return "sluice-close" }
func (p *process) Payload() []byte      { return []byte(p.payload) }

func (p *process) Kill(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = append(p.killed, reason)
}

// killedAt returns the calls at which the process was killed.
func (p *process) killedAt() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.killed, ", ")
}

// call calls a service through the proxy of a process and returns its answer, "" if there is none.
func call(t *testing.T, in *Injector, p *process, service string) string {
	t.Helper()
	environment, stop, err := in.Interpose(p, map[string]string{"SERVICE": service})
	errtest.Fatal(t, err)
	defer stop()
	_, address, _ := strings.Cut(environment[0], "=")
	request := errtest.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/a/b/c",
		strings.NewReader("body")))(t)
	request.Header.Set("X-Amz-Target", "Service.Operation")
	request.Host = "signed.example.com"
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	return string(text)
}

func TestKills(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		rule    string
		payload string
		// answers are those of three calls, done the number of calls that reached the service.
		answers []string
		done    int
		killed  string
	}{
		{"none", "none", "", []string{"ok", "ok", "ok"}, 3, "[]"},
		{"before", "close:2:before", "", []string{"ok", "", "ok"}, 2, "[before Operation]"},
		{"after", "close:2:after", "", []string{"ok", "", "ok"}, 3, "[after Operation]"},
		{"by the whole name", "sluice-close:1:after", "", []string{"", "ok", "ok"}, 3, "[after Operation]"},
		{"another function", "lose:1:after", "", []string{"ok", "ok", "ok"}, 3, "[]"},
		{"another payload", "", `{"batch_id":"b"}`, []string{"ok", "ok", "ok"}, 3, "[]"},
		{"its payload", "", `{"batch_id":"a"}`, []string{"ok", "ok", ""}, 2, "[before Operation]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			done := 0
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				done++
				body, _ := io.ReadAll(r.Body)
				if r.Host != "signed.example.com" || r.URL.Path != "/a/b/c" || string(body) != "body" {
					t.Errorf("the service got %s%s with %q, want what was sent", r.Host, r.URL.Path, body)
				}
				_, _ = io.WriteString(w, "ok")
			}))
			defer service.Close()
			rule := test.rule
			if rule == "" {
				rule = "none"
			}
			in := errtest.Must(New([]string{rule}))(t)
			if test.rule == "" {
				in.Arm(Kill{Function: "close", Call: 3, Payload: `"a"`})
			}
			p := &process{payload: test.payload}
			var answers []string
			for range 3 {
				answers = append(answers, call(t, in, p, service.URL))
			}
			if !slices.Equal(answers, test.answers) || done != test.done || fmt.Sprint(p.killed) != test.killed {
				t.Errorf("answers %q, %d calls done, killed %v, want %q, %d and %s", answers, done, p.killed,
					test.answers, test.done, test.killed)
			}
		})
	}
}

// The same seed kills at the same calls.
func TestRandomKills(t *testing.T) {
	t.Parallel()
	fates := func(seed string) (all []fate) {
		in := errtest.Must(New([]string{"random:" + seed + ":10"}))(t)
		for range 1000 {
			all = append(all, in.decide("f", nil, "c"))
		}
		return all
	}
	spared := errtest.Must(New([]string{"random:1:1"}))(t)
	difftest.Equal(t, "a function that answers a client was killed by chance", passes,
		spared.decide("f", []byte(`{"httpMethod":"GET"}`), "c"))
	first := fates("1")
	if !slices.Equal(first, fates("1")) || slices.Equal(first, fates("2")) {
		t.Error("the kills do not follow from the seed")
	}
	count := map[fate]int{}
	for _, f := range first {
		count[f]++
	}
	if count[killedBefore] < 20 || count[killedAfter] < 20 || count[passes] < 850 {
		t.Errorf("fates of 1000 calls: %v, want about 900, 50 and 50", count)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	if in, err := New(nil); in != nil || err != nil {
		t.Errorf("without rules: %v, %v, want none", in, err)
	}
	for _, rule := range []string{"", "close", "close:1", "close:0:before", "close:x:after", "close:1:then",
		"random:1:0", "random:-1:5", "a:1:after:b"} {
		errtest.Fails(t, fmt.Sprintf("rule %q", rule), errtest.Of(New([]string{rule})))
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	in := errtest.Must(New([]string{"none"}))(t)
	for _, test := range []struct {
		operation, body string
		status          int
		want            string
	}{
		{"Arm", `{"function":"close","call":2,"after":true,"payload":"p"}`, 200, `{"number":0}`},
		{"State", `{"number":0}`, 200, `{"calls":0,"killed":""}`},
		{"State", `{"number":1}`, 400, "ValidationException"},
		{"State", `{"number":-1}`, 400, "ValidationException"},
		{"Arm", `{"function":"close"}`, 400, "ValidationException"},
		{"Arm", `{`, 400, "ValidationException"},
		{"Kill", `{}`, 400, "ValidationException"},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(test.body))
		r.Header.Set("X-Amz-Target", TargetPrefix+test.operation)
		w := httptest.NewRecorder()
		in.ServeHTTP(w, r)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: got %d %s, want %d with %s", test.operation, test.body, w.Code, w.Body, test.status,
				test.want)
		}
	}
	difftest.Equal(t, "armed", Kill{"close", 2, true, "p"}, in.kills[0].Kill)
}

// An answer is passed on whole, however early it begins.
func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	in := errtest.Must(New([]string{"none"}))(t)
	service := httptest.NewServer(http.HandlerFunc(lateend.Answer))
	defer service.Close()
	target := errtest.Must(url.Parse(service.URL))(t)
	for _, size := range []int{1, 6_000, 100_000} {
		lateend.Check(t, in.proxy(&process{}, target), size, func(*http.Request) {})
	}
}
