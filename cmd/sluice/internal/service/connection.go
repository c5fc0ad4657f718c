// Package service connects commands to the service: by flags, the environment, profiles or a local cloud.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/console"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/localcloud"
	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
)

// Connection says where the service is and who calls it, as flags and environment give it.
type Connection struct {
	Data       string
	Profile    string
	Config     client.Config
	SecretFile string
	// SecretCommand is a command of a shell that prints the secret.
	SecretCommand string
	// given are the flags of the command line, written for a shell; nil until givenFlags has collected them.
	given []string
}

// connectionFlags are the flags of a connection. A flag that is not given, or empty, has the value of its variable.
var connectionFlags = []struct {
	name, variable, usage string
	target                func(*Connection) *string
}{
	{"data", "SLUICE_DATA", "data `DIR` of a running local cloud (default $SLUICE_DATA, else .sluice if it exists)",
		func(c *Connection) *string { return &c.Data }},
	{"profile", "SLUICE_PROFILE",
		"`NAME` of a connection that 'sluice login' has stored (default $SLUICE_PROFILE, else default if it exists)",
		func(c *Connection) *string { return &c.Profile }},
	{"api-url", "SLUICE_API_URL", "`URL` to which the paths of the interface are appended (default $SLUICE_API_URL)",
		func(c *Connection) *string { return &c.Config.APIURL }},
	{"token-url", "SLUICE_TOKEN_URL",
		"`URL` of the token endpoint (default $SLUICE_TOKEN_URL, else /oauth2/token of the API)",
		func(c *Connection) *string { return &c.Config.TokenURL }},
	{"client-id", "SLUICE_CLIENT_ID", "`ID` of the client (default $SLUICE_CLIENT_ID)",
		func(c *Connection) *string { return &c.Config.ClientID }},
	{"client-secret", "SLUICE_CLIENT_SECRET",
		"`SECRET` of the client; prefer a file, as others can see command lines (default $SLUICE_CLIENT_SECRET)",
		func(c *Connection) *string { return &c.Config.ClientSecret }},
	{"client-secret-file", "SLUICE_CLIENT_SECRET_FILE",
		"`FILE` that holds the secret; - is standard input (default $SLUICE_CLIENT_SECRET_FILE)",
		func(c *Connection) *string { return &c.SecretFile }},
	{"client-secret-command", "SLUICE_CLIENT_SECRET_COMMAND",
		"shell `COMMAND` that prints the secret, of a keychain for example (default $SLUICE_CLIENT_SECRET_COMMAND)",
		func(c *Connection) *string { return &c.SecretCommand }},
	{"scope", "SLUICE_SCOPE", "`SCOPE` of tokens: tenant/ and the ID of the tenant (default $SLUICE_SCOPE)",
		func(c *Connection) *string { return &c.Config.Scope }},
}

// AddFlags declares the flags of a connection. It has the IDs of batches completed and checked, where a command takes
// some.
func (c *Connection) AddFlags(cmd *cobra.Command) {
	for _, option := range connectionFlags {
		cmd.Flags().StringVar(option.target(c), option.name, "", option.usage)
	}
	command.Complete(cmd, "profile", CompleteProfiles)
	if _, args, _ := strings.Cut(cmd.Use, " "); strings.HasPrefix(args, "BATCH") {
		cmd.PreRunE = func(_ *cobra.Command, given []string) error {
			for _, id := range given {
				if _, err := batch.ParseID(id); err != nil {
					return command.Usagef("%s is no ID of a batch, which is a UUID; 'sluice batches' lists them",
						linefile.Printable(id))
				}
			}
			return nil
		}
		cmd.ValidArgsFunction = func(cmd *cobra.Command, given []string, _ string) ([]string,
			cobra.ShellCompDirective) {
			if len(given) > 0 && args == "BATCH" {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.CompleteBatches(cmd, given, "")
		}
	}
}

const (
	// completionTimeout is how long the service may take to complete an ID.
	completionTimeout = 3 * time.Second
	// maxCompletions is how many batches it is asked for.
	maxCompletions = 50
)

// CompleteBatches completes the IDs of the newest batches, except those that are given already.
func (c *Connection) CompleteBatches(cmd *cobra.Command, given []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	if c.SecretFile == files.StdName {
		return nil, directive
	}
	api, err := c.NewClient(ctx)
	if err != nil {
		return nil, directive
	}
	batches, _, err := api.Batches(ctx, client.BatchQuery{Limit: maxCompletions}, "")
	if err != nil {
		return nil, directive
	}
	var ids []string
	for _, b := range batches {
		if !slices.Contains(given, b.BatchID) {
			ids = append(ids, cobra.CompletionWithDesc(b.BatchID,
				linefile.Printable(strings.TrimSpace(b.Status+" "+wire.OrZero(b.Name)))))
		}
	}
	return ids, directive
}

// ReadEnvironment completes the flags from the environment and gets the secret, if a file or a command has it. A flag
// that names a profile or a data folder, or one that has the secret or says where it is, excludes the variables of its
// alternatives. If the environment says in several ways where the secret is, a command precedes a file, and both
// precede the secret itself.
func (c *Connection) ReadEnvironment(ctx context.Context) error {
	alternatives := [][]string{{"profile", "data"}, {"client-secret", "client-secret-file", "client-secret-command"}}
	c.givenFlags()
	isGiven := map[string]bool{}
	for _, option := range connectionFlags {
		isGiven[option.name] = *option.target(c) != ""
	}
	excluded := map[string]bool{}
	for _, names := range alternatives {
		given := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isGiven[name] })
		if len(given) > 1 {
			return command.Usagef("give either --%s", strings.Join(given, " or --"))
		}
		for _, name := range names {
			excluded[name] = len(given) > 0 && name != given[0]
		}
	}
	for _, option := range connectionFlags {
		if !excluded[option.name] {
			*option.target(c) = cmp.Or(*option.target(c), os.Getenv(option.variable))
		}
	}
	var err error
	switch {
	case c.SecretCommand != "":
		c.Config.ClientSecret, err = runSecretCommand(ctx, c.SecretCommand)
	case c.SecretFile != "":
		c.Config.ClientSecret, err = files.ReadSecret(ctx, c.SecretFile)
	}
	return err
}

// NewClient returns a client of the service. What flags and environment leave open comes from the profile or the local
// cloud that they name. If they name none and no address, it comes from the local cloud of the default data folder, or
// else from the default profile.
func (c *Connection) NewClient(ctx context.Context) (*client.Client, error) {
	config, _, err := c.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	config.OnWait = func(pause time.Duration, refusal error) {
		fmt.Fprintf(os.Stderr, "waiting %.0f s: %v\n", pause.Seconds(), refusal)
	}
	return client.New(config)
}

// source is what completed a connection, for people.
type source string

const (
	SourceLocalCloud source = "local cloud"
	sourceFlags      source = "flags"
)

// sourceProfile returns the source that is a profile.
func sourceProfile(name string) source { return source("profile " + name) }

// Resolve returns the settings of NewClient and what completed them.
func (c *Connection) Resolve(ctx context.Context) (config client.Config, from source, err error) {
	if err := c.ReadEnvironment(ctx); err != nil {
		return client.Config{}, "", err
	}
	config, from = c.Config, sourceFlags
	switch {
	case c.Data != "" && c.Profile != "":
		err = command.Usagef("give either a profile or the data folder of a local cloud")
	case c.Profile != "":
		from, err = sourceProfile(c.Profile), completeFromProfile(ctx, &config, c.Profile)
	case c.Data != "" || config.APIURL == "" && config.TokenURL == "":
		from, err = SourceLocalCloud, CompleteFromLocalCloud(&config, c.Data)
		if errors.Is(err, errNoService) {
			from, err = sourceProfile(DefaultProfile), completeFromProfile(ctx, &config, DefaultProfile)
			if errors.Is(err, fs.ErrNotExist) {
				err = errNoService
			}
		}
	}
	config.TokenURL = cmp.Or(config.TokenURL, TokenURLOf(config.APIURL))
	return config, from, err
}

// TokenURLOf returns the token endpoint of an API for which no other is named; "" for "".
func TokenURLOf(apiURL string) string {
	if apiURL == "" {
		return ""
	}
	return strings.TrimRight(apiURL, "/") + "/oauth2/token"
}

// FlagsOf returns the flags by which another command has the connection that resolve has made from a source, in any
// folder and terminal; and those by which one has the installation, whose prefix may be "". The secret is not among
// them: without a profile and a local cloud, a command finds it in the environment.
func (c *Connection) FlagsOf(from source, prefix string) console.Flags {
	var service, cloud []string
	add := func(to *[]string, name, value string) {
		if value != "" {
			*to = append(*to, "--"+name, linefile.ShellQuote(value))
		}
	}
	switch {
	case from == SourceLocalCloud:
		data := cmp.Or(c.Data, localcloud.DefaultDataDir)
		if absolute, err := filepath.Abs(data); err == nil {
			data = absolute
		}
		add(&cloud, "data", data)
		add(&service, "data", data)
	case from != sourceFlags:
		add(&service, "profile", cmp.Or(c.Profile, DefaultProfile))
	}
	add(&service, "api-url", c.Config.APIURL)
	add(&service, "token-url", c.Config.TokenURL)
	add(&service, "client-id", c.Config.ClientID)
	add(&service, "scope", c.Config.Scope)
	add(&cloud, "prefix", prefix)
	return console.Flags{Service: strings.Join(service, " "), Cloud: strings.Join(cloud, " ")}
}

// errNoService means that nothing names a service.
var errNoService = errors.New("no service is given: start one with 'sluice local', log in to one with 'sluice " +
	"login', or name one with --api-url and the flags beside it (see 'sluice help')")

// CompleteFromLocalCloud fills in what a connection leaves open from the local cloud of a data folder; "" is the
// default one, and errNoService means that none runs there.
func CompleteFromLocalCloud(config *client.Config, data string) error {
	local, err := FindLocalCloud(data)
	if err != nil {
		return err
	}
	if local == nil {
		return errNoService
	}
	config.APIURL = cmp.Or(config.APIURL, local.APIURL)
	config.TokenURL = cmp.Or(config.TokenURL, local.TokenURL)
	config.ClientID = cmp.Or(config.ClientID, local.ClientID)
	config.ClientSecret = cmp.Or(config.ClientSecret, local.ClientSecret)
	config.Scope = cmp.Or(config.Scope, local.Scope)
	return nil
}

// completeFromProfile fills in what a connection leaves open from a profile.
func completeFromProfile(ctx context.Context, config *client.Config, name string) error {
	p, err := ReadProfile(name)
	if err != nil {
		return err
	}
	return p.complete(ctx, config, name)
}
