package outbound

import (
	"bytes"
	"cmp"
	"container/list"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"sluice/shared/kit/kmskey"
)

const (
	// dialTimeout is the time for a connection to one address of a receiver if there is another one to try.
	dialTimeout = 3 * time.Second
	// maxAddresses is how many addresses of a receiver are tried.
	maxAddresses = 4
	// idleTimeout is how long a connection waits for another call. It is short: a function that is frozen between two
	// invocations does not notice that a receiver ends a connection.
	idleTimeout = 20 * time.Second
	// maxPools is how many pools of connections a client keeps.
	maxPools = 64
)

// poolKey names the connections that calls may share: those of one version of one configuration.
type poolKey struct {
	tokenKey
	// isTokenEndpoint tells the connections to a token endpoint, whose rules are their own, from those to the receiver.
	isTokenEndpoint bool
	// certificate is the fingerprint of the client certificate; "" without one.
	certificate string
}

// pools keeps the transports that were used last. The zero value is empty. It is safe for concurrent use.
type pools struct {
	mu sync.Mutex
	// recent is a list of *pool, the one used last in front.
	recent list.List
	byKey  map[poolKey]*list.Element
}

type pool struct {
	key       poolKey
	transport *http.Transport
}

// get returns the transport of a key, and makes it if there is none. The pool that was not used for the longest time
// makes room; its idle connections are closed, and calls under way end undisturbed.
func (p *pools) get(key poolKey, make func() *http.Transport) *http.Transport {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byKey == nil {
		p.byKey = map[poolKey]*list.Element{}
	}
	if e, ok := p.byKey[key]; ok {
		p.recent.MoveToFront(e)
		return e.Value.(*pool).transport
	}
	for p.recent.Len() >= maxPools {
		oldest := p.recent.Remove(p.recent.Back()).(*pool)
		delete(p.byKey, oldest.key)
		oldest.transport.CloseIdleConnections()
	}
	added := &pool{key, make()}
	p.byKey[key] = p.recent.PushFront(added)
	return added.transport
}

// newTransport returns a transport whose connections follow the given rules.
func (c *Client) newTransport(rules tlsRules) *http.Transport {
	connections := cmp.Or(c.MaxConnections, DefaultMaxConnections)
	var sessions tls.ClientSessionCache
	if rules.client == nil { // a resumed session would not tell whether the client certificate was asked for
		sessions = tls.NewLRUClientSessionCache(connections)
	}
	return &http.Transport{
		// The proxy settings of the environment are ignored.
		DialTLSContext: func(ctx context.Context, _, hostPort string) (net.Conn, error) {
			return c.dialTLS(ctx, hostPort, rules, sessions)
		},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, newError(URLRefused, "Only URLs that begin with https:// are called.")
		},
		DisableCompression:     true, // a small reply could unpack to a large one
		MaxIdleConnsPerHost:    connections,
		MaxConnsPerHost:        connections,
		MaxIdleConns:           connections,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// dialTLS opens a connection on which the certificates of both sides were verified.
func (c *Client) dialTLS(
	ctx context.Context, hostPort string, rules tlsRules, sessions tls.ClientSessionCache,
) (net.Conn, error) {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, newError(URLRefused, "The host of the URL is not valid.")
	}
	// The context is not the context of the call: http.Transport lets a connection that it has begun outlive it.
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	plain, err := c.dial(ctx, hostPort)
	if err != nil {
		return nil, err
	}
	presented := &presentation{kms: c.KMS, key: rules.client}
	config := rules.config(host, c.now, sessions)
	config.GetClientCertificate = presented.certificate
	conn := tls.Client(plain, config)
	if err = conn.HandshakeContext(ctx); err != nil {
		err = explain(ctx, err)
	}
	err = presented.check(err)
	if err != nil {
		plain.Close()
		return nil, err
	}
	return conn, nil
}

// maxClientCertificates is the length of the chain that a receiver is shown.
const maxClientCertificates = 6

// CertificateRequest returns a request (PKCS #10, in PEM) for a certificate of a client key, signed by KMS.
func CertificateRequest(ctx context.Context, k ClientKey, s kmskey.API, commonName string) ([]byte, error) {
	public, err := k.ParsePublicKey()
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: commonName}, SignatureAlgorithm: x509.ECDSAWithSHA256,
	}
	signer := &kmskey.Signer{Context: ctx, KMS: s, KeyID: k.KMSKey, PublicKey: public}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, signer)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate request: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// ParseCertificates reads the certificates that are to be installed for a client key: in PEM, its own first, each of
// the others being the issuer of the one preceding it. The root may be left out. Its errors name the faulty
// certificate.
func (k ClientKey) ParseCertificates(text []byte, now time.Time) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return nil, errors.New("it is not a certificate in PEM")
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("it has a %s beside certificates", block.Type)
		case len(chain) == maxClientCertificates:
			return nil, fmt.Errorf("it has more than %d certificates", maxClientCertificates)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("it has a certificate that cannot be read")
		}
		chain = append(chain, certificate)
	}
	if len(chain) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return chain, k.checkChain(chain, now)
}

func (k ClientKey) checkChain(chain []*x509.Certificate, now time.Time) error {
	public, err := k.ParsePublicKey()
	if err != nil {
		return err
	}
	leaf := chain[0]
	usages := leaf.ExtKeyUsage
	isForClients := len(usages)+len(leaf.UnknownExtKeyUsage) == 0 ||
		slices.Contains(usages, x509.ExtKeyUsageClientAuth) || slices.Contains(usages, x509.ExtKeyUsageAny)
	switch own, ok := leaf.PublicKey.(*ecdsa.PublicKey); {
	case !ok || !own.Equal(public):
		return errors.New("its first certificate is not one of the tenant's client key: send the issuer the request " +
			"that --request prints")
	case now.After(leaf.NotAfter):
		return fmt.Errorf("its first certificate has expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("its first certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	case !isForClients:
		return errors.New("its first certificate may not be used for client authentication")
	}
	for i, issuer := range chain[1:] {
		if err := chain[i].CheckSignatureFrom(issuer); err != nil {
			return fmt.Errorf("its certificate %d has not issued the one preceding it", i+2)
		}
	}
	return nil
}
