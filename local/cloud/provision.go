package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/internal/linefile"
	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
)

// provision creates a tenant with the batch feature and without limits, and a client with all permissions, unless they
// exist, and checks that the client obtains a token.
func (c *Cloud) provision(ctx context.Context) error {
	registry := authdb.New(dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String(c.descriptor.DynamoDBURL), Credentials: c.operatorCredentials(),
	}), c.descriptor.Prefix+"-clients")
	if err := c.ensureClient(ctx, registry); err != nil {
		return fmt.Errorf("create the tenant and its client: %w", err)
	}
	if c.options.Functions != "" {
		return nil // the functions may not run yet: whoever starts them may need the addresses first
	}
	return c.checkToken(ctx)
}

// ensureClient creates a tenant with a client unless they exist from an earlier start. Existing ones are not changed.
func (c *Cloud) ensureClient(ctx context.Context, registry auth.Registry) error {
	_, _, err := registry.ClientAndTenant(ctx, c.descriptor.ClientID, c.descriptor.TenantID)
	if err == nil && c.descriptor.ClientSecret != "" {
		return nil
	}
	if err != nil && !errors.Is(err, auth.ErrNotFound) {
		return err
	}
	tenant := auth.Tenant{ID: newID(), BatchEnabled: true, Settings: auth.DefaultSettings(),
		Limits: ratelimit.Unlimited(), CreatedAt: time.Now()}
	if err := registry.CreateTenant(ctx, tenant); err != nil {
		return err
	}
	secret, hash := auth.NewSecret()
	client := auth.Client{
		ID:          newID(),
		Tenant:      tenant.ID,
		Permissions: permission.All(),
		Secret:      hash,
		CreatedAt:   time.Now(),
	}
	if err := registry.CreateClient(ctx, client); err != nil {
		return err
	}
	c.descriptor.TenantID, c.descriptor.ClientID, c.descriptor.ClientSecret = tenant.ID, client.ID, secret
	c.descriptor.Scope = "tenant/" + tenant.ID
	return nil
}

// tokenPatience is how long checkToken tries again while executions that are resumed take the account's concurrency.
const tokenPatience = time.Minute

// checkToken requests a token as a client does, which involves the gateway, a function, the database and the signing
// key.
func (c *Cloud) checkToken(ctx context.Context) error {
	for deadline := time.Now().Add(tokenPatience); ; {
		throttled, err := c.requestToken(ctx)
		if !throttled || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// requestToken is one attempt of checkToken. throttled says that it failed for a limit of the cloud.
func (c *Cloud) requestToken(ctx context.Context) (throttled bool, err error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.descriptor.ClientID},
		"client_secret": {c.descriptor.ClientSecret}, "scope": {c.descriptor.Scope}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.descriptor.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var reply struct {
		Token string `json:"access_token"`
		Error string `json:"error"`
	}
	err = json.NewDecoder(resp.Body).Decode(&reply)
	// If the client was disabled on purpose, this error shows that the endpoint works.
	if err == nil && (reply.Token != "" || reply.Error == "invalid_client") {
		return false, nil
	}
	throttled = c.options.Limits.isSet() && resp.StatusCode != http.StatusOK
	return throttled, fmt.Errorf("the token endpoint responds with %s; see %s", resp.Status,
		c.path("logs", "functions.log"))
}

// announce prints the addresses, the credentials and the first commands to try.
func (c *Cloud) announce() {
	s := c.descriptor
	var b strings.Builder
	fmt.Fprintf(&b, "Sluice is running on this machine. Its data and logs are in %s. Press Ctrl-C to stop it.\n\n",
		c.options.Data)
	for _, line := range [][2]string{
		{"API", s.APIURL}, {"Token", s.TokenURL}, {"S3", s.S3URL}, {"AWS endpoint", s.AWSEndpointURL},
		{"Tenant", s.TenantID}, {"Client ID", s.ClientID}, {"Client secret", s.ClientSecret},
	} {
		fmt.Fprintf(&b, "  %-14s %s\n", line[0], line[1])
	}
	if l := c.listeners.metrics; l != nil {
		fmt.Fprintf(&b, "  %-14s http://%s/metrics\n", "Metrics", l.Addr())
	}
	fmt.Fprintf(&b, "\nTo upload a batch of test data, run this in another terminal:\n\n")
	for _, command := range c.firstCommands() {
		fmt.Fprintf(&b, "  %s\n", command)
	}
	fmt.Fprintln(&b)
	if c.template.Parameters["MalwareScan"] == "builtin" {
		fmt.Fprintln(&b, "No clamd is set (--set ClamdAddress=tcp://host:port), so the built-in malware check is used.")
	}
	for _, line := range c.limitLines() {
		fmt.Fprintf(&b, "Limited: %s.\n", line)
	}
	for _, item := range c.template.Unserved {
		fmt.Fprintf(&b, "Not served locally: %s.\n", item)
	}
	_, _ = fmt.Fprint(c.options.Output, b.String())
}

// firstCommands returns commands for a POSIX shell, to be run one after the other as they are: they make a batch,
// upload it by curl and read its status.
func (c *Cloud) firstCommands() []string {
	s, quote := c.descriptor, linefile.ShellQuote
	const file = "sluice-trial.jsonl"
	sluice, data := quote(filepath.Join(c.options.Project, "bin", "sluice")), quote(c.options.Data)
	batches := s.APIURL + "/tm/realtime/api/transactions/batch/"
	const authorization = `-H "Authorization: Bearer $TOKEN"`
	member := func(reply, name string) string { // of a flat JSON object
		return fmt.Sprintf(`$(%s | sed 's/.*"%s": *"\([^"]*\)".*/\1/')`, reply, name)
	}
	return []string{
		sluice + " generate --lines 1000 -o " + file,
		sluice + " admin entities import " + file + ".entities --data " + data,
		"TOKEN=" + member(fmt.Sprintf("curl -sS %s -d grant_type=client_credentials "+
			"-d client_id=%s -d client_secret=%s -d scope=%s",
			quote(s.TokenURL), quote(s.ClientID), quote(s.ClientSecret), quote(s.Scope)), "access_token"),
		"REPLY=$(curl -sS -X POST " + quote(batches+"generate-upload-url") + " " + authorization + ")",
		"BATCH=" + member(`printf '%s' "$REPLY"`, "batch_id"),
		"URL=" + member(`printf '%s' "$REPLY"`, "url"),
		"curl -sS -T " + file + ` -H 'If-None-Match: *' "$URL"`,
		`curl -sS "` + batches + `status/$BATCH" ` + authorization,
	}
}
