package evaluate_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy/evaluate"
)

// hiddenCounts counts the cases of a run of the property test.
type hiddenCounts struct {
	policies, pairs, fields, masked int
	// compared are the pairs whose replies were compared in all forms. telling are the compared pairs with different
	// replies for a caller with all layers, which had something to hide.
	compared, telling int
}

// reply returns the plain reply to a request, as JSON.
func reply(t *testing.T, program *evaluate.Program, r evaluate.Request) (string, evaluate.Result) {
	t.Helper()
	result := errtest.Must(program.Evaluate(t.Context(), r, nil))(t)
	return asJSON(result), result
}

// otherReplies returns the normalized and the read-only reply to a request, as JSON.
func otherReplies(t *testing.T, program *evaluate.Program, r evaluate.Request, plain evaluate.Result) [2]string {
	t.Helper()
	normalized := errtest.Must(evaluate.Normalize(plain, unlimited))(t)
	_, displayed := reply(t, program, r.ForReadOnly())
	for _, f := range displayed.EvaluatedFields {
		if f.HasEvaluatedDefaultValue || f.HasEvaluatedConditionalValue || f.HasCalculatedValue ||
			len(f.ValidationErrors) > 0 {
			t.Fatalf("the read-only evaluation has values or errors: %+v", f)
		}
	}
	readOnly := errtest.Must(evaluate.ReadOnly(displayed, unlimited))(t)
	return [2]string{asJSON(normalized), asJSON(readOnly)}
}

// checkHidden checks that replies to requests that differ in hidden values only are the same, byte for byte.
func checkHidden(t *testing.T, seed uint64, counts *hiddenCounts) {
	t.Helper()
	const worlds = 6
	p := newMaskedPolicy(seed)
	program, err := evaluate.Compile(p.contents)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	counts.policies++
	hidden := findHiddenKeys(p.contents, p.request)
	request := newMaskedWorld(hidden, seed, 0).request(p.request)
	want, result := reply(t, program, request)
	for _, f := range result.EvaluatedFields {
		if counts.fields++; f.IsMasked {
			counts.masked++
		}
	}
	for secret := range uint64(worlds - 1) {
		other := newMaskedWorld(hidden, seed, secret+1).request(p.request)
		got, otherResult := reply(t, program, other)
		checkSame(t, seed, p, "plain", [2]evaluate.Request{request, other}, want, got)
		if counts.pairs++; secret > 0 {
			continue
		}
		// The read-only variant always filters by layers, which hides more, so that less differs than it hides.
		others, otherOthers := otherReplies(t, program, request, result), otherReplies(t, program, other, otherResult)
		checkSame(t, seed, p, "normalized", [2]evaluate.Request{request, other}, others[0], otherOthers[0])
		checkSame(t, seed, p, "read-only", [2]evaluate.Request{request, other}, others[1], otherOthers[1])
		counts.compared++
		everything := access.Layers{Geographic: []string{"DE", "FR"}, BusinessRelated: []string{"Private"}}
		request, other := request, other
		request.Layers, other.Layers = everything, everything
		all, _ := reply(t, program, request)
		if otherAll, _ := reply(t, program, other); all != otherAll {
			counts.telling++
		}
	}
}

// checkSame checks that two replies are the same.
func checkSame(t *testing.T, seed uint64, p *maskedPolicy, form string, requests [2]evaluate.Request, want,
	got string) {
	t.Helper()
	if got != want {
		t.Fatalf("seed %d: hidden values show in the %s reply (-one +other):\n%s\nrequests:\n%s\n%s\npolicy:\n%s", seed,
			form, difference(want, got), asJSON(requests[0]), asJSON(requests[1]), asJSON(p.contents))
	}
}

// difference returns how two JSON texts differ.
func difference(a, b string) string {
	var values [2]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &values[i]); err != nil {
			return err.Error()
		}
	}
	return cmp.Diff(values[0], values[1])
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Requests that differ only in hidden values have the same reply, for all policies, layers, entities and forms of the
// reply.
func TestHiddenValuesDoNotShow(t *testing.T) {
	t.Parallel()
	var counts hiddenCounts
	for seed := range uint64(80) {
		checkHidden(t, seed, &counts)
	}
	t.Logf("%d policies, %d pairs of requests; %d pairs in all forms, %d of them different for who may see all; "+
		"%d fields, %d of them masked",
		counts.policies, counts.pairs, counts.compared, counts.telling, counts.fields, counts.masked)
	if counts.telling < counts.compared/3 || counts.masked < counts.policies/4 {
		t.Error("the random policies have too little to hide")
	}
}

func FuzzHiddenValues(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(1000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkHidden(t, seed, &hiddenCounts{}) })
}
