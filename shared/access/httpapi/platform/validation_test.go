package platform_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/fault"
)

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
		`{"data`: "body json_invalid",
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
	difftest.Equal(t, "the result", want, failures(t, status, text))
}

// A validation error shows the value that was sent in its place.
func TestAttemptedValues(t *testing.T) {
	long := strings.Repeat("é", 257)
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "/things", `{"data":{}}`, `null`},
		{"POST", "/things", `{"data":{"name":null}}`, `null`},
		{"POST", "/things", `{"data":{"name":""}}`, `""`},
		{"POST", "/things", `{"data":{"name":1.50}}`, `1.50`},
		{"POST", "/things", `{"data":{"name":` + strings.Repeat("7", 256) + `}}`, strings.Repeat("7", 256)},
		{"POST", "/things", `{"data":{"name":` + strings.Repeat("7", 257) + `}}`, `"` + strings.Repeat("7", 256) + `"`},
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
			difftest.Equal(t, "AttemptedValue", tt.want, string(reply.Data[0].AttemptedValue))
		})
	}
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
		"UUID optional": {func(v *platform.ValidationErrors) { v.CheckOptionalUUID("a", nil) }, nil},
		"UUID empty": {func(v *platform.ValidationErrors) { v.CheckOptionalUUID("a", new(string)) },
			[]string{"a GuidValidator"}},
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
		"an item twice": {func(v *platform.ValidationErrors) { v.CheckUnique("a", []string{"x", "y", "x", "y"}) },
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
			difftest.Equal(t, "the result", tt.want, got)
		})
	}
}

// Of several items that are there twice, the message names the first one and both of its places.
func TestItemsThatAreThereTwice(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, test := range []struct {
		items []platform.Item
		want  string
	}{
		{[]platform.Item{{"a.0.id", "x"}, {"a.2.id", "y"}, {"a.5.id", "x"}, {"a.6.id", "y"}, {"a.7.id", "x"}},
			`The list contains "x" twice: at a.0.id and a.5.id.`},
		{[]platform.Item{{"a.0", long}, {"a.1", long}},
			`The list contains "` + strings.Repeat("é", 100) + `" twice: at a.0 and a.1.`},
		{[]platform.Item{{"a.0", `"` + "\n"}, {"a.1", `"` + "\n"}},
			`The list contains "\"\n" twice: at a.0 and a.1.`},
	} {
		var v platform.ValidationErrors
		v.CheckUniqueItems("a", test.items)
		if details := fault.As(v.Err()).Details; len(details) != 1 || details[0].Message != test.want {
			t.Errorf("got %+v, want %q", details, test.want)
		}
	}
}
