package screeninghttp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

// openBox puts the tenant and the purpose before the plaintext.
type openBox struct{}

func (openBox) Seal(_ context.Context, tenant, purpose string, plaintext []byte) ([]byte, error) {
	return []byte(tenant + " " + purpose + " " + string(plaintext)), nil
}

func (openBox) Open(_ context.Context, tenant, purpose string, text []byte) ([]byte, error) {
	plaintext, ok := strings.CutPrefix(string(text), tenant+" "+purpose+" ")
	if !ok {
		return nil, errors.New("another tenant's or purpose's")
	}
	return []byte(plaintext), nil
}

const (
	providersPath = commands + "/configuration/provider"
	setsPath      = commands + "/configuration/configuration-set"
)

func otherKeyOf(size int) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("o", size)))
}

func keyOf(size int) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", size)))
}

// providerBody is the data of a provider with everything, in an envelope.
func providerBody(changes map[string]any) string {
	data := map[string]any{
		"id": "acme", "name": "Acme", "validityDays": 365,
		"adapterConfiguration": map[string]any{"url": "https://adapter.example.com/a", "authenticationActive": true,
			"authenticationKey": keyOf(64), "encryptionKey": keyOf(32)},
		"additionalSettingsSchema": []any{
			map[string]any{"fieldId": "fuzzy", "name": "Fuzzy", "type": "Toggle"},
			map[string]any{"fieldId": "depth", "name": "Depth", "type": "TextInput", "enabledBy": "fuzzy",
				"mandatory": true},
		},
		"defaultConfigurationSet": map[string]any{"name": "Default", "description": "The default set",
			"additionalSettings": []any{map[string]any{"fieldId": "fuzzy", "value": "false"}}},
	}
	// A change names the place of a value, with dots.
	for path, value := range changes {
		steps := strings.Split(path, ".")
		at := data
		for _, step := range steps[:len(steps)-1] {
			at = at[step].(map[string]any)
		}
		if at[steps[len(steps)-1]] = value; value == nil {
			delete(at, steps[len(steps)-1])
		}
	}
	text, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func newConfigurationAPI(t *testing.T) *api {
	t.Helper()
	a := newAPI(t)
	a.caller.Permissions = append(a.caller.Permissions, permission.ScreeningConfigurationCreate,
		permission.ScreeningConfigurationEdit, permission.ScreeningConfigurationAccess,
		permission.ScreeningConfigurationDelete)
	return a
}

func (a *api) getProvider(id string) (p screeninghttp.ConfiguredProvider) {
	a.t.Helper()
	a.succeed("GET", queries+"/configuration/provider/"+id, "", &p)
	return p
}

// A provider is configured, read with masks, changed with masks, given sets and deleted.
func TestLifeOfAProvider(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	var created screeninghttp.CreatedProvider
	a.succeed("POST", providersPath, providerBody(nil), &created)
	got := a.getProvider("acme")
	mask := "********"
	want := screeninghttp.ConfiguredProvider{
		ID: "acme", Name: "Acme", ValidityDays: new(365),
		AdapterConfiguration: &screeninghttp.AdapterReply{URL: "https://adapter.example.com/a",
			AuthenticationActive: true, AuthenticationKey: &mask, EncryptionKey: &mask},
		AdditionalSettingsSchema: []screeninghttp.FieldReply{{FieldID: "fuzzy", Name: "Fuzzy", Type: screening.Toggle},
			{FieldID: "depth", Name: "Depth", Type: screening.TextInput, EnabledBy: new("fuzzy"), Mandatory: true}},
		DefaultConfigurationSet: screeninghttp.SetReply{ID: created.DefaultConfigurationSetID, Name: "Default",
			Description: "The default set", AdditionalSettings: []screening.Setting{{FieldID: "fuzzy",
				Value: "false"}}},
		ConfigurationSets: []screeninghttp.SetReply{},
		CreatedAt:         got.CreatedAt, UpdatedAt: got.CreatedAt, UpdatedBy: new("c"),
	}
	if diff := cmp.Diff(want, got); diff != "" || created.ID != "acme" || got.CreatedAt == nil {
		t.Errorf("created %+v (-want +got)\n%s", created, diff)
	}
	a.refuse(409, "CONFLICT", "POST", providersPath, providerBody(nil))

	// A reply can be changed and sent back.
	a.succeed("PUT", providersPath+"/acme", providerBody(map[string]any{"name": "Acme 2", "id": nil,
		"validityDays":                           nil,
		"adapterConfiguration.authenticationKey": mask, "adapterConfiguration.encryptionKey": mask}), nil)
	if got = a.getProvider("acme"); got.Name != "Acme 2" || got.ValidityDays != nil ||
		got.DefaultConfigurationSet.ID != created.DefaultConfigurationSetID {
		t.Errorf("replaced: got %+v", got)
	}
	stored, err := a.configured.GetProvider(t.Context(), tenant, "acme")
	if err == nil {
		stored, err = a.configured.Reveal(t.Context(), stored)
	}
	if err != nil || stored.Adapter.EncryptionKey.Reveal() != keyOf(32) ||
		stored.Adapter.AuthenticationKey.Reveal() != keyOf(64) {
		t.Errorf("masked keys are not the stored ones: %v", err)
	}
	a.refuse(400, "invalid_request", "PUT", providersPath+"/acme", providerBody(map[string]any{
		"adapterConfiguration.authenticationKey": mask, "adapterConfiguration.url": "https://elsewhere.example.com"}))
	a.refuse(400, "invalid_request", "PUT", providersPath+"/acme", providerBody(map[string]any{"id": "other"}))
	a.refuse(404, "provider_not_found", "PUT", providersPath+"/other", providerBody(nil))

	var all []screeninghttp.ConfiguredProvider
	a.succeed("GET", queries+"/configuration/provider", "", &all)
	if len(all) != 2 || !all[0].IsBuiltIn || all[0].ID != "sluice" || all[1].ID != "acme" {
		t.Errorf("list: got %+v, want the built-in provider and acme", all)
	}
	a.succeed("DELETE", providersPath+"/acme", "", nil)
	a.refuse(404, "provider_not_found", "DELETE", providersPath+"/acme", "")
	a.refuse(404, "provider_not_found", "GET", queries+"/configuration/provider/acme", "")
	a.refuse(404, "provider_not_found", "GET", queries+"/configuration/provider/"+strings.Repeat("x", 101), "")
}

// Every value of a provider is checked, at its bounds, and no message or log shows a key.
func TestProvidersAreChecked(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	const adapter, set = "adapterConfiguration.", "defaultConfigurationSet."
	long := func(n int) string { return strings.Repeat("x", n) }
	schema := func(fields ...map[string]any) map[string]any {
		return map[string]any{"additionalSettingsSchema": fields}
	}
	one := func(key string, value any) map[string]any { return map[string]any{key: value} }
	fields := func(n int) (all []map[string]any) {
		for i := range n {
			all = append(all, map[string]any{"fieldId": fmt.Sprint(i), "name": "n", "type": "Toggle"})
		}
		return append(all, map[string]any{"fieldId": "fuzzy", "name": "n", "type": "Toggle"})
	}
	for name, test := range map[string]struct {
		changes map[string]any
		// want is a part of the message; "" if the provider is accepted.
		want string
	}{
		"everything": {nil, ""},
		"the least": {map[string]any{"adapterConfiguration": nil, "additionalSettingsSchema": nil, "validityDays": nil,
			set + "additionalSettings": nil}, ""},
		"no id":                           {one("id", nil), "id: "},
		"the longest id":                  {one("id", long(100)), ""},
		"an id that is too long":          {one("id", long(101)), "id: "},
		"an id with a slash":              {one("id", "a/b"), "id: "},
		"an id of dots":                   {one("id", ".."), "id: "},
		"an id with a line feed":          {one("id", "a\n"), "id: "},
		"the ID of the built-in provider": {one("id", "Sluice"), "built-in"},
		"no name":                         {one("name", nil), "name: "},
		"the longest name":                {one("name", long(255)), ""},
		"a name that is too long":         {one("name", long(256)), "name: "},
		"an unknown member":               {one("other", 1), "other"},
		"no URL":                          {one(adapter+"url", nil), "adapterConfiguration.url: "},
		"a plain URL": {one(adapter+"url", "http://adapter.example.com"),
			"adapterConfiguration.url: "},
		"a URL with a user": {one(adapter+"url", "https://u:p@adapter.example.com"),
			"adapterConfiguration.url: "},
		"a URL with a query": {one(adapter+"url", "https://adapter.example.com/?a=b"),
			"adapterConfiguration.url: "},
		"a URL of an odd host": {one(adapter+"url", "https://0x7f000001"), "adapterConfiguration.url: "},
		"the longest URL":      {one(adapter+"url", "https://a.example.com/"+long(2048-22)), ""},
		"a URL that is too long": {one(adapter+"url", "https://a.example.com/"+long(2049-22)),
			"adapterConfiguration.url: "},
		"no authentication key": {one(adapter+"authenticationKey", nil),
			"adapterConfiguration.authenticationKey: "},
		"a key of 31 bytes": {one(adapter+"authenticationKey", otherKeyOf(31)),
			"adapterConfiguration.authenticationKey: "},
		"a key of 32 bytes":  {one(adapter+"authenticationKey", otherKeyOf(32)), ""},
		"a key of 33 bytes":  {one(adapter+"authenticationKey", otherKeyOf(33)), ""},
		"a key of 128 bytes": {one(adapter+"authenticationKey", otherKeyOf(128)), ""},
		"a key of 129 bytes": {one(adapter+"authenticationKey", otherKeyOf(129)),
			"adapterConfiguration.authenticationKey: "},
		"no encryption key": {one(adapter+"encryptionKey", nil),
			"adapterConfiguration.encryptionKey: "},
		"the same key twice": {one(adapter+"authenticationKey", keyOf(32)),
			"adapterConfiguration.encryptionKey: "},
		"no security": {map[string]any{adapter + "authenticationActive": false,
			adapter + "encryptionKey": nil}, ""},
		"an encryption key of 31 bytes": {one(adapter+"encryptionKey", keyOf(31)),
			"adapterConfiguration.encryptionKey: "},
		"an encryption key of 33 bytes": {one(adapter+"encryptionKey", keyOf(33)),
			"adapterConfiguration.encryptionKey: "},
		"an encryption key in hexadecimal": {one(adapter+"encryptionKey", long(64)),
			"adapterConfiguration.encryptionKey: "},
		"an encryption key in two lines": {one(adapter+"encryptionKey", keyOf(32)[:22]+"\n"+keyOf(32)[22:]),
			"adapterConfiguration.encryptionKey: "},
		"an encryption key, unpadded": {one(adapter+"encryptionKey", strings.TrimRight(keyOf(32), "=")),
			"adapterConfiguration.encryptionKey: "},
		"encryption without authentication": {one(adapter+"authenticationActive", false),
			"adapterConfiguration.encryptionKey: "},
		"a masked key of a new provider": {one(adapter+"encryptionKey", "********"),
			"adapterConfiguration.encryptionKey: "},
		"no validity":               {one("validityDays", 0), "validityDays: "},
		"the shortest validity":     {one("validityDays", 1), ""},
		"the longest validity":      {one("validityDays", 36_500), ""},
		"too long a validity":       {one("validityDays", 36_501), "validityDays: "},
		"no default set":            {one("defaultConfigurationSet", nil), "defaultConfigurationSet: "},
		"no name of the set":        {one(set+"name", nil), "defaultConfigurationSet.name: "},
		"no description of the set": {one(set+"description", nil), "defaultConfigurationSet.description: "},
		"the longest description":   {one(set+"description", long(1000)), ""},
		"a description that is too long": {one(set+"description", long(1001)),
			"defaultConfigurationSet.description: "},
		"no fieldId": {schema(one("name", "n")), "additionalSettingsSchema.0.fieldId: "},
		"no name of a field": {schema(map[string]any{"fieldId": "a", "type": "Toggle"}),
			"additionalSettingsSchema.0.name: "},
		"an unknown type": {schema(map[string]any{"fieldId": "a", "name": "a", "type": "toggle"}),
			"additionalSettingsSchema.0.type: "},
		"a circle": {schema(map[string]any{"fieldId": "a", "name": "a", "type": "Toggle", "enabledBy": "a"}),
			"additionalSettingsSchema.0.enabledBy: "},
		"the largest schema": {schema(fields(49)...), ""},
		"a schema too large": {schema(fields(50)...), "additionalSettingsSchema: "},
		"an unknown setting": {one(set+"additionalSettings", []any{one("fieldId", "x")}),
			"defaultConfigurationSet.additionalSettings.0.fieldId: "},
		"a value of another type": {one(set+"additionalSettings",
			[]any{map[string]any{"fieldId": "fuzzy", "value": "1"}}),
			"defaultConfigurationSet.additionalSettings.0.value: "},
		"a mandatory setting is missing": {one(set+"additionalSettings",
			[]any{map[string]any{"fieldId": "fuzzy", "value": "true"}}),
			"defaultConfigurationSet.additionalSettings: "},
	} {
		t.Run(name, func(t *testing.T) {
			changes := map[string]any{"id": "p-" + uuid.NewString()}
			for k, v := range test.changes {
				changes[k] = v
			}
			status, data, message := a.send("POST", providersPath, providerBody(changes))
			if test.want == "" {
				var created screeninghttp.CreatedProvider
				if err := json.Unmarshal(data, &created); err != nil || status != 202 {
					t.Fatalf("got %d %s, want 202", status, message.Message)
				}
				a.succeed("DELETE", providersPath+"/"+created.ID, "", nil)
				return
			}
			if status != 400 || !strings.Contains(message.Message, test.want) {
				t.Errorf("got %d %q, want 400 with %q", status, message.Message, test.want)
			}
			if strings.Contains(message.Message, "a2tr") || strings.Contains(message.Message, "b29v") {
				t.Errorf("the message shows a key: %s", message.Message)
			}
		})
	}
	if strings.Contains(a.log.String(), "a2tr") || strings.Contains(a.log.String(), "b29v") {
		t.Errorf("the log shows a key: %s", a.log)
	}
}

// A search expires by the validity of its provider, unless the tenant has set another one.
func TestValidityOfProviders(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.succeed("POST", providersPath, providerBody(map[string]any{"validityDays": 2}), nil)
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Closed, JourneyID: "j", ProcessID: "p",
		EntityIDs: []string{"e"}, CreatedAt: now, ClosedAt: now.AddDate(0, 0, -1), Version: 1,
		Providers: []screening.ProviderRun{{ID: "acme", Status: screening.SearchComplete}}}
	errtest.Fatal(t, errtest.Of(a.store.Create(t.Context(), b, []screening.Entity{{ID: "e", Version: 1}})))
	expect := func(want screening.ExpiryStatus) {
		t.Helper()
		var got []screeninghttp.ExpiryReply
		a.succeed("POST", queries+"/batch/journey/j/expiry", `{"data":{"processIds":["p"]}}`, &got)
		if len(got) != 1 || got[0].ExpiryStatus != want || got[0].Providers[0].ExpiryStatus != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	expect(screening.Valid)
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"acme":1}}}`, nil)
	expect(screening.Expired)
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"acme":null}}}`, nil)
	expect(screening.Valid)
	a.succeed("PUT", providersPath+"/acme", providerBody(map[string]any{"validityDays": nil}), nil)
	expect(screening.NotExpiring)
}

// Changes of a provider at the same time are all made, and a set never outlives the schema that it fits.
func TestChangesOfAProviderMeet(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.succeed("POST", providersPath, providerBody(nil), nil)
	const set = `{"data":{"providerId":"acme","name":"%s","description":"d"%s}}`
	a.providerHook.beforeSave = func() { a.succeed("POST", setsPath, fmt.Sprintf(set, "second", ""), nil) }
	a.succeed("POST", setsPath, fmt.Sprintf(set, "first", ""), nil)
	p := a.getProvider("acme")
	if len(p.ConfigurationSets) != 2 || p.ConfigurationSets[0].Name != "second" ||
		p.ConfigurationSets[1].Name != "first" {
		t.Errorf("got the sets %+v, want both", p.ConfigurationSets)
	}
	a.providerHook.beforeSave = func() {
		a.succeed("PATCH", setsPath+"/"+p.DefaultConfigurationSet.ID, `{"data":{"additionalSettings":[]}}`, nil)
		a.succeed("PUT", providersPath+"/acme/settings-schema", `{"data":{"additionalSettingsSchema":[]}}`, nil)
	}
	message := a.refuse(400, "invalid_request", "POST", setsPath,
		fmt.Sprintf(set, "third", `,"additionalSettings":[{"fieldId":"fuzzy","value":"false"}]`))
	if !strings.Contains(message, "fuzzy") {
		t.Errorf("got %q, want the setting that is not there any more", message)
	}
}
