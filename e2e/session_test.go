package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"sluice/client"
)

// Paths of the monitoring interface: those of transactions and batches begin with transactionsPath, and upload URLs
// come from uploadPath.
const (
	transactionsPath = "/tm/realtime/api/transactions/"
	uploadPath       = transactionsPath + "batch/generate-upload-url"
)

// session is one client of a tenant. Its client is what a Go program would use; raw calls carry a token of their own.
type session struct {
	t           *testing.T
	environment *Environment
	clientCredentials
	// tenantID is sent with raw calls.
	tenantID string
	client   *client.Client
	// token authorizes raw calls; "" sends none.
	token string
}

// clientCredentials are those of one client of a tenant, as the admin command prints a new one.
type clientCredentials struct {
	TenantID     string `json:"tenant_id"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// login opens a session of the environment's own client.
func login(t *testing.T, e *Environment) *session {
	t.Helper()
	return loginAs(t, e, clientCredentials{e.TenantID, e.ClientID, e.ClientSecret})
}

func loginAs(t *testing.T, e *Environment, c clientCredentials) *session {
	t.Helper()
	s := &session{t: t, environment: e, clientCredentials: c, tenantID: c.TenantID}
	config := s.config()
	s.client = ok(client.New(config))(t)
	resp := ok(http.PostForm(e.TokenURL, url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ClientID},
		"client_secret": {c.ClientSecret}, "scope": {config.Scope}}))(t)
	var reply struct {
		AccessToken string `json:"access_token"`
	}
	decodeReply(t, resp, http.StatusOK, &reply)
	s.token = reply.AccessToken
	return s
}

// config returns the settings of a Go client.
func (s *session) config() client.Config {
	return client.Config{APIURL: s.environment.APIURL, TokenURL: s.environment.TokenURL, ClientID: s.ClientID,
		ClientSecret: s.ClientSecret, Scope: "tenant/" + s.TenantID, HTTP: http.DefaultClient}
}

// begin begins a test that runs beside others: it skips the test where the environment lacks what it needs, and opens a
// session of the environment's own client, whose tenant has the usual entities.
func begin(t *testing.T, needs ...capability) *session {
	t.Helper()
	beginParallel(t, needs...)
	onboardEntities(t, environment)
	return login(t, environment)
}

// beginTenant begins a test with a session of a tenant of its own, which has neither entities nor the batch feature.
func beginTenant(t *testing.T, needs ...capability) *session {
	t.Helper()
	beginParallel(t, needs...)
	return loginNewTenant(t)
}

// beginBatchTenant is beginTenant for a tenant that may use batches and has the parties of valid lines.
func beginBatchTenant(t *testing.T, needs ...capability) *session {
	t.Helper()
	beginParallel(t, needs...)
	return loginBatchTenant(t, environment)
}

func beginParallel(t *testing.T, needs ...capability) {
	t.Helper()
	t.Parallel()
	for _, c := range needs {
		skipWithout(t, c)
	}
}

// newClient creates a client of a tenant. Options are those of the admin command, such as "--permission", "BatchRead";
// without one of these, the client has all permissions.
func newClient(t *testing.T, e *Environment, tenantID string, options ...string) clientCredentials {
	t.Helper()
	c := clientCredentials{TenantID: tenantID}
	if !slices.Contains(options, "--permission") {
		options = append(slices.Clone(options), "--permission", "all")
	}
	must(t, e.admin(&c, append([]string{"client", "create", "--tenant", tenantID}, options...)...))
	issuedSecrets.add(c.ClientSecret)
	return c
}

// loginNewClient opens a session of a new client of the shared environment's own tenant.
func loginNewClient(t *testing.T, options ...string) *session {
	t.Helper()
	return loginAs(t, environment, newClient(t, environment, environment.TenantID, options...))
}

// newTenant creates a tenant, whose batch feature is off, with settings such as "limits=none", and returns its ID.
func newTenant(t *testing.T, e *Environment, settings ...string) string {
	t.Helper()
	args := []string{"tenant", "create"}
	for _, setting := range settings {
		args = append(args, "--set", setting)
	}
	var tenant struct {
		ID string `json:"tenant_id"`
	}
	must(t, e.admin(&tenant, args...))
	return tenant.ID
}

// loginLimitedTenant opens a session of a new tenant with the default limits, but for settings.
func loginLimitedTenant(t *testing.T, e *Environment, settings ...string) *session {
	t.Helper()
	return loginAs(t, e, newClient(t, e, newTenant(t, e, settings...)))
}

// loginNewTenant opens a session of a new client of a new tenant of the shared environment.
func loginNewTenant(t *testing.T, options ...string) *session {
	t.Helper()
	return loginAs(t, environment, newClient(t, environment, newTenant(t, environment, "limits=none"), options...))
}

// loginTenantOf is loginNewTenant for any environment.
func loginTenantOf(t *testing.T, e *Environment) *session {
	t.Helper()
	return loginAs(t, e, newClient(t, e, newTenant(t, e, "limits=none")))
}

// loginBatchTenant opens a session of a new tenant that may use batches and has the parties of valid lines.
func loginBatchTenant(t *testing.T, e *Environment) *session {
	t.Helper()
	s := loginTenantOf(t, e)
	s.enableBatches()
	s.onboardParties()
	return s
}

// in returns the session for a part of its test.
func (s *session) in(t *testing.T) *session {
	c := *s
	c.t = t
	return &c
}

// enableBatches switches the batch feature of the session's tenant on.
func (s *session) enableBatches() {
	s.t.Helper()
	must(s.t, s.environment.admin(nil, "tenant", "enable-batch", s.tenantID))
}

// onboardParties imports the sender and the receiver of valid lines for the session's tenant.
func (s *session) onboardParties() {
	s.t.Helper()
	path := writeFile(s.t, "entities.jsonl", `{"id":"`+senderID+`","lifecycleStatus":"Compliant"}`+"\n"+
		`{"id":"`+receiverID+`","lifecycleStatus":"Compliant"}`+"\n")
	must(s.t, s.environment.admin(nil, "entities", "import", path, "--tenant", s.tenantID))
}

// newUpload creates a batch.
func (s *session) newUpload(rejectOnInvalid bool) client.Upload {
	s.t.Helper()
	u := ok(s.client.CreateUpload(s.t.Context(), rejectOnInvalid))(s.t)
	return u
}

// startBatch creates a batch, uploads its file and returns its ID.
func (s *session) startBatch(rejectOnInvalid bool, file []byte) string {
	s.t.Helper()
	u := s.newUpload(rejectOnInvalid)
	must(s.t, s.client.UploadFile(s.t.Context(), u, bytes.NewReader(file), int64(len(file)), nil))
	return u.BatchID
}

// process uploads the file of a new batch and follows the batch to its end.
func (s *session) process(rejectOnInvalid bool, file []byte) client.Status {
	s.t.Helper()
	last, _ := s.follow(s.startBatch(rejectOnInvalid, file))
	return last
}

// expectProcess processes a batch without tolerance for invalid lines, which must end with a status.
func (s *session) expectProcess(want string, file []byte) client.Status {
	s.t.Helper()
	return s.expectEnd(want, s.startBatch(true, file))
}

// expectProcessWith processes a batch that is asked for with options and must end with a status.
func (s *session) expectProcessWith(want string, o client.UploadOptions, file []byte) client.Status {
	s.t.Helper()
	last, _ := s.processWith(o, file)
	return s.expectStatus(want, last)
}

// expectEnd follows a batch, which must end with a status.
func (s *session) expectEnd(want, batchID string) client.Status {
	s.t.Helper()
	last, _ := s.follow(batchID)
	return s.expectStatus(want, last)
}

func (s *session) expectStatus(want string, got client.Status) client.Status {
	s.t.Helper()
	require(s.t, got.Status == want, "batch %s ended with %s (%q), want %s", got.BatchID, got.Status, got.ErrorMessage,
		want)
	return got
}

// pollingPace waits little for small batches and takes little of the machine from large ones. With steps of 10 ms, the
// suite asked 4,900 times in place of 3,400 and took a twelfth longer.
func pollingPace(n int) time.Duration {
	return min(time.Duration(n)*25*time.Millisecond, 250*time.Millisecond)
}

// follow polls a batch to its end. It returns the last status and every status that was seen, in order and without
// repetitions.
func (s *session) follow(batchID string) (last client.Status, seen []string) {
	s.t.Helper()
	last, err := s.client.Follow(s.t.Context(), batchID, pollingPace, func(now client.Status) {
		if now.Status != "" && (len(seen) == 0 || seen[len(seen)-1] != now.Status) {
			seen = append(seen, now.Status)
		}
	})
	require(s.t, err == nil, "batch %s, seen %v: %v", batchID, seen, err)
	return last, seen
}

func (s *session) result(batchID string) client.ValidationResult {
	s.t.Helper()
	r := ok(s.client.ValidationResult(s.t.Context(), batchID))(s.t)
	return r
}

// report downloads the validation report of a batch that has invalid lines.
func (s *session) report(batchID string) []client.ReportLine {
	s.t.Helper()
	r := s.result(batchID)
	require(s.t, r.Valid != nil && !(*r.Valid) && r.ErrorsFileURL != "",
		"the validation result is %+v, want an invalid one with a report", r)
	body := ok(s.client.OpenReport(s.t.Context(), r.ErrorsFileURL))(s.t)
	defer body.Close()
	var lines []client.ReportLine
	for decoder := json.NewDecoder(body); ; {
		var text json.RawMessage
		err := decoder.Decode(&text)
		if errors.Is(err, io.EOF) {
			return lines
		}
		if err == nil {
			err = contract.document.ValidateJSON("#/components/schemas/ReportLine", text)
		}
		must(s.t, err)
		var line client.ReportLine
		decodeStrictly(s.t, text, &line)
		lines = append(lines, line)
	}
}
