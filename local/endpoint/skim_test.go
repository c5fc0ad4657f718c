package endpoint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// What is JSON is taken apart as the decoder takes it apart; anything else must only not do harm.
func FuzzSkim(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `{"a":1}`, ` { "a" : [1, {"b": "}"}] , "c":null } `, `{"a\"":"\\","b":"\\\""}`, `{"":{"":[]}}`,
		`{"a"`, `{"a":`, `{"a":}`, `[,]`, `{1:2}`, `["a" "b"]`, `{"a":true,"a":false}`, `{"\u0061":-1.5e3}`, `{"a":[[],{}]}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object, list := map[string]json.RawMessage{}, []json.RawMessage{}
		members(text, func(name string, value []byte) { object[name] = value })
		elements(text, func(value []byte) { list = append(list, value) })
		leading(text, "id")
		var wantObject map[string]json.RawMessage
		if json.Unmarshal(text, &wantObject) == nil && wantObject != nil && !maps.EqualFunc(object, wantObject, same) {
			t.Errorf("%q: %q, want %q", text, object, wantObject)
		}
		var wantList []json.RawMessage
		if json.Unmarshal(text, &wantList) == nil && wantList != nil && !slices.EqualFunc(list, wantList, same) {
			t.Errorf("%q: %q, want %q", text, list, wantList)
		}
	})
}

func same(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

func TestLeading(t *testing.T) {
	for text, want := range map[string][]string{
		`{"Key":{"id":{"S":"a"},"x":{"S":"b"}}}`:                                                {"a"},
		`{"Item":{"x":{"M":{"id":{"S":"b"}}},"id":{"S":"a"}}}`:                                  {"a"},
		`[{"PutRequest":{"Item":{"id":{"S":"a"}}}},{"DeleteRequest":{"Key":{"id":{"S":"b"}}}}]`: {"a", "b"},
		`{"Keys":[{"id":{"S":"a"}},{"id":{"S":"b"}}]}`:                                          {"a", "b"},
		`{"KeyConditionExpression":"id = :id"}`:                                                 {""},
	} {
		if got := leading([]byte(text), "id"); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// A large request costs little more than the reading of its bytes.
func BenchmarkTables(b *testing.B) {
	line, _ := json.Marshal(bytes.Repeat([]byte("x"), 1000))
	var body bytes.Buffer
	body.WriteString(`{"RequestItems":{"things":[`)
	for i := range 25 {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"PutRequest":{"Item":{"id":{"S":"a"},"line":{"B":` + string(line) + `}}}}`)
	}
	body.WriteString(`]}}`)
	s := Services{ARN: func(service, resource string) string { return service + resource }}
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		s.tables(nil, "BatchWriteItem", body.Bytes())
	}
}
