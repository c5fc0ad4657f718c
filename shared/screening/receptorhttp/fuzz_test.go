package receptorhttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/receptorhttp"
)

// nothing is a store without batches and uploads, and a recorder of answers.
type nothing struct{ recorded int }

func (*nothing) Get(context.Context, string, string) (screening.Batch, error) {
	return screening.Batch{}, screening.ErrNotFound
}

func (*nothing) GetEntities(context.Context, string, string, []string) ([]screening.Entity, error) {
	return nil, nil
}

func (n *nothing) Record(context.Context, string, string, string, string, []screening.Match, *screening.ProviderError) (
	string, error) {
	n.recorded++
	return "unknown", nil
}

func (*nothing) CreateUpload(context.Context, adapter.Upload) error { return nil }

func (*nothing) GetUpload(context.Context, string, string) (adapter.Upload, error) {
	return adapter.Upload{}, adapter.ErrNoUpload
}

func (*nothing) UseUpload(context.Context, string, string, string) error { return adapter.ErrNoUpload }

// The receptor answers any body, and records nothing unsealed of a provider with keys.
func FuzzMessage(f *testing.F) {
	keys := newKeys(f, authenticationKey)
	s := errtest.Must(keys.Seal([]byte(`{"batchId":"b","matches":[]}`), false))(f)
	text := errtest.Must(json.Marshal(adapter.Reply{ID: "b", Tenant: tenant, ProviderID: "acme", Type: adapter.Screen,
		Status: adapter.Success, Response: s.Data}))(f)
	f.Add(string(text), s.IV, "x")
	f.Add(`{"data":`+string(text)+`}`, "", "")
	f.Add(`{"id":"b","tenant":"`+tenant+`","providerId":"plain","type":"Screen","status":"Error","errorDetails":"x"}`,
		"", "")
	f.Add("{", "", "")
	f.Add("\xff", "AAAA", "AAAA")
	f.Fuzz(func(t *testing.T, body, iv, mac string) {
		all := &nothing{}
		r := &receptorhttp.Receptor{Providers: onlyAcme{}, Batches: all, Answers: all, Uploads: all, Files: &files{},
			UploadLifetime: time.Hour, Now: func() time.Time { return now }, NewID: uuid.NewString, Log: quiet}
		x := &fixture{t: t, caller: httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.ScreeningReceptor}},
			call: httpapi.Lambda(platform.Handler(r.Routes(), nil, nil, quiet, func() time.Time { return now }))}
		status, first, _ := x.post(path, body, iv, mac)
		if status >= http.StatusInternalServerError || all.recorded > 0 {
			t.Errorf("got %d %+v, and %d answers recorded", status, first, all.recorded)
		}
	})
}

func (*nothing) CountOpenUploads(context.Context, string, int64, time.Time) (int64, error) {
	return 0, nil
}

// onlyAcme has one provider, with keys.
type onlyAcme struct{ providers }

func (p onlyAcme) GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error) {
	if id != "acme" {
		return screening.Provider{}, screening.ErrNotFound
	}
	return p.providers.GetProvider(ctx, tenant, id)
}
