package screening

import (
	"io"
	"net/http"
	"testing"

	"github.com/spf13/cobra"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/shared/kit/difftest"
)

// The service is asked what the flags say, and its hits are printed as those of a list in a file.
func TestScreenByService(t *testing.T) {
	const hit = `{"providerSourceName":"un","name":"Ivan Testov","externalIds":[{"value":"7"}],"matchScore":93.5,` +
		`"additionalInfo":[{"label":"Explanation","value":"why"}]}`
	for _, c := range []struct {
		name, reply, request, printed string
		code                          int
		args                          []string
	}{
		{"person", `[` + hit + `]`, `{"searchCriteria":{"type":"Individual","fullName":"Ivan",` +
			`"dateOfBirth":"17/03/1968","gender":"male","nationality":"ru"},"lists":["un","own"],"threshold":80}`,
			"Ivan: 1 hit\n   93.5  Ivan Testov  un 7\n         why\n", 1,
			[]string{"Ivan", "--birth-date", "1968-03-17", "--gender", "male", "--country", "ru", "--list", "un",
				"--list", "own", "--threshold", "80"}},
		{"json", `[` + hit + `]`, `{"searchCriteria":{"type":"Individual","fullName":"Ivan"}}`,
			`{"name":"Ivan","hits":[{"list":"un","id":"7","name":"Ivan Testov","score":93.5,"explanation":"why"}]}` +
				"\n", 1, []string{"Ivan", "--json"}},
		{"company", `[]`, `{"searchCriteria":{"type":"Company","legalEntityName":"Acme Ltd"}}`,
			"Acme Ltd: no hit\n", 0, []string{"Acme Ltd", "--company"}},
		{"no name", `[]`, `{"searchCriteria":{"type":"Individual","fullName":"Dr."}}`,
			"Dr.: no hit: the name has no word that says who is meant\n", 0, []string{"Dr."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			var request string
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if commandtest.IsToken(r) {
					return false
				}
				body, _ := io.ReadAll(r.Body)
				request = r.Method + " " + r.URL.Path + " " + string(body)
				_, _ = io.WriteString(w, `{"data":`+c.reply+`,"messages":[]}`)
				return true
			}
			code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, []*cobra.Command{Command()}, s,
				append([]string{"screen", "--service"},
					c.args...)...)
			difftest.Equal(t, "exit code and stderr", []any{c.code, ""}, []any{code, stderr})
			difftest.Equal(t, "the result", c.printed, stdout)
			difftest.Equal(t, "request", `POST /screeningquery/api/v4/match-name {"data":`+c.request+`}`, request)
		})
	}
}
