package client_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/shared/kit/difftest"
)

const matchName = "POST /screeningquery/api/v4/match-name"

// A name is sent with what is known of who has it, and hits are returned with the name that matched.
func TestMatchName(t *testing.T) {
	const hit = `{"providerSourceName":"un","name":"Primary","externalIds":[{"value":"7"}],"matchScore":93.5,` +
		`"additionalInfo":[{"label":"Explanation","value":"why"},{"label":"Matched name","value":"Alias"}],"new":1.0}`
	const plain = `{"providerSourceName":"un","name":"Primary","externalIds":[],"additionalInfo":[]}`
	c, bodies := answering(t,
		answer{matchName, 200, `{"data":[` + hit + `,` + plain + `],"messages":[{"message":"One more."}]}`},
		answer{matchName, 200, `{"data":[],"messages":[]}`},
		answer{matchName, 400, `{"message":"No watchlist was imported."}`},
	)
	threshold := 0.0
	got, warnings, err := c.MatchName(t.Context(), client.NameQuery{Name: "Ivan", BirthDate: "17/03/1968",
		Country: "ru", Gender: "male", Lists: []string{"un"}, Threshold: &threshold})
	want := []client.NameHit{
		{List: "un", ID: "7", Name: "Alias", Score: 93.5, Explanation: "why", Reply: json.RawMessage(hit)},
		{List: "un", Name: "Primary", Reply: json.RawMessage(plain)},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || !cmp.Equal(warnings, []string{"One more."}) {
		t.Errorf("warnings %q, error %v (-want +got):\n%s", warnings, err, diff)
	}
	got, warnings, err = c.MatchName(t.Context(), client.NameQuery{Name: "Acme", IsCompany: true, Country: "lv"})
	if err != nil || len(got)+len(warnings) != 0 {
		t.Errorf("no hits: %v, %v, error %v; want nothing", got, warnings, err)
	}
	wantBodies := []string{
		`{"data":{"searchCriteria":{"type":"Individual","fullName":"Ivan","dateOfBirth":"17/03/1968","gender":"male",` +
			`"nationality":"ru"},"lists":["un"],"threshold":0}}`,
		`{"data":{"searchCriteria":{"type":"Company","legalEntityName":"Acme","registeredCountry":"lv"}}}`,
	}
	difftest.Equal(t, "requests", wantBodies, *bodies)
	var refused *client.Error
	if _, _, err = c.MatchName(t.Context(), client.NameQuery{Name: "Ivan"}); !errors.As(err, &refused) ||
		refused.Status != 400 {
		t.Errorf("without a list: error %v, want the 400", err)
	}
}
