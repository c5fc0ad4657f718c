package eventbridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/local/template"
	"sluice/shared/kit/errtest"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	var invoked []string
	lost := errors.New("lost")
	b := New(t.Context(), Config{
		Rules: []template.Rule{
			{Name: "both", Pattern: map[string]any{"source": []any{"x"}}, Functions: []string{"A", "B"}},
			{Name: "one", Pattern: map[string]any{"source": []any{"x", "y"}}, Functions: []string{"C"}},
			{Name: "clock", Every: time.Hour, Functions: []string{"D"}},
		},
		Invoke: func(_ template.Rule, function string, event []byte) error {
			if invoked = append(invoked, function); function == "A" {
				return lost
			}
			return nil
		},
	})
	defer b.Close()
	if err := b.Publish([]byte(`{"source":"x"}`)); !errors.Is(err, lost) || fmt.Sprint(invoked) != "[A B C]" {
		t.Errorf("Publish(x) invoked %v, %v; want [A B C] and the error of A", invoked, err)
	}
	if err := b.Publish([]byte(`{"source":"y"}`)); err != nil || len(invoked) != 4 {
		t.Errorf("Publish(y): %v; invoked in all %v, want [A B C C]", err, invoked)
	}
	if err := b.Publish([]byte(`{"source":"z"}`)); err != nil || len(invoked) != 4 {
		t.Errorf("Publish(z): %v; invoked in all %v, want [A B C C]", err, invoked)
	}
	errtest.Fails(t, "Publish of a list", b.Publish([]byte(`[]`)))
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	events := make(chan string)
	b := New(t.Context(), Config{
		Rules:  []template.Rule{{Name: "tick", Every: time.Millisecond, Functions: []string{"F"}}},
		Region: "r", Account: "a", NewID: func() string { return "id" },
		Invoke: func(_ template.Rule, function string, event []byte) error {
			select {
			case events <- function + " " + string(event):
			default: // the test has read enough
			}
			return errors.New("must not end the schedule")
		},
	})
	for range 2 {
		select {
		case e := <-events:
			if !strings.HasPrefix(e, "F ") || !strings.Contains(e, `"detail-type":"Scheduled Event"`) ||
				!strings.Contains(e, "arn:aws:events:r:a:rule/tick") {
				t.Errorf("event %s, want a Scheduled Event of the rule tick for F", e)
			}
		case <-time.After(time.Minute):
			t.Fatal("no scheduled event within a minute")
		}
	}
	b.Close()
}
