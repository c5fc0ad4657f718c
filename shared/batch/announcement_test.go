package batch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnnouncementPayload tests what the event about the end of a batch says of it.
func TestAnnouncementPayload(t *testing.T) {
	verdict := &Verdict{Total: 4, Accepted: 3, Invalid: 1, ReportKey: "r"}
	for _, tt := range []struct {
		name string
		b    Batch
		want string
	}{
		{"processed", Batch{ID: "b", Status: Processed, Verdict: verdict},
			`{"batch_id":"b","status":"PROCESSED","error_message":"","counts":{"total":4,"accepted":3,"invalid":1,` +
				`"ingested":3},"name":null,"metadata":null,"validate_only":false,"report_complete":true}`},
		{"validate_only", Batch{ID: "b", Status: Processed, Verdict: verdict, ValidateOnly: true, Name: "n",
			Metadata: map[string]string{"k": "v", "a": ""}},
			`{"batch_id":"b","status":"PROCESSED","error_message":"","counts":{"total":4,"accepted":3,"invalid":1,` +
				`"ingested":0},"name":"n","metadata":{"a":"","k":"v"},"validate_only":true,"report_complete":true}`},
		{"failed", Batch{ID: "b", Status: Failed, ErrorMessage: "m", Name: "n"},
			`{"batch_id":"b","status":"ERROR","error_message":"m",` +
				`"counts":{"total":null,"accepted":null,"invalid":null,"ingested":null},` +
				`"name":"n","metadata":null,"validate_only":false,"report_complete":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.b.Announcement()
			if diff := cmp.Diff(tt.want, string(m.Payload)); err != nil || diff != "" {
				t.Errorf("error %v, payload (-want +got):\n%s", err, diff)
			}
		})
	}
}
