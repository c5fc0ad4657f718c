package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
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

func (t *thing) Check(f *platform.Faults) {
	f.Required("name", t.Name, 5)
	f.Between("size", t.Size, 0, 3)
}

func handler() http.Handler {
	fail := map[string]error{
		"gone": fault.New(fault.NotFound, "thing_not_found", "No thing."), "clash": fault.New(fault.Conflict, "x", "Moved on."),
		"boom": errors.New("secret"),
	}
	return platform.Handler([]httpapi.Route{
		{Method: "POST", Path: "/things", Permissions: []string{"Edit", "Draw"}, Endpoint: platform.Command(
			func(_ context.Context, _ httpapi.Caller, _ *http.Request, in thing) (string, error) {
				return in.Name, fail[in.Name]
			})},
		{Method: "POST", Path: "/plain", Endpoint: platform.Plain(platform.Command(
			func(_ context.Context, _ httpapi.Caller, _ *http.Request, in thing) (platform.Remarked[string], error) {
				return platform.Remarked[string]{Result: in.Name, Messages: []platform.Message{{Message: "So so.", Type: "Warning"}}}, fail[in.Name]
			}))},
		{Method: "PUT", Path: "/bare", Endpoint: platform.Bare(
			func(_ context.Context, _ httpapi.Caller, _ *http.Request, in []string) (platform.None, error) {
				var f platform.Faults
				if f.Max("names.1", in[len(in)-1], 1); len(f.Err().Details) > 0 {
					return platform.None{}, f.Err()
				}
				return platform.None{}, nil
			})},
		{Method: "GET", Path: "/things/{id}", Endpoint: platform.Read(
			func(_ context.Context, _ httpapi.Caller, r *http.Request) (string, error) {
				if id := r.PathValue("id"); id != "x" {
					return id, nil
				}
				var f platform.Faults
				f.UUID("id", "x")
				return "", f.Err()
			})},
	}, slog.New(slog.DiscardHandler), func() time.Time { return now })
}

func send(t *testing.T, method, path, body string, headers map[string]string) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	c := httpapi.Caller{Tenant: tenant, Client: "c", Permissions: []string{"Edit"}, Expires: now.Add(time.Hour)}
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body,
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
		{"a command with remarks", "POST", "/plain", `{"data":{"name":"a"}}`, 202, `{"data":"a","messages":[{"message":"So so.","type":"Warning"}]}`},
		{"a plain refusal", "POST", "/plain", `{"data":{"size":4}}`, 400, `{"data":null,"messages":[{"message":"The request is not valid. ` +
			`name: The value is missing. size: The value must be between 0 and 3.","type":"Error","errorCode":"invalid_request"}]}`},
		{"another failure", "POST", "/plain", `{"data":{"name":"gone"}}`, 404,
			`{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		{"a read", "GET", "/things/7", "", 200, `{"data":"7","messages":[]}`},
		{"a bare body", "PUT", "/bare", `["a"]`, 202, `{"data":null,"messages":[]}`},
	} {
		status, body, _ := send(t, tt.method, tt.path, tt.body, nil)
		if status != tt.status || body != tt.want {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
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
		if status, body, _ := send(t, "POST", "/things", `{"data":{"name":"`+name+`"}}`, nil); status != want.status || body != want.body {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for name, tt := range map[string]struct {
		headers map[string]string
		status  int
		says    string
	}{
		"no tenant":        {map[string]string{"X-TENANT-ID": "-"}, 400, `"errorCode":"MissingTenantHeader"`},
		"an empty tenant":  {map[string]string{"X-TENANT-ID": ""}, 400, `"errorCode":"MissingTenantHeader"`},
		"another tenant":   {map[string]string{"X-TENANT-ID": "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"}, 403, `"type":"Forbidden"`},
		"no UUID":          {map[string]string{"X-TENANT-ID": "me"}, 403, `"type":"Forbidden"`},
		"upper case":       {map[string]string{"X-TENANT-ID": strings.ToUpper(tenant)}, 202, `"a"`},
		"another type":     {map[string]string{"Content-Type": "text/plain"}, 415, `"title":"Unsupported Media Type"`},
		"with correlation": {map[string]string{"X-CORRELATION-ID": "abc"}, 202, `"a"`},
	} {
		status, body, r := send(t, "POST", "/things", `{"data":{"name":"a"}}`, tt.headers)
		if status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if got := r.MultiValueHeaders["X-Correlation-Id"]; tt.headers["X-CORRELATION-ID"] != "" && (len(got) != 1 || got[0] != "abc") {
			t.Errorf("%s: correlation %v", name, got)
		}
	}
}

// Each fault of a body is a 400 that names its property.
func TestBadBodies(t *testing.T) {
	for body, want := range map[string]string{
		``:                                           "data NotNullValidator",
		`{}`:                                         "data NotNullValidator",
		`{"data":null}`:                              "data NotNullValidator",
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
		status, text, _ := send(t, "POST", "/things", body, nil)
		var reply struct{ Data []platform.Failure }
		if err := json.Unmarshal([]byte(text), &reply); err != nil || status != 400 || len(reply.Data) != 1 {
			t.Errorf("%s: %d %s", body, status, text)
			continue
		}
		if got := reply.Data[0].PropertyName + " " + reply.Data[0].ErrorCode; got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	for _, body := range []string{"", "null", `{}`, `[1]`, `["a"`, `"a"`} {
		if status, text, _ := send(t, "PUT", "/bare", body, nil); status != 400 {
			t.Errorf("bare %s: %d %s", body, status, text)
		}
	}
}

// A refusal shows the value that stands in each place it names.
func TestAttemptedValues(t *testing.T) {
	long := strings.Repeat("é", 257)
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "/things", `{"data":{}}`, `null`},
		{"POST", "/things", `{"data":{"name":null}}`, `null`},
		{"POST", "/things", `{"data":{"name":1.50}}`, `1.50`},
		{"POST", "/things", `{"data":{"name":["a"]}}`, `null`},
		{"POST", "/things", `{"data":{"name":"a","size":4}}`, `4`},
		{"POST", "/things", `{"data":{"name":"a","other":true}}`, `true`},
		{"POST", "/things", `{"data":{"name":"abcdef"}}`, `"abcdef"`},
		{"POST", "/things", `{"data":{"name":"` + long + `"}}`, `"` + long[:512] + `"`},
		{"POST", "/things", `{"data":{"name":"a","parts":[{},{"name":"b","on":"x"}]}}`, `"x"`},
		{"POST", "/things", `{"data":`, `null`},
		{"PUT", "/bare", `[1]`, `null`}, {"PUT", "/bare", `7`, `7`},
		{"PUT", "/bare", `["a","bc"]`, `"bc"`},
		{"GET", "/things/x", "", `"x"`},
	} {
		status, text, _ := send(t, tt.method, tt.path, tt.body, nil)
		var reply struct {
			Data []struct{ AttemptedValue json.RawMessage }
		}
		if err := json.Unmarshal([]byte(text), &reply); err != nil || status != 400 || len(reply.Data) != 1 || string(reply.Data[0].AttemptedValue) != tt.want {
			t.Errorf("%s %s: %d %s", tt.path, tt.body, status, text)
		}
	}
}

func TestPagingTokens(t *testing.T) {
	p, err := platform.NewPaging(platform.NewPagingKey())
	if err != nil {
		t.Fatal(err)
	}
	token := p.Seal("t", "q", "here")
	if got, err := p.Open("t", "q", token); err != nil || got != "here" {
		t.Fatal(got, err)
	}
	if p.Seal("t", "q", "") != "" {
		t.Error("the end has a token")
	}
	other, err := platform.NewPaging(platform.NewPagingKey())
	if err != nil {
		t.Fatal(err)
	}
	open := func(p *platform.Paging, tenant, query, token string) {
		t.Helper()
		if got, err := p.Open(tenant, query, token); fault.As(err).Kind != fault.BadRequest {
			t.Errorf("opened %q: %v", got, err)
		}
	}
	open(p, "t2", "q", token)
	open(p, "t", "q2", token)
	open(p, "tq", "", token)
	open(other, "t", "q", token)
	for i := range token {
		changed := []byte(token)
		changed[i] ^= 1
		open(p, "t", "q", string(changed))
		open(p, "t", "q", token[:i]+"!")
	}
	open(p, "t", "q", token+"A")
}

func TestChecks(t *testing.T) {
	var f platform.Faults
	f.UUID("a", "")
	f.UUID("b", "x")
	f.OptionalUUID("c", "")
	f.UUID("d", "{7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b1}")
	f.OneOf("e", "X", "Y", "Z")
	f.OneOf("e", "", "Y", "Z")
	f.OneOf("e", "", "", "Z")
	f.Names("f", []string{"a", "b", "c"}, 2)
	f.Names("g", []string{"a", ""}, 2)
	f.Max("h", strings.Repeat("é", 3), 3)
	f.Max("i", strings.Repeat("é", 4), 3)
	var got []string
	for _, d := range f.Err().Details {
		got = append(got, d.Loc[0].(string)+" "+d.Type)
	}
	want := []string{"a NotNullValidator", "b GuidValidator", "d GuidValidator", "e EnumValidator", "e NotNullValidator", "f MaximumCountValidator",
		"g NotNullValidator", "i MaximumLengthValidator"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// keys is a store of the paging key that fails first.
type keys struct {
	fail  error
	reads int
}

func (k *keys) PagingKey(_ context.Context, candidate []byte) ([]byte, error) {
	if err := k.fail; err != nil {
		k.fail = nil
		return nil, err
	}
	k.reads++
	return candidate, nil
}

// The key is read when it is needed, once, and again only if that failed.
func TestPagingKeyIsReadLate(t *testing.T) {
	lost := errors.New("lost")
	store := &keys{fail: lost}
	p := platform.LoadPaging(t.Context(), store)
	if _, err := p.Open("t", "q", ""); !errors.Is(err, lost) || store.reads != 0 {
		t.Errorf("%v, %d reads", err, store.reads)
	}
	for range 2 {
		if _, err := p.Open("t", "q", ""); err != nil {
			t.Fatal(err)
		}
		if got, err := p.Open("t", "q", p.Seal("t", "q", "here")); err != nil || got != "here" || store.reads != 1 {
			t.Errorf("%q %v, %d reads", got, err, store.reads)
		}
	}
}
