package screeninghttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/lookup"
	"sluice/shared/screening/match"
	"sluice/shared/screening/screeninghttp"
	"sluice/shared/screening/watchlist"
)

// nameAPI is the endpoint that screens a single name, over lists in memory.
type nameAPI struct {
	t        *testing.T
	settings screening.Settings
	builtIn  screening.Provider
	lists    *catalogtest.Memory
	// output is the log and the audit trail.
	output      bytes.Buffer
	permissions []string
}

func newNameAPI(t *testing.T) *nameAPI {
	return &nameAPI{t: t, builtIn: screening.BuiltInProvider(tenant), lists: catalogtest.NewMemory(),
		permissions: []string{permission.ScreeningAccess}}
}

func (a *nameAPI) GetSettings(context.Context, string) (screening.Settings, error) {
	return a.settings, nil
}

func (a *nameAPI) GetProvider(_ context.Context, _, id string) (screening.Provider, error) {
	if id != screening.BuiltIn {
		return screening.Provider{}, screening.ErrNotFound
	}
	return a.builtIn, nil
}

// match sends a request and returns the status, the hits and all messages.
func (a *nameAPI) match(data string) (int, []screening.MatchData, []platform.Message) {
	a.t.Helper()
	s := &screeninghttp.Names{Settings: a, Providers: a, Lists: a.lists.Loader(),
		Now: func() time.Time { return catalogtest.Now }}
	log := slog.New(slog.NewJSONHandler(&a.output, &slog.HandlerOptions{Level: slog.LevelDebug}))
	caller := httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(time.Hour), Permissions: a.permissions}
	call := httpapi.Lambda(platform.Handler(s.Routes(), nil, audit.New(&a.output, time.Now,
		func(context.Context) string { return "request" }), log, func() time.Time { return now }))
	r, err := call(a.t.Context(),
		httpapitest.NewPlatformRequest(a.t, caller, "POST", queries+"/match-name", `{"data":`+data+`}`))
	errtest.Fatal(a.t, err)
	var reply struct {
		Data     json.RawMessage
		Messages []platform.Message
	}
	if err := json.Unmarshal([]byte(r.Body), &reply); err != nil {
		a.t.Fatalf("%s: %v", r.Body, err)
	}
	if len(r.Body) > 5<<20 {
		a.t.Errorf("the reply has %d bytes", len(r.Body))
	}
	if r.StatusCode != 200 {
		return r.StatusCode, nil, append(reply.Messages, platform.Message{Message: string(reply.Data)})
	}
	hits := []screening.MatchData{}
	if err := json.Unmarshal(reply.Data, &hits); err != nil || string(reply.Data) == "null" {
		a.t.Fatalf("%.300s: %v", reply.Data, err)
	}
	return r.StatusCode, hits, reply.Messages
}

// found compares names and returns the lists and IDs of the entries that are found. The reply must have no messages.
func (a *nameAPI) found(data string) string {
	a.t.Helper()
	status, hits, messages := a.match(data)
	if status != 200 || len(messages) > 0 {
		a.t.Fatalf("%s: got %d %+v, want 200", data, status, messages)
	}
	var texts []string
	for _, h := range hits {
		texts = append(texts, h.ProviderSourceName+":"+h.ExternalIDs[0].Value)
	}
	return strings.Join(texts, " ")
}

func aPerson(name, rest string) string {
	return fmt.Sprintf(`{"searchCriteria":{"type":"Individual","fullName":%q}%s}`, name, rest)
}

func TestMatchName(t *testing.T) {
	t.Parallel()
	a := newNameAPI(t)
	if status, _, messages := a.match(aPerson("Ivan Petrov", "")); status != 400 ||
		messages[0].ErrorCode != "no_watch_lists" {
		t.Errorf("without lists: got %d %+v, want no_watch_lists", status, messages)
	}
	a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"), catalogtest.Person("2", "Jane Doe"))
	own := a.lists.Import(t, tenant, "own", catalogtest.Person("3", "Petrov Iwan"))
	a.lists.Import(t, "b3ac8f2e-7d41-4c55-9a6e-1f0e9d8c7b14", "other", catalogtest.Person("4", "Ivan Petrov"))
	for _, test := range []struct{ name, data, want string }{
		{"in all lists of the tenant", aPerson("Ivan Petrov", ""), "un:1 own:3"},
		{"in one list", aPerson("Ivan Petrov", `,"lists":["own"]`), "own:3"},
		{"in two, in their order", aPerson("Ivan Petrov", `,"lists":["own","un"],"threshold":80`), "un:1 own:3"},
		{"at the highest threshold", aPerson("Ivan Petrov", `,"threshold":100`), "un:1"},
		{"nothing", aPerson("Somebody Else", ""), ""},
		{"nothing to compare", aPerson("-", ""), ""},
		{"with facts", `{"searchCriteria":{"type":"Individual","firstName":"Ivan","lastName":"Petrov",` +
			`"dateOfBirth":"17/03/1968"}}`,
			"un:1 own:3"},
		{"a company", `{"searchCriteria":{"type":"Company","legalEntityName":"Jane Doe"},"threshold":100}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := a.found(test.data); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	_, hits, _ := a.match(aPerson("Ivan Petrov", `,"lists":["own"]`))
	info := map[string]string{}
	for _, i := range hits[0].AdditionalInfo {
		info[i.Label] = i.Value
	}
	if info["List version"] != own.Version || info["List age"] != "1 day" ||
		!strings.Contains(info["Explanation"], "Petrov") {
		t.Errorf("additionalInfo: got %v, want the list's version and age, and an explanation", info)
	}
	a.settings = screening.Settings{ActiveLists: []string{"own"}, Threshold: new(float64(100))}
	if got := a.found(aPerson("Petrov Iwan", "")); got != "own:3" {
		t.Errorf("by the tenant's configuration: got %q, want own:3", got)
	}
	a.builtIn.Sets[0].Settings = []screening.Setting{{FieldID: "lists", Value: "un"},
		{FieldID: "threshold", Value: "80"}}
	if got := a.found(aPerson("Petrov Ivan", "")); got != "un:1" {
		t.Errorf("by the default set: got %q, want un:1", got)
	}
}

// Every error of a request has a message, and no name gets into a log or the audit trail.
func TestMatchNameIsChecked(t *testing.T) {
	t.Parallel()
	a := newNameAPI(t)
	a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Secretov Name"))
	const name = "Secretov Name"
	lists := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("%q", fmt.Sprintf("l%d", i))
		}
		return `,"lists":[` + strings.Join(names, ",") + `]`
	}
	for _, test := range []struct{ name, data, want string }{
		{"no criteria", `{}`, "searchCriteria"},
		{"no name", `{"searchCriteria":{"type":"Individual","firstName":"Secretov"}}`, "firstName and lastName"},
		{"the longest name", aPerson(strings.Repeat("x", 255), ""), ""},
		{"a name that is too long", aPerson(strings.Repeat("Secretov", 32), ""), "255"},
		{"an unknown list", aPerson(name, `,"lists":["un","eu"]`), `There is no list \"eu\".`},
		{"the place of an unknown list", aPerson(name, `,"lists":["un","eu"]`), `lists.1`},
		{"too many lists", aPerson(name, lists(21)), "lists"},
		{"a list twice", aPerson(name, `,"lists":["eu","un","un"]`),
			`\"un\" twice: at lists.1 and lists.2.`},
		{"a list without a name", aPerson(name, `,"lists":[""]`), "lists.0"},
		{"the lowest threshold", aPerson(name, `,"threshold":0`), ""},
		{"below the lowest", aPerson(name, `,"threshold":-0.5`), "threshold"},
		{"above the highest", aPerson(name, `,"threshold":100.5`), "threshold"},
		{"no number", aPerson(name, `,"threshold":"Secretov"`), "threshold"},
		{"an unknown member", aPerson(name, `,"Secretov":1`), ""},
		{"an alias", `{"searchCriteria":{"type":"Individual","fullName":"Secretov","entityAliases":[]}}`,
			"entityAliases"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, _, messages := a.match(test.data)
			want := 400
			if test.want == "" && test.name != "an unknown member" {
				want = 200
			}
			if status != want || !strings.Contains(fmt.Sprint(messages), test.want) {
				t.Errorf("got %d %+v, want %d with %q", status, messages, want, test.want)
			}
		})
	}
	a.settings.ActiveLists = []string{"eu"}
	if status, _, messages := a.match(aPerson(name, "")); status != 400 ||
		!strings.Contains(fmt.Sprint(messages), "The configuration names it") {
		t.Errorf("an unknown list of the configuration: got %d %+v, want 400 about the configuration", status, messages)
	}
	a.settings.ActiveLists = nil
	a.permissions = []string{permission.ScreeningCreate, permission.ScreeningConfigurationAccess}
	if status, _, _ := a.match(aPerson(name, "")); status != 403 {
		t.Errorf("without ScreeningAccess: got %d, want 403", status)
	}
	if text := a.output.String(); strings.Contains(text, "Secretov") || !strings.Contains(text, "match-name") {
		t.Errorf("a name is recorded, or nothing is: %s", text)
	}
}

// More hits than a reply has are counted, and the best ones are returned.
func TestMatchNameHasManyHits(t *testing.T) {
	t.Parallel()
	for _, count := range []int{100, 101} {
		a := newNameAPI(t)
		var entries []watchlist.Entry
		for i := range count {
			entries = append(entries, catalogtest.Person(fmt.Sprint(i), "Ivan Petrov"))
		}
		a.lists.Import(t, catalog.Shared, "un", entries...)
		status, hits, messages := a.match(aPerson("Ivan Petrov", ""))
		if status != 200 || len(hits) != 100 || len(messages) != count-100 {
			t.Errorf("%d entries: got %d, %d hits, %+v", count, status, len(hits), messages)
		}
		if count > 100 && !strings.Contains(messages[0].Message, "100 of 101") {
			t.Errorf("got %q, want how many there are", messages[0].Message)
		}
	}
	a := newNameAPI(t)
	var large []watchlist.Entry
	for i := range 100 {
		e := catalogtest.Person(fmt.Sprint(i), "Ivan Petrov")
		for range 60 {
			e.Names = append(e.Names, watchlist.Name{Text: fmt.Sprintf("%d%s", len(e.Names), strings.Repeat(`"`, 250)),
				Kind: watchlist.Alias})
		}
		large = append(large, e)
	}
	a.lists.Import(t, catalog.Shared, "un", large...)
	status, hits, messages := a.match(aPerson("Ivan Petrov", ""))
	if status != 200 || len(hits) == 100 || len(hits) < 20 || len(messages) != 1 {
		t.Errorf("large hits: got %d, %d hits, %+v, want some and how many there are", status, len(hits), messages)
	}
}

// If the current version of a list cannot be loaded, the previous one is searched, and the reply has a warning.
func TestMatchNameWithBrokenLists(t *testing.T) {
	t.Parallel()
	a := newNameAPI(t)
	a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"))
	second := a.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"),
		catalogtest.Person("2", "A B"))
	a.lists.Damage(second.Indexes[match.FileFormat()].SHA256 + ".idx")
	status, hits, messages := a.match(aPerson("Ivan Petrov", ""))
	if status != 200 || len(hits) != 1 || len(messages) != 1 || messages[0].ErrorCode != "watch_list_outdated" {
		t.Errorf("got %d, %d hits, %+v, want one of the version before", status, len(hits), messages)
	}
	a.lists.DeleteObjects("")
	if status, _, messages = a.match(aPerson("Ivan Petrov", "")); status != 503 {
		t.Errorf("without any version: got %d %+v, want 503", status, messages)
	}
}

// The endpoint answers as the command does that reads the same lists: the same entries, scores and explanations.
func TestMatchNameAnswersAsTheCommand(t *testing.T) {
	t.Parallel()
	entries := []watchlist.Entry{catalogtest.Person("1", "Ivan Petrov", "Iwan Petroff"),
		catalogtest.Person("2", "Пётр Иванов"),
		{ID: "3", Schema: watchlist.Organisation, Names: []watchlist.Name{{Text: "Petrov Trading LLC"}}},
		{ID: "4", Schema: watchlist.Unknown, Names: []watchlist.Name{{Text: "Ivan Petrov"}}}}
	a := newNameAPI(t)
	v := a.lists.Import(t, catalog.Shared, "un", entries...)
	screener := match.NewScreener(match.Build(match.Source{Name: "un", Format: v.Format,
		List: &watchlist.List{SourceDate: v.SourceDate, Entries: entries}}))
	for _, c := range []screening.SearchCriteria{
		{Type: screening.Individual, FullName: "Petrov, Ivan"}, {Type: screening.Individual, FullName: "Petr Ivanov"},
		{Type: screening.Individual, FirstName: "I.", LastName: "Petrov", DateOfBirth: "01/02/1970", Nationality: "RU"},
		{Type: screening.Company, LegalEntityName: "PETROV TRADING"},
		{Type: screening.Company, LegalEntityName: "Ivan Petrov"},
	} {
		for _, threshold := range []float64{60, 80} {
			q := lookup.Facts(c)
			q.Name = c.Name()
			want, err := screener.Screen(q, threshold)
			errtest.Fatal(t, err)
			text, _ := json.Marshal(map[string]any{"searchCriteria": c, "threshold": threshold})
			_, hits, _ := a.match(string(text))
			got := []match.Hit{}
			for _, h := range hits {
				got = append(got, match.Hit{List: h.ProviderSourceName, ID: h.ExternalIDs[0].Value, Score: *h.Score,
					Explanation: h.AdditionalInfo[0].Value, Name: h.AdditionalInfo[1].Value})
			}
			if diff := cmp.Diff(append([]match.Hit{}, want...), got,
				cmpopts.IgnoreUnexported(match.Hit{}), cmpopts.IgnoreFields(match.Hit{}, "Entry")); diff != "" {
				t.Errorf("%+v at %v (-command +endpoint)\n%s", c, threshold, diff)
			}
		}
	}
}
