package screeninghttp_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sluice/openapi/wire"
	"sluice/shared/access/permission"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// fakeTester has the outcome of all tests, and remembers the provider that was tested last.
type fakeTester struct {
	presented []*x509.Certificate
	refusal   *screening.ProviderError
	err       error
	tested    screening.Provider
}

func (f *fakeTester) Test(_ context.Context, p screening.Provider, _ string) ([]*x509.Certificate,
	*screening.ProviderError, error) {
	f.tested = p
	return f.presented, f.refusal, f.err
}

func TestAdapterTests(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.succeed("POST", providersPath, providerBody(nil), nil)
	test := func() (out wire.AdapterTest) {
		t.Helper()
		status, data, message := a.send("POST", providersPath+"/acme/test", "")
		if err := json.Unmarshal(data, &out); status != 200 || err != nil {
			t.Fatalf("got %d %s %+v, want 200", status, data, message)
		}
		return out
	}
	certificate := outboundtest.NewRoot(t, "CA").Certificate
	a.tester.presented = []*x509.Certificate{certificate}
	if out := test(); !out.Accepted || out.Reason != "" || len(out.Chain) != 1 || out.Chain[0].Subject != "CN=CA" {
		t.Errorf("got %+v, want it accepted, with the certificate", out)
	}
	if key := a.tester.tested.Adapter.EncryptionKey.Reveal(); key != keyOf(32) {
		t.Errorf("tested with the key %q, want the stored one", key)
	}
	a.tester.presented, a.tester.refusal = nil, adapter.FailedCall("The receiver refuses connections.")
	if out := test(); out.Accepted || out.Reason != "The receiver refuses connections." || out.Chain == nil {
		t.Errorf("got %+v, want the reason and an empty chain", out)
	}
	a.tester.err = errors.New("broken")
	a.refuse(500, "INTERNAL_SERVER_ERROR", "POST", providersPath+"/acme/test", "")
}

// Only a provider with an adapter is tested, by a client that may change it.
func TestAdapterTestsThatAreRefused(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.succeed("POST", providersPath, providerBody(map[string]any{"adapterConfiguration": nil}), nil)
	for _, id := range []string{"acme", "sluice"} {
		message := a.refuse(400, "adapter_not_configured", "POST", providersPath+"/"+id+"/test", "")
		if !strings.Contains(message, "no adapter") {
			t.Errorf("%s: got %q, want it to say that there is no adapter", id, message)
		}
	}
	a.refuse(404, "provider_not_found", "POST", providersPath+"/other/test", "")
	a.caller.Permissions = []string{permission.ScreeningConfigurationAccess, permission.ScreeningConfigurationCreate}
	a.refuse(403, "permission_missing", "POST", providersPath+"/acme/test", "")
}
