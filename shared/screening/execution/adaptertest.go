package execution

import (
	"context"
	"crypto/x509"
	"errors"
	"net/url"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// AdapterTests tests adapters by messages of the type Test. It is safe for concurrent use.
type AdapterTests struct {
	Calls *AdapterCalls
	// Inspector connects to adapters without a request.
	Inspector interface {
		Inspect(ctx context.Context, u *url.URL, certificate *externalauth.Certificate) (outbound.Inspection, error)
	}
}

// testPatience is how long a test takes at most. It is shorter than API Gateway waits, which is less than the four
// exchanges that a call may be.
const testPatience = 20 * time.Second

// Test sends a message of the type Test, with the given ID, to the adapter of a provider whose keys are revealed. It
// returns nil as refusal once the adapter has accepted the message, otherwise the reason why it has not; err is not nil
// if the service itself is at fault. presented are the certificates that the adapter presents, its own first; nil if
// no TLS connection came that far.
func (t *AdapterTests) Test(ctx context.Context, p screening.Provider, id string) (presented []*x509.Certificate,
	refusal *screening.ProviderError, err error) {
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	inspected := make(chan []*x509.Certificate, 1)
	go func() { inspected <- t.inspect(ctx, p) }()
	err = t.Calls.call(ctx, p, adapter.Test, id, adapter.TestData{BatchID: id})
	if r, ok := errors.AsType[*Refusal](err); ok {
		refusal, err = &r.ProviderError, nil
	} else if errors.Is(err, context.DeadlineExceeded) {
		refusal, err = adapter.FailedCall("The adapter did not answer in time."), nil
	}
	return <-inspected, refusal, err
}

// inspect returns the certificates that the adapter of a provider presents, nil if it is not reached.
func (t *AdapterTests) inspect(ctx context.Context, p screening.Provider) []*x509.Certificate {
	u, err := url.Parse(p.Adapter.URL)
	if err != nil {
		return nil
	}
	inspection, err := t.Inspector.Inspect(ctx, u, nil)
	if err != nil {
		return nil
	}
	return inspection.Chain
}
