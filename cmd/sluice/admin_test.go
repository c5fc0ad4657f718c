package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/internal/localcloud"
	"sluice/shared/auth"
	"sluice/shared/auth/authdb"
	"sluice/shared/auth/fakekms"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
)

// office is a data folder whose local cloud has a DynamoDB server and a KMS, and nothing else.
type office struct {
	data     string
	tenant   string // the local cloud's, which is not in the registry
	registry *authdb.Registry
	entities *entitydb.Statuses
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := dynamotest.Start(t)
	server, err := url.Parse(*db.Options().BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := fakekms.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tables := httputil.NewSingleHostReverseProxy(server)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "TrentService.") {
			keys.ServeHTTP(w, r)
			return
		}
		tables.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	o := &office{t.TempDir(), uuid.NewString(), authdb.New(db, "test-clients"), entitydb.NewStatuses(db, "test-entities")}
	text, err := json.Marshal(localcloud.Descriptor{AWSEndpointURL: front.URL, Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "secret", Prefix: "test", TenantID: o.tenant})
	if err == nil {
		err = os.WriteFile(filepath.Join(o.data, "local.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// adminDo runs a command that must succeed and decodes what it prints.
func adminDo[T any](t *testing.T, o *office, args ...string) T {
	t.Helper()
	var out T
	var stdout, stderr bytes.Buffer
	if code := runAdmin(t.Context(), append(args, "--data", o.data), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("%v: %d %s", args, code, stderr.String())
	}
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// fails runs a command that must fail with one line.
func (o *office) fails(t *testing.T, says string, args ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := runAdmin(t.Context(), append(args, "--data", o.data), &stdout, &stderr)
	if code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), says) || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("%v: %d %q %q, want %q", args, code, stdout.String(), stderr.String(), says)
	}
}

func TestAdminTenants(t *testing.T) {
	o := newOffice(t)
	if list := adminDo[[]tenantOut](t, o, "tenant", "list"); len(list) != 0 {
		t.Errorf("%v", list)
	}
	made := adminDo[tenantOut](t, o, "tenant", "create")
	if made.BatchEnabled || uuid.Validate(made.TenantID) != nil || made.Scope != "tenant/"+made.TenantID || time.Since(made.CreatedAt) > time.Minute {
		t.Errorf("%+v", made)
	}
	stored, err := o.registry.Tenant(t.Context(), made.TenantID)
	if err != nil || stored.Settings != auth.DefaultSettings() {
		t.Errorf("%+v %v", stored, err)
	}
	named := uuid.NewString()
	if got := adminDo[tenantOut](t, o, "tenant", "create", "--id", strings.ToUpper(named)); got.TenantID != named {
		t.Errorf("%+v", got)
	}
	for _, command := range []string{"enable-batch", "enable-batch", "disable-batch"} {
		if got := adminDo[tenantOut](t, o, "tenant", command, named); got.BatchEnabled != (command == "enable-batch") || got.TenantID != named {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if list := adminDo[[]tenantOut](t, o, "tenant", "list"); len(list) != 2 {
		t.Errorf("%v", list)
	}
	o.fails(t, "exists", "tenant", "create", "--id", named)
	o.fails(t, "no UUID", "tenant", "create", "--id", "x")
	o.fails(t, `no tenant "x"`, "tenant", "enable-batch", "x")
	o.fails(t, "exactly one tenant id", "tenant", "disable-batch")
	o.fails(t, "exactly one tenant id", "tenant", "enable-batch", named, named)
}

func TestAdminClients(t *testing.T) {
	o := newOffice(t)
	o.fails(t, "no tenant", "client", "create") // the local cloud's tenant is not there
	tenant := adminDo[tenantOut](t, o, "tenant", "create").TenantID
	all := adminDo[clientOut](t, o, "client", "create", "--tenant", tenant)
	if all.TenantID != tenant || all.Scope != "tenant/"+tenant || !slices.Equal(all.Permissions, auth.Permissions) || all.Disabled {
		t.Errorf("%+v", all)
	}
	stored, err := o.registry.Client(t.Context(), all.ClientID)
	if err != nil || !stored.Secret.Matches(all.ClientSecret) {
		t.Errorf("the secret does not do: %v", err)
	}
	one := adminDo[clientOut](t, o, "client", "create", "--permission", "BatchRead", "--tenant", tenant, "--permission", "BatchUpload")
	if !slices.Equal(one.Permissions, []string{"BatchRead", "BatchUpload"}) || one.ClientSecret == all.ClientSecret {
		t.Errorf("%+v", one)
	}
	if got := adminDo[clientOut](t, o, "client", "disable", one.ClientID); !got.Disabled || got.ClientSecret != "" {
		t.Errorf("%+v", got)
	}
	list := adminDo[[]clientOut](t, o, "client", "list")
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, c := range list {
		if c.ClientSecret != "" || c.Disabled != (c.ClientID == one.ClientID) {
			t.Errorf("%+v", c)
		}
	}
	o.fails(t, "no permission \"Everything\"; there are ", "client", "create", "--tenant", tenant, "--permission", "Everything")
	o.fails(t, "no tenant", "client", "create", "--tenant", uuid.NewString())
	o.fails(t, `no client "x"`, "client", "disable", "x")
	o.fails(t, "exactly one client id", "client", "disable")
}

func TestAdminEntities(t *testing.T) {
	o := newOffice(t)
	tenant := adminDo[tenantOut](t, o, "tenant", "create", "--id", o.tenant).TenantID
	path := filepath.Join(t.TempDir(), "entities")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var file strings.Builder
	for i := range importWindow + 1 {
		fmt.Fprintf(&file, `{"id":"e%d","lifecycleStatus":"Compliant"}`+"\n", i)
	}
	write(file.String() + "\n" + `{"id":"new","lifecycleStatus":"OnboardingInProgress"}`)
	type imported struct {
		TenantID string `json:"tenant_id"`
		Imported int    `json:"imported"`
	}
	for range 2 { // importing again changes nothing
		if got := adminDo[imported](t, o, "entities", "import", path); got != (imported{tenant, importWindow + 2}) {
			t.Errorf("%+v", got)
		}
	}
	states, err := o.entities.Lookup(t.Context(), tenant, []string{"e0", fmt.Sprintf("e%d", importWindow), "new", "none"})
	if err != nil || len(states) != 3 || states["e0"] != entity.Compliant || states["new"] != entity.OnboardingInProgress {
		t.Errorf("%v %v", states, err)
	}

	for text, says := range map[string]string{
		"{\"id\":\"x\",\"lifecycleStatus\":\"Compliant\"}\n{\"id\":\"\",\"lifecycleStatus\":\"Compliant\"}": "line 2",
		`{"id":"x","lifecycleStatus":"Happy"}`:                "no lifecycleStatus",
		`{"id":"x","lifecycleStatus":"Compliant","name":"y"}`: "line 1",
		`x`: "line 1",
		`{"id":"` + strings.Repeat("x", entity.MaxIDBytes+1) + `","lifecycleStatus":"Compliant"}`: "1 to 255 bytes",
	} {
		write(text)
		o.fails(t, says, "entities", "import", path)
	}
	o.fails(t, "no such file", "entities", "import", path+"x")
	o.fails(t, "no tenant", "entities", "import", path, "--tenant", uuid.NewString())
	o.fails(t, "exactly one file", "entities", "import")
}

// Each rotation publishes one key more; the first of all signs at once.
func TestAdminKeyRotation(t *testing.T) {
	o := newOffice(t)
	first := adminDo[[]keyOut](t, o, "key", "rotate")
	if len(first) != 1 || first[0].ActiveFrom.After(time.Now()) || first[0].RetireAt != nil {
		t.Errorf("%+v", first)
	}
	second := adminDo[[]keyOut](t, o, "key", "rotate", "--token-lifetime", "60")
	if len(second) != 2 || second[0].KeyID != first[0].KeyID || second[1].RetireAt != nil {
		t.Fatalf("%+v", second)
	}
	if wait := time.Until(second[1].ActiveFrom); wait < auth.KeySetLifetime-time.Minute || wait > auth.KeySetLifetime {
		t.Errorf("active in %v", wait)
	}
	if d := second[0].RetireAt.Sub(second[1].ActiveFrom); d < time.Minute {
		t.Errorf("retired %v after", d)
	}
	keys, _, err := o.registry.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].KMSKey == keys[1].KMSKey {
		t.Errorf("%+v %v", keys, err)
	}
}

func TestAdminUsage(t *testing.T) {
	o := newOffice(t)
	for _, args := range [][]string{{}, {"help"}, {"--help"}} {
		var stdout, stderr bytes.Buffer
		if code := runAdmin(t.Context(), args, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "tenant create") {
			t.Errorf("%v: %d", args, code)
		}
	}
	o.fails(t, "no command", "tenant", "destroy")
	o.fails(t, "see 'sluice admin help'", "tenant")
	o.fails(t, "see 'sluice admin help'", "tenant", "list", "--nothing")
	o.fails(t, "takes no argument", "tenant", "list", "x")
	o.data = filepath.Join(o.data, "none")
	o.fails(t, "no local cloud runs on", "tenant", "list")
}
