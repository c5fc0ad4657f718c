package main

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sluice/client"
	"sluice/internal/testcloud"
)

// cloud is a running local cloud.
type cloud struct{ *testcloud.Cloud }

// startCloud starts a local cloud on a new data folder and waits until it answers.
func startCloud(ctx context.Context, data string, parameters, limits []string) (*cloud, error) {
	running, err := testcloud.Start(ctx, data, parameters, limits)
	return &cloud{running}, err
}

// newTenant makes a tenant without limits that has a client and the entities of a file.
func (c *cloud) newTenant(ctx context.Context, file string, batches int, calls *calls) (*tenant, error) {
	var made struct {
		ID string `json:"tenant_id"`
	}
	var credentials struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	var ignored any
	err := c.Admin(ctx, &made, "tenant", "create", "--set", "limits=none")
	if err == nil {
		err = c.Admin(ctx, &ignored, "tenant", "enable-batch", made.ID)
	}
	if err == nil {
		err = c.Admin(ctx, &ignored, "entities", "import", file+".entities", "--tenant", made.ID)
	}
	if err == nil {
		err = c.Admin(ctx, &credentials, "client", "create", "--tenant", made.ID, "--permission", "all")
	}
	if err != nil {
		return nil, err
	}
	t := &tenant{}
	if t.text, err = os.ReadFile(file); err != nil {
		return nil, err
	}
	t.lines = int64(bytes.Count(t.text, []byte("\n")))
	for range batches {
		t.batches = append(t.batches, &benchBatch{})
	}
	t.client, err = client.New(client.Config{APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: credentials.ID,
		ClientSecret: credentials.Secret, Scope: "tenant/" + made.ID, HTTP: &http.Client{Transport: calls}})
	return t, err
}

// throttledTasks counts the tasks of state machines that Lambda had no room for.
func (c *cloud) throttledTasks() (n int) {
	_ = filepath.WalkDir(c.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".history.jsonl") {
			return err
		}
		text, err := os.ReadFile(path)
		n += bytes.Count(text, []byte(`"error":"Lambda.TooManyRequestsException"`))
		return err
	})
	return n
}
