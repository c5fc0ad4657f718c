package policyhttp_test

import (
	"encoding/json"
	"testing"
)

// All variants evaluate or refuse the same bodies.
func FuzzEvaluationRequest(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"journeyId":"` + journey + `","dataSources":{"currentUser":{"teamIds":["a"]},"x":[1e999]}}`,
		withOwners(2),
		`{"properties":{"singleProperties":{"a":{"value":"1"}},"customProperties":{"headOffice":{"singleProperties":{` +
			`"ownerName":{}}}}}}`,
		`{"properties":{"collectionProperties":{"owners":{"items":{"\ud800":{}}}}}}`,
		`{"evaluateJurisdictions":true,"jurisdictions":[]}`,
	} {
		f.Add(seed)
	}
	a := newEvaluationAPI(f, sample())
	f.Fuzz(func(t *testing.T, data string) {
		own, statuses := *a, map[string]int{}
		own.t = t
		for _, path := range []string{plain, normalized, readOnlyPath} {
			r := own.post(versionPath+path, data)
			statuses[path] = r.StatusCode
			if r.StatusCode != 200 && r.StatusCode != 400 || !json.Valid([]byte(r.Body)) {
				t.Errorf("%s: got %d %.500s, want 200 or 400", path, r.StatusCode, r.Body)
			}
		}
		if statuses[plain] != statuses[normalized] || statuses[readOnlyPath] < statuses[plain] {
			t.Errorf("the variants disagree: %v", statuses)
		}
	})
}
