package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/errtest"
)

func TestScreening(t *testing.T) {
	_, c, _ := newClient(t)
	content := `{"transaction_external_id":"t","modification":{"external_id":"m"},` +
		`"receiver":{"unknown":{"full_name":"` + clienttest.Wanted + `"}}}` + "\n"
	u, err := c.CreateUploadWith(t.Context(),
		client.UploadOptions{Screening: &client.Screening{Lists: []string{clienttest.List}}})
	errtest.Fatal(t, err)
	if r, err := c.ScreeningResult(t.Context(), u.BatchID); err != nil || !r.Pending || r.Hits != nil {
		t.Errorf("before the upload: %+v, %v", r, err)
	}
	errtest.Fatal(t, c.UploadFile(t.Context(), u, strings.NewReader(content), int64(len(content)), nil))
	last, err := c.Follow(t.Context(), u.BatchID, nil, nil)
	if err != nil || last.Hits == nil || *last.Hits != 1 || *last.NamesScreened != 1 {
		t.Fatalf("status %+v, %v, want 1 name and 1 hit", last, err)
	}
	r, err := c.ScreeningResult(t.Context(), u.BatchID)
	if err != nil || r.Pending || *r.Hits != 1 || len(r.Lists) != 1 {
		t.Fatalf("result %+v, %v, want 1 hit", r, err)
	}
	body, err := c.OpenAlerts(t.Context(), r.AlertsFileURL)
	errtest.Fatal(t, err)
	defer body.Close()
	var a client.Alert
	if err := json.NewDecoder(body).Decode(&a); err != nil || a.Line != 1 || a.FullName != clienttest.Wanted {
		t.Errorf("alert %+v, %v", a, err)
	}
}

func TestScreeningErrors(t *testing.T) {
	_, c, _ := newClient(t)
	var refused *client.Error
	_, err := c.CreateUploadWith(t.Context(),
		client.UploadOptions{Screening: &client.Screening{Lists: []string{"other"}}})
	if !errors.As(err, &refused) || refused.Status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown list: %v, want 422", err)
	}
	_, err = c.ScreeningResult(t.Context(), createUpload(t, c).BatchID)
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("a batch that is not screened: %v, want 404", err)
	}
}
