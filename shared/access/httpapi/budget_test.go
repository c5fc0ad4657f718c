package httpapi_test

import (
	"errors"
	"testing"

	"sluice/shared/access/httpapi"
)

// An item needs its JSON, and a byte more for each quotation mark and backslash, which are escaped for the gateway.
func TestReplyBudget(t *testing.T) {
	full := errors.New("full")
	for budget, want := range map[httpapi.ReplyBudget]error{15: full, 16: nil, 17: nil} {
		if err := budget.Reserve(map[string]string{"a": `\`}, full); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	budget := httpapi.ReplyBudget(9)
	if err := errors.Join(budget.Reserve("a", full), budget.Reserve(1, full)); err != nil || budget != 3 {
		t.Errorf("got %v and %d bytes left, want 3", err, budget)
	}
	if err := budget.Reserve(func() {}, full); err == nil || errors.Is(err, full) {
		t.Errorf("an item that is not JSON: got %v, want the error of the encoder", err)
	}
}

// The budget counts the bytes that the gateway is sent: angle brackets and ampersands are six bytes each.
func TestReplyBudgetOfText(t *testing.T) {
	budget := httpapi.ReplyBudget(20)
	text := []byte(`"<&"`)
	if !budget.ReserveText(text) || budget != 4 {
		t.Errorf("got %d bytes left, want 4", budget)
	}
	if budget.ReserveText(text) {
		t.Errorf("the text fits into 4 bytes, %d are left", budget)
	}
	if budget.ReleaseText(text); budget != 4 {
		t.Errorf("got %d bytes left after the release, want 4", budget)
	}
}
