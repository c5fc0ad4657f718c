package execution

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"sluice/shared/connect/outbound"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// AdapterCalls calls the adapters of providers, by the one way out. It is safe for concurrent use.
type AdapterCalls struct {
	// Providers reads the providers of tenants with their keys. It is a part of screening.ProviderStore.
	Providers interface {
		GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
		Reveal(ctx context.Context, p screening.Provider) (screening.Provider, error)
	}
	// Receivers calls the receivers of a tenant.
	Receivers interface {
		Do(ctx context.Context, tenant string, r *http.Request) (*outbound.Reply, error)
	}
}

var _ Adapters = (*AdapterCalls)(nil)

// Screen implements Adapters.
func (c *AdapterCalls) Screen(ctx context.Context, b screening.Batch, run screening.ProviderRun,
	entities []screening.Entity) error {
	p, err := c.find(ctx, b.Tenant, run.ID)
	if err != nil {
		return err
	}
	set, ok := p.FindSet(run.ConfigurationSetID)
	if !ok {
		return misconfigured(errors.New("it does not have the configuration set any more"))
	}
	return c.call(ctx, p, adapter.Screen, b.ID, adapter.NewScreenData(b, set, entities))
}

// ResolveMatches sends resolutions of matches to the adapter of their provider. It returns nil once the adapter has
// accepted them, a *Refusal if it has not, and any other error if the service itself is at fault.
func (c *AdapterCalls) ResolveMatches(ctx context.Context, tenant, batchID, providerID string,
	matches []screening.Match) error {
	p, err := c.find(ctx, tenant, providerID)
	if err != nil {
		return err
	}
	data := adapter.ResolveData{BatchID: batchID}
	for _, m := range matches {
		data.Matches = append(data.Matches, adapter.NewResolvedMatch(m))
	}
	return c.call(ctx, p, adapter.ResolveMatches, batchID, data)
}

// find returns a provider with its keys.
func (c *AdapterCalls) find(ctx context.Context, tenant, id string) (screening.Provider, error) {
	p, err := c.Providers.GetProvider(ctx, tenant, id)
	if errors.Is(err, screening.ErrNotFound) {
		return p, misconfigured(errors.New("it is not configured any more"))
	}
	if err != nil {
		return p, err
	}
	return c.Providers.Reveal(ctx, p)
}

func (c *AdapterCalls) call(ctx context.Context, p screening.Provider, t adapter.Type, batchID string, data any) error {
	r, err := adapter.NewRequest(ctx, p, t, batchID, data)
	if err != nil {
		return misconfigured(err)
	}
	reply, err := c.Receivers.Do(ctx, p.Tenant, r)
	var failed *outbound.Error
	switch {
	case errors.As(err, &failed):
		return &Refusal{*adapter.FailedCall(failed.Message), mayPass(failed.Reason)}
	case err != nil:
		return err
	case reply.Status >= 200 && reply.Status < 300:
		return nil
	case reply.Status == http.StatusBadRequest:
		return &Refusal{ProviderError: *adapter.RejectedByAdapter()}
	}
	isBusy := reply.Status >= 500 || reply.Status == http.StatusTooManyRequests ||
		reply.Status == http.StatusRequestTimeout
	return &Refusal{*adapter.FailedCall(fmt.Sprintf("The adapter answered %d.", reply.Status)), isBusy}
}

// mayPass reports whether a call that failed for a reason may succeed later as it is.
func mayPass(r outbound.Reason) bool {
	switch r {
	case outbound.URLRefused, outbound.AddressRefused, outbound.CertificateRefused, outbound.ClientCertificateUnusable,
		outbound.ClientCertificateRefused:
		return false
	}
	return true
}

// misconfigured returns the refusal of a provider that cannot be called.
func misconfigured(cause error) error {
	return &Refusal{ProviderError: *adapter.FailedCall("The provider cannot be called: " + cause.Error() + ".")}
}

// Receptor records the answers that the receptor has received.
type Receptor struct{ *Answers }

// Record records an answer and returns the outcome.
func (r Receptor) Record(ctx context.Context, tenant, batchID, providerID, answerID string, matches []screening.Match,
	failure *screening.ProviderError) (outcome string, err error) {
	o, err := r.Answers.Record(ctx, tenant, batchID, providerID, Answer{answerID, matches, failure})
	return string(o), err
}
