package admin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// The lists are the ones of 'sluice admin', are recorded in the same way, and have no secrets.
func TestConsoleOperator(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create").TenantID
	created := runAdmin[clientOutput](t, f, "client", "create", "--tenant", tenant, "--permission", "all")
	stored := errtest.Must(f.registry.Client(t.Context(), created.ClientID))(t)
	hash := errtest.Must(json.Marshal(stored.Secret))(t)
	f.records = nil
	o := Operator{IsLocal: true, Data: f.data}
	for name, list := range map[string]struct {
		read func(context.Context) (any, error)
		want string
	}{
		"admin tenant list": {o.Tenants, tenant}, "admin client list": {o.Clients, created.ClientID},
		"admin key list": {o.Keys, "["},
	} {
		result := errtest.Must(list.read(t.Context()))(t)
		text, err := json.Marshal(result)
		if err != nil || !strings.Contains(string(text), list.want) {
			t.Errorf("%s: got %s (%v), want %s", name, text, err, list.want)
		}
		for _, secret := range []string{created.ClientSecret, strings.Trim(string(hash), `"{}`), "secret"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has a secret: %s", name, text)
			}
		}
		recorded := 0
		for _, r := range f.records {
			if r.Route == name && time.Since(r.Time) < time.Minute {
				recorded++
			}
		}
		difftest.Equal(t, "records of "+name, 2, recorded)
	}
}
