package eventbridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/local/template"
)

func TestPublish(t *testing.T) {
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
		t.Errorf("%v, %v", invoked, err)
	}
	if err := b.Publish([]byte(`{"source":"y"}`)); err != nil || len(invoked) != 4 {
		t.Errorf("%v, %v", invoked, err)
	}
	if err := b.Publish([]byte(`{"source":"z"}`)); err != nil || len(invoked) != 4 {
		t.Errorf("%v, %v", invoked, err)
	}
	if err := b.Publish([]byte(`[]`)); err == nil {
		t.Error("a list was taken for an event")
	}
}

func TestSchedule(t *testing.T) {
	events := make(chan string)
	b := New(t.Context(), Config{
		Rules:  []template.Rule{{Name: "tick", Every: time.Millisecond, Functions: []string{"F"}}},
		Region: "r", Account: "a", NewID: func() string { return "id" },
		Invoke: func(_ template.Rule, function string, event []byte) error {
			select {
			case events <- function + " " + string(event):
			default: // nobody looks
			}
			return errors.New("which does not end the schedule")
		},
	})
	for range 2 {
		select {
		case e := <-events:
			if !strings.HasPrefix(e, "F ") || !strings.Contains(e, `"detail-type":"Scheduled Event"`) || !strings.Contains(e, "arn:aws:events:r:a:rule/tick") {
				t.Error(e)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the schedule does not run")
		}
	}
	b.Close()
}
