// Package outbound makes every HTTP call that leaves the service. It is the only place that knows how a tenant wants
// others to be called (package externalauth): which certificate the receiver must present, which certificate the
// service presents itself, which headers and which access token a call carries.
//
// A call never reaches an address inside the network that the service runs in, follows no redirect, and is bounded in
// time, connections and bytes. The text of an error is for the tenant: it holds neither a secret nor the path of a URL.
package outbound

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/kmskey"
)

// The limits of a Client whose fields are zero.
const (
	// DefaultTimeout is the time for one exchange: from the look-up of the name to the end of the reply.
	DefaultTimeout = 10 * time.Second
	// DefaultMaxReplyBytes is how much of the body of a reply is read.
	DefaultMaxReplyBytes = 64 << 10
	// DefaultMaxConnections is how many connections are open to one host for one configuration.
	DefaultMaxConnections = 8
	// maxHeaderBytes is the size of the headers of a reply.
	maxHeaderBytes = 32 << 10
)

// Configurations finds the configurations of tenants, with their secrets decrypted.
type Configurations interface {
	// ForURL returns the configuration of a tenant that serves a URL, as externalauth.Choose chooses it. ok is false if
	// the tenant has no configuration for it.
	ForURL(ctx context.Context, tenant, url string) (configuration externalauth.Configuration, ok bool, err error)
}

// Reply is the answer to a call.
type Reply struct {
	Status int
	Header http.Header
	// Body is the body or, if IsTruncated, its beginning.
	Body []byte
	// IsTruncated means that the body is longer than MaxReplyBytes.
	IsTruncated bool
	// Repeats is how often the request, if it has a body, was sent before without an answer, on connections that were
	// used before.
	Repeats int
}

// Client makes calls. The zero value of a field is its default where one is named. It is safe for concurrent use; one
// client serves all calls of a process.
type Client struct {
	Configurations Configurations
	// Addresses decides which addresses may be called.
	Addresses AddressPolicy
	// Resolver looks names up; nil is the system's.
	Resolver Resolver
	// PublicCAs are the roots of public CAs; nil means those of the system.
	PublicCAs *x509.CertPool
	// Keys and KMS are the client keys of tenants and the service that signs with them. Without them calls that need a
	// client key fail.
	Keys ClientKeys
	KMS  kmskey.API
	// Timeout is the time for one exchange. A call is up to four of them: with a token, and once more with a new one.
	Timeout time.Duration
	// MaxReplyBytes is how much of the body of a reply is read.
	MaxReplyBytes int64
	// MaxConnections is how many connections are open to one host for one configuration. Further calls wait for one.
	MaxConnections int
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Log gets the causes of failures of the service itself, such as errors of KMS, which errors do not show; nil for
	// none.
	Log *slog.Logger
	// NewID returns the jti of a client assertion; nil makes random UUIDs.
	NewID func() string

	pools  pools
	tokens tokens
}

// Do calls the request's URL on behalf of a tenant, in the way that the tenant's configuration for the URL asks for. It
// returns every reply that arrives, redirects and errors of the receiver too; an error is an *Error if the receiver or
// the configuration is its cause. The body of a request must be one that http.NewRequest can repeat (bytes, a string).
// A receiver may get a call twice: if it ends a connection that was used before without a reply, or after a 401. The
// headers of the request win over those of the configuration, except for Authorization of a token.
func (c *Client) Do(ctx context.Context, tenant string, r *http.Request) (*Reply, error) {
	if err := checkURL(r.URL); err != nil {
		return nil, err
	}
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return nil, errors.New("outbound: the body of the request cannot be repeated")
	}
	call, err := c.newCall(ctx, tenant, r.URL)
	if err != nil {
		return nil, err
	}
	reply, usedToken, err := call.do(ctx, r)
	c.logCause(ctx, tenant, err)
	if err != nil || reply.Status != http.StatusUnauthorized || usedToken == "" {
		return reply, err
	}
	// The token was revoked, or it belongs to a client whose secret has just been changed: once more with a new one,
	// by the configuration as it is now.
	c.tokens.forget(call.tokenKey(), usedToken)
	if call, err = c.newCall(ctx, tenant, r.URL); err != nil {
		return nil, err
	}
	reply, _, err = call.do(ctx, r)
	c.logCause(ctx, tenant, err)
	return reply, err
}

// checkURL returns an error unless the URL is one that may be called.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https":
		return newError(URLRefused, "Only URLs that begin with https:// are called.")
	case u.Hostname() == "":
		return newError(URLRefused, "The URL names no host.")
	case u.User != nil:
		return newError(URLRefused, "The URL must not contain a user name or password.")
	}
	// A URL without a canonical form cannot be compared with the URLs of configurations.
	if _, _, err := externalauth.Choose(nil, u.String()); err != nil {
		return newError(URLRefused, "The URL cannot be called: "+err.Error()+".")
	}
	return nil
}

// call is one attempt of a call, by one version of its configuration from beginning to end: a configuration that is
// changed in the meantime counts for the next one.
type call struct {
	client *Client
	tenant string
	// configuration is nil if the tenant has no configuration for the URL.
	configuration *externalauth.Configuration
}

func (c *Client) newCall(ctx context.Context, tenant string, u *url.URL) (call, error) {
	configuration, ok, err := c.Configurations.ForURL(ctx, tenant, u.String())
	if err != nil || !ok {
		return call{client: c, tenant: tenant}, err
	}
	return call{c, tenant, &configuration}, nil
}

// do makes the call. It returns the access token that it used, "" for none.
func (c *call) do(ctx context.Context, r *http.Request) (reply *Reply, usedToken string, err error) {
	transport, err := c.transport(ctx)
	if err != nil {
		return nil, "", err
	}
	header := http.Header{}
	if c.configuration != nil {
		addHeaders(header, c.configuration.Headers)
	}
	for name, values := range r.Header {
		header[name] = values
	}
	if c.configuration != nil && c.configuration.OAuth != nil {
		if usedToken, err = c.token(ctx); err != nil {
			return nil, "", err
		}
		header["Authorization"] = []string{"Bearer " + usedToken}
	}
	reply, err = c.client.exchange(ctx, transport, r, header)
	return reply, usedToken, err
}

// transport returns the connections to the receiver.
func (c *call) transport(ctx context.Context) (http.RoundTripper, error) {
	if c.configuration == nil {
		rules := tlsRules{publicCAs: c.client.PublicCAs}
		return c.client.pools.get(poolKey{}, func() *http.Transport { return c.client.newTransport(rules) }), nil
	}
	return c.transportFor(ctx, c.configuration.EndpointCertificate, c.configuration.IsMTLSEnabled, false)
}

// transportFor returns the connections on which the receiver presents a certificate that is acceptable, and the
// service that of the tenant if isMTLSEnabled.
func (c *call) transportFor(ctx context.Context, certificate *externalauth.Certificate,
	isMTLSEnabled, isTokenEndpoint bool) (http.RoundTripper, error) {
	rules, err := newTLSRules(certificate, c.client.PublicCAs)
	if err != nil {
		return nil, err
	}
	key := poolKey{tokenKey: c.tokenKey(), isTokenEndpoint: isTokenEndpoint}
	if isMTLSEnabled {
		client, err := c.client.clientCertificate(ctx, c.tenant)
		if err != nil {
			return nil, err
		}
		rules.client, key.certificate = &client, client.fingerprint()
	}
	return c.client.pools.get(key, func() *http.Transport { return c.client.newTransport(rules) }), nil
}

// tokenKey names the version of the configuration.
func (c *call) tokenKey() tokenKey {
	return tokenKey{c.tenant, c.configuration.ID, c.configuration.Version}
}

// exchange sends a request with the given headers in place of its own, and reads the reply.
func (c *Client) exchange(ctx context.Context, t http.RoundTripper, r *http.Request, header http.Header) (
	*Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	out := r.Clone(ctx)
	out.Header = header.Clone()
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "Sluice")
	}
	// The empty value lets http.Transport repeat the request if a connection that was used before ends without a reply;
	// nothing is sent.
	if _, ok := out.Header["Idempotency-Key"]; !ok {
		out.Header["Idempotency-Key"] = nil
	}
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	// http.Transport asks for the body again when it repeats a request whose body it has begun to send. A trace of the
	// request would see the signatures of the client certificate, too, which KMS makes while the connection is opened.
	var sentAgain atomic.Int32
	if r.GetBody != nil {
		out.GetBody = func() (io.ReadCloser, error) {
			sentAgain.Add(1)
			return r.GetBody()
		}
	}
	repeats := func() int { return int(sentAgain.Load()) }
	// RoundTrip, unlike http.Client, follows no redirect and puts no URL into its errors.
	resp, err := t.RoundTrip(out)
	if err != nil {
		return nil, withRepeats(explain(ctx, err), repeats())
	}
	defer resp.Body.Close()
	limit := cmp.Or(c.MaxReplyBytes, DefaultMaxReplyBytes)
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil && int64(len(body)) <= limit {
		return nil, withRepeats(explain(ctx, err), repeats())
	}
	reply := &Reply{Status: resp.StatusCode, Header: resp.Header, Body: body, Repeats: repeats()}
	if int64(len(body)) > limit {
		reply.Body, reply.IsTruncated = body[:limit], true
	}
	return reply, nil
}

// connectionHeaders describe a connection or the length of a body; no configuration sets them.
var connectionHeaders = []string{"Connection", "Content-Length", "Host", "Keep-Alive", "Proxy-Connection", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade"}

// addHeaders adds the headers of a configuration.
func addHeaders(to http.Header, headers []externalauth.NameValue) {
	for _, h := range headers {
		to.Add(h.Name, h.Value.Reveal())
	}
	for _, name := range connectionHeaders {
		to.Del(name)
	}
}

func (c *Client) timeout() time.Duration { return cmp.Or(c.Timeout, DefaultTimeout) }

func (c *Client) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// logCause logs the cause of an error that does not show it.
func (c *Client) logCause(ctx context.Context, tenant string, err error) {
	var e *Error
	if c.Log != nil && errors.As(err, &e) && e.cause != nil {
		c.Log.ErrorContext(ctx, "call failed", "tenant", tenant, "reason", e.Reason, "error", e.cause)
	}
}

func (c *Client) newID() string {
	if c.NewID == nil {
		return uuid.NewString()
	}
	return c.NewID()
}

// setBody gives a request a body that can be repeated.
func setBody(r *http.Request, text string) {
	r.ContentLength = int64(len(text))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}
