package externalauthhttp_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/auth/fakekms"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/connect/externalauth/externalauthhttp"
	"sluice/shared/connect/externalauth/externalauthtest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/sealed"
)

const (
	tenant   = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	other    = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	commands = "/externalauthenticationcommand/api/configuration"
	queries  = "/externalauthenticationquery/api/configuration"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// fixture is external authentication over a real store, for one caller.
type fixture struct {
	testing.TB
	db     *dynamodb.Client
	store  *externalauthdb.Store
	caller httpapi.Caller
	// log is everything that the handler logs and records.
	log *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func newFixture(t testing.TB) *fixture {
	keys, err := fakekms.New(t.TempDir())
	if err == nil {
		err = keys.EnsureSymmetric("master")
	}
	errtest.Fatal(t, err)
	web := httptest.NewServer(keys)
	t.Cleanup(web.Close)
	box := sealed.New(kms.New(kms.Options{
		Region: "local", BaseEndpoint: &web.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}), "master")
	db := dynamotest.Start(t)
	return &fixture{t, db, externalauthdb.New(db, "test-externalauth", box), httpapi.Caller{
		Tenant: tenant, Client: "c", Expires: now.Add(time.Hour), Permissions: []string{"ExternalAuthenticationAccess",
			"ExternalAuthenticationCreate", "ExternalAuthenticationEdit", "ExternalAuthenticationDelete"},
	}, &lockedBuffer{}}
}

// as returns the fixture for another tenant.
func (f *fixture) as(tenant string) *fixture {
	g := *f
	g.caller.Tenant = tenant
	return &g
}

// send sends a request and returns the status and the body of the reply. It decodes the data of the reply into data,
// unless that is nil.
func (f *fixture) send(method, path, body string, data any) (int, string) {
	f.Helper()
	clock := func() time.Time { return now }
	s := &externalauthhttp.Configurations{Store: f.store, Address: "https://api.test", Now: clock,
		NewID: uuid.NewString}
	trail := audit.New(f.log, clock, audit.RequestID)
	h := httpapi.Lambda(platform.Handler(s.Routes(), nil, trail, slog.New(slog.NewTextHandler(f.log, nil)), clock))
	r := errtest.Must(h(f.Context(), httpapitest.NewPlatformRequest(f, f.caller, method, path, body)))(f)
	if data != nil {
		if err := json.Unmarshal([]byte(r.Body), &struct{ Data any }{data}); err != nil {
			f.Fatalf("%v: %s", err, r.Body)
		}
	}
	return r.StatusCode, r.Body
}

// create stores a configuration and returns its ID.
func (f *fixture) create(data string) string {
	f.Helper()
	var reply wire.ExternalAuthenticationID
	if code, body := f.send("POST", commands, `{"data":`+data+`}`, &reply); code != 202 {
		f.Fatalf("create %s: %d %s, want 202", data, code, body)
	}
	return reply.ConfigurationID
}

// read returns a configuration as it is read.
func (f *fixture) read(id string) wire.StoredExternalAuthentication {
	f.Helper()
	var c wire.StoredExternalAuthentication
	if code, body := f.send("GET", queries+"/"+id, "", &c); code != 200 {
		f.Fatalf("read %s: %d %s, want 200", id, code, body)
	}
	return c
}

// revealed returns a configuration as the service uses it.
func (f *fixture) revealed(id string) externalauth.Configuration {
	f.Helper()
	c, err := f.store.Get(f.Context(), f.caller.Tenant, id)
	if err == nil {
		c, err = f.store.Reveal(f.Context(), c)
	}
	errtest.Fatal(f, err)
	return c
}

// certificates are a CA and the certificates that it has signed.
type certificates struct{ ca, leaf, next, expired *externalauthtest.Issuer }

func newCertificates(t testing.TB) certificates {
	year := func(n int) time.Time { return now.AddDate(n, 0, 0) }
	ca := externalauthtest.New(t, "Test CA", true, year(-2), year(5), nil)
	return certificates{
		ca: ca, leaf: externalauthtest.New(t, "hooks.example.com", false, year(-1), year(1), ca),
		next:    externalauthtest.New(t, "hooks.example.com", false, year(0), year(2), ca),
		expired: externalauthtest.New(t, "hooks.example.com", false, year(-1), now.Add(-time.Second), ca),
	}
}

// text writes a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
