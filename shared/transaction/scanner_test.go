package transaction

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoodLine(t *testing.T) {
	r := NewScanner(defaultRules()).Line([]byte(goodLine))
	want := &Result{
		RequestUUID:           []byte("0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"),
		TransactionExternalID: []byte("tx-1"),
		ModificationID:        []byte("mod-1"),
		ModificationOffset:    strings.Index(goodLine, `"mod-1"`),
		References: []Reference{
			{Role: Receiver, ID: []byte("known-1"), Offset: 621},
			{Role: SendingPartner, ID: []byte("known-2"), Offset: 668},
		},
		MainEntity: Receiver,
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatal(diff)
	}
}
