package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// defaultData is the data folder of a local cloud that was started without naming one.
const defaultData = ".sluice"

// localCloud is what a running local cloud says of itself in local.json in its data folder.
type localCloud struct {
	APIURL          string `json:"api_url"`
	TokenURL        string `json:"token_url"`
	S3URL           string `json:"s3_url"`
	DynamoDBURL     string `json:"dynamodb_url"`
	AWSEndpointURL  string `json:"aws_endpoint_url"`
	TenantID        string `json:"tenant_id"`
	ClientID        string `json:"client_id"`
	ClientSecret    string `json:"client_secret"`
	Scope           string `json:"scope"`
	Region          string `json:"region"`
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	Prefix          string `json:"prefix"`
}

// readLocal finds the local cloud of a data folder. Without a folder it is the default one's, or nil if there is none.
func readLocal(data string) (*localCloud, error) {
	named := data != ""
	if !named {
		data = defaultData
	}
	text, err := os.ReadFile(filepath.Join(data, "local.json"))
	if errors.Is(err, fs.ErrNotExist) {
		if named {
			return nil, fmt.Errorf("no local cloud runs on %s: start one with 'sluice local --data %s'", data, data)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var l localCloud
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(data, "local.json"), err)
	}
	return &l, nil
}
