package execution_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/execution"
)

// unconfigured has no configuration of external authentication.
type unconfigured struct{}

func (unconfigured) ForURL(context.Context, string, string) (c externalauth.Configuration, ok bool, err error) {
	return c, false, nil
}

// newTests returns tests of adapters by calls that reach this machine and wait for timeout.
func newTests(t *testing.T, root *outboundtest.Authority, timeout time.Duration) *execution.AdapterTests {
	t.Helper()
	addresses := errtest.Must(outbound.ParseAddressPolicy("127.0.0.0/8"))(t)
	client := &outbound.Client{Configurations: unconfigured{}, Addresses: addresses, Timeout: timeout,
		Resolver: outboundtest.NewResolver(), PublicCAs: outboundtest.Pool(root),
		Now: func() time.Time { return outboundtest.Now }}
	return &execution.AdapterTests{Calls: &execution.AdapterCalls{Receivers: client}, Inspector: client}
}

// The outcome of a test says what failed, and has the certificates of every adapter that presents some.
func TestAdaptersAreTested(t *testing.T) {
	t.Parallel()
	root, unknown := outboundtest.NewRoot(t, "root"), outboundtest.NewRoot(t, "unknown")
	released := make(chan struct{})
	answering := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if status == 0 {
				<-released
			}
			w.WriteHeader(status)
		})
	}
	start := func(root *outboundtest.Authority, status int) string {
		return outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), answering(status)).URL
	}
	silent := start(root, 0)
	t.Cleanup(func() { close(released) })
	closed := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, err := net.SplitHostPort(closed.Addr().String())
	errtest.Fatal(t, err)
	errtest.Fatal(t, closed.Close())
	for name, test := range map[string]struct {
		url      string
		timeout  time.Duration
		want     string // a part of the reason; "" if the message is accepted
		presents bool   // whether there are certificates
	}{
		"accepted":            {start(root, http.StatusAccepted), 0, "", true},
		"rejected":            {start(root, http.StatusBadRequest), 0, "answered 400", true},
		"failing":             {start(root, http.StatusInternalServerError), 0, "answered 500", true},
		"unknown CA":          {start(unknown, http.StatusAccepted), 0, "to a public CA", true},
		"no listener":         {"https://" + outboundtest.ReceiverHost + ":" + port, 0, "refuses connections", false},
		"no such name":        {"https://nowhere.test", 0, "could not be looked up", false},
		"silent":              {silent, 200 * time.Millisecond, "did not answer in time", true},
		"URL that is refused": {"https://user@receiver.test", 0, "user name", false},
		"no URL":              {"https://[", 0, "URL", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := screening.Provider{Tenant: tenant, ID: "acme", Adapter: &screening.Adapter{URL: test.url}}
			presented, refusal, err := newTests(t, root, test.timeout).Test(t.Context(), p, "id")
			errtest.Fatal(t, err)
			switch {
			case (refusal == nil) != (test.want == ""):
				t.Errorf("got %+v, want %q", refusal, test.want)
			case refusal != nil && !strings.Contains(refusal.Message, test.want):
				t.Errorf("got the reason %q, want %q in it", refusal.Message, test.want)
			}
			if (len(presented) > 0) != test.presents {
				t.Errorf("got %d certificates, want some: %v", len(presented), test.presents)
			}
		})
	}
}

// uninspected presents nothing.
type uninspected struct{}

func (uninspected) Inspect(context.Context, *url.URL, *externalauth.Certificate) (outbound.Inspection, error) {
	return outbound.Inspection{}, errors.New("not reached")
}

// The message of a test is sealed and sent as all others are.
func TestMessagesOfTests(t *testing.T) {
	t.Parallel()
	r := &receiver{status: http.StatusAccepted}
	tests := &execution.AdapterTests{Calls: &execution.AdapterCalls{Receivers: r}, Inspector: uninspected{}}
	p := screening.Provider{Tenant: tenant, ID: "acme", Adapter: withKeys()}
	_, refusal, err := tests.Test(t.Context(), p, "id")
	var data adapter.TestData
	m := r.read(t, &data)
	want := adapter.Message{Data: m.Data, ID: "id", Tenant: tenant, ProviderID: "acme", Type: adapter.Test}
	if err != nil || refusal != nil || m != want || data.BatchID != "id" || r.header.Get(adapter.MACHeader) == "" ||
		r.url != "https://adapter.example/acme/api/screen" {
		t.Errorf("got %+v with %+v at %s, %v, %v; want %+v", m, data, r.url, refusal, err, want)
	}
	r.err = errors.New("broken")
	if _, refusal, err = tests.Test(t.Context(), p, "id"); !errors.Is(err, r.err) || refusal != nil {
		t.Errorf("got %+v, %v, want the fault of the service", refusal, err)
	}
}

// endless makes calls that end with their context.
type endless struct{}

func (endless) Do(ctx context.Context, _ string, _ *http.Request) (*outbound.Reply, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A test ends before API Gateway gives the request up, however many exchanges a call has.
func TestTestsEndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tests := &execution.AdapterTests{Calls: &execution.AdapterCalls{Receivers: endless{}}, Inspector: uninspected{}}
		began := time.Now()
		_, refusal, err := tests.Test(t.Context(), screening.Provider{Adapter: withKeys()}, "id")
		if took := time.Since(began); err != nil || refusal == nil || took > 25*time.Second {
			t.Errorf("got %+v, %v after %s, want a reason within 25 seconds", refusal, err, took)
		}
	})
}
