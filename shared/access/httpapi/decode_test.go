package httpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi"
)

type thing struct {
	Name  string         `json:"name"`
	On    *bool          `json:"on"`
	Count int            `json:"count"`
	Parts []thing        `json:"parts"`
	Extra map[string]any `json:"extra"`
}

// postRoute is a route that answers with the body that it has decoded.
func postRoute() httpapi.Route {
	return httpapi.Route{Method: "POST", Path: "/things", Endpoint: httpapi.JSON(
		func(_ context.Context, _ httpapi.Caller, in thing) (thing, error) { return in, nil })}
}

func TestGoodBodies(t *testing.T) {
	c := fullCaller()
	for _, body := range []string{"", "{}", " {} \n", `{"name":"é","on":true,"parts":[{"name":"x"}]}`,
		`{"unknown":[1]}`, `{"on":null}`} {
		t.Run(body, func(t *testing.T) {
			status, reply, r := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", body, &c))
			if status != 200 || r.MultiValueHeaders["Content-Type"][0] != "application/json" {
				t.Errorf("got %d %s %v, want 200 application/json", status, reply, r.MultiValueHeaders)
			}
		})
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		t.Run(contentType, func(t *testing.T) {
			e := newEvent("POST", "/things", "{}", &c)
			e.MultiValueHeaders["content-type"] = []string{contentType}
			if status, reply, _ := newTestAPI(postRoute()).send(t, e); status != 200 {
				t.Errorf("got %d %s, want 200", status, reply)
			}
		})
	}
	t.Run("base64", func(t *testing.T) {
		e := newEvent("POST", "/things", base64.StdEncoding.EncodeToString([]byte(`{"name":"x"}`)), &c)
		e.IsBase64Encoded = true
		if status, reply, _ := newTestAPI(postRoute()).send(t, e); status != 200 ||
			!strings.Contains(reply, `"name":"x"`) {
			t.Errorf(`got %d %s, want 200 with "name":"x"`, status, reply)
		}
	})
}

func TestBadBodies(t *testing.T) {
	c := fullCaller()
	tests := []struct {
		name, body string
		loc        []any
		code       string
	}{
		{"not JSON", "hello", []any{"body", 0.0}, "json_invalid"},
		{"only a space", " ", []any{"body", 1.0}, "json_invalid"},
		{"cut short", `{"name":"x"`, []any{"body", 11.0}, "json_invalid"},
		{"trailing data", `{} {}`, []any{"body", 3.0}, "json_invalid"},
		{"an array", `[]`, []any{"body"}, "object_type"},
		{"null", `null`, []any{"body"}, "object_type"},
		{"a string", `"{}"`, []any{"body"}, "object_type"},
		{"a wrong type", `{"on":"yes"}`, []any{"body", "on"}, "bool_type"},
		{"a wrong type below", `{"parts":[{},{"name":7}]}`, []any{"body", "parts", 1.0, "name"}, "string_type"},
		{"a fraction", `{"count":1.5}`, []any{"body", "count"}, "integer_type"},
		{"a key twice", `{"name":"a","name":"b"}`, []any{"body", "name"}, "json_duplicate_key"},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", nil, "json_invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", tt.body, &c))
			var got struct {
				Detail []struct {
					Loc       []any
					Msg, Type string
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 422 || len(got.Detail) != 1 {
				t.Fatalf("got %d %s, %v, want 422 with one validation error", status, body, err)
			}
			d := got.Detail[0]
			if d.Type != tt.code || d.Msg == "" || tt.loc != nil && !cmp.Equal(d.Loc, tt.loc) {
				t.Errorf("got %s, want a message with %v %s", body, tt.loc, tt.code)
			}
		})
	}
}

func TestContentTypeAndSize(t *testing.T) {
	c := fullCaller()
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"application/json-patch+json",
		"application/json;;"} {
		t.Run("content type "+contentType, func(t *testing.T) {
			e := newEvent("POST", "/things", "{}", &c)
			e.MultiValueHeaders["content-type"] = []string{contentType}
			const want = `{"message":"The content type must be application/json."}`
			if status, body, _ := newTestAPI(postRoute()).send(t, e); status != 415 || body != want {
				t.Errorf("got %d %s, want 415 %s", status, body, want)
			}
		})
	}
	for size, want := range map[int]int{99: 200, 100: 200, 101: 413} {
		t.Run(fmt.Sprintf("%d bytes of 100", size), func(t *testing.T) {
			route := postRoute()
			route.MaxBody = 100
			a := newTestAPI(route)
			status, reply, _ := a.send(t, newEvent("POST", "/things", `{"name":"`+repeat("x", size-11)+`"}`, &c))
			if status != want {
				t.Errorf("got %d %s, want %d", status, reply, want)
			}
		})
	}
	tooLarge := `{"name":"` + repeat("x", httpapi.DefaultMaxBody) + `"}`
	if status, reply, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", tooLarge, &c)); status != 413 {
		t.Errorf("over the default limit: got %d %s, want 413", status, reply)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"name":"x","on":true}`, `{"parts":[{"name":7}]}`,
		"{\"a\":\"\xff\"}", `{"a":1,"a":2}`, "[", `{"count":1e400}`} {
		f.Add(seed)
	}
	c := fullCaller()
	f.Fuzz(func(t *testing.T, body string) {
		status, reply, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", body, &c))
		if status != 200 && status != 422 || !json.Valid([]byte(reply)) {
			t.Errorf("got %d %s, want 200 or 422 with JSON", status, reply)
		}
	})
}
