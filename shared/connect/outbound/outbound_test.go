package outbound_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/errtest"
)

const tenant = "7c9e6679-7425-40de-944b-e07fc1f90ae7"

// configurations belong to the one tenant.
type configurations []externalauth.Configuration

func (c configurations) ForURL(_ context.Context, t, url string) (externalauth.Configuration, bool, error) {
	if t != tenant {
		return externalauth.Configuration{}, false, nil
	}
	return externalauth.Choose(c, url)
}

// newClient returns a client that may call this machine.
func newClient(t *testing.T, c ...externalauth.Configuration) *outbound.Client {
	t.Helper()
	policy := errtest.Must(outbound.ParseAddressPolicy("127.0.0.0/8"))(t)
	return &outbound.Client{
		Configurations: configurations(c), Addresses: policy, Resolver: outboundtest.NewResolver(),
		Now:     func() time.Time { return outboundtest.Now },
		Timeout: time.Minute, // a machine that is busy with other things needs more than the default
	}
}

func newRequest(t *testing.T, url, body string) *http.Request {
	t.Helper()
	return errtest.Must(http.NewRequest(http.MethodPost, url, strings.NewReader(body)))(t)
}

func wantReason(t *testing.T, err error, want outbound.Reason) {
	t.Helper()
	var e *outbound.Error
	if !errors.As(err, &e) || e.Reason != want {
		t.Errorf("got the error %v, want the reason %s", err, want)
	}
}
