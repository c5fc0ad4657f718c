package screeninghttp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

// Sets are made, changed and deleted, and always fit the schema, which changes only if all of them fit it.
func TestConfigurationSets(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	var created screeninghttp.CreatedProvider
	a.succeed("POST", providersPath, providerBody(nil), &created)
	set := func(settings string) string {
		return `{"data":{"providerId":"acme","name":"Deep","description":"d","additionalSettings":[` + settings + `]}}`
	}
	const deep = `{"fieldId":"fuzzy","value":"true"},{"fieldId":"depth","value":"3"}`
	var id screeninghttp.IDReply
	a.succeed("POST", setsPath, set(deep), &id)
	if got := a.getProvider("acme").ConfigurationSets; len(got) != 1 || got[0].ID != id.ID || got[0].Name != "Deep" {
		t.Errorf("got %+v, want the set", got)
	}
	for _, settings := range []string{`{"fieldId":"fuzzy","value":"true"}`, `{"fieldId":"other","value":"true"}`,
		`{"fieldId":"fuzzy","value":"yes"}`, `{"value":"yes"}`} {
		a.refuse(400, "invalid_request", "POST", setsPath, set(settings))
		a.refuse(400, "invalid_request", "PATCH", setsPath+"/"+id.ID, `{"data":{"additionalSettings":[`+settings+`]}}`)
	}
	a.refuse(400, "invalid_request", "POST", setsPath, strings.Replace(set(deep), "acme", "nobody", 1))
	a.succeed("PATCH", setsPath+"/"+strings.ToUpper(id.ID), `{"data":{"name":"Deeper"}}`, nil)
	a.succeed("PATCH", setsPath+"/"+created.DefaultConfigurationSetID, `{"data":{"description":"e"}}`, nil)
	p := a.getProvider("acme")
	if got := p.ConfigurationSets[0]; got.Name != "Deeper" || got.Description != "d" ||
		len(got.AdditionalSettings) != 2 {
		t.Errorf("changed set: got %+v", got)
	}
	if got := p.DefaultConfigurationSet; got.Description != "e" || got.Name != "Default" {
		t.Errorf("changed default set: got %+v", got)
	}

	schema := func(fields string) string { return `{"data":{"additionalSettingsSchema":[` + fields + `]}}` }
	const fuzzy, depth = `{"fieldId":"fuzzy","name":"F","type":"Toggle"}`,
		`{"fieldId":"depth","name":"D","type":"TextInput"}`
	a.refuse(400, "invalid_request", "PUT", providersPath+"/acme/settings-schema", schema(fuzzy))
	a.refuse(400, "invalid_request", "PUT", providersPath+"/acme/settings-schema",
		schema(fuzzy+`,{"fieldId":"depth","name":"D","type":"TextInput","mandatory":true}`))
	a.refuse(400, "invalid_request", "PUT", providersPath+"/acme/settings-schema", schema(fuzzy+`,`+fuzzy))
	a.refuse(404, "provider_not_found", "PUT", providersPath+"/nobody/settings-schema", schema(fuzzy))
	a.succeed("PUT", providersPath+"/acme/settings-schema", schema(fuzzy+`,`+depth), nil)
	if p = a.getProvider("acme"); p.AdditionalSettingsSchema[1].Mandatory ||
		p.AdapterConfiguration.EncryptionKey == nil {
		t.Errorf("after another schema: got %+v", p)
	}
	stored, err := a.configured.GetProvider(t.Context(), tenant, "acme")
	if err == nil {
		stored, err = a.configured.Reveal(t.Context(), stored)
	}
	if err != nil || stored.Adapter.EncryptionKey.Reveal() != keyOf(32) {
		t.Errorf("after another schema the key is another one: %v", err)
	}

	a.refuse(400, "default_configuration_set", "DELETE", setsPath+"/"+created.DefaultConfigurationSetID, "")
	a.succeed("DELETE", setsPath+"/"+id.ID, "", nil)
	for _, gone := range []string{id.ID, uuid.NewString(), "x"} {
		a.refuse(404, "configuration_set_not_found", "DELETE", setsPath+"/"+gone, "")
		a.refuse(404, "configuration_set_not_found", "PATCH", setsPath+"/"+gone, `{"data":{}}`)
	}
	a.succeed("PUT", providersPath+"/acme/settings-schema", schema(fuzzy), nil)
	for range screening.MaxSets - 1 {
		a.succeed("POST", setsPath, set(""), nil)
	}
	a.refuse(409, "CONFLICT", "POST", setsPath, set(""))
}

// The built-in provider is there without being configured. Its sets can be changed, the rest of it cannot.
func TestBuiltInProvider(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	p := a.getProvider("sluice")
	if !p.IsBuiltIn || p.AdapterConfiguration != nil || p.CreatedAt != nil || p.DefaultConfigurationSet.ID == "" {
		t.Errorf("got %+v", p)
	}
	a.refuse(400, "invalid_request", "POST", providersPath, providerBody(map[string]any{"id": "SLUICE"}))
	a.refuse(400, "provider_built_in", "PUT", providersPath+"/sluice", providerBody(map[string]any{"id": nil}))
	a.refuse(400, "provider_built_in", "PUT", providersPath+"/sluice/settings-schema",
		`{"data":{"additionalSettingsSchema":[]}}`)
	a.refuse(400, "provider_built_in", "DELETE", providersPath+"/sluice", "")
	const body = `{"data":{"providerId":"sluice","name":"Strict","description":"d",
		"additionalSettings":[{"fieldId":"threshold","value":%q},{"fieldId":"lists","value":"un"}]}}`
	a.refuse(400, "invalid_request", "POST", setsPath, fmt.Sprintf(body, "101"))
	a.succeed("POST", setsPath, fmt.Sprintf(body, "70"), nil)
	if p = a.getProvider("sluice"); len(p.ConfigurationSets) != 1 || len(p.AdditionalSettingsSchema) != 2 ||
		p.UpdatedBy == nil {
		t.Errorf("with a set: got %+v", p)
	}
	a.succeed("PATCH", setsPath+"/"+p.DefaultConfigurationSet.ID, `{"data":{"additionalSettings":[]}}`, nil)
}

// Each operation needs its own permission, and no tenant reaches the objects of another one.
func TestConfigurationPermissions(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	var created screeninghttp.CreatedProvider
	a.succeed("POST", providersPath, providerBody(nil), &created)
	set, all := setsPath+"/"+created.DefaultConfigurationSetID, a.caller.Permissions
	own := a.caller.Tenant
	for _, test := range []struct{ permission, method, path, body string }{
		{permission.ScreeningConfigurationCreate, "POST", commands + "/configuration", `{"data":{}}`},
		{permission.ScreeningConfigurationEdit, "PATCH", commands + "/configuration", `{"data":{}}`},
		{permission.ScreeningConfigurationAccess, "GET", queries + "/configuration", ""},
		{permission.ScreeningConfigurationCreate, "POST", providersPath, providerBody(nil)},
		{permission.ScreeningConfigurationEdit, "PUT", providersPath + "/acme", providerBody(nil)},
		{permission.ScreeningConfigurationDelete, "DELETE", providersPath + "/acme", ""},
		{permission.ScreeningConfigurationEdit, "PUT", providersPath + "/acme/settings-schema",
			`{"data":{"additionalSettingsSchema":[]}}`},
		{permission.ScreeningConfigurationAccess, "GET", queries + "/configuration/provider", ""},
		{permission.ScreeningConfigurationAccess, "GET", queries + "/configuration/provider/acme", ""},
		{permission.ScreeningConfigurationCreate, "POST", setsPath,
			`{"data":{"providerId":"acme","name":"n","description":"d"}}`},
		{permission.ScreeningConfigurationEdit, "PATCH", set, `{"data":{}}`},
		{permission.ScreeningConfigurationDelete, "DELETE", set, ""},
	} {
		a.caller.Tenant, a.caller.Permissions = own, nil
		for _, p := range all {
			if p != test.permission {
				a.caller.Permissions = append(a.caller.Permissions, p)
			}
		}
		if status, _, message := a.send(test.method, test.path, test.body); status != 403 {
			t.Errorf("%s %s without %s: got %d %s, want 403", test.method, test.path, test.permission, status,
				message.Message)
		}
		if strings.Contains(test.path, "acme") || test.path == set {
			a.caller.Tenant, a.caller.Permissions = uuid.NewString(), all
			if status, _, message := a.send(test.method, test.path, test.body); status != 404 {
				t.Errorf("%s %s of another tenant: got %d %s, want 404", test.method, test.path, status,
					message.Message)
			}
		}
	}
}

// A batch is searched by the providers that it names, with sets of theirs, otherwise by the active ones.
func TestBatchesChooseProviders(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.lists.Import(t, tenant, "own", listed)
	var created screeninghttp.CreatedProvider
	a.succeed("POST", providersPath, providerBody(nil), &created)
	a.succeed("POST", providersPath, providerBody(map[string]any{"id": "mute", "adapterConfiguration": nil}), nil)
	builtIn := a.getProvider("sluice").DefaultConfigurationSet.ID
	create := func(providers string) (batch screeninghttp.Created, status int, message string) {
		code, data, m := a.send("POST", commands+"/batch", `{"data":{"entities":[{"searchCriteria":`+
			`{"type":"Individual","fullName":"Ivan Petrov"}}],"providers":[`+providers+`]}}`)
		if code == 202 {
			errtest.Fatal(t, json.Unmarshal(data, &batch))
		}
		return batch, code, m.Message
	}
	for _, test := range []struct{ name, providers, want, refusal string }{
		{"none", ``, "sluice: Search In Progress;", ""},
		{"a foreign one", `{"providerId":"acme"}`, "acme: Search In Progress;", ""},
		{"both", `{"providerId":"sluice"},{"providerId":"acme","configurationSetId":"` +
			created.DefaultConfigurationSetID + `"}`,
			"acme: Search In Progress;sluice: Search In Progress;", ""},
		{"the default set, by its ID", `{"providerId":"sluice","configurationSetId":"` + strings.ToUpper(builtIn) +
			`"}`,
			"sluice: Search In Progress;", ""},
		{"an unknown one", `{"providerId":"sluice"},{"providerId":"nobody"}`, "", "providers.1.providerId: "},
		{"another one's set", `{"providerId":"acme","configurationSetId":"` + builtIn + `"}`, "",
			"providers.0.configurationSetId: "},
		{"one without an adapter", `{"providerId":"mute"}`, "", "providers.0.providerId: "},
		{"one twice", `{"providerId":"sluice"},{"providerId":"sluice"}`, "",
			`"sluice" twice: at providers.0.providerId and providers.1.providerId.`},
	} {
		t.Run(test.name, func(t *testing.T) {
			batch, status, message := create(test.providers)
			if test.refusal != "" {
				if status != 400 || !strings.Contains(message, test.refusal) {
					t.Errorf("got %d %q, want 400 with %q", status, message, test.refusal)
				}
				return
			}
			if status != 202 {
				t.Fatalf("got %d %q, want 202", status, message)
			}
			a.expectProviders(batch.BatchID, test.want)
			// The batch says with which set each provider was asked, also if it was the default set.
			stored, err := a.store.Get(t.Context(), tenant, batch.BatchID)
			errtest.Fatal(t, err)
			sets := map[string]string{"sluice": builtIn, "acme": created.DefaultConfigurationSetID}
			for _, p := range stored.Providers {
				if p.ConfigurationSetID != sets[p.ID] {
					t.Errorf("%s is asked with the set %q, want %q", p.ID, p.ConfigurationSetID, sets[p.ID])
				}
			}
		})
	}

	const configuration = commands + "/configuration"
	a.refuse(400, "invalid_request", "PATCH", configuration, `{"data":{"activeProviders":["sluice","nobody"]}}`)
	a.refuse(400, "invalid_request", "PATCH", configuration, `{"data":{"activeProviders":["mute"]}}`)
	var settings screeninghttp.SettingsReply
	a.succeed("PATCH", configuration, `{"data":{"activeProviders":["acme"],"activeLists":["own"],"threshold":90}}`,
		&settings)
	want := screeninghttp.SettingsReply{ValidityDays: map[string]int{}, ActiveProviders: []string{"acme"},
		ActiveLists: []string{"own"}, Threshold: 90}
	difftest.Equal(t, "configuration", want, settings)
	batch, _, _ := create("")
	a.expectProviders(batch.BatchID, "acme: Search In Progress;")
	a.refuse(409, "CONFLICT", "DELETE", providersPath+"/acme", "")

	// Settings of earlier versions of the service may make a provider active that was deleted.
	stored, err := a.configured.GetProvider(t.Context(), tenant, "acme")
	if err == nil {
		err = a.configured.DeleteProvider(t.Context(), stored, screening.Settings{Version: 1})
	}
	errtest.Fatal(t, err)
	if _, status, message := create(""); status != 400 {
		t.Errorf("with an active provider that was deleted: got %d %s, want 400", status, message)
	}
	a.succeed("PATCH", configuration, `{"data":{"activeProviders":[]}}`, nil)
	settings = screeninghttp.SettingsReply{}
	a.succeed("GET", queries+"/configuration", "", &settings)
	if want.ActiveProviders = []string{"sluice"}; !cmp.Equal(want, settings) {
		t.Errorf("merged: got %+v, want %+v", settings, want)
	}
	settings = screeninghttp.SettingsReply{}
	a.succeed("POST", configuration, `{"data":{}}`, &settings)
	if settings.Threshold != 80 || len(settings.ActiveLists) != 0 {
		t.Errorf("replaced: got %+v, want the defaults", settings)
	}
	for _, bad := range []string{`"threshold":-0.1`, `"threshold":100.1`, `"activeLists":["a","a"]`,
		`"activeLists":[""]`,
		`"activeProviders":["sluice","sluice"]`, `"activeLists":["` + strings.Repeat("x", 101) + `"]`, `"other":1`} {
		a.refuse(400, "invalid_request", "PATCH", configuration, `{"data":{`+bad+`}}`)
	}
	a.succeed("PATCH", configuration, `{"data":{"threshold":0,"activeLists":["`+strings.Repeat("x", 100)+`"]}}`, nil)
	a.succeed("PATCH", configuration, `{"data":{"threshold":100}}`, nil)
}
