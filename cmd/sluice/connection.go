package main

import (
	"fmt"
	"os"
	"strings"

	"sluice/client"
)

// connection is where the service is and who calls it, as flags and environment say.
type connection struct {
	data       string
	config     client.Config
	secretFile string
}

// flags adds the flags of a connection. The environment is their default.
func (c *connection) flags(f flags) {
	f.StringVar(&c.data, "data", os.Getenv("SLUICE_DATA"), "data `DIR` of a running local cloud")
	f.StringVar(&c.config.APIURL, "api-url", os.Getenv("SLUICE_API_URL"), "address of the API, an `URL`")
	f.StringVar(&c.config.TokenURL, "token-url", os.Getenv("SLUICE_TOKEN_URL"), "address of the token endpoint, an `URL`")
	f.StringVar(&c.config.ClientID, "client-id", os.Getenv("SLUICE_CLIENT_ID"), "the client's `ID`")
	f.StringVar(&c.config.ClientSecret, "client-secret", os.Getenv("SLUICE_CLIENT_SECRET"), "its `SECRET`; better kept in a file")
	f.StringVar(&c.secretFile, "client-secret-file", os.Getenv("SLUICE_CLIENT_SECRET_FILE"), "`FILE` that holds the secret")
	f.StringVar(&c.config.Scope, "scope", os.Getenv("SLUICE_SCOPE"), "tenant/`UUID` of the tenant")
}

// client makes a client. What is not given is taken from a local cloud: of the folder that is named, or of the default one
// when no address is given at all.
func (c *connection) client() (*client.Client, error) {
	config := c.config
	if c.secretFile != "" {
		text, err := os.ReadFile(c.secretFile)
		if err != nil {
			return nil, err
		}
		config.ClientSecret = strings.TrimSpace(string(text))
	}
	if c.data != "" || config.APIURL == "" && config.TokenURL == "" {
		local, err := findLocalCloud(c.data)
		if err != nil {
			return nil, err
		}
		if local == nil {
			return nil, fmt.Errorf("no service is given: start 'sluice local', or name one with --api-url and its companions (see 'sluice help')")
		}
		fill(&config.APIURL, local.APIURL)
		fill(&config.TokenURL, local.TokenURL)
		fill(&config.ClientID, local.ClientID)
		fill(&config.ClientSecret, local.ClientSecret)
		fill(&config.Scope, local.Scope)
	}
	return client.New(config)
}

func fill(target *string, value string) {
	if *target == "" {
		*target = value
	}
}
