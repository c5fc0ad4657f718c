package adapter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// batch is the batch that the answers of these tests are about.
var batch = adapter.Batch{ID: batchID, ProviderID: "acme",
	Aliases: map[string][]string{"entity-1": {"alias-1", "alias-2"}, "entity-2": nil}}

// answerWith returns an answer with one match; members replace or, with the value "", remove those that it has.
func answerWith(t *testing.T, match, data map[string]string) string {
	t.Helper()
	m := map[string]json.RawMessage{"entityId": []byte(`"entity-1"`), "entityUniqueId": []byte(`"acme:17"`)}
	d := map[string]json.RawMessage{"providerId": []byte(`"acme"`), "providerSourceName": []byte(`"Acme list"`)}
	for members, values := range map[*map[string]json.RawMessage]map[string]string{&m: match, &d: data} {
		for name, value := range values {
			if (*members)[name] = []byte(value); value == "" {
				delete(*members, name)
			}
		}
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		errtest.Fatal(t, err)
		return string(b)
	}
	if _, ok := m["matchData"]; !ok {
		m["matchData"] = []byte(text(d))
	}
	return fmt.Sprintf(`{"batchId":%q,"matches":[%s]}`, batchID, text(m))
}

func TestAnswer(t *testing.T) {
	text := answerWith(t, map[string]string{"entityAliasIds": `["alias-1","PrimaryName"]`},
		map[string]string{"name": `"Иван"`, "matchScore": "91.5", "categories": `["Pep"]`, "gender": `"Male"`})
	a, err := adapter.ParseAnswer([]byte(text), adapter.Screen, adapter.Success)
	errtest.Fatal(t, err)
	got, err := a.Check(batch)
	errtest.Fatal(t, err)
	score, gender := 91.5, "Male"
	want := []screening.Match{{EntityID: "entity-1", UniqueID: "acme:17", AliasIDs: []string{"alias-1", "PrimaryName"},
		Data: screening.MatchData{ProviderID: "acme", ProviderSourceName: "Acme list", Name: "Иван", Score: &score,
			Categories: []string{"Pep"}, Gender: &gender}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Without aliases, the match is of the main name.
	a = errtest.Must(adapter.ParseAnswer([]byte(answerWith(t, nil, nil)), adapter.Screen, adapter.Success))(t)
	if got, err = a.Check(batch); err != nil || !cmp.Equal(got[0].AliasIDs, []string{screening.PrimaryName}) {
		t.Errorf("got %+v, %v, want the main name", got, err)
	}
}

// many returns a response with n matches.
func many(n int) string {
	one := `{"entityId":"entity-1","entityUniqueId":"acme:%d","matchData":{"providerId":"acme",` +
		`"providerSourceName":"L"}}`
	var s strings.Builder
	s.WriteString(`{"batchId":"` + batchID + `","matches":[`)
	for i := range n {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, one, i)
	}
	return s.String() + "]}"
}

// nested returns the details of a category with rows in a number of levels.
func nested(levels int) string {
	rows := strings.Repeat(`[{"fields":[],"subRows":`, levels) + "null" + strings.Repeat("}]", levels)
	return `[{"kind":"k","rows":` + rows + `}]`
}

func TestAnswerIsRefused(t *testing.T) {
	match := func(name, value string) string { return answerWith(t, map[string]string{name: value}, nil) }
	data := func(name, value string) string { return answerWith(t, nil, map[string]string{name: value}) }
	for name, test := range map[string]struct{ text, want string }{
		"nothing":               {"", "not valid JSON"},
		"null":                  {"null", "no batchId"},
		"a list":                {"[]", "wrong type: the whole"},
		"cut":                   {many(1)[:100], "up to byte"},
		"text after it":         {many(1) + "{}", "not valid JSON"},
		"two answers":           {`{"batchId":"a","batchId":"b","matches":[]}`, "a key twice: /batchId"},
		"invalid UTF-8":         {`{"batchId":"` + "\xff" + `","matches":[]}`, "UTF-8"},
		"half a surrogate pair": {`{"batchId":"\ud800","matches":[]}`, "not valid JSON"},
		"no batch":              {`{"matches":[]}`, "no batchId"},
		"no matches":            {`{"batchId":"` + batchID + `"}`, "no matches"},
		"null for matches":      {`{"batchId":"` + batchID + `","matches":null}`, "no matches"},
		"details of an error":   {`{"batchId":"` + batchID + `","matches":[],"errorDetails":""}`, "errorDetails"},
		"another batch":         {`{"batchId":"` + batchID[1:] + `","matches":[]}`, "another batch"},
		"unknown key":           {`{"batchId":"` + batchID + `","matches":[],"entityId":1}`, "not known: /entityId"},
		"key in another case":   {`{"BatchId":"` + batchID + `","matches":[]}`, "not known: /BatchId"},
		"100,000 matches":       {many(100_000), "more than 10000 matches"},
		"one match too many":    {many(adapter.MaxMatches + 1), "more than 10000 matches"},
		"nested deeply": {`{"batchId":"` + batchID + `","matches":` + strings.Repeat("[", 100_000),
			"up to byte"},

		"unknown entity":        {match("entityId", `"entity-3"`), "no entity"},
		"no entity":             {match("entityId", ""), "no entity"},
		"no unique ID":          {match("entityUniqueId", ""), "entityUniqueId"},
		"unique ID too long":    {match("entityUniqueId", `"`+strings.Repeat("x", 256)+`"`), "entityUniqueId"},
		"unknown alias":         {match("entityAliasIds", `["alias-3"]`), "entityAliasIds"},
		"alias twice":           {match("entityAliasIds", `["alias-1","alias-1"]`), "entityAliasIds"},
		"resolution of its own": {match("status", `"No Match"`), "not known: /matches/0/status"},
		"no data":               {match("matchData", "null"), "providerId"},

		"another provider":         {data("providerId", `"other"`), "providerId"},
		"no provider":              {data("providerId", ""), "providerId"},
		"no source":                {data("providerSourceName", ""), "providerSourceName"},
		"unknown category":         {data("categories", `["Pep","pep"]`), "categories"},
		"unknown type":             {data("entityType", `"Ship"`), "entityType"},
		"unknown gender":           {data("gender", `"male"`), "gender"},
		"score too high":           {data("matchScore", "100.1"), "matchScore"},
		"score below 0":            {data("matchScore", "-0.1"), "matchScore"},
		"score as text":            {data("matchScore", `"91"`), "wrong type: /matches/0/matchData/matchScore"},
		"infinite score":           {data("matchScore", "1e999"), "matchScore"},
		"script for a URL":         {data("providerSourceUrl", `"javascript:alert(1)"`), "providerSourceUrl"},
		"relative URL":             {data("providerSourceUrls", `[{"url":"/x"}]`), "providerSourceUrls"},
		"match too large":          {data("name", `"`+strings.Repeat(`\u0041`, 50_000)+`"`), "bytes: /matches/0"},
		"data too large":           {data("name", `"`+strings.Repeat("x", 31<<10)+`"`), "bytes as JSON"},
		"rows in six levels":       {data("categoryDetails", nested(6)), "levels"},
		"rows in a thousand":       {data("categoryDetails", nested(1000)), "levels"},
		"number for a list":        {data("aliasesList", "1"), "wrong type"},
		"unknown key in the data":  {data("score", "1"), "not known"},
		"control bytes in its key": {data("a\u0007b", "1"), "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := adapter.ParseAnswer([]byte(test.text), adapter.Screen, adapter.Success)
			if err == nil {
				_, err = a.Check(batch)
			}
			var invalid *adapter.InvalidError
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && (len(err.Error()) > 400 || strings.ContainsRune(err.Error(), 7)) {
				t.Errorf("the message is not fit for people: %.500q", err)
			}
		})
	}
}

// Objects and texts of a few bytes are refused before they take many times as much memory.
func TestAnswersOfManySmallValues(t *testing.T) {
	const limit = 64 << 20
	objects := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", n), ",") + "]" }
	for name, text := range map[string]string{
		"matches":   `{"batchId":"` + batchID + `","matches":` + objects(900_000) + "}",
		"addresses": answerWith(t, nil, map[string]string{"addresses": objects(4_000_000)}),
		"texts": answerWith(t, nil, map[string]string{
			"aliasesList": "[" + strings.Repeat(`"",`, 4_000_000) + `""]`}),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := adapter.ParseAnswer([]byte(text), adapter.Screen, adapter.Success)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; err == nil || a.Matches != nil || got > limit {
				t.Errorf("got %v after %d bytes of memory, want a refusal after at most %d", err, got, limit)
			}
		})
	}
}

func TestLargestAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"most matches":        many(adapter.MaxMatches),
		"rows in five levels": answerWith(t, nil, map[string]string{"categoryDetails": nested(5)}),
		"longest unique ID": answerWith(t, map[string]string{"entityUniqueId": `"` + strings.Repeat("x", 255) + `"`},
			nil),
		"batch in upper case": strings.Replace(many(1), batchID, strings.ToUpper(batchID), 1),
	} {
		t.Run(name, func(t *testing.T) {
			a, err := adapter.ParseAnswer([]byte(text), adapter.Screen, adapter.Success)
			errtest.Fatal(t, err)
			if _, err := a.Check(batch); err != nil {
				t.Error(err)
			}
		})
	}
}

// Type and status determine the required and the forbidden members.
func TestAnswersByTypeAndStatus(t *testing.T) {
	const id, matches, details = `{"batchId":"b"`, `,"matches":[]`, `,"errorDetails":"no"`
	for _, test := range []struct {
		kind    adapter.Type
		status  string
		members string
		ok      bool
	}{
		{adapter.Screen, adapter.Success, matches, true},
		{adapter.Screen, adapter.Success, "", false},
		{adapter.Screen, adapter.Success, details, false},
		{adapter.Screen, adapter.Error, details, true},
		{adapter.Screen, adapter.Error, matches, false},
		{adapter.Screen, adapter.Error, "", false},
		{adapter.Screen, adapter.Error, matches + details, false},
		{adapter.ResolveMatches, adapter.Success, "", true},
		{adapter.ResolveMatches, adapter.Success, matches, false},
		{adapter.ResolveMatches, adapter.Error, details, true},
		{adapter.Test, adapter.Success, "", true},
		{adapter.Test, adapter.Success, matches, false},
		{adapter.Screen, adapter.Error, `,"errorDetails":"` + strings.Repeat("ж", 1000) + `"`, true},
		{adapter.Screen, adapter.Error, `,"errorDetails":"` + strings.Repeat("ж", 1001) + `"`, false},
	} {
		a, err := adapter.ParseAnswer([]byte(id+test.members+"}"), test.kind, test.status)
		if a.BatchID != "b" {
			t.Errorf("%s %s %.40s: got the batch %q, want b", test.kind, test.status, test.members, a.BatchID)
		}
		if (err == nil) != test.ok {
			t.Errorf("%s %s %.40s: got %v, want it to be accepted: %v", test.kind, test.status, test.members, err,
				test.ok)
		}
	}
}
