package admin

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/files"
	"sluice/internal/command"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
)

// clientCertificateOptions are the flags of tenant client-certificate.
type clientCertificateOptions struct {
	isRequested bool
	commonName  string
	// file holds the certificates to install; "" for none.
	file string
}

func (a *admin) clientCertificateCommand() *cobra.Command {
	var o clientCertificateOptions
	c := a.command(&cobra.Command{
		Use: "client-certificate", Short: "show, request or install the certificate that a tenant's calls present",
		Long: `
Sluice presents this certificate to receivers (webhooks, adapters, token endpoints) for which a configuration of
external authentication sets isMtlsEnabled, and signs client assertions with its key. The key is made in KMS and never
leaves it; a tenant has one.

--request prints the request as certificate_request: have it signed for client authentication. --install takes what the
CA sends, in PEM: the certificate, then those that lead to its root; the root may be left out. To renew a certificate,
have the same request signed again and install the result; calls present it at once. Without either flag the command
prints what there is.`,
		Example: `
sluice admin tenant client-certificate --request | jq -r .certificate_request > tenant.csr
sluice admin tenant client-certificate --install tenant.pem`,
	}, func(ctx context.Context, a *admin, _ []string) (any, error) {
		return manageClientCertificate(ctx, a, o)
	})
	f := c.Flags()
	f.BoolVar(&o.isRequested, "request", false,
		"create the tenant's key unless there is one, and print a certificate request")
	f.StringVar(&o.commonName, "common-name", "", "`NAME` of the tenant in the request (default its ID)")
	f.StringVar(&o.file, "install", "", "install the certificates in `FILE`; - is standard input")
	return c
}

// clientKeyOutput is how a tenant's client key is printed.
type clientKeyOutput struct {
	TenantID string `json:"tenant_id"`
	// KeyID is the kid in the published key set.
	KeyID     string    `json:"kid"`
	CreatedAt time.Time `json:"created_at"`
	// CertificateRequest is in PEM.
	CertificateRequest string             `json:"certificate_request,omitempty"`
	Certificate        *certificateOutput `json:"certificate"`
	InstalledAt        *time.Time         `json:"installed_at,omitempty"`
}

// certificateOutput is how a certificate is printed.
type certificateOutput struct {
	Subject          string    `json:"subject"`
	Issuer           string    `json:"issuer"`
	Serial           string    `json:"serial"`
	NotBefore        time.Time `json:"not_before"`
	NotAfter         time.Time `json:"not_after"`
	ThumbprintSHA1   string    `json:"thumbprint_sha1"`
	ThumbprintSHA256 string    `json:"thumbprint_sha256"`
}

func newClientKeyOutput(k outbound.ClientKey) (clientKeyOutput, error) {
	out := clientKeyOutput{TenantID: k.Tenant, KeyID: k.ID, CreatedAt: k.CreatedAt}
	if len(k.Certificates) == 0 {
		return out, nil
	}
	leaf, err := x509.ParseCertificate(k.Certificates[0])
	if err != nil {
		return out, err
	}
	details := certificateOutput(externalauth.DetailsOf(leaf))
	out.Certificate, out.InstalledAt = &details, &k.InstalledAt
	return out, nil
}

func manageClientCertificate(ctx context.Context, a *admin, o clientCertificateOptions) (any, error) {
	if err := a.requireTenant(); err != nil {
		return nil, err
	}
	switch {
	case o.isRequested && o.file != "":
		return nil, command.Usagef("--request and --install exclude each other")
	case o.commonName != "" && !o.isRequested:
		return nil, command.Usagef("--common-name is for --request")
	case o.isRequested:
		return requestCertificate(ctx, a, o.commonName)
	case o.file != "":
		return installCertificate(ctx, a, o.file)
	}
	key, err := findClientKey(ctx, a)
	if err != nil {
		return nil, err
	}
	return newClientKeyOutput(key)
}

// findClientKey returns the tenant's key. If there is none, the error says what to do.
func findClientKey(ctx context.Context, a *admin) (outbound.ClientKey, error) {
	key, err := a.clientKeys.ClientKey(ctx, a.tenant)
	if !errors.Is(err, outbound.ErrNoClientKey) {
		return key, err
	}
	if _, err := a.registry.Tenant(ctx, a.tenant); err != nil {
		return key, explainNotFound(err, "tenant", a.tenant)
	}
	return key, fmt.Errorf("the tenant %s has no client key: create one with --request", a.tenant)
}

// requestCertificate creates the tenant's key unless there is one, and prints a request for a certificate of it.
func requestCertificate(ctx context.Context, a *admin, commonName string) (any, error) {
	commonName = cmp.Or(commonName, a.tenant)
	if _, err := a.registry.Tenant(ctx, a.tenant); err != nil {
		return nil, explainNotFound(err, "tenant", a.tenant)
	}
	key, err := a.clientKeys.ClientKey(ctx, a.tenant)
	if errors.Is(err, outbound.ErrNoClientKey) {
		key, err = createClientKey(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	request, err := outbound.CertificateRequest(ctx, key, a.kms, commonName)
	if err != nil {
		return nil, err
	}
	out, err := newClientKeyOutput(key)
	out.CertificateRequest = string(request)
	return out, err
}

// clientKeyTag is the tag of client keys that policies of functions name. Its value is the prefix of the installation.
const clientKeyTag = "sluice-client-key"

// createClientKey creates the tenant's key. Of two that are created at the same time the first one counts; the other
// stays in KMS unused.
func createClientKey(ctx context.Context, a *admin) (outbound.ClientKey, error) {
	created, err := a.kms.CreateKey(ctx, &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify,
		Description: aws.String(a.prefix + ": client key of the tenant " + a.tenant),
		Tags: []types.Tag{
			{TagKey: aws.String(clientKeyTag), TagValue: &a.prefix},
			{TagKey: aws.String("sluice-tenant"), TagValue: &a.tenant},
		},
	})
	if err != nil {
		return outbound.ClientKey{}, err
	}
	public, err := a.kms.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: created.KeyMetadata.Arn})
	if err != nil {
		return outbound.ClientKey{}, err
	}
	key := outbound.ClientKey{
		Tenant: a.tenant, ID: uuid.NewString(), KMSKey: *created.KeyMetadata.Arn, PublicKey: public.PublicKey,
		CreatedAt: a.now,
	}
	if err := a.clientKeys.CreateClientKey(ctx, key); !errors.Is(err, outbound.ErrClientKeyExists) {
		return key, err
	}
	return a.clientKeys.ClientKey(ctx, a.tenant)
}

// maxCertificateBytes is the size of the largest file with certificates.
const maxCertificateBytes = 64 << 10

func installCertificate(ctx context.Context, a *admin, name string) (any, error) {
	key, err := findClientKey(ctx, a)
	if err != nil {
		return nil, err
	}
	text, err := readCertificates(ctx, name)
	if err != nil {
		return nil, err
	}
	chain, err := key.ParseCertificates(text, a.now)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be installed: %w", files.DisplayName(name), err)
	}
	key.Certificates, key.InstalledAt = nil, a.now
	for _, certificate := range chain {
		key.Certificates = append(key.Certificates, certificate.Raw)
	}
	if err := a.clientKeys.InstallCertificates(ctx, key); err != nil {
		return nil, err
	}
	return newClientKeyOutput(key)
}

func readCertificates(ctx context.Context, name string) ([]byte, error) {
	in, err := files.OpenInput(ctx, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxCertificateBytes+1))
	if err == nil && len(text) > maxCertificateBytes {
		err = fmt.Errorf("%s is larger than certificates are", files.DisplayName(name))
	}
	return text, err
}
