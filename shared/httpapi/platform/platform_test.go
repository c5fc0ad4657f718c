package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

type thing struct {
	Name  string            `json:"name"`
	Size  int               `json:"size"`
	On    bool              `json:"on"`
	Map   map[string]string `json:"map"`
	Parts []thing           `json:"parts"`
}

func (in *thing) Check(v *platform.ValidationErrors) {
	v.RequireText("name", in.Name, 5)
	v.CheckBetween("size", in.Size, 0, 3)
}

// shortTexts is an unenveloped body of texts, of which the last has at most one character.
type shortTexts []string

func (in *shortTexts) Check(v *platform.ValidationErrors) {
	last := len(*in) - 1
	v.CheckText(fmt.Sprintf("names.%d", last), (*in)[last], 1)
}

func handler() http.Handler {
	errs := map[string]error{
		"gone":  fault.New(fault.NotFound, "thing_not_found", "No thing."),
		"clash": fault.New(fault.Conflict, "x", "Moved on."),
		"boom":  errors.New("secret"),
	}
	create := func(_ context.Context, _ *platform.Request, in thing) (string, error) { return in.Name, errs[in.Name] }
	createWithWarning := func(_ context.Context, _ *platform.Request, in thing) (platform.WithWarnings[string], error) {
		return platform.WithWarnings[string]{Data: in.Name,
			Messages: []platform.Message{platform.Warning("", "So so.")}}, errs[in.Name]
	}
	accept := func(context.Context, *platform.Request, shortTexts) (platform.NoData, error) {
		return platform.NoData{}, nil
	}
	read := func(_ context.Context, r *platform.Request, _ platform.NoBody) (string, error) {
		if id := r.PathValue("id"); id != "x" {
			return id, nil
		}
		return r.PathUUID("id")
	}
	filter := func(_ context.Context, r *platform.Request, _ platform.NoBody) (any, error) {
		return nil, r.Validate(func(v *platform.ValidationErrors) {
			v.CheckQueryUUID("model")
			v.CheckQueryBool("all")
		})
	}
	return platform.Handler([]httpapi.Route{
		{Method: "POST", Path: "/things", Permissions: []string{"Edit", "Draw"}, Endpoint: platform.Endpoint(create)},
		{Method: "POST", Path: "/flat", Endpoint: platform.Endpoint(createWithWarning, platform.FlattenErrors())},
		{Method: "POST", Path: "/search", Endpoint: platform.Endpoint(create, platform.ReadOnly())},
		{Method: "PUT", Path: "/unenveloped", Endpoint: platform.Endpoint(accept, platform.Unenveloped("names"))},
		{Method: "GET", Path: "/things/{id}", Endpoint: platform.Endpoint(read)},
		{Method: "DELETE", Path: "/things", Endpoint: platform.Endpoint(filter)},
	}, slog.New(slog.DiscardHandler), func() time.Time { return now })
}

// send sends a request; the value "-" takes a header away.
func send(t *testing.T, method, path, body string,
	headers map[string]string) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	c := httpapi.Caller{Tenant: tenant, Client: "c", Permissions: []string{"Edit"}, Expires: now.Add(time.Hour)}
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: values,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {tenant}, "Content-Type": {"application/json"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: c.Context()},
	}
	for name, value := range headers {
		if e.MultiValueHeaders[name] = []string{value}; value == "-" {
			delete(e.MultiValueHeaders, name)
		}
	}
	r, err := httpapi.Lambda(handler())(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Body, r
}

func TestEnvelopes(t *testing.T) {
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"a command", "POST", "/things", `{"data":{"name":"a"}}`, 202, `{"data":"a","messages":[]}`},
		{"a command with warnings", "POST", "/flat", `{"data":{"name":"a"}}`, 202,
			`{"data":"a","messages":[{"message":"So so.","type":"Warning"}]}`},
		{"flattened errors", "POST", "/flat", `{"data":{"size":4}}`, 400,
			`{"data":null,"messages":[{"message":"The request is not valid. ` +
				`name: The value is missing. size: The value must be between 0 and 3.","type":"Error","errorCode":"invalid_request"}]}`},
		{"another error", "POST", "/flat", `{"data":{"name":"gone"}}`, 404,
			`{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		{"a read", "GET", "/things/7", "", 200, `{"data":"7","messages":[]}`},
		{"a search", "POST", "/search", `{"data":{"name":"a"}}`, 200, `{"data":"a","messages":[]}`},
		{"an unenveloped body", "PUT", "/unenveloped", `["a"]`, 202, `{"data":null,"messages":[]}`},
		{"no parameters", "DELETE", "/things", "", 202, `{"data":null,"messages":[]}`},
		{"good parameters", "DELETE", "/things?all=true&model=" + tenant, "", 202, `{"data":null,"messages":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := send(t, tt.method, tt.path, tt.body, nil)
			if status != tt.status || body != tt.want {
				t.Errorf("got %d %s, want %d %s", status, body, tt.status, tt.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for name, want := range map[string]struct {
		status int
		body   string
	}{
		"clash": {409, `{"data":{},"messages":[{"message":"Moved on.","type":"Error","errorCode":"CONFLICT"}]}`},
		"gone":  {404, `{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		"boom":  {500, `{"data":{},"messages":[{"message":"Internal server error.","type":"Error","errorCode":"INTERNAL_SERVER_ERROR"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, _ := send(t, "POST", "/things", `{"data":{"name":"`+name+`"}}`, nil)
			if status != want.status || body != want.body {
				t.Errorf("got %d %s, want %d %s", status, body, want.status, want.body)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		headers map[string]string
		status  int
		body    string // a part of it
	}{
		"no tenant":       {map[string]string{"X-TENANT-ID": "-"}, 400, `"errorCode":"MissingTenantHeader"`},
		"an empty tenant": {map[string]string{"X-TENANT-ID": ""}, 400, `"errorCode":"MissingTenantHeader"`},
		"another tenant": {map[string]string{"X-TENANT-ID": "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"}, 403,
			`"type":"Forbidden"`},
		"not a UUID":       {map[string]string{"X-TENANT-ID": "me"}, 403, `"type":"Forbidden"`},
		"upper case":       {map[string]string{"X-TENANT-ID": strings.ToUpper(tenant)}, 202, `"a"`},
		"another type":     {map[string]string{"Content-Type": "text/plain"}, 415, `"title":"Unsupported Media Type"`},
		"with correlation": {map[string]string{"X-CORRELATION-ID": "abc"}, 202, `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, r := send(t, "POST", "/things", `{"data":{"name":"a"}}`, tt.headers)
			if status != tt.status || !strings.Contains(body, tt.body) {
				t.Errorf("got %d %s, want %d with %s", status, body, tt.status, tt.body)
			}
			got := r.MultiValueHeaders["X-Correlation-Id"]
			if tt.headers["X-CORRELATION-ID"] != "" && (len(got) != 1 || got[0] != "abc") {
				t.Errorf("got the correlation ID %v, want abc", got)
			}
		})
	}
}

// failures returns the validation errors of a 400.
func failures(t *testing.T, status int, body string) []platform.Failure {
	t.Helper()
	var reply struct{ Data []platform.Failure }
	if err := json.Unmarshal([]byte(body), &reply); err != nil || status != 400 {
		t.Fatalf("got %d %s, %v, want 400 with a list of validation errors", status, body, err)
	}
	return reply.Data
}

// Each error of a body is a 400 that names its property.
func TestBadBodies(t *testing.T) {
	for body, want := range map[string]string{
		``:                                           "data NotNullValidator",
		`{}`:                                         "data NotNullValidator",
		`{"data":null}`:                              "data NotNullValidator",
		`{"data":[]}`:                                "data object_type",
		`{"data":{}}`:                                "name NotNullValidator",
		`{"data":{"name":null}}`:                     "name NotNullValidator",
		`{"data":{"name":1}}`:                        "name string_type",
		`{"data":{"name":"a","size":4}}`:             "size InclusiveBetweenValidator",
		`{"data":{"name":"a","size":"4"}}`:           "size integer_type",
		`{"data":{"name":"a","other":1}}`:            "other extra_forbidden",
		`{"data":{"name":"a","Name":"b"}}`:           "Name extra_forbidden",
		`{"data":{"name":"a"},"more":1}`:             "more extra_forbidden",
		`{"data":{"name":"a","name":"b"}}`:           "name json_duplicate_key",
		`{"data":{"name":"a","size":1.5}}`:           "size integer_type",
		`{"data":{"name":"a","on":"yes"}}`:           "on bool_type",
		`{"data":{"name":"a","map":[]}}`:             "map object_type",
		`{"data":{"name":"a","parts":{}}}`:           "parts array_type",
		`{"data":{"name":"a","parts":["a"]}}`:        "parts.0 object_type",
		`{"data":{"name":"a","parts":[{"name":1}]}}`: "parts.0.name string_type",
		`[]`:     "body object_type",
		`{"data`: "6 json_invalid",
	} {
		t.Run(body, func(t *testing.T) {
			status, text, _ := send(t, "POST", "/things", body, nil)
			list := failures(t, status, text)
			if len(list) != 1 {
				t.Fatalf("got %v, want one validation error", list)
			}
			if got := list[0].PropertyName + " " + list[0].ErrorCode; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for body, want := range map[string]string{
		"": "body NotNullValidator", "null": "body NotNullValidator", `{}`: "body type", `[1]`: "body type",
		`["a"`: "body type", `"a"`: "body type",
	} {
		t.Run("unenveloped "+body, func(t *testing.T) {
			status, text, _ := send(t, "PUT", "/unenveloped", body, nil)
			list := failures(t, status, text)
			if len(list) != 1 || list[0].PropertyName+" "+list[0].ErrorCode != want {
				t.Errorf("got %v, want %s", list, want)
			}
		})
	}
}

func TestBadParameters(t *testing.T) {
	status, text, _ := send(t, "DELETE", "/things?model=x&all=perhaps", "", nil)
	want := []platform.Failure{
		{PropertyName: "model", ErrorMessage: "The value must be a UUID.", AttemptedValue: "x",
			ErrorCode: "GuidValidator"},
		{PropertyName: "all", ErrorMessage: "The value must be true or false.", AttemptedValue: "perhaps",
			ErrorCode: "bool_type"},
	}
	if diff := cmp.Diff(want, failures(t, status, text)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// A validation error shows the value that was sent in its place.
func TestAttemptedValues(t *testing.T) {
	long := strings.Repeat("é", 257)
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "/things", `{"data":{}}`, `null`},
		{"POST", "/things", `{"data":{"name":null}}`, `null`},
		{"POST", "/things", `{"data":{"name":""}}`, `""`},
		{"POST", "/things", `{"data":{"name":1.50}}`, `1.50`},
		{"POST", "/things", `{"data":{"name":["a"]}}`, `null`},
		{"POST", "/things", `{"data":{"name":"a","size":4}}`, `4`},
		{"POST", "/things", `{"data":{"name":"a","other":true}}`, `true`},
		{"POST", "/things", `{"data":{"name":"a","name":"b"}}`, `"b"`},
		{"POST", "/things", `{"data":{"name":"abcdef"}}`, `"abcdef"`},
		{"POST", "/things", `{"data":{"name":"` + long + `"}}`, `"` + long[:512] + `"`},
		{"POST", "/things", `{"data":{"name":"a","parts":[{},{"name":"b","on":"x"}]}}`, `"x"`},
		{"POST", "/things", `{"data":`, `null`},
		{"POST", "/things", `{"data":7}`, `7`},
		{"PUT", "/unenveloped", `[1]`, `null`},
		{"PUT", "/unenveloped", `7`, `7`},
		{"PUT", "/unenveloped", `["a","bc"]`, `"bc"`},
		{"GET", "/things/x", "", `"x"`},
		{"DELETE", "/things?model=x", "", `"x"`},
	} {
		t.Run(tt.path+" "+tt.body, func(t *testing.T) {
			status, text, _ := send(t, tt.method, tt.path, tt.body, nil)
			var reply struct {
				Data []struct{ AttemptedValue json.RawMessage }
			}
			if err := json.Unmarshal([]byte(text), &reply); err != nil || status != 400 || len(reply.Data) != 1 {
				t.Fatalf("got %d %s, %v, want 400 with one validation error", status, text, err)
			}
			if got := string(reply.Data[0].AttemptedValue); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPageTokens(t *testing.T) {
	newPaging := func() *platform.Paging {
		p, err := platform.NewPaging(platform.NewPagingKey())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := newPaging()
	token := p.Seal("t", "q", "here")
	if got, err := p.Open("t", "q", token); err != nil || got != "here" {
		t.Fatalf("got %q, %v, want here", got, err)
	}
	if got := p.Seal("t", "q", ""); got != "" {
		t.Errorf("the end of a list has the token %q, want none", got)
	}
	expectForeign := func(p *platform.Paging, tenant, query, token string) {
		t.Helper()
		if got, err := p.Open(tenant, query, token); !errors.Is(err, platform.ErrPageToken) {
			t.Errorf("Open(%q, %q, %q): got %q, %v, want ErrPageToken", tenant, query, token, got, err)
		}
	}
	expectForeign(p, "t2", "q", token)
	expectForeign(p, "t", "q2", token)
	expectForeign(p, "tq", "", token)
	expectForeign(newPaging(), "t", "q", token)
	for i := range token {
		changed := []byte(token)
		changed[i] ^= 1
		expectForeign(p, "t", "q", string(changed))
		expectForeign(p, "t", "q", token[:i]+"!")
	}
	expectForeign(p, "t", "q", token+"A")
}

func TestChecks(t *testing.T) {
	chars := func(n int) string { return strings.Repeat("é", n) }
	const uuid = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	for name, tt := range map[string]struct {
		check func(v *platform.ValidationErrors)
		want  []string // property and code
	}{
		"UUID absent": {func(v *platform.ValidationErrors) { v.RequireUUID("a", "") },
			[]string{"a NotNullValidator"}},
		"UUID malformed": {func(v *platform.ValidationErrors) { v.RequireUUID("a", "x") },
			[]string{"a GuidValidator"}},
		"UUID in braces": {func(v *platform.ValidationErrors) {
			v.RequireUUID("a",
				"{7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b1}")
		}, []string{"a GuidValidator"}},
		"UUID optional": {func(v *platform.ValidationErrors) { v.CheckUUID("a", "") }, nil},
		"UUIDs": {func(v *platform.ValidationErrors) { v.CheckUUIDs("a", []string{uuid, "x", ""}, 3) },
			[]string{"a.1 GuidValidator", "a.2 NotNullValidator"}},
		"too many UUIDs": {func(v *platform.ValidationErrors) { v.CheckUUIDs("a", []string{"x", "x"}, 1) },
			[]string{"a MaximumCountValidator"}},
		"one of, another": {func(v *platform.ValidationErrors) { v.RequireOneOf("a", "X", "Y", "Z") },
			[]string{"a EnumValidator"}},
		"one of, absent": {func(v *platform.ValidationErrors) { v.RequireOneOf("a", "", "Y", "Z") },
			[]string{"a NotNullValidator"}},
		"one of, empty": {func(v *platform.ValidationErrors) { v.RequireOneOf("a", "", "", "Z") }, nil},
		"too many names": {func(v *platform.ValidationErrors) { v.CheckNames("a", []string{"a", "b", "c"}, 2) },
			[]string{"a MaximumCountValidator"}},
		"an empty name": {func(v *platform.ValidationErrors) { v.CheckNames("a", []string{"a", ""}, 2) },
			[]string{"a.1 NotNullValidator"}},
		"text at the limit": {func(v *platform.ValidationErrors) { v.CheckText("a", chars(3), 3) }, nil},
		"text over the limit": {func(v *platform.ValidationErrors) { v.CheckText("a", chars(4), 3) },
			[]string{"a MaximumLengthValidator"}},
		"ID at the limit": {func(v *platform.ValidationErrors) { v.RequireID("a", strings.Repeat("x", 255)) },
			nil},
		"ID over the limit": {func(v *platform.ValidationErrors) { v.RequireID("a", chars(128)) },
			[]string{"a MaximumLengthValidator"}},
		"ID absent": {func(v *platform.ValidationErrors) { v.RequireID("a", "") },
			[]string{"a NotNullValidator"}},
		"a list with one item": {func(v *platform.ValidationErrors) { v.CheckUnique("a", []string{"x"}) }, nil},
		"an item twice": {func(v *platform.ValidationErrors) { v.CheckUnique("a", []string{"x", "y", "x"}) },
			[]string{"a UniqueValidator"}},
		"two errors": {func(v *platform.ValidationErrors) { v.RequireText("a", "", 1); v.CheckBetween("b", 4, 1, 3) },
			[]string{"a NotNullValidator", "b InclusiveBetweenValidator"}},
	} {
		t.Run(name, func(t *testing.T) {
			var errs platform.ValidationErrors
			tt.check(&errs)
			err := errs.Err()
			if err == nil {
				if tt.want != nil {
					t.Errorf("got no error, want %v", tt.want)
				}
				return
			}
			var got []string
			for _, d := range fault.As(err).Details {
				steps := make([]string, len(d.Path))
				for i, step := range d.Path {
					steps[i] = fmt.Sprint(step)
				}
				got = append(got, strings.Join(steps, ".")+" "+d.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// keyStore is a store of the paging key whose first read fails.
type keyStore struct {
	fail  error
	reads int
}

func (k *keyStore) PagingKey(_ context.Context, candidate []byte) ([]byte, error) {
	if err := k.fail; err != nil {
		k.fail = nil
		return nil, err
	}
	k.reads++
	return candidate, nil
}

// The key is read when it is needed, once, and again only if that has failed.
func TestPagingKeyIsReadWhenNeeded(t *testing.T) {
	lost := errors.New("lost")
	store := &keyStore{fail: lost}
	p := platform.LoadPaging(t.Context(), store)
	if _, err := p.Open("t", "q", ""); !errors.Is(err, lost) || store.reads != 0 {
		t.Errorf("got %v after %d reads, want %v after none", err, store.reads, lost)
	}
	for range 2 {
		if _, err := p.Open("t", "q", ""); err != nil {
			t.Fatal(err)
		}
		got, err := p.Open("t", "q", p.Seal("t", "q", "here"))
		if err != nil || got != "here" || store.reads != 1 {
			t.Errorf("got %q, %v after %d reads, want here after 1", got, err, store.reads)
		}
	}
}
