package endpoint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// Valid JSON is divided as encoding/json divides it; anything else must not cause a panic.
func FuzzEachMember(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `{"a":1}`, ` { "a" : [1, {"b": "}"}] , "c":null } `,
		`{"a\"":"\\","b":"\\\""}`, `{"":{"":[]}}`,
		`{"a"`, `{"a":`, `{"a":}`, `[,]`, `{1:2}`, `["a" "b"]`, `{"a":true,"a":false}`, `{"\u0061":-1.5e3}`,
		`{"a":[[],{}]}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		object, list := map[string]json.RawMessage{}, []json.RawMessage{}
		eachMember(text, func(name string, value []byte) { object[name] = value })
		eachElement(text, func(value []byte) { list = append(list, value) })
		partitionKeyValues(text, "id")
		var wantObject map[string]json.RawMessage
		if json.Unmarshal(text, &wantObject) == nil && wantObject != nil && !maps.EqualFunc(object, wantObject, equal) {
			t.Errorf("%q: %q, want %q", text, object, wantObject)
		}
		var wantList []json.RawMessage
		if json.Unmarshal(text, &wantList) == nil && wantList != nil && !slices.EqualFunc(list, wantList, equal) {
			t.Errorf("%q: %q, want %q", text, list, wantList)
		}
	})
}

func equal(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

func TestPartitionKeyValues(t *testing.T) {
	for text, want := range map[string][]string{
		`{"Key":{"id":{"S":"a"},"x":{"S":"b"}}}`:                                                {"a"},
		`{"Item":{"x":{"M":{"id":{"S":"b"}}},"id":{"S":"a"}}}`:                                  {"a"},
		`[{"PutRequest":{"Item":{"id":{"S":"a"}}}},{"DeleteRequest":{"Key":{"id":{"S":"b"}}}}]`: {"a", "b"},
		`{"Keys":[{"id":{"S":"a"}},{"id":{"S":"b"}}]}`:                                          {"a", "b"},
		`{"KeyConditionExpression":"id = :id"}`:                                                 {""},
	} {
		if got := partitionKeyValues([]byte(text), "id"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A large request must cost little more than reading its bytes.
func BenchmarkDynamoDBRequests(b *testing.B) {
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
		s.dynamoDBRequests(nil, "BatchWriteItem", body.Bytes())
	}
}
