package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/auth"
	"sluice/shared/auth/authdb"
)

// provision makes sure that there is a tenant with the batch feature and a client with all permissions, and that they work.
func (c *Cloud) provision(ctx context.Context) error {
	registry := authdb.New(dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String(c.self.DynamoDBURL),
		Credentials: credentials.NewStaticCredentialsProvider(c.self.AccessKeyID, c.self.SecretAccessKey, ""),
	}), c.self.Prefix+"-clients")
	if err := c.client(ctx, registry); err != nil {
		return fmt.Errorf("the tenant and its client cannot be made: %w", err)
	}
	if c.options.Functions != "" {
		return nil // who runs them may need to know our addresses first
	}
	return c.tryToken(ctx)
}

func (c *Cloud) client(ctx context.Context, registry auth.Registry) error {
	_, _, err := registry.Identify(ctx, c.self.ClientID, c.self.TenantID)
	if err == nil && c.self.ClientSecret != "" {
		return nil // from an earlier start; what was changed about it since then stays
	}
	if err != nil && !errors.Is(err, auth.ErrNotFound) {
		return err
	}
	tenant := auth.Tenant{ID: newID(), BatchEnabled: true, Settings: auth.DefaultSettings(), CreatedAt: time.Now()}
	if err := registry.CreateTenant(ctx, tenant); err != nil {
		return err
	}
	secret, hash := auth.NewSecret()
	client := auth.Client{ID: newID(), Tenant: tenant.ID, Permissions: auth.Permissions, Secret: hash, CreatedAt: time.Now()}
	if err := registry.CreateClient(ctx, client); err != nil {
		return err
	}
	c.self.TenantID, c.self.ClientID, c.self.ClientSecret = tenant.ID, client.ID, secret
	c.self.Scope = "tenant/" + tenant.ID
	return nil
}

// tryToken asks for a token as a client would: it takes the gateway, a function, the database and the signing key to get one.
func (c *Cloud) tryToken(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.self.ClientID},
		"client_secret": {c.self.ClientSecret}, "scope": {c.self.Scope}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.self.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	// A client that was disabled on purpose gets no token; the endpoint works all the same.
	if err == nil && (answer.Token != "" || answer.Error == "invalid_client") {
		return nil
	}
	return fmt.Errorf("the token endpoint answers with %s; see %s", resp.Status, c.path("logs", "functions.log"))
}

// announce prints what a person needs to go on by hand.
func (c *Cloud) announce() {
	s := c.self
	var b strings.Builder
	fmt.Fprintf(&b, "Sluice runs on this machine. Its data and logs are in %s; Ctrl-C stops it.\n\n", c.options.Data)
	for _, line := range [][2]string{{"API", s.APIURL}, {"Token", s.TokenURL}, {"S3", s.S3URL}, {"AWS endpoint", s.AWSEndpointURL},
		{"Tenant", s.TenantID}, {"Client id", s.ClientID}, {"Client secret", s.ClientSecret}} {
		fmt.Fprintf(&b, "  %-14s %s\n", line[0], line[1])
	}
	fmt.Fprintf(&b, `
  TOKEN=$(curl -s %s -d grant_type=client_credentials -d client_id=%s -d client_secret=%s -d scope=%s | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')
  curl -s -X POST %s/tm/realtime/api/transactions/batch/generate-upload-url -H "Authorization: Bearer $TOKEN"
  curl -s -X PUT -H 'If-None-Match: *' --data-binary @FILE UPLOAD_URL

`, s.TokenURL, s.ClientID, s.ClientSecret, s.Scope, s.APIURL)
	if c.template.Parameters["MalwareScan"] == "builtin" {
		fmt.Fprintln(&b, "No clamd is set (--set ClamdAddress=tcp://host:port): the built-in malware check stands in.")
	}
	for _, what := range c.template.Unserved {
		fmt.Fprintf(&b, "Not served here: %s.\n", what)
	}
	_, _ = fmt.Fprint(c.options.Output, b.String())
}
