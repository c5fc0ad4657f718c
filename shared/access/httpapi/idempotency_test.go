package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencytest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/fault"
)

// keyedAPI is an API with routes that take idempotency keys, and what their endpoint does.
type keyedAPI struct {
	*testAPI
	store *idempotencytest.Memory
	now   time.Time
	// answer makes the endpoint's answer for the run of its request, nil without a key.
	answer func(ctx context.Context, run *idempotency.Run) (httpapi.Reply, error)

	mu    sync.Mutex
	calls int
}

func newKeyedAPI(answer func(context.Context, *idempotency.Run) (httpapi.Reply, error)) *keyedAPI {
	a := &keyedAPI{store: idempotencytest.NewMemory(), now: now, answer: answer}
	count := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls++
		return a.calls
	}
	endpoint := func(ctx context.Context, _ httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return httpapi.Reply{}, fault.New(fault.TooLarge, "large", "Too large for the endpoint.")
		}
		count()
		return a.answer(ctx, idempotency.FromContext(ctx))
	}
	ids := 0
	newID := func() (string, error) { ids++; return fmt.Sprint("id ", ids), nil }
	a.testAPI = newTestAPI(
		httpapi.Route{Method: "POST", Path: "/kept", Endpoint: endpoint,
			Idempotency: &httpapi.Idempotency{KeepsBody: true, Headers: []string{"Mode"}}},
		httpapi.Route{Method: "POST", Path: "/made", Endpoint: endpoint,
			Idempotency: &httpapi.Idempotency{NewID: newID}},
		httpapi.Route{Method: "POST", Path: "/none", Endpoint: endpoint},
	)
	for i := range a.Routes {
		a.Routes[i].MaxBody = 100
	}
	runs := 0
	a.Idempotency = &idempotency.Keys{
		Store: a.store, Now: func() time.Time { return a.now },
		NewRun: func() string {
			a.mu.Lock()
			defer a.mu.Unlock()
			runs++
			return fmt.Sprint("run ", runs)
		},
	}
	return a
}

// post sends a request with header fields and returns the status, the body, whether it is replayed, and Retry-After.
func (a *keyedAPI) post(t *testing.T, path, body string, header ...string) (status int, text, replayed, after string) {
	t.Helper()
	c := fullCaller()
	e := newEvent("POST", path, body, &c)
	for i := 0; i < len(header); i += 2 {
		e.MultiValueHeaders[header[i]] = append(e.MultiValueHeaders[header[i]], header[i+1])
	}
	return a.postEvent(t, e)
}

func (a *keyedAPI) postEvent(t *testing.T, e events.APIGatewayProxyRequest) (status int, text, replayed, after string) {
	t.Helper()
	status, text, r := a.send(t, e)
	h := http.Header(r.MultiValueHeaders)
	return status, text, h.Get("Idempotency-Replayed"), h.Get("Retry-After")
}

// numbered answers with the number of the call.
func numbered(a **keyedAPI) func(context.Context, *idempotency.Run) (httpapi.Reply, error) {
	return func(context.Context, *idempotency.Run) (httpapi.Reply, error) {
		return httpapi.Reply{Status: 201, Body: map[string]any{"call": (*a).calls, "x": "<&>"}}, nil
	}
}

func TestRepeatedRequest(t *testing.T) {
	var a *keyedAPI
	a = newKeyedAPI(numbered(&a))
	const first = `{"call":1,"x":"<&>"}`
	expect := func(wantStatus int, wantBody, wantReplayed, path, body string, header ...string) {
		t.Helper()
		status, text, replayed, _ := a.post(t, path, body, header...)
		difftest.Equal(t, "result", []any{wantStatus, wantBody, wantReplayed}, []any{status, text, replayed})
	}
	reused := `{"detail":[{"loc":["header","Idempotency-Key"],` +
		`"msg":"The key was used for another request. Use a new key for each request.",` +
		`"type":"idempotency_key_reused"}]}`
	expect(201, first, "", "/kept", `{}`, "Idempotency-Key", "k")
	for range 2 {
		expect(201, first, "true", "/kept", `{}`, "idempotency-key", "k")
	}
	expect(422, reused, "", "/kept", `{ }`, "Idempotency-Key", "k")
	expect(201, first, "true", "/kept", "", "Idempotency-Key", "k")
	expect(422, reused, "", "/kept", `{}`, "Idempotency-Key", "k", "Mode", "other")
	expect(201, `{"call":2,"x":"<&>"}`, "", "/kept", `{ }`, "Idempotency-Key", "k2")
	expect(201, `{"call":3,"x":"<&>"}`, "", "/made", `{ }`, "Idempotency-Key", "k")
	expect(201, `{"call":4,"x":"<&>"}`, "", "/none", `{}`, "Idempotency-Key", "k")
	expect(201, `{"call":5,"x":"<&>"}`, "", "/none", `{}`, "Idempotency-Key", "k")
	expect(201, `{"call":6,"x":"<&>"}`, "", "/kept", `{}`)

	c := fullCaller()
	c.Tenant = "another tenant"
	e := newEvent("POST", "/kept", "{ }", &c)
	e.MultiValueHeaders["Idempotency-Key"] = []string{"k"}
	if status, text, replayed, _ := a.postEvent(t, e); status != 201 || text == first || replayed != "" {
		t.Errorf("the key of another tenant: got %d %s, replayed %q; want an answer of its own", status, text, replayed)
	}

	a.now = now.Add(idempotency.Life)
	expect(201, `{"call":8,"x":"<&>"}`, "", "/kept", `{ }`, "Idempotency-Key", "k")
}

// An endpoint whose answer is not stored makes it again, from the values that the first run has pinned.
func TestAnswerThatIsNotStored(t *testing.T) {
	a := newKeyedAPI(func(_ context.Context, run *idempotency.Run) (httpapi.Reply, error) {
		if run.Answer != nil && run.Answer.Status != 200 {
			t.Errorf("the status of the first answer is %d, want 200", run.Answer.Status)
		}
		return httpapi.Reply{Body: run.ID}, nil
	})
	for i := range 3 {
		status, text, replayed, _ := a.post(t, "/made", `{}`, "Idempotency-Key", "k")
		if status != 200 || text != `"id 1"` || (replayed == "true") != (i > 0) {
			t.Errorf("request %d: got %d %s, replayed %q", i, status, text, replayed)
		}
	}
	difftest.Equal(t, "times that the endpoint was called", 3, a.calls)
	key := idempotency.Key{Tenant: fullCaller().Tenant, Client: fullCaller().Client, Path: "/made", Name: "k"}
	if r := a.store.Record(key); r.Answer == nil || r.Answer.Body != nil {
		t.Errorf("the record is %+v, want an answer without its body", r)
	}
}

func TestKeyOfTheWrongForm(t *testing.T) {
	var a *keyedAPI
	a = newKeyedAPI(numbered(&a))
	refused := `{"detail":[{"loc":["header","Idempotency-Key"],` +
		`"msg":"The value must be one key of 1 to 255 printable ASCII characters.","type":"idempotency_key"}]}`
	for _, keys := range [][]string{{""}, {strings.Repeat("k", 256)}, {"é"}, {"a\tb"}, {"a", "b"}} {
		var header []string
		for _, k := range keys {
			header = append(header, "Idempotency-Key", k)
		}
		if status, text, _, _ := a.post(t, "/kept", `{}`, header...); status != 422 || text != refused {
			t.Errorf("keys %q: got %d %s, want 422 %s", keys, status, text, refused)
		}
	}
	if status, _, _, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", strings.Repeat("k", 255)); status != 201 ||
		a.calls != 1 {
		t.Errorf("a key of 255 characters: got %d, %d calls; want 201 and the first call", status, a.calls)
	}
	status, text, _, _ := a.post(t, "/kept", strings.Repeat("x", 101), "Idempotency-Key", "large")
	if want := `{"message":"Too large for the endpoint."}`; status != 413 || text != want || a.calls != 1 {
		t.Errorf("a body that is too large: got %d %s, want 413 %s", status, text, want)
	}
}

// While a request is carried out, others with its key are told to come again: of twenty at once, one is carried out.
func TestRequestsAtOnce(t *testing.T) {
	const others = 19
	running := make(chan struct{})
	refused := make(chan struct{}, others)
	a := newKeyedAPI(func(context.Context, *idempotency.Run) (httpapi.Reply, error) {
		close(running)
		for range others {
			<-refused
		}
		return httpapi.Reply{Body: "done"}, nil
	})
	var group sync.WaitGroup
	group.Go(func() {
		if status, text, replayed, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k"); status != 200 ||
			replayed != "" {
			t.Errorf("the first request: got %d %s, replayed %q", status, text, replayed)
		}
	})
	<-running
	for range others {
		group.Go(func() {
			defer func() { refused <- struct{}{} }()
			status, text, _, after := a.post(t, "/kept", `{}`, "Idempotency-Key", "k")
			want := `{"message":"A request with this Idempotency-Key is still running. Repeat it in a second."}`
			difftest.Equal(t, "result", []any{409, want, "1"}, []any{status, text, after})
		})
	}
	group.Wait()
	if status, text, replayed, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k"); text != `"done"` ||
		replayed != "true" {
		t.Errorf("afterwards: got %d %s, replayed %q", status, text, replayed)
	}
}

// Only answers of success are kept: after a fault of the service the request runs again as the same one, after a
// refusal the key is free.
func TestAnswersThatAreNotKept(t *testing.T) {
	refusal := fault.New(fault.Conflict, "conflict", "Conflict.")
	for name, test := range map[string]struct {
		fail func() (httpapi.Reply, error)
		want int
		free bool
	}{
		"fault": {func() (httpapi.Reply, error) { return httpapi.Reply{}, errors.New("broken") }, 500, false},
		"late": {func() (httpapi.Reply, error) { return httpapi.Reply{}, context.DeadlineExceeded }, 503,
			false},
		"panic":           {func() (httpapi.Reply, error) { panic("broken") }, 500, false},
		"not encodable":   {func() (httpapi.Reply, error) { return httpapi.Reply{Body: func() {}}, nil }, 500, false},
		"reply of 503":    {func() (httpapi.Reply, error) { return httpapi.Reply{Status: 503}, nil }, 503, false},
		"refusal":         {func() (httpapi.Reply, error) { return httpapi.Reply{}, refusal }, 409, true},
		"refusing answer": {func() (httpapi.Reply, error) { return httpapi.Reply{Status: 400}, nil }, 400, true},
	} {
		t.Run(name, func(t *testing.T) {
			var pinned []idempotency.Pinned
			a := newKeyedAPI(func(_ context.Context, run *idempotency.Run) (httpapi.Reply, error) {
				if pinned = append(pinned, run.Pinned); len(pinned) == 1 {
					return test.fail()
				}
				return httpapi.Reply{Body: "done"}, nil
			})
			if status, text, _, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k"); status != test.want {
				t.Errorf("got %d %s, want %d", status, text, test.want)
			}
			a.now = now.Add(time.Second)
			if test.free {
				status, text, replayed, _ := a.post(t, "/kept", `{"other":1}`, "Idempotency-Key", "k")
				if status != 200 || replayed != "" || pinned[0] == pinned[1] {
					t.Errorf("another request: got %d %s, replayed %q, pinned %v; want 200 and a time of its own",
						status, text, replayed, pinned)
				}
				return
			}
			if status, _, _, _ := a.post(t, "/kept", `{"other":1}`, "Idempotency-Key", "k"); status != 422 {
				t.Errorf("another request: got %d, want 422", status)
			}
			status, text, replayed, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k")
			if status != 200 || replayed != "" || pinned[0] != pinned[1] {
				t.Errorf("the request again: got %d %s, replayed %q, pinned %v; want 200 and the same time",
					status, text, replayed, pinned)
			}
		})
	}
}

// For any failure of the store of keys, a request is carried out and answered, or nothing is done.
func TestStoreOfKeysFails(t *testing.T) {
	for _, failing := range []string{"Create", "Finish"} {
		for _, isAfter := range []bool{false, true} {
			t.Run(fmt.Sprint(failing, isAfter), func(t *testing.T) {
				var a *keyedAPI
				a = newKeyedAPI(numbered(&a))
				isFailing := true
				a.store.Fault = func(method string) (before, after error) {
					if !isFailing || method != failing {
						return nil, nil
					}
					isFailing = false
					if isAfter {
						return nil, errors.New("broken")
					}
					return errors.New("broken"), nil
				}
				status, _, _, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k")
				difftest.Equal(t, "status", map[string]int{"Create": 500, "Finish": 201}[failing], status)
				a.now = now.Add(time.Minute)
				if status, text, _, _ := a.post(t, "/kept", `{}`, "Idempotency-Key", "k"); status != 201 {
					t.Errorf("the request again: got %d %s, want 201", status, text)
				}
			})
		}
	}
}
