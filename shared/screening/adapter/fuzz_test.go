package adapter_test

import (
	"errors"
	"testing"

	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// Any response of an adapter is an answer of bounded matches, or refused with a sentence.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", many(2), `{"batchId":"` + batchID + `","errorDetails":"no"}`, "\x1f\x8b", "\x1f\x8b\x08\x00",
		"[[[[",
		`{"batchId":"` + batchID + `","matches":[{"matchData":{"categoryDetails":` + nested(7) + `}}]}`,
	} {
		f.Add([]byte(text), adapter.Success)
	}
	f.Fuzz(func(t *testing.T, packed []byte, status string) {
		var invalid *adapter.InvalidError
		text, err := adapter.Unpack(packed)
		if err != nil {
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an InvalidError", err)
			}
			return
		}
		a, err := adapter.ParseAnswer(text, adapter.Screen, status)
		if err == nil {
			var matches []screening.Match
			matches, err = a.Check(batch)
			if len(matches) > adapter.MaxMatches {
				t.Fatalf("got %d matches", len(matches))
			}
		}
		if err != nil && (!errors.As(err, &invalid) || len(err.Error()) > 1000) {
			t.Fatalf("got %v, want an InvalidError", err)
		}
	})
}

// Nothing that was not sealed with the keys is opened.
func FuzzOpen(f *testing.F) {
	keys := newKeys(f)
	sealed := sealedByOthers
	f.Add(sealed.Data, sealed.IV, sealed.MAC)
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, data, iv, mac string) {
		packed, err := keys.Open(adapter.Sealed{Data: data, IV: iv, MAC: mac})
		if err == nil && (data != sealed.Data || mac != sealed.MAC) {
			t.Fatalf("%q, %q, %q was opened as %q", data, iv, mac, packed)
		}
	})
}
