package externalauth

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
	"time"
)

// ValidationMode says how the certificate of a configuration relates to the one that the receiver presents.
type ValidationMode string

// The validation modes.
const (
	// PinLeafThumbprint accepts only the given certificate itself.
	PinLeafThumbprint ValidationMode = "PinLeafThumbprint"
	// SignerChainValidationOnly accepts every certificate that the given one has signed, directly or through
	// intermediates.
	SignerChainValidationOnly ValidationMode = "SignerChainValidationOnly"
)

// ValidationModes lists the validation modes; the first one is the default.
var ValidationModes = []ValidationMode{PinLeafThumbprint, SignerChainValidationOnly}

// Certificate says which certificates of a receiver are accepted.
type Certificate struct {
	// IsPublicCA means that the receiver's certificate must come from a public CA. PEM may then be empty; if it is not,
	// both requirements hold.
	IsPublicCA bool
	// PEM is the given certificate; "" for none.
	PEM string
	// NextPEM is a second certificate that is accepted as well as PEM, for the time of a change; "" for none.
	NextPEM string
	// Mode is never "" in a configuration that the store returns.
	Mode ValidationMode
}

// ParseChain returns the parsed certificates that were given: none, the first, or the first and the next.
func (c *Certificate) ParseChain() ([]*x509.Certificate, error) {
	var given []*x509.Certificate
	for _, text := range []string{c.PEM, c.NextPEM} {
		if text == "" {
			continue
		}
		parsed, err := ParsePEM(text)
		if err != nil {
			return nil, err
		}
		given = append(given, parsed)
	}
	return given, nil
}

// Errors of ParsePEM and CheckPEM. Their texts are for clients.
var (
	ErrNotPEM = errors.New("the value must be one certificate in PEM, from -----BEGIN CERTIFICATE----- to " +
		"-----END CERTIFICATE-----, with nothing else around it")
	ErrSeveralCertificates = errors.New("the value has more than one certificate; give exactly one, not a chain")
	ErrPrivateKey          = errors.New("the value contains a private key; it was not stored. Give the certificate " +
		"alone, and replace the key if it was in use")
	ErrNotCA = errors.New("with SignerChainValidationOnly, the certificate must be that of a CA, which signs others; " +
		"to accept just this one, use PinLeafThumbprint")
)

// CheckPEM parses a certificate that is given for a mode. Its errors are the errors of ParsePEM, and ErrNotCA.
func CheckPEM(text string, mode ValidationMode) (*x509.Certificate, error) {
	c, err := ParsePEM(text)
	if err == nil && mode == SignerChainValidationOnly && !IsCA(c) {
		err = ErrNotCA
	}
	return c, err
}

// GivenCertificate is a certificate of a configuration and its place.
type GivenCertificate struct {
	// Property is the place by its names on the wire, for example endpointCertificate.nextCertificate.
	Property    string
	Mode        ValidationMode
	Certificate *x509.Certificate
}

// Certificates returns all certificates that were given for a configuration, except for those that cannot be parsed.
func (c *Configuration) Certificates() []GivenCertificate {
	given := c.EndpointCertificate.placed("endpointCertificate")
	if c.OAuth != nil {
		given = append(given,
			c.OAuth.EndpointCertificate.placed("oAuthConfiguration.clientCredentialsConfig.endpointCertificate")...)
	}
	return given
}

func (c *Certificate) placed(property string) []GivenCertificate {
	if c == nil {
		return nil
	}
	var given []GivenCertificate
	for _, g := range []struct{ name, text string }{{"certificate", c.PEM}, {"nextCertificate", c.NextPEM}} {
		if parsed, err := ParsePEM(g.text); err == nil {
			given = append(given, GivenCertificate{property + "." + g.name, c.Mode, parsed})
		}
	}
	return given
}

// IsCA reports whether a certificate may sign others.
func IsCA(c *x509.Certificate) bool {
	return c.BasicConstraintsValid && c.IsCA && (c.KeyUsage == 0 || c.KeyUsage&x509.KeyUsageCertSign != 0)
}

const certificateBlock = "CERTIFICATE"

// ParsePEM parses a text that is one certificate in PEM with nothing but white space around it. Its errors are
// ErrNotPEM, ErrSeveralCertificates and ErrPrivateKey.
func ParsePEM(text string) (*x509.Certificate, error) {
	if strings.Contains(text, "PRIVATE KEY-----") {
		return nil, ErrPrivateKey
	}
	// pem.Decode skips unreadable text, so that its result may be incomplete.
	const begin = "-----BEGIN " + certificateBlock + "-----"
	text = strings.TrimSpace(text)
	switch {
	case !strings.HasPrefix(text, begin):
		return nil, ErrNotPEM
	case strings.Count(text, begin) > 1:
		return nil, ErrSeveralCertificates
	}
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != certificateBlock || len(block.Headers) > 0 || len(rest) > 0 {
		return nil, ErrNotPEM
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, ErrNotPEM
	}
	return certificate, nil
}

// IsIntermediate reports whether a certificate belongs to a CA and is signed by another one. Self-signed certificates
// are left out because a server's own certificate, if it is self-signed, may have the CA flag.
func IsIntermediate(c *x509.Certificate) bool {
	return IsCA(c) && !bytes.Equal(c.RawSubject, c.RawIssuer)
}

// Details are the details of a certificate in the interface.
type Details struct {
	// Subject and Issuer are distinguished names as in RFC 2253.
	Subject string
	Issuer  string
	// Serial is in upper-case hexadecimal digits.
	Serial    string
	NotBefore time.Time
	NotAfter  time.Time
	// ThumbprintSHA1 and ThumbprintSHA256 are digests of the whole certificate in upper-case hexadecimal digits.
	ThumbprintSHA1   string
	ThumbprintSHA256 string
}

// DetailsOf describes a certificate.
func DetailsOf(c *x509.Certificate) Details {
	sum1, sum256 := sha1.Sum(c.Raw), sha256.Sum256(c.Raw)
	return Details{
		Subject: c.Subject.String(), Issuer: c.Issuer.String(), Serial: strings.ToUpper(c.SerialNumber.Text(16)),
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(),
		ThumbprintSHA1:   strings.ToUpper(hex.EncodeToString(sum1[:])),
		ThumbprintSHA256: strings.ToUpper(hex.EncodeToString(sum256[:])),
	}
}
