package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"sluice/client"
)

// connection says where the service is and who calls it, as flags and environment give it.
type connection struct {
	data       string
	config     client.Config
	secretFile string
}

// connectionFlags are the flags of a connection. A flag that is not given, or empty, has the value of its variable.
var connectionFlags = []struct {
	name, variable, usage string
	target                func(*connection) *string
}{
	{"data", "SLUICE_DATA", "data `DIR` of a running local cloud (default $SLUICE_DATA, else .sluice if it exists)",
		func(c *connection) *string { return &c.data }},
	{"api-url", "SLUICE_API_URL", "`URL` to which the paths of the interface are appended (default $SLUICE_API_URL)",
		func(c *connection) *string { return &c.config.APIURL }},
	{"token-url", "SLUICE_TOKEN_URL", "`URL` of the token endpoint itself (default $SLUICE_TOKEN_URL)",
		func(c *connection) *string { return &c.config.TokenURL }},
	{"client-id", "SLUICE_CLIENT_ID", "`ID` of the client (default $SLUICE_CLIENT_ID)",
		func(c *connection) *string { return &c.config.ClientID }},
	{"client-secret", "SLUICE_CLIENT_SECRET",
		"`SECRET` of the client; prefer a file, as others can see command lines (default $SLUICE_CLIENT_SECRET)",
		func(c *connection) *string { return &c.config.ClientSecret }},
	{"client-secret-file", "SLUICE_CLIENT_SECRET_FILE",
		"`FILE` that holds the secret; - is standard input (default $SLUICE_CLIENT_SECRET_FILE)",
		func(c *connection) *string { return &c.secretFile }},
	{"scope", "SLUICE_SCOPE", "`SCOPE` of tokens: tenant/ and the ID of the tenant (default $SLUICE_SCOPE)",
		func(c *connection) *string { return &c.config.Scope }},
}

// addFlags declares the flags of a connection.
func (c *connection) addFlags(f *flag.FlagSet) {
	for _, option := range connectionFlags {
		f.StringVar(option.target(c), option.name, "", option.usage)
	}
}

// newClient returns a client of the service. What flags and environment leave open comes from a local cloud: from that
// of the named data folder, or from the default one if no address is given at all.
func (c *connection) newClient() (*client.Client, error) {
	for _, option := range connectionFlags {
		setDefault(option.target(c), os.Getenv(option.variable))
	}
	config := c.config
	if c.secretFile != "" {
		text, err := readSecret(c.secretFile)
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
	config.OnWait = func(pause time.Duration, refusal error) {
		fmt.Fprintf(os.Stderr, "waiting %.0f s: %v\n", pause.Seconds(), refusal)
	}
	return client.New(config)
}

// setDefault sets target to value unless it is set already.
func setDefault(target *string, value string) {
	if *target == "" {
		*target = value
	}
}
