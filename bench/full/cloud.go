package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/client"
	"sluice/internal/testcloud"
)

// cloud is a running local cloud, with a client of its own tenant.
type cloud struct {
	*testcloud.Cloud
	client *client.Client
}

// startCloud starts a local cloud on a new data folder and waits until it answers.
func startCloud(ctx context.Context, data string, parameters []string) (*cloud, error) {
	running, err := testcloud.Start(ctx, data, parameters, nil)
	if err != nil {
		return nil, err
	}
	c := &cloud{Cloud: running}
	c.client, err = client.New(client.Config{APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret, Scope: c.Scope})
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// functionOf returns the name of the function that a program is, also if it is a published version of it; "" if it is
// none.
func (c *cloud) functionOf(program string) string {
	dir := filepath.Dir(program)
	switch {
	case dir == filepath.Join(c.Bin, "functions"):
		return filepath.Base(program)
	case filepath.Dir(dir) == filepath.Join(c.Data, "versions"):
		return strings.TrimPrefix(filepath.Base(dir), c.Prefix+"-")
	}
	return ""
}

// aws returns the settings of clients that may do anything in the local cloud.
func (c *cloud) aws() aws.Config {
	return aws.Config{Region: c.Region, BaseEndpoint: aws.String(c.AWSEndpointURL),
		Credentials: credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey, "")}
}
