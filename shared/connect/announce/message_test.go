package announce_test

import (
	"testing"

	"sluice/shared/connect/announce"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// TestAnnouncementPayload tests the payload of the event about the end of a batch.
func TestAnnouncementPayload(t *testing.T) {
	verdict := &batch.Verdict{Total: 4, Accepted: 3, Invalid: 1, ReportKey: "r"}
	for _, tt := range []struct {
		name string
		b    batch.Batch
		want string
	}{
		{"processed", batch.Batch{ID: "b", Status: batch.Processed, Verdict: verdict},
			`{"batch_id":"b","status":"PROCESSED","error_message":"","counts":{"total":4,"accepted":3,"invalid":1,` +
				`"ingested":3},"name":null,"metadata":null,"validate_only":false,"report_complete":true}`},
		{"validate_only", batch.Batch{ID: "b", Status: batch.Processed, Verdict: verdict, ValidateOnly: true, Name: "n",
			Metadata: map[string]string{"k": "v", "a": ""}},
			`{"batch_id":"b","status":"PROCESSED","error_message":"","counts":{"total":4,"accepted":3,"invalid":1,` +
				`"ingested":0},"name":"n","metadata":{"a":"","k":"v"},"validate_only":true,"report_complete":true}`},
		{"failed", batch.Batch{ID: "b", Status: batch.Failed, ErrorMessage: "m", Name: "n"},
			`{"batch_id":"b","status":"ERROR","error_message":"m",` +
				`"counts":{"total":null,"accepted":null,"invalid":null,"ingested":null},` +
				`"name":"n","metadata":null,"validate_only":false,"report_complete":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := errtest.Must(announce.MessageOf(tt.b))(t)
			difftest.Equal(t, "payload", tt.want, string(m.Payload))
		})
	}
}
