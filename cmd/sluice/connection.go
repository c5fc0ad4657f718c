package main

import (
	"errors"
	"flag"
	"os"
	"strings"

	"sluice/client"
)

// connection says where the service is and who calls it, as flags and environment give it.
type connection struct {
	data       string
	config     client.Config
	secretFile string
}

// addFlags declares the flags of a connection. The environment gives their defaults.
func (c *connection) addFlags(f *flag.FlagSet) {
	for _, option := range []struct {
		target         *string
		name, variable string
		usage          string
	}{
		{&c.data, "data", "SLUICE_DATA", "data `DIR` of a running local cloud"},
		{&c.config.APIURL, "api-url", "SLUICE_API_URL", "`URL` of the API"},
		{&c.config.TokenURL, "token-url", "SLUICE_TOKEN_URL", "`URL` of the token endpoint"},
		{&c.config.ClientID, "client-id", "SLUICE_CLIENT_ID", "`ID` of the client"},
		{&c.config.ClientSecret, "client-secret", "SLUICE_CLIENT_SECRET", "`SECRET` of the client; prefer a file"},
		{&c.secretFile, "client-secret-file", "SLUICE_CLIENT_SECRET_FILE", "`FILE` that holds the secret"},
		{&c.config.Scope, "scope", "SLUICE_SCOPE", "`SCOPE` of tokens: tenant/ and the ID of the tenant"},
	} {
		f.StringVar(option.target, option.name, os.Getenv(option.variable), option.usage)
	}
}

// newClient returns a client of the service. What flags and environment leave open comes from a local cloud: from that
// of the named data folder, or from the default one if no address is given at all.
func (c *connection) newClient() (*client.Client, error) {
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
			return nil, errors.New("no service is given: start one with 'sluice local', " +
				"or name one with --api-url and the flags beside it (see 'sluice help')")
		}
		setDefault(&config.APIURL, local.APIURL)
		setDefault(&config.TokenURL, local.TokenURL)
		setDefault(&config.ClientID, local.ClientID)
		setDefault(&config.ClientSecret, local.ClientSecret)
		setDefault(&config.Scope, local.Scope)
	}
	return client.New(config)
}

// setDefault sets target to value unless it is set already.
func setDefault(target *string, value string) {
	if *target == "" {
		*target = value
	}
}
