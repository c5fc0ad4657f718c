package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"

	"sluice/shared/connect/externalauth"
)

// Inspection has the certificates that a receiver presents, and the decision of each validation mode.
type Inspection struct {
	// Chain is the receiver's chain, its own certificate first; nil if no TLS connection came that far.
	Chain []*x509.Certificate
	// Decisions has one for each mode of externalauth.ValidationModes.
	Decisions []Decision
}

// Decision is the decision of a validation mode about a receiver.
type Decision struct {
	Mode     externalauth.ValidationMode
	Accepted bool
	// Reason says why, for people.
	Reason string
}

// Inspect connects to a receiver by the rules of Do, without a request and without a client certificate. certificate is
// what the configuration says about the receiver's; nil means a public CA. It returns an *Error for a URL that may not
// be called; every other failure is the reason of the decisions.
func (c *Client) Inspect(ctx context.Context, u *url.URL, certificate *externalauth.Certificate) (Inspection, error) {
	if err := checkURL(u); err != nil {
		return Inspection{}, err
	}
	chain, err := c.presentedChain(ctx, u)
	if ctx.Err() != nil {
		return Inspection{}, ctx.Err()
	}
	inspection := Inspection{Chain: chain}
	for _, mode := range externalauth.ValidationModes {
		d := Decision{Mode: mode}
		if err == nil {
			d.Accepted, d.Reason = c.decide(u.Hostname(), chain, certificate, mode)
		} else {
			d.Reason = messageOf(err)
		}
		inspection.Decisions = append(inspection.Decisions, d)
	}
	return inspection, nil
}

// decide returns the decision of a mode about a chain.
func (c *Client) decide(host string, chain []*x509.Certificate, certificate *externalauth.Certificate,
	mode externalauth.ValidationMode) (accepted bool, reason string) {
	if certificate != nil {
		in := *certificate
		in.Mode = mode
		certificate = &in
	}
	rules, err := newTLSRules(certificate, c.PublicCAs)
	if err == nil {
		err = rules.verify(host, chain, c.now())
	}
	switch {
	case err != nil:
		return false, messageOf(err)
	case len(rules.given) == 0:
		return true, "A public CA has signed the receiver's certificate, and the configuration gives none."
	case mode == externalauth.SignerChainValidationOnly:
		return true, "A chain leads from the receiver's certificate to the signer that the configuration names."
	}
	return true, "The receiver's certificate is one that the configuration pins."
}

// messageOf returns the text of an *Error without its reason.
func messageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Message
	}
	return "The service cannot tell at present."
}

// errSeen ends a handshake when the receiver has presented its certificates.
var errSeen = newError(TLSFailed, "The certificates were seen.")

// presentedChain returns the certificates that a receiver presents.
func (c *Client) presentedChain(ctx context.Context, u *url.URL) (chain []*x509.Certificate, err error) {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	plain, err := c.dial(ctx, net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	config := tlsRules{}.config(u.Hostname(), c.now, nil)
	config.VerifyConnection = func(s tls.ConnectionState) error {
		chain = s.PeerCertificates
		return errSeen
	}
	err = tls.Client(plain, config).HandshakeContext(ctx)
	if chain != nil {
		return chain, nil
	}
	return nil, explain(ctx, err)
}
