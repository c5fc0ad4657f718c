package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const receptorPath = "/screeningreceptor/api/receptor"

// adapterAnswers is the file from which the adapters of these tests answer.
const adapterAnswers = `[{"name": "Ivan Petrov", "entityUniqueId": "list:1", "matchData": {"providerSourceName": "List",
	"name": "PETROV, Ivan", "matchScore": 97.5, "categories": ["Sanctions"]}}]`

// adapterAddress is what 'sluice adapter' prints when it serves.
var adapterAddress = regexp.MustCompile(` at (https://\S+);`)

// startAdapter runs 'sluice adapter' for a provider, with faults, and configures the provider.
func (c *session) startAdapter(provider string, faults ...string) *process {
	c.t.Helper()
	program := ok(builtProgram("sluice"))(c.t)
	newKey := func() string {
		key := make([]byte, 32)
		rand.Read(key)
		return base64.StdEncoding.EncodeToString(key)
	}
	encryption, authentication := newKey(), newKey()
	answers := writeFile(c.t, "answers.json", adapterAnswers)
	args := []string{"adapter", "--provider", provider, "--answers", answers}
	for _, fault := range faults {
		args = append(args, "--fail", fault)
	}
	cmd := exec.Command(program, append(args, c.connection()...)...)
	cmd.Env = append(os.Environ(), "SLUICE_DATA=", "SLUICE_ADAPTER_ENCRYPTION_KEY="+encryption,
		"SLUICE_ADAPTER_AUTHENTICATION_KEY="+authentication)
	p := ok(startProcess(cmd))(c.t)
	c.t.Cleanup(func() { _ = p.Process.Kill() })
	var address string
	if err := p.waitFor(patience, func() bool {
		if found := adapterAddress.FindStringSubmatch(p.output.String()); found != nil {
			address = found[1]
		}
		return address != ""
	}); err != nil {
		c.t.Fatalf("the adapter of %s has printed no address: %v", provider, err)
	}
	c.mustCall("POST", screeningCommands+"/configuration/provider", inEnvelope(fmt.Sprintf(`{"id":%q,"name":%q,`+
		`"adapterConfiguration":{"url":%q,"authenticationActive":true,"authenticationKey":%q,"encryptionKey":%q},`+
		`"defaultConfigurationSet":{"name":"Default","description":"d"}}`, provider, provider, address, authentication,
		encryption)), nil)
	return p
}

// screenBy creates a batch of one person that providers search for.
func (c *session) screenBy(entityID string, providers ...string) (batch string) {
	c.t.Helper()
	var list []string
	for _, id := range providers {
		list = append(list, fmt.Sprintf(`{"providerId":%q}`, id))
	}
	reply := callFor[struct{ BatchID string }](c, "POST", screeningCommands+"/batch", inEnvelope(fmt.Sprintf(
		`{"entities":[{"searchCriteria":%s,"legalEntityId":%q}],"providers":[%s]}`, screenedPerson("Ivan Petrov"),
		entityID,
		strings.Join(list, ","))))
	return reply.BatchID
}

// Providers with adapters search at the same time: what they find, or why they have failed, is in the batch.
func TestForeignProviders(t *testing.T) {
	c := beginTenant(t, receivers)
	good := c.startAdapter("good")
	large := c.startAdapter("large", "upload", "twice")
	c.startAdapter("rejects", "reject")
	c.startAdapter("breaks", "error")
	c.startAdapter("invents", "invalid")
	entity := uuid.NewString()
	batch := c.screenBy(entity, "good", "large", "rejects", "breaks", "invents")
	c.expectSearched(batch, "breaks: Return Failed (Adapter E000: The adapter could not search: told to), "+
		"good: Search Complete, "+
		"invents: Return Failed (Adapter E002: matches/1: The batch has no entity of this entityId.), "+
		"large: Search Complete, "+
		"rejects: Return Failed (Adapter E001: The adapter answered 400: it rejected the message.)")
	eventually(t, "the second answer of the same adapter", func() bool {
		return strings.Contains(large.output.String(), "1 match\n")
	})
	matches := c.matches(batch, entity)
	found := map[string]matchView{}
	for _, m := range matches {
		found[m.MatchData.ProviderID] = m
	}
	require(t, len(matches) == 2 && len(found) == 2, "got the matches %+v, want one of each provider that has answered",
		matches)
	if m := found["good"]; m.EntityUniqueID != "list:1" || m.MatchData.Name != "PETROV, Ivan" ||
		m.MatchData.MatchScore != 97.5 ||
		m.Status != "Unresolved" || len(m.EntityAliasIDs) != 1 || m.EntityAliasIDs[0] != "PrimaryName" {
		t.Errorf("got %+v", m)
	}

	// What people decide is told to the adapter of the match, and to no other one.
	c.mustCall("PUT", screeningCommands+"/batch/"+batch+"/matches", inEnvelope(fmt.Sprintf(
		`[{"entityId":%q,"matches":[{"matchId":%q,"status":"No Match","reason":"another person"}]}]`, entity,
		found["good"].ID)), nil)
	eventually(t, "the resolution at the adapter", func() bool {
		return strings.Contains(good.output.String(),
			"match "+found["good"].ID+" of batch "+batch+": No Match, another person")
	})
	assert(t, !strings.Contains(large.output.String(), "No Match"), "another adapter was told of it: %s",
		large.output.String())
}

// What the receptor cannot authenticate leaves the search as it is.
func TestForeignProviderWithWrongKeys(t *testing.T) {
	c := beginTenant(t, receivers)
	p := c.startAdapter("spoiled", "wrong-mac")
	batch := c.screenBy(uuid.NewString(), "spoiled")
	isRefused := func() bool { return strings.Contains(p.output.String(), "NOT DELIVERED") }
	if err := p.waitFor(patience, isRefused); err != nil {
		t.Fatalf("the answer was not refused: %v", err)
	}
	assert(t, strings.Contains(p.output.String(), "could not be authenticated"),
		"the adapter printed %s, want a refusal", p.output.String())
	v := callFor[searchedView](c, "GET", screeningQueries+"/batch/"+batch, "")
	if got := v.summary(); got != "spoiled: Search In Progress" {
		t.Errorf("got %s, want the search to go on", got)
	}
}

// The receptor wants its permission, the tenant of the token, and a message that it can authenticate.
func TestReceptor(t *testing.T) {
	c := beginTenant(t)
	c.mustCall("POST", screeningCommands+"/configuration/provider", inEnvelope(
		`{"id":"plain","name":"Plain","adapterConfiguration":{"url":"https://adapter.example"},`+
			`"defaultConfigurationSet":{"name":"Default","description":"d"}}`), nil)
	message := func(tenant, provider, kind string) string {
		return fmt.Sprintf(`{"id":%q,"tenant":%q,"providerId":%q,"type":%q,"status":"Error","errorDetails":"none"}`,
			uuid.NewString(), tenant, provider, kind)
	}
	c.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Test"), nil)
	c.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Screen"), nil) // about a batch that is not there
	c.expect(http.StatusForbidden, "POST", receptorPath, message(uuid.NewString(), "plain", "Test"))
	c.expect(http.StatusForbidden, "POST", receptorPath, message(c.TenantID, "nobody", "Test"))
	c.expect(http.StatusBadRequest, "POST", receptorPath, message(c.TenantID, "plain", "OngoingScreening"))
	c.expect(http.StatusBadRequest, "POST", receptorPath, "{}")

	// A body has up to 4 MiB.
	text := message(c.TenantID, "plain", "Test")
	const most = 4 << 20
	c.expect(http.StatusAccepted, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)))
	c.expect(http.StatusRequestEntityTooLarge, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)+1))

	upload := callFor[struct{ UploadID, SignedURL string }](c, "POST", receptorPath+"/upload-url", "")
	c.expect(http.StatusBadRequest, "POST", receptorPath, fmt.Sprintf(
		`{"id":"b","tenant":%q,"providerId":"plain","type":"Test","status":"Success","uploadId":%q}`, c.TenantID,
		upload.UploadID))
	c.expect(http.StatusBadRequest, "POST", receptorPath+"/upload-url", `{"contentLength":0}`)

	adapterOnly := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningReceptor"))
	adapterOnly.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Test"), nil)
	adapterOnly.expect(http.StatusForbidden, "GET", screeningQueries+"/batch/"+uuid.NewString(), "")
	reader := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningAccess"))
	reader.expect(http.StatusForbidden, "POST", receptorPath, message(c.TenantID, "plain", "Test"))
	reader.expect(http.StatusForbidden, "POST", receptorPath+"/upload-url", "")
}
