package delivery

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/errtest"
)

// noConfigurations is a tenant without configurations.
type noConfigurations struct{}

func (noConfigurations) ForURL(context.Context, string, string) (externalauth.Configuration, bool, error) {
	return externalauth.Configuration{}, false, nil
}

// Every error between this service and a real receiver has a code that the tenant sees with the delivery.
func TestBadDays(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	good := root.Issue(outboundtest.Leaf{})
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	hang := func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // an answer could still reach the client while it closes the connection
	}
	for _, test := range []struct {
		name        string
		certificate tls.Certificate
		handler     http.HandlerFunc
		// host is the host of the URL, and addresses are the results of its look-ups; usually the receiver at this
		// machine.
		host      string
		addresses []string
		want      string
	}{
		{"answers", good, answer, "", nil, "Successful "},
		{"hangs", good, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the end of the connection is noticed
			hang(w, r)
		}, "", nil, "TimedOut timed_out"},
		{"answers slowly", good, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Length", "2")
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			hang(w, r)
		}, "", nil, "TimedOut timed_out"},
		{"sends without end", good, func(w http.ResponseWriter, _ *http.Request) {
			for block := make([]byte, 1<<16); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "", nil, "Successful "},
		{"resets", good, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", nil,
			"Failed connection_failed"},
		{"certificate has expired", root.Issue(outboundtest.Leaf{NotAfter: outboundtest.Now.Add(-time.Hour)}), answer,
			"", nil, "Failed certificate_refused"},
		{"certificate of another host", root.Issue(outboundtest.Leaf{Hosts: []string{"other.test"}}), answer, "", nil,
			"Failed certificate_refused"},
		{"metadata service", good, answer, "metadata.test", []string{"169.254.169.254"}, "Failed address_refused"},
		{"private network", good, answer, "private.test", []string{"10.1.2.3"}, "Failed address_refused"},
		{"no such name", good, answer, "unknown.test", nil, "Failed name_not_found"},
		{"redirects", good, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://metadata.test/")
			w.WriteHeader(http.StatusFound)
		}, "", nil, "Failed redirect"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := outboundtest.NewServer(t, test.certificate, test.handler)
			addresses := errtest.Must(outbound.ParseAddressPolicy("127.0.0.0/8"))(t)
			resolver := outboundtest.NewResolver()
			target := server.URL
			if test.host != "" {
				u := errtest.Must(url.Parse(target))(t)
				target = "https://" + test.host + ":" + u.Port()
				if test.addresses != nil {
					resolver.Set(test.host, test.addresses...)
				}
			}
			s := newSimulation(t)
			s.step.Receivers = &outbound.Client{
				Configurations: noConfigurations{}, Addresses: addresses, Resolver: resolver,
				PublicCAs: outboundtest.Pool(root), Timeout: timeoutOf(test.want),
				Now: func() time.Time { return outboundtest.Now },
			}
			s.create("w1", func(w *webhook.Webhook) { w.URL = target + "/events" })
			s.send("b")
			s.runUntil(start)
			a := s.deliveries("w1")[0].Attempts[0]
			if got := string(a.Outcome) + " " + a.Code; got != test.want {
				t.Errorf("%s: %s, want %s", got, a.Message, test.want)
			}
			if len(a.Answer) > webhook.MaxAnswerBytes || strings.Contains(a.Message, "/events") {
				t.Errorf("recorded %d bytes of the answer and %q", len(a.Answer), a.Message)
			}
		})
	}
}

// A request that a receiver has taken and not answered is repeated at once on a new connection if its own was used
// before; both count.
func TestRepeatsCount(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	var requests atomic.Int32
	server := outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if requests.Add(1) == 2 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusNoContent)
		}))
	addresses := errtest.Must(outbound.ParseAddressPolicy("127.0.0.0/8"))(t)
	s := newSimulation(t)
	s.step.Receivers = &outbound.Client{Configurations: noConfigurations{}, Addresses: addresses,
		Resolver: outboundtest.NewResolver(), PublicCAs: outboundtest.Pool(root),
		Now: func() time.Time { return outboundtest.Now }}
	s.create("w1", func(w *webhook.Webhook) { w.URL = server.URL })
	for _, event := range []string{"a", "b"} {
		s.send(event)
		s.runUntil(start)
	}
	var counts []int
	for _, d := range s.deliveries("w1") {
		counts = append(counts, d.AttemptCount)
		if last := d.Attempts[len(d.Attempts)-1]; last.Outcome != webhook.Successful || last.Number != d.AttemptCount {
			t.Errorf("the last attempt is %+v, want a success, number %d", last, d.AttemptCount)
		}
	}
	slices.Sort(counts)
	if !slices.Equal(counts, []int{1, 2}) || requests.Load() != 3 {
		t.Errorf("got %v attempts for %d requests, want 1 and 2 for 3", counts, requests.Load())
	}
}

// timeoutOf returns a time-out that is short where it is wanted, and long where it would disturb.
func timeoutOf(want string) time.Duration {
	if strings.HasPrefix(want, string(webhook.TimedOut)) {
		return 50 * time.Millisecond
	}
	return time.Minute
}
