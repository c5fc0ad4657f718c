package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const receptorPath = "/screeningreceptor/api/receptor"

// The receptor wants its permission, the tenant of the token, and a message that it can authenticate.
func TestReceptor(t *testing.T) {
	t.Parallel()
	c := newTenantClient(t)
	c.mustCall("POST", screeningCommands+"/configuration/provider", inEnvelope(
		`{"id":"plain","name":"Plain","adapterConfiguration":{"url":"https://adapter.example"},`+
			`"defaultConfigurationSet":{"name":"Default","description":"d"}}`), nil)
	message := func(tenant, provider, kind string) string {
		return fmt.Sprintf(`{"id":%q,"tenant":%q,"providerId":%q,"type":%q,"status":"Error","errorDetails":"none"}`,
			uuid.NewString(), tenant, provider, kind)
	}
	c.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Test"), nil)
	c.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Screen"), nil) // about a batch that is not there
	c.expectStatus(http.StatusForbidden, "POST", receptorPath, message(uuid.NewString(), "plain", "Test"))
	c.expectStatus(http.StatusForbidden, "POST", receptorPath, message(c.TenantID, "nobody", "Test"))
	c.expectStatus(http.StatusBadRequest, "POST", receptorPath, message(c.TenantID, "plain", "OngoingScreening"))
	c.expectStatus(http.StatusBadRequest, "POST", receptorPath, "{}")

	// A body has up to 4 MiB.
	text := message(c.TenantID, "plain", "Test")
	const most = 4 << 20
	c.expectStatus(http.StatusAccepted, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)))
	c.expectStatus(http.StatusRequestEntityTooLarge, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)+1))

	var upload struct{ UploadID, SignedURL string }
	c.mustCall("POST", receptorPath+"/upload-url", "", &upload)
	c.expectStatus(http.StatusBadRequest, "POST", receptorPath, fmt.Sprintf(
		`{"id":"b","tenant":%q,"providerId":"plain","type":"Test","status":"Success","uploadId":%q}`, c.TenantID,
		upload.UploadID))
	c.expectStatus(http.StatusBadRequest, "POST", receptorPath+"/upload-url", `{"contentLength":0}`)

	adapterOnly := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningReceptor"))
	adapterOnly.mustCall("POST", receptorPath, message(c.TenantID, "plain", "Test"), nil)
	adapterOnly.expectStatus(http.StatusForbidden, "GET", screeningQueries+"/batch/"+uuid.NewString(), "")
	reader := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningAccess"))
	reader.expectStatus(http.StatusForbidden, "POST", receptorPath, message(c.TenantID, "plain", "Test"))
	reader.expectStatus(http.StatusForbidden, "POST", receptorPath+"/upload-url", "")
}
