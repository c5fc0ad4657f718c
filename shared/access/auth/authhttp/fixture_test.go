package authhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/shared/access/audit"
	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authhttp"
	"sluice/shared/access/auth/authtest"
	"sluice/shared/access/auth/fakekms"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/errtest"
)

// identity is the token function and the authorizer over one registry and a KMS, with one tenant and one client.
type identity struct {
	registry   *authtest.Memory
	now        time.Time
	log, trail bytes.Buffer
	token      func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	authorizer *authhttp.Authorizer
	tenant     auth.Tenant
	client     auth.Client
	secret     string
}

// tokenID is the ID of every token.
const tokenID = "5e1f2f5c-7d0c-4b0f-8a3f-3c6e0d9b1a44"

func newIdentity(t *testing.T, issuerURL string) *identity {
	t.Helper()
	keys := errtest.Must(fakekms.New(t.TempDir()))(t)
	errtest.Fatal(t, keys.Ensure("signing"))
	web := httptest.NewServer(keys)
	t.Cleanup(web.Close)
	client := kms.New(kms.Options{Region: "local", BaseEndpoint: &web.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})

	id := &identity{registry: authtest.NewMemory(), now: time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)}
	clock := func() time.Time { return id.now }
	log := slog.New(slog.NewJSONHandler(&id.log, nil))
	issuer := auth.NewIssuer(id.registry, client, "signing", "sluice", time.Hour)
	issuer.Now, issuer.NewID = clock, func() string { return tokenID }
	s := &authhttp.Tokens{Issuer: issuer, URL: issuerURL, Lifetime: time.Hour}
	trail := audit.New(&id.trail, clock, audit.RequestID)
	api := httpapi.API{Routes: s.Routes(), Errors: authhttp.Errors, Audit: trail, Log: log, Now: clock}
	id.token = httpapi.Lambda(api.Handler())
	id.authorizer = &authhttp.Authorizer{Tokens: auth.NewVerifier(id.registry, "sluice", clock), Registry: id.registry,
		Issuer: issuerURL, Audit: trail, Log: log}

	id.tenant = auth.Tenant{ID: uuid.NewString(), BatchEnabled: true, Settings: auth.DefaultSettings()}
	secret, hash := auth.NewSecret()
	id.secret = secret
	id.client = auth.Client{ID: uuid.NewString(), Tenant: id.tenant.ID, Secret: hash,
		Permissions: []string{"BatchRead", "BatchUpload"}}
	errtest.Fatal(t, errors.Join(id.registry.CreateTenant(t.Context(), id.tenant),
		id.registry.CreateClient(t.Context(), id.client)))
	return id
}

// form returns the form of a good token request.
func (id *identity) form() url.Values {
	return url.Values{"grant_type": {"client_credentials"}, "client_id": {id.client.ID}, "client_secret": {id.secret},
		"scope": {"tenant/" + id.tenant.ID}}
}

// readSampleEvent reads the sample event of a function.
func readSampleEvent(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../../../events/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	errtest.Fatal(t, err)
}

// post sends a body to the token endpoint.
func (id *identity) post(t *testing.T, body string,
	change func(*events.APIGatewayProxyRequest)) (int, map[string]any, map[string][]string) {
	t.Helper()
	var e events.APIGatewayProxyRequest
	readSampleEvent(t, "token", &e)
	e.Body = body
	if change != nil {
		change(&e)
	}
	return id.send(t, e)
}

func (id *identity) send(t *testing.T, e events.APIGatewayProxyRequest) (int, map[string]any, map[string][]string) {
	t.Helper()
	r := errtest.Must(id.token(t.Context(), e))(t)
	var body map[string]any
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		t.Fatalf("%d %q: %v", r.StatusCode, r.Body, err)
	}
	return r.StatusCode, body, r.MultiValueHeaders
}

// issueToken returns an access token of the client.
func (id *identity) issueToken(t *testing.T) string {
	t.Helper()
	status, body, _ := id.post(t, id.form().Encode(), nil)
	if status != 200 {
		t.Fatalf("got %d %v, want 200 with a token", status, body)
	}
	return body["access_token"].(string)
}
