package states

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	retry := `"Retry": [
		{"ErrorEquals": ["Often"], "IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 4, "MaxDelaySeconds": 20},
		{"ErrorEquals": ["Never"], "MaxAttempts": 0},
		{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1, "JitterStrategy": "FULL"}],
		"Catch": [{"ErrorEquals": ["Never", "Often"], "ResultPath": "$.why", "Next": "Caught"}]`
	tests := []struct {
		// errors has the errors of the calls, in order. The next call succeeds.
		errors string
		calls  int
		status string
		// slept has the waiting times in seconds.
		slept []time.Duration
	}{
		{"", 1, Succeeded, nil},
		{"Often Often Often Often", 5, Succeeded, []time.Duration{2, 6, 18, 20}},
		{"Often Often Often Often Often", 5, Succeeded, []time.Duration{2, 6, 18, 20}}, // caught
		{"Never", 1, Succeeded, nil},
		{"Other", 2, Succeeded, nil},
		{"Other Often Often Other", 4, Failed, nil},
		{"States.Timeout", 1, Failed, nil},
	}
	for _, test := range tests {
		t.Run(test.errors, func(t *testing.T) {
			left := strings.Fields(test.errors)
			b := newTestService(
				t,
				oneState(
					task+`"Parameters": {"FunctionName": "toy", "Payload": {"n.$": "$$.State.RetryCount"}},`+retry,
				),
				func(_ context.Context, _ string, p map[string]any) (any, string) {
					if n := fmt.Sprint(len(strings.Fields(test.errors)) - len(left)); fmt.Sprint(p["n"]) != n {
						t.Errorf("RetryCount %v, want %s", p["n"], n)
					}
					if len(left) == 0 {
						return nil, ""
					}
					name := left[0]
					left = left[1:]
					return nil, name
				},
			)
			e := b.run(t, `{}`)
			difftest.Equal(t, "execution", []any{test.status, test.calls}, []any{e.Status, len(b.functions.calls)})
			for i, want := range test.slept {
				if b.slept[i] != want*time.Second {
					t.Errorf("slept %v, want %v seconds", b.slept, test.slept)
				}
			}
			if strings.HasPrefix(test.errors, "Never") && !strings.Contains(string(e.Output), `{"why":{"Cause":"{`) {
				t.Errorf("output %s, want the failure at $.why", e.Output)
			}
		})
	}
}

func TestMatchesError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, failed string
		want         bool
	}{
		{"Own", "Own", true}, {"Own", "Other", false},
		{"States.ALL", "Own", true}, {"States.ALL", "States.Timeout", true},
		{"States.ALL", "States.Runtime", false}, {"States.Runtime", "States.Runtime", false},
		{
			"States.ALL",
			"States.DataLimitExceeded",
			false,
		}, {"States.DataLimitExceeded", "States.DataLimitExceeded", true},
		{"States.TaskFailed", "Own", true}, {"States.TaskFailed", "States.Timeout", false},
		{"States.Timeout", "States.Timeout", true}, {"States.Timeout", "Own", false},
		{"States.ALL", "", false},
	}
	for _, test := range tests {
		difftest.Equal(t, "matchesError("+test.name+", "+test.failed+")", test.want,
			matchesError([]string{test.name}, test.failed))
	}
}

// newRetrier returns an element of Retry with the fields, in JSON.
func newRetrier(t *testing.T, fields string) (r retrier) {
	t.Helper()
	errtest.Fatal(t, r.UnmarshalJSON([]byte(`{"ErrorEquals": ["A"]`+fields+`}`)))
	return r
}

func TestDelayOfManyRetriesIsBounded(t *testing.T) {
	t.Parallel()
	difftest.Equal(t, "delay after 1000 retries", maxDelaySeconds*time.Second, newRetrier(t, "").delayAfter(1000, nil))
}

func TestRetryJitter(t *testing.T) {
	t.Parallel()
	r := newRetrier(t, `, "JitterStrategy": "FULL"`)
	for random, want := range map[float64]time.Duration{0: 0, 0.5: 2 * time.Second} {
		difftest.Equal(t, fmt.Sprintf("delay for the random number %v", random), want,
			r.delayAfter(2, func() float64 { return random }))
	}
}
