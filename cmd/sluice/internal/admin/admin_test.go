package admin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/access/auth"
	"sluice/shared/access/permission"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/entityid"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitytest"
)

func TestAdminTenants(t *testing.T) {
	f := newFakeInstallation(t)
	difftest.Len(t, "tenants", 0, runAdmin[[]tenantOutput](t, f, "tenant", "list"))
	created := runAdmin[tenantOutput](t, f, "tenant", "create")
	if created.BatchEnabled || uuid.Validate(created.TenantID) != nil || created.Scope != "tenant/"+created.TenantID ||
		time.Since(created.CreatedAt) > time.Minute {
		t.Errorf("created %+v, want a UUID, its scope, the current time and no batch feature", created)
	}
	stored, err := f.registry.Tenant(t.Context(), created.TenantID)
	if err != nil || stored.Settings != auth.DefaultSettings() {
		t.Errorf("stored %+v, %v; want the default settings", stored, err)
	}
	id := uuid.NewString()
	if got := runAdmin[tenantOutput](t, f, "tenant", "create", "--id", strings.ToUpper(id)); got.TenantID != id {
		t.Errorf("created tenant %s, want %s", got.TenantID, id)
	}
	for _, command := range []string{"enable-batch", "enable-batch", "disable-batch"} {
		got := runAdmin[tenantOutput](t, f, "tenant", command, id)
		if want := command == "enable-batch"; got.BatchEnabled != want || got.TenantID != id {
			t.Errorf("%s: %+v, want tenant %s with batch_enabled %v", command, got, id, want)
		}
	}
	difftest.Len(t, "tenants", 2, runAdmin[[]tenantOutput](t, f, "tenant", "list"))
	f.wantError(t, "exists", "tenant", "create", "--id", id)
	f.wantError(t, "not a UUID", "tenant", "create", "--id", "x")
	f.wantError(t, `no tenant "x"`, "tenant", "enable-batch", "x")
	f.wantError(t, "takes 1 argument (TENANT), not 0", "tenant", "disable-batch")
	f.wantError(t, "takes 1 argument (TENANT), not 2", "tenant", "enable-batch", id, id)
}

// Commands for a local cloud reach it whatever account or endpoint the user's AWS settings name.
func TestAdminOfALocalCloudIgnoresAWSSettings(t *testing.T) {
	f, _ := newInstallationWithStorage(t)
	for name, value := range map[string]string{
		"AWS_PROFILE": "a-profile-that-does-not-exist", "AWS_CONFIG_FILE": t.TempDir(), "AWS_REGION": "eu-west-3",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1",
		"AWS_ENDPOINT_URL_KMS": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_LAMBDA": "http://127.0.0.1:1",
		"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	created := runAdmin[tenantOutput](t, f, "tenant", "create")
	if stored, err := f.registry.Tenant(t.Context(), created.TenantID); err != nil || stored.BatchEnabled {
		t.Errorf("stored %+v, %v; want the tenant %s", stored, err, created.TenantID)
	}
	runAdmin[any](t, f, "key", "list")
	runAdmin[any](t, f, "watchlist", "list")
}

func TestAdminClients(t *testing.T) {
	f := newFakeInstallation(t)
	// the local cloud's own tenant is not in the registry
	f.wantError(t, "no tenant", "client", "create", "--permission", "all")
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create").TenantID
	all := runAdmin[clientOutput](t, f, "client", "create", "--tenant", tenant, "--permission", "all")
	f.wantError(t, "--permission is needed", "client", "create", "--tenant", tenant)
	if all.TenantID != tenant || all.Scope != "tenant/"+tenant || all.Disabled {
		t.Errorf("created %+v, want an enabled client of tenant %s", all, tenant)
	}
	if !slices.Equal(all.Permissions, permission.All()) {
		t.Errorf("permissions = %v, want all: %v", all.Permissions, permission.All())
	}
	stored, err := f.registry.Client(t.Context(), all.ClientID)
	if err != nil || !stored.Secret.Matches(all.ClientSecret) {
		t.Errorf("the printed secret is not the stored one: %v", err)
	}
	limited := runAdmin[clientOutput](t, f,
		"client", "create", "--permission", "BatchRead", "--tenant", tenant, "--permission", "BatchUpload")
	difftest.Equal(t, "permissions", []string{"BatchRead", "BatchUpload"}, limited.Permissions)
	if limited.ClientSecret == all.ClientSecret {
		t.Error("two clients have the same secret")
	}
	second := runAdmin[clientOutput](t, f, "client", "add-secret", limited.ClientID)
	stored, err = f.registry.Client(t.Context(), limited.ClientID)
	if err != nil || !stored.Accepts(second.ClientSecret) || !stored.Accepts(limited.ClientSecret) ||
		second.NextSecretAt == nil {
		t.Errorf("after add-secret %+v, %v; want both secrets to be valid", second, err)
	}
	f.wantError(t, "has two secrets: take the old one", "client", "add-secret", limited.ClientID)
	runAdmin[clientOutput](t, f, "client", "remove-secret", limited.ClientID)
	stored, err = f.registry.Client(t.Context(), limited.ClientID)
	if err != nil || !stored.Accepts(second.ClientSecret) || stored.Accepts(limited.ClientSecret) {
		t.Errorf("after remove-secret %+v, %v; want only the newer secret to be valid", stored, err)
	}
	f.wantError(t, "has only one secret", "client", "remove-secret", limited.ClientID, "--newer")
	f.wantError(t, `no client "x"`, "client", "add-secret", "x")
	f.wantError(t, `no client "x"`, "client", "remove-secret", "x")
	disabled := runAdmin[clientOutput](t, f, "client", "disable", limited.ClientID)
	if !disabled.Disabled || disabled.ClientSecret != "" {
		t.Errorf("disabled client = %+v, want it disabled and without its secret", disabled)
	}
	list := runAdmin[[]clientOutput](t, f, "client", "list")
	if len(list) != 2 {
		t.Fatalf("clients = %+v, want 2", list)
	}
	for _, c := range list {
		if want := c.ClientID == limited.ClientID; c.ClientSecret != "" || c.Disabled != want {
			t.Errorf("listed %+v, want no secret and disabled %v", c, want)
		}
	}
	f.wantError(t, "no permission \"Everything\"; there are ",
		"client", "create", "--tenant", tenant, "--permission", "Everything")
	f.wantError(t, "no tenant", "client", "create", "--tenant", uuid.NewString(), "--permission", "all")
	f.wantError(t, `no client "x"`, "client", "disable", "x")
	f.wantError(t, "takes 1 argument (CLIENT), not 0", "client", "disable")
}

func TestAdminEntities(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant).TenantID
	path := filepath.Join(t.TempDir(), "entities")
	writeFile := func(t *testing.T, text string) {
		t.Helper()
		errtest.Fatal(t, os.WriteFile(path, []byte(text), 0o600))
	}
	var file strings.Builder
	for i := range importWindow + 1 {
		fmt.Fprintf(&file, `{"id":"e%d","lifecycleStatus":"Compliant"}`+"\n", i)
	}
	writeFile(t, file.String()+"\n"+`{"id":"new","lifecycleStatus":"OnboardingInProgress"}`)
	for _, want := range []importOutput{
		{TenantID: tenant, Imported: importWindow + 2, Created: importWindow + 2},
		{TenantID: tenant, Imported: importWindow + 2, Unchanged: importWindow + 2}, // importing again changes nothing
	} {
		difftest.Equal(t, "imported", want, runAdmin[importOutput](t, f, "entities", "import", path))
	}
	ids := []string{"e0", fmt.Sprintf("e%d", importWindow), "new", "none"}
	statuses, err := f.entities.Lookup(t.Context(), tenant, ids)
	if err != nil || len(statuses) != 3 || statuses["e0"] != entity.Compliant ||
		statuses["new"] != entity.OnboardingInProgress {
		t.Errorf("stored statuses = %v, %v; want 3 of the 4 looked up", statuses, err)
	}

	for _, c := range []struct{ name, file, want string }{
		{"empty ID", `{"id":"x","lifecycleStatus":"Compliant"}` + "\n" + `{"id":"","lifecycleStatus":"Compliant"}`,
			"line 2"},
		{"unknown status", `{"id":"x","lifecycleStatus":"Happy"}`, `line 1: status "Happy" is not one of Unknown, `},
		{"unknown member", `{"id":"x","lifecycleStatus":"Compliant","name":"y"}`, `line 1: there is no field "name"`},
		{"not JSON", `x`, "line 1"},
		{"long ID", `{"id":"` + strings.Repeat("x", entityid.MaxBytes+1) + `","lifecycleStatus":"Compliant"}`,
			"line 1: id must have at most 255 bytes, not 256"},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFile(t, c.file)
			f.wantError(t, c.want, "entities", "import", path)
		})
	}
	writeFile(t, `{"id":"e0","status":"PendingOffboarding"}`+"\n"+
		`{"id":"e1","status":"Compliant","type":"Company","properties":{"name":{"type":"Single","value":"ACME"}}}`)
	want := importOutput{TenantID: tenant, Imported: 2, StatusChanged: 1, ProfileChanged: 1}
	difftest.Equal(t, "imported", want, runAdmin[importOutput](t, f, "entities", "import", path, "--verbose"))
	f.wantError(t, "no such file", "entities", "import", path+"x")
	f.wantError(t, "no tenant", "entities", "import", path, "--tenant", uuid.NewString())
	f.wantError(t, "takes 1 argument (FILE), not 0", "entities", "import")
}

// Entities of earlier releases come into the list; a second run changes nothing.
func TestAdminReindex(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant).TenantID
	statuses := entitytest.Statuses{}
	for i := range 30 {
		statuses[fmt.Sprint("e", i)] = entity.Compliant
	}
	entitytest.StoreStatuses(t, f.db, tenant, statuses)
	for _, listed := range []int{30, 0} {
		want := reindexOutput{TenantID: tenant, Reindexed: entity.Reindexed{Inspected: 30, Listed: listed}}
		difftest.Equal(t, "runAdmin", want, runAdmin[reindexOutput](t, f, "entities", "reindex"))
	}
	f.wantError(t, "no tenant", "entities", "reindex", "--tenant", uuid.NewString())
}

// Each rotation publishes one key more. The very first key signs at once.
func TestAdminKeyRotation(t *testing.T) {
	f := newFakeInstallation(t)
	first := runAdmin[[]keyOutput](t, f, "key", "rotate")
	if len(first) != 1 || first[0].ActiveFrom.After(time.Now()) || first[0].RetireAt != nil {
		t.Errorf("first rotation: %+v, want one key that is active and does not retire", first)
	}
	for _, seconds := range []string{"0", "-60", "86401"} {
		f.wantError(t, "--token-lifetime is 1 to 86400 seconds", "key", "rotate", "--token-lifetime", seconds)
	}
	second := runAdmin[[]keyOutput](t, f, "key", "rotate", "--token-lifetime", "60")
	if len(second) != 2 || second[0].KeyID != first[0].KeyID || second[1].RetireAt != nil {
		t.Fatalf("second rotation: %+v, want the first key and one that does not retire", second)
	}
	if wait := time.Until(second[1].ActiveFrom); wait < auth.KeySetLifetime-time.Minute || wait > auth.KeySetLifetime {
		t.Errorf("the second key is active in %v, want %v", wait, auth.KeySetLifetime)
	}
	if d := second[0].RetireAt.Sub(second[1].ActiveFrom); d < time.Minute {
		t.Errorf("the first key retires %v after the second is active, want at least the tokens' minute", d)
	}
	keys, _, err := f.registry.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].KMSKey == keys[1].KMSKey {
		t.Errorf("stored keys = %+v, %v; want 2 with KMS keys of their own", keys, err)
	}
}

// Keys of receipts are apart from those of tokens, and all of them remain.
func TestAdminReceiptKeys(t *testing.T) {
	f := newFakeInstallation(t)
	difftest.Len(t, "before the first", 0, runAdmin[[]keyOutput](t, f, "key", "list", "--receipts"))
	first := runAdmin[[]keyOutput](t, f, "key", "rotate", "--receipts")
	second := runAdmin[[]keyOutput](t, f, "key", "rotate", "--receipts")
	if len(first) != 1 || first[0].ActiveFrom.After(time.Now()) || len(second) != 2 || second[0] != first[0] ||
		second[1].KMSKey == first[0].KMSKey || second[1].RetireAt != nil {
		t.Fatalf("got %+v and %+v, want one key that is active, and another one beside it", first, second)
	}
	if wait := time.Until(second[1].ActiveFrom); wait < receipt.KeySetLifetime-time.Minute ||
		wait > receipt.KeySetLifetime {
		t.Errorf("the second key is active in %v, want %v", wait, receipt.KeySetLifetime)
	}
	if list := runAdmin[[]keyOutput](t, f, "key", "list", "--receipts"); len(list) != 2 || list[1] != second[1] {
		t.Errorf("the list is %+v, want %+v", list, second)
	}
	difftest.Len(t, "the keys of tokens", 0, runAdmin[[]keyOutput](t, f, "key", "list"))
	f.wantError(t, "there is no signing key", "key", "retire", first[0].KeyID)
}

// A key ends at once, but never the only one that signs.
func TestAdminKeyRetirement(t *testing.T) {
	f := newFakeInstallation(t)
	first := runAdmin[[]keyOutput](t, f, "key", "rotate")[0].KeyID
	f.wantError(t, "at which no key signs", "key", "retire", first)
	second := runAdmin[[]keyOutput](t, f, "key", "rotate")[1]
	f.wantError(t, "wait until the new key is active", "key", "retire", first)
	f.wantError(t, "sluice admin key rotate --data ", "key", "retire", first)
	f.wantError(t, "at which no key signs", "key", "retire", second.KeyID) // the first key ends by itself
	f.wantError(t, `there is no signing key "x"`, "key", "retire", "x")

	// As if five minutes had passed.
	keys, version, err := f.registry.Keys(t.Context())
	errtest.Fatal(t, err)
	keys[1].ActiveFrom = time.Now().Add(-time.Second)
	errtest.Fatal(t, f.registry.ReplaceKeys(t.Context(), keys, version))
	got := runAdmin[[]keyOutput](t, f, "key", "retire", first)
	if len(got) != 2 || got[0].RetireAt == nil || got[0].RetireAt.After(time.Now()) || got[1].RetireAt != nil {
		t.Errorf("got %+v, want the first key retired now and the second one not", got)
	}
	again := runAdmin[[]keyOutput](t, f, "key", "retire", first)
	if !again[0].RetireAt.Equal(*got[0].RetireAt) {
		t.Errorf("again: retired at %v, want %v as before", again[0].RetireAt, got[0].RetireAt)
	}
	if list := runAdmin[[]keyOutput](t, f, "key", "list"); len(list) != 2 || list[0].KeyID != first ||
		list[1].KeyID != second.KeyID {
		t.Errorf("list: got %+v, want both keys", list)
	}
	f.wantError(t, "at which no key signs", "key", "retire", second.KeyID)
}

func TestAdminUsage(t *testing.T) {
	f := newFakeInstallation(t)
	for _, args := range [][]string{{"admin"}, {"admin", "help"}, {"admin", "--help"}, {"help", "admin"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := commandtest.Run(t.Context(), []*cobra.Command{Command()}, args, &stdout, &stderr)
			if code != command.ExitOK || !strings.Contains(stdout.String(), "tenant create") || stderr.Len() > 0 {
				t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and the help",
					code, stdout.String(), stderr.String())
			}
		})
	}
	f.wantError(t, `there is no command "admin tenant destroy"`, "tenant", "destroy")
	f.wantError(t, "see 'sluice admin --help'", "tenant")
	f.wantError(t, "see 'sluice admin tenant list --help'", "tenant", "list", "--nothing")
	f.wantError(t, "takes no arguments, not 1", "tenant", "list", "x")
	f.data = filepath.Join(f.data, "none")
	f.wantError(t, "no local cloud runs on", "tenant", "list")
}

// A command line that is shown to operators names their installation and tenant.
func TestAdminCommandLines(t *testing.T) {
	a := &admin{data: "d", prefix: "p", tenant: "t"}
	a.given = a.givenFlags()
	difftest.Equal(t, "for operators", "sluice admin key rotate --data d --prefix p --tenant t",
		a.commandLine("key rotate"))
}
