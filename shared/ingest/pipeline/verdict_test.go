package pipeline

import (
	"testing"

	"sluice/shared/ingest/batch"
)

// TestRejectionMessage tests which verdicts reject a batch, at its limits, and with which message.
func TestRejectionMessage(t *testing.T) {
	lines := func(n int64) *batch.RejectLimit { return &batch.RejectLimit{Lines: n} }
	share := func(s batch.Share) *batch.RejectLimit { return &batch.RejectLimit{Share: s} }
	const reported = "; the validation report lists their errors."
	for _, tt := range []struct {
		name           string
		b              batch.Batch
		invalid, total int64
		want           string
	}{
		{"valid", batch.Batch{RejectOnInvalid: true}, 0, 9, ""},
		{"one invalid", batch.Batch{RejectOnInvalid: true}, 1, 9,
			"1 of 9 transactions is invalid and reject_on_invalid is true, so nothing was ingested; the " +
				"validation report lists its errors."},
		{"two invalid", batch.Batch{RejectOnInvalid: true}, 2, 9,
			"2 of 9 transactions are invalid and reject_on_invalid is true, so nothing was ingested" + reported},
		{"validate_only", batch.Batch{RejectOnInvalid: true, ValidateOnly: true}, 2, 9,
			"2 of 9 transactions are invalid and reject_on_invalid is true, so the batch is rejected" + reported},
		{"dropped", batch.Batch{}, 8, 9, ""},
		{"none of 0 allowed", batch.Batch{MaxRejected: lines(0)}, 0, 9, ""},
		{"more than 0", batch.Batch{MaxRejected: lines(0)}, 1, 9,
			"1 of 9 transactions is invalid and max_rejected is 0, so nothing was ingested; the validation report " +
				"lists its errors."},
		{"less than the lines", batch.Batch{MaxRejected: lines(5)}, 4, 9, ""},
		{"as many as the lines", batch.Batch{MaxRejected: lines(5)}, 5, 9, ""},
		{"more than the lines", batch.Batch{MaxRejected: lines(5)}, 6, 9,
			"6 of 9 transactions are invalid and max_rejected is 5, so nothing was ingested" + reported},
		{"less than the share", batch.Batch{MaxRejected: share("0.5%")}, 4, 1000, ""},
		{"as much as the share", batch.Batch{MaxRejected: share("0.5%")}, 5, 1000, ""},
		{"more than the share", batch.Batch{MaxRejected: share("0.5%"), ValidateOnly: true}, 6, 1000,
			"6 of 1000 transactions are invalid and max_rejected is 0.5%, so the batch is rejected" + reported},
		{"all, as many as the lines", batch.Batch{MaxRejected: lines(9)}, 9, 9,
			"All 9 transactions are invalid; the validation report lists their errors."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := batch.Verdict{Total: tt.total, Accepted: tt.total - tt.invalid, Invalid: tt.invalid}
			if got := rejectionMessage(tt.b, v); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}
