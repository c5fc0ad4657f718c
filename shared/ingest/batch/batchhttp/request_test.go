package batchhttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
)

// metadataOf returns metadata with a number of keys.
func metadataOf(keys int) string {
	m := map[string]string{}
	for i := range keys {
		m[fmt.Sprint("key", i)] = "v"
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// TestRequestFields sends every field of a request, and reads it from the batch.
func TestRequestFields(t *testing.T) {
	a := newAPI(t)
	lines := func(n int64) *batch.RejectLimit { return &batch.RejectLimit{Lines: n} }
	long := strings.Repeat("é", 128)
	for body, want := range map[string]batch.Batch{
		`{"max_rejected":0}`:                            {MaxRejected: lines(0)},
		`{"max_rejected":12,"reject_on_invalid":false}`: {MaxRejected: lines(12)},
		`{"max_rejected":9223372036854775807}`:          {MaxRejected: lines(9223372036854775807)},
		`{"max_rejected":"0.5%"}`:                       {MaxRejected: &batch.RejectLimit{Share: "0.5%"}},
		`{"max_rejected":"0%"}`:                         {MaxRejected: &batch.RejectLimit{Share: "0%"}},
		`{"max_rejected":null}`:                         {RejectOnInvalid: true},
		`{"max_rejected":null,"reject_on_invalid":true,"validate_only":null,"name":null,"metadata":null}`: {
			RejectOnInvalid: true},
		`{"validate_only":true}`:    {RejectOnInvalid: true, ValidateOnly: true},
		`{"validate_only":false}`:   {RejectOnInvalid: true},
		`{"name":"x"}`:              {RejectOnInvalid: true, Name: "x"},
		`{"name":"a\u00a0\u200d"}`:  {RejectOnInvalid: true, Name: "a\u00a0\u200d"},
		`{"name":"` + long + `"}`:   {RejectOnInvalid: true, Name: long},
		`{"metadata":{}}`:           {RejectOnInvalid: true},
		`{"content_encoding":null}`: {RejectOnInvalid: true},
		`{"content_encoding":"identity"}`: {RejectOnInvalid: true,
			Declared: batch.Declared{Encoding: batch.Identity}},
		`{"content_encoding":"gzip"}`: {RejectOnInvalid: true, Declared: batch.Declared{Encoding: batch.Gzip}},
		`{"content_encoding":"zstd"}`: {RejectOnInvalid: true, Declared: batch.Declared{Encoding: batch.Zstd}},
		`{"metadata":{"a_B.9-":"","1":"😀"}}`: {RejectOnInvalid: true, Metadata: map[string]string{"a_B.9-": "",
			"1": "😀"}},
		`{"metadata":{"k":"` + strings.Repeat("é", 512) + `"}}`: {RejectOnInvalid: true,
			Metadata: map[string]string{"k": strings.Repeat("é", 512)}},
		`{"metadata":{"` + strings.Repeat("k", 64) + `":"v"}}`: {RejectOnInvalid: true,
			Metadata: map[string]string{strings.Repeat("k", 64): "v"}},
	} {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			reply := a.generateUploadURL(t, body)
			if ignored, ok := reply["ignored_parameters"]; ok {
				t.Errorf("got the ignored parameters %v, want none", ignored)
			}
			b, err := a.batches.Get(t.Context(), batch.ID(reply["batch_id"].(string)))
			got := batch.Batch{RejectOnInvalid: b.RejectOnInvalid, MaxRejected: b.MaxRejected,
				ValidateOnly: b.ValidateOnly, Name: b.Name, Metadata: b.Metadata, Declared: b.Declared}
			errtest.Fatal(t, err)
			difftest.Equal(t, "batch", want, got)
		})
	}
	full := a.generateUploadURL(t, `{"metadata":`+metadataOf(16)+`}`)["batch_id"].(string)
	if b, err := a.batches.Get(t.Context(), batch.ID(full)); err != nil || len(b.Metadata) != 16 {
		t.Errorf("got %d metadata, error %v, want 16", len(b.Metadata), err)
	}
}

// TestBadRequestFields tests where and by which code a request is refused.
func TestBadRequestFields(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string]string{
		`{"max_rejected":-1}`:                                   "body max_rejected: number_range",
		`{"max_rejected":1.0}`:                                  "body max_rejected: number_range",
		`{"max_rejected":1e2}`:                                  "body max_rejected: number_range",
		`{"max_rejected":9223372036854775808}`:                  "body max_rejected: number_range",
		`{"max_rejected":"5"}`:                                  "body max_rejected: share",
		`{"max_rejected":"100.1%"}`:                             "body max_rejected: share",
		`{"max_rejected":""}`:                                   "body max_rejected: share",
		`{"max_rejected":true}`:                                 "body max_rejected: type",
		`{"max_rejected":[1]}`:                                  "body max_rejected: type",
		`{"max_rejected":1,"reject_on_invalid":true}`:           "body max_rejected: mutually_exclusive",
		`{"validate_only":"true"}`:                              "body validate_only: bool_type",
		`{"name":""}`:                                           "body name: string_too_short",
		`{"name":"` + strings.Repeat("é", 129) + `"}`:           "body name: string_too_long",
		`{"name":7}`:                                            "body name: string_type",
		`{"name":"a\u0000"}`:                                    "body name: control_character",
		`{"name":"a\nb"}`:                                       "body name: control_character",
		`{"name":"\u007f"}`:                                     "body name: control_character",
		`{"name":"\u0085"}`:                                     "body name: control_character",
		`{"name":"a\u202etxt"}`:                                 "body name: control_character",
		`{"name":"\u2028"}`:                                     "body name: control_character",
		`{"metadata":{"k":"a\u2066b"}}`:                         "body metadata k: control_character",
		`{"metadata":{"k":"\t"}}`:                               "body metadata k: control_character",
		`{"metadata":[]}`:                                       "body metadata: object_type",
		`{"content_encoding":"br"}`:                             "body content_encoding: enum",
		`{"content_encoding":"GZIP"}`:                           "body content_encoding: enum",
		`{"content_encoding":""}`:                               "body content_encoding: enum",
		`{"content_encoding":1}`:                                "body content_encoding: string_type",
		`{"metadata":{"k":7}}`:                                  "body metadata k: string_type",
		`{"metadata":{"k":null}}`:                               "body metadata k: string_type",
		`{"metadata":{"":"v"}}`:                                 "body metadata : metadata_key",
		`{"metadata":{"a b":"v"}}`:                              "body metadata a b: metadata_key",
		`{"metadata":{"ключ":"v"}}`:                             "body metadata ключ: metadata_key",
		`{"metadata":{"k\n":"v"}}`:                              "body metadata k\n: metadata_key",
		`{"metadata":{"k":"a","k":"b"}}`:                        "body metadata k: json_duplicate_key",
		`{"metadata":` + metadataOf(17) + `}`:                   "body metadata: too_many_keys",
		`{"metadata":{"k":"` + strings.Repeat("é", 513) + `"}}`: "body metadata k: string_too_long",
		`{"metadata":{"` + strings.Repeat("k", 65) + `":"v"}}`: "body metadata " + strings.Repeat("k", 65) +
			": metadata_key",
		`{"name":5,"max_rejected":[],"validate_only":"x","upload":true}`: "body name: string_type; body upload: " +
			"string_type; body validate_only: bool_type; body max_rejected: type",
		`{"name":5,"metadata":{"a":1,"?":"v"},"on_duplicate":"x"}`: "body metadata a: string_type; " +
			"body name: string_type; body on_duplicate: enum",
		`{"content_length":10000000000000000000000000}`: "body content_length: number_range",
		`{"content_length":1e3}`:                        "body content_length: integer_type",
		`{"name":"","metadata":{"?":"v","k":null},"max_rejected":"x"}`: "body max_rejected: share; body name: " +
			"string_too_short; body metadata ?: metadata_key; body metadata k: string_type",
	} {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			status, reply := a.call(t, "POST", "/batch/generate-upload-url", body)
			var got []string
			details, _ := reply["detail"].([]any)
			for _, d := range details {
				d := d.(map[string]any)
				var loc []string
				for _, part := range d["loc"].([]any) {
					loc = append(loc, fmt.Sprint(part))
				}
				got = append(got, strings.Join(loc, " ")+": "+d["type"].(string))
			}
			difftest.Equal(t, "result", []any{422, want}, []any{status, strings.Join(got, "; ")})
		})
	}
}

// Keys that are not known are named, however many and long they are.
func TestIgnoredParameters(t *testing.T) {
	a := newAPI(t)
	a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	reply := a.generateUploadURL(t, `{"z":1,"Name":"x","metadata":{"k":"v"},"\u0000":[],"screen_unknown":{`+
		`"lists":["un"],"fuzzy":true}}`)
	difftest.Equal(t, "ignored parameters", []any{"\x00", "Name", "screen_unknown.fuzzy", "z"},
		reply["ignored_parameters"])
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf(`"%03d%s":1`, i, strings.Repeat("é", 200)))
	}
	names := a.generateUploadURL(t, "{"+strings.Join(many, ",")+"}")["ignored_parameters"].([]any)
	if len(names) != 100 || names[99] != "099"+strings.Repeat("é", 125) {
		t.Errorf("got %d names, the last one %v, want 100 of 128 characters", len(names), names[len(names)-1])
	}
}

// TestRecordFields reads the fields of a request, and the history, from all replies about a batch.
func TestRecordFields(t *testing.T) {
	a := newAPI(t)
	id := a.generateUploadURL(t, `{"name":"n","metadata":{"k":"v"},"validate_only":true,`+
		`"max_rejected":"50.0%"}`)["batch_id"].(string)
	metadata := map[string]any{"k": "v"}
	if _, reply := a.call(t, "GET", "/batch/status/"+id, ""); reply["name"] != "n" ||
		!cmp.Equal(reply["metadata"], any(metadata)) {
		t.Errorf("before the upload: got %v, want the name and the metadata", reply)
	}
	plan := chunk.NewPlan(100, 60)
	a.apply(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan},
		batch.Transition{To: batch.Processed, Verdict: &batch.Verdict{Total: 4, Accepted: 3, Invalid: 1, ReportKey: "r",
			SummaryKey: "s"}})
	want := map[string]any{
		"name": "n", "metadata": metadata, "client_id": "c1", "reject_on_invalid": false, "max_rejected": "50.0%",
		"validate_only": true, "content_encoding": "identity", "duplicate_of": nil, "status": "PROCESSED",
		"counts": map[string]any{"total": 4.0, "accepted": 3.0, "invalid": 1.0, "ingested": 0.0}, "bytes_done": 100.0,
		"history": []any{
			map[string]any{"status": "VALIDATION_STARTED", "at": "2026-11-26T08:15:00Z"},
			map[string]any{"status": "PROCESSED", "at": "2026-11-26T08:15:00Z"},
		},
	}
	_, reply := a.call(t, "GET", "/batch/status/"+id, "")
	for key := range reply {
		if _, ok := want[key]; !ok {
			delete(reply, key)
		}
	}
	difftest.Equal(t, "status", want, reply)
	_, reply = a.call(t, "GET", "/batch/validation-result/"+id, "")
	if reply["validate_only"] != true || reply["name"] != "n" || !cmp.Equal(reply["metadata"], any(metadata)) ||
		reply["message"] != "Batch validated with errors. Nothing was ingested, because validate_only is true." {
		t.Errorf("results: got %v, want the name, the metadata and that nothing was ingested", reply)
	}

	plain := a.createBatch(t)
	a.apply(t, plain, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan})
	_, reply = a.call(t, "GET", "/batch/status/"+plain, "")
	for _, key := range []string{"name", "metadata", "max_rejected", "duplicate_of"} {
		if value, ok := reply[key]; !ok || value != nil {
			t.Errorf("%s: got %v, %v, want null", key, value, ok)
		}
	}
	keys := []string{"validate_only", "name", "metadata"}
	_, reply = a.call(t, "GET", "/batch/validation-result/"+plain, "")
	if slices.ContainsFunc(keys, func(key string) bool { return reply[key] != nil }) {
		t.Errorf("results of a batch without them: got %v", reply)
	}
}
