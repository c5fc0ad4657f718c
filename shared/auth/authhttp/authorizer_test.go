package authhttp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/auth"
	"sluice/shared/auth/authhttp"
	"sluice/shared/httpapi"
)

func request(t *testing.T, header string) authhttp.AuthorizerRequest {
	t.Helper()
	var r authhttp.AuthorizerRequest
	sample(t, "authorizer", &r)
	r.Headers["Authorization"], r.MultiValueHeaders["Authorization"] = header, []string{header}
	return r
}

func TestAuthorizer(t *testing.T) {
	for _, issuerURL := range []string{"", "https://issuer.test"} {
		h := newHouse(t, issuerURL)
		token := h.bearer(t)
		reply, err := h.authorizer.Run(t.Context(), request(t, "Bearer "+token))
		if err != nil {
			t.Fatal(err)
		}
		statement := reply.PolicyDocument.Statement
		if len(statement) != 1 || statement[0].Effect != "Allow" ||
			!slices.Equal(statement[0].Action, []string{"execute-api:Invoke"}) ||
			!slices.Equal(statement[0].Resource,
				[]string{"arn:aws:execute-api:eu-central-1:123456789012:abc123/live/*"}) {
			t.Errorf("%+v", statement)
		}
		want := httpapi.Caller{
			Tenant: h.tenant.ID, Client: h.client.ID, Permissions: h.client.Permissions, Features: []string{"batch"},
			Attributes: auth.DefaultSettings().Attributes(), Expires: h.now.Add(time.Hour),
		}.Context()
		if diff := cmp.Diff(want, reply.Context); diff != "" || reply.PrincipalID != h.client.ID {
			t.Errorf("%s %s", reply.PrincipalID, diff)
		}
	}
}

func TestHeadersThatDo(t *testing.T) {
	h := newHouse(t, "")
	token := h.bearer(t)
	for _, header := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token} {
		if _, err := h.authorizer.Run(t.Context(), request(t, header)); err != nil {
			t.Errorf("%.12s…: %v", header, err)
		}
	}
	r := request(t, "")
	delete(r.MultiValueHeaders, "Authorization")
	r.MultiValueHeaders["aUTHORIZATION"] = []string{"Bearer " + token}
	if _, err := h.authorizer.Run(t.Context(), r); err != nil {
		t.Error(err)
	}
	single := request(t, "Bearer "+token)
	single.MultiValueHeaders = nil
	if _, err := h.authorizer.Run(t.Context(), single); err != nil {
		t.Error(err)
	}
}

// API Gateway answers 401 to exactly one text.
func TestUnauthorized(t *testing.T) {
	h := newHouse(t, "")
	token := h.bearer(t)
	refused := func(name string, r authhttp.AuthorizerRequest) {
		t.Helper()
		reply, err := h.authorizer.Run(t.Context(), r)
		if err == nil || err.Error() != "Unauthorized" || reply.PolicyDocument.Statement != nil ||
			reply.Context != nil {
			t.Errorf("%s: %v %+v", name, err, reply)
		}
	}
	for _, header := range []string{"", " ", "Bearer", "Bearer ", token, "Basic " + token, "Bearer x", "Bearer x.y.z",
		"Bearer " + token + "x",
		"Bearer " + token + " " + token, "Bearer " + token + ", Bearer " + token,
		"Bearer " + strings.Repeat("x", 100_000)} {
		refused(header, request(t, header))
	}
	r := request(t, "")
	delete(r.MultiValueHeaders, "Authorization")
	refused("no header", r)
	r = request(t, "Bearer "+token)
	r.MultiValueHeaders["authorization"] = []string{"Bearer " + token}
	refused("two headers", r)
	r = request(t, "Bearer "+token)
	r.RequestContext.DomainName = "other.test"
	refused("a token of another address", r)
	r = request(t, "Bearer "+token)
	r.RequestContext.Stage = "test"
	refused("a token of another stage", r)

	h.now = h.now.Add(time.Hour)
	refused("expired", request(t, "Bearer "+token))
	if strings.Contains(h.log.String(), token) {
		t.Error("the log holds a token")
	}
}

// What was changed in the registry counts for tokens that are out already.
func TestChangesCountAtOnce(t *testing.T) {
	h := newHouse(t, "")
	token := h.bearer(t)
	if _, err := h.registry.EnableBatch(t.Context(), h.tenant.ID, false); err != nil {
		t.Fatal(err)
	}
	reply, err := h.authorizer.Run(t.Context(), request(t, "Bearer "+token))
	if err != nil || reply.Context["features"] != "" {
		t.Errorf("%v %v", reply.Context, err)
	}
	if _, err := h.registry.DisableClient(t.Context(), h.client.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.authorizer.Run(t.Context(), request(t, "Bearer "+token)); err == nil ||
		err.Error() != "Unauthorized" {
		t.Errorf("a disabled client: %v", err)
	}
}

// claims takes every token for one that says this.
type claims auth.Claims

func (c claims) Verify(context.Context, string, string) (auth.Claims, error) {
	return auth.Claims(c), nil
}

func TestTokensOfNobody(t *testing.T) {
	h := newHouse(t, "")
	other := auth.Tenant{ID: uuid.NewString()}
	if err := h.registry.CreateTenant(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]claims{
		"a client that is gone":    {Client: uuid.NewString(), Tenant: h.tenant.ID},
		"a tenant that is gone":    {Client: h.client.ID, Tenant: uuid.NewString()},
		"a tenant of other people": {Client: h.client.ID, Tenant: other.ID},
	} {
		h.authorizer.Tokens = c
		if _, err := h.authorizer.Run(t.Context(), request(t, "Bearer x")); err == nil ||
			err.Error() != "Unauthorized" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An outage is no 401, which would make a client ask for tokens: API Gateway makes 500 of every other text.
func TestAuthorizerOutage(t *testing.T) {
	h := newHouse(t, "")
	token := h.bearer(t)
	for _, method := range []string{"Keys", "ClientAndTenant"} {
		h.registry.Fail = func(m string) error {
			if m == method {
				return errors.New("a secret of the store")
			}
			return nil
		}
		h.authorizer.Tokens = auth.NewVerifier(h.registry, "sluice", func() time.Time { return h.now })
		_, err := h.authorizer.Run(t.Context(), request(t, "Bearer "+token))
		if err == nil || err.Error() == "Unauthorized" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", method, err)
		}
	}
	if n := strings.Count(h.log.String(), "a secret of the store"); n != 2 {
		t.Errorf("the cause is in the log %d times", n)
	}
}
