// Package localcloud finds a running local cloud: the file in which it publishes its addresses and credentials. It
// stays out of package client because that file holds keys that may do anything in the local cloud.
package localcloud

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// FileName is the name of the descriptor's file in the data folder of a local cloud.
	FileName = "local.json"
	// DefaultDataDir is the data folder of a local cloud that was started without naming one.
	DefaultDataDir = ".sluice"
)

// Descriptor is what a running local cloud publishes about itself, in the file FileName of its data folder and in the
// file that --ready-file names. Every address is complete, with scheme and port.
type Descriptor struct {
	// APIURL is the address of the HTTP API; the paths of the interface are appended to it.
	APIURL string `json:"api_url"`
	// TokenURL is the address of the token endpoint itself.
	TokenURL string `json:"token_url"`
	// S3URL is the address of the S3 server.
	S3URL string `json:"s3_url"`
	// DynamoDBURL is a second address of the AWS endpoint, at the port that was chosen for DynamoDB.
	DynamoDBURL string `json:"dynamodb_url"`
	// AWSEndpointURL is the endpoint of every AWS service but S3.
	AWSEndpointURL string `json:"aws_endpoint_url"`

	// TenantID is the tenant that the local cloud creates at its first start.
	TenantID string `json:"tenant_id"`
	// ClientID and ClientSecret are the credentials of that tenant's client.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	// Scope is the scope of that client's tokens, "tenant/" and the tenant's ID.
	Scope string `json:"scope"`

	// Region, AccessKeyID and SecretAccessKey are AWS settings that may administer the local cloud.
	Region          string `json:"region"`
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	// Prefix begins the names of all tables and buckets, as the template's parameter of this name does.
	Prefix string `json:"prefix"`
}

// Read returns the descriptor of the local cloud whose data folder is dir. If none runs there the error satisfies
// errors.Is(err, fs.ErrNotExist).
func Read(dir string) (Descriptor, error) { return ReadFile(filepath.Join(dir, FileName)) }

// ReadFile returns the descriptor in the named file, for example in the one that --ready-file names.
func ReadFile(path string) (Descriptor, error) {
	var d Descriptor
	text, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("read the local cloud's descriptor %s: %w", path, err)
	}
	return d, nil
}
