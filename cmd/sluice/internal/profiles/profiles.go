// Package profiles has the commands that store, list and remove connections as profiles.
package profiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

func profilesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "profiles", Short: "list the profiles that 'sluice login' has stored",
		Long: `
A line for each profile: its name, the address of the API, the tenant and the client. A star marks the one that commands
use if neither flags nor a local cloud name another service. Secrets are not printed.

--json prints one object a line.`,
		Example: "sluice profiles",
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			records, err := service.ListProfiles()
			if err != nil {
				return err
			}
			if asJSON {
				return output.PrintJSONLines(stdout, records)
			}
			return printProfiles(stdout, records)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the profiles as JSON, one a line")
	return c
}

// printProfiles prints a line for each profile.
func printProfiles(stdout io.Writer, records []service.ProfileRecord) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(stdout, "There are no profiles; 'sluice login' makes one.")
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, r := range records {
		mark := " "
		if r.IsUsed {
			mark = "*"
		}
		if r.Error != "" {
			fmt.Fprintf(table, "%s %s\t%s\n", mark, r.Name, linefile.Printable(r.Error))
			continue
		}
		fmt.Fprintf(table, "%s %s\t%s\ttenant %s\tclient %s\n", mark, r.Name, linefile.Printable(r.APIURL),
			linefile.Printable(r.Tenant),
			linefile.Printable(r.ClientID))
	}
	return table.Flush()
}

// maxSecretBytes bounds what is read of standard input as a secret.
const maxSecretBytes = 4096

// Commands returns the commands about profiles.
func Commands() []*cobra.Command {
	return []*cobra.Command{loginCommand(), profilesCommand(), logoutCommand()}
}

func loginCommand() *cobra.Command {
	var conn service.Connection
	var tenant string
	c := &cobra.Command{
		Use:   "login",
		Short: "store how to reach a service, as a profile for other commands",
		Long: `
The secret is asked for without showing it, or read from standard input if that is not a terminal. It is checked by
fetching a token, and stored with the addresses in a file that only you can read; of --client-secret-command, only the
command is stored. What was stored before under the same name, except the secret, need not be given again.`,
		Example: `
sluice login --api-url https://api.example.com --client-id 0199a1c2 --tenant 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01
sluice login --profile test --data .sluice
sluice login --profile test < secret.txt
sluice login --client-secret-command 'secret-tool lookup service sluice'
sluice upload batch.jsonl --profile test`,
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			if tenant != "" && conn.Config.Scope != "" {
				return command.Usagef("give either --tenant or --scope")
			}
			if tenant != "" {
				conn.Config.Scope = service.ScopePrefix + tenant
			}
			return login(ctx, &conn, terminal.New(stdout))
		}),
	}
	f := c.Flags()
	f.StringVar(&tenant, "tenant", "", "`ID` of the tenant; the same as --scope tenant/ID")
	conn.AddFlags(c)
	return c
}

// login completes a connection, checks it and stores it as a profile.
func login(ctx context.Context, conn *service.Connection, ui *terminal.Terminal) error {
	if err := conn.ReadEnvironment(ctx); err != nil {
		return err
	}
	name := conn.Profile
	name = cmp.Or(name, service.DefaultProfile)
	if _, err := service.ProfilePath(name); err != nil {
		return err
	}
	config := conn.Config
	if conn.Data != "" {
		if err := service.CompleteFromLocalCloud(&config, conn.Data); err != nil {
			return err
		}
	}
	earlier, err := service.ReadProfile(name)
	if err == nil && conn.Data == "" {
		if config.APIURL == "" { // otherwise the token URL is that of the given address
			config.TokenURL = cmp.Or(config.TokenURL, earlier.TokenURL)
		}
		config.APIURL = cmp.Or(config.APIURL, earlier.APIURL)
		config.ClientID = cmp.Or(config.ClientID, earlier.ClientID)
		config.Scope = cmp.Or(config.Scope, service.ScopePrefix+earlier.Tenant)
	}
	config.TokenURL = cmp.Or(config.TokenURL, service.TokenURLOf(config.APIURL))
	if err := checkLogin(config); err != nil {
		return err
	}
	if config.ClientSecret == "" {
		if config.ClientSecret, err = askSecret(ctx,
			"Secret of client "+linefile.Printable(config.ClientID)+": "); err != nil {
			return err
		}
	}
	c, err := client.New(config)
	if err != nil {
		return err
	}
	if err := c.Authenticate(ctx); err != nil {
		return fmt.Errorf("%w; nothing was stored", err)
	}
	p := service.Profile{
		APIURL: config.APIURL, TokenURL: config.TokenURL, Tenant: service.TenantOf(config.Scope),
		ClientID: config.ClientID, ClientSecret: config.ClientSecret, SecretCommand: conn.SecretCommand,
	}
	if p.SecretCommand != "" {
		p.ClientSecret = "" // it stays where the command has it from
	}
	path, err := p.Store(name)
	if err != nil {
		return fmt.Errorf("store the profile: %w", err)
	}
	ui.Printf("Logged in as client %s of tenant %s at %s. Profile %s is stored in %s\n",
		linefile.Printable(config.ClientID),
		linefile.Printable(service.TenantOf(config.Scope)), linefile.Printable(config.APIURL), name, path)
	return nil
}

// checkLogin returns an error that names the flags that are missing, before the secret is asked for.
func checkLogin(c client.Config) error {
	var missing []string
	for _, field := range []struct{ flag, value string }{
		{"--api-url", c.APIURL}, {"--client-id", c.ClientID}, {"--tenant", service.TenantOf(c.Scope)},
	} {
		if field.value == "" {
			missing = append(missing, field.flag)
		}
	}
	if missing != nil {
		return command.Usagef("missing: %s", strings.Join(missing, ", "))
	}
	if !strings.HasPrefix(c.Scope, service.ScopePrefix) {
		return command.Usagef("the scope is tenant/ and the ID of the tenant, not %q", c.Scope)
	}
	return nil
}

// askSecret reads a secret from standard input: on a terminal after a prompt and without showing it.
func askSecret(ctx context.Context, prompt string) (string, error) {
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	restore := func() {}
	input := int(os.Stdin.Fd())
	if state, err := term.GetState(input); err == nil {
		restore = func() { _ = term.Restore(input, state) }
		fmt.Fprint(os.Stderr, prompt)
		defer fmt.Fprintln(os.Stderr)
		go func() {
			text, err := term.ReadPassword(input)
			done <- answer{text, err}
		}()
	} else {
		go func() {
			text, err := io.ReadAll(io.LimitReader(os.Stdin, maxSecretBytes+1))
			done <- answer{text, err}
		}()
	}
	select {
	case a := <-done:
		secret := strings.TrimSpace(string(a.text))
		switch {
		case a.err != nil && !errors.Is(a.err, io.EOF):
			return "", fmt.Errorf("read the secret: %w", a.err)
		case len(a.text) > maxSecretBytes:
			return "", errors.New("what was given is too long for a secret; nothing was stored")
		case secret == "":
			return "", errors.New("no secret was given; nothing was stored")
		}
		return secret, nil
	case <-ctx.Done(): // a read that waits for input cannot be ended, only left
		restore()
		return "", command.ErrInterrupted
	}
}

func logoutCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "logout",
		Short: "forget a profile and its secret",
		Long: `
The profile's file is removed from this machine. The secret stays valid; 'sluice admin client disable' withdraws it.`,
		Example: `
sluice logout
sluice logout --profile test`,
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			name = cmp.Or(name, os.Getenv("SLUICE_PROFILE"))
			name = cmp.Or(name, service.DefaultProfile)
			path, err := service.ProfilePath(name)
			if err != nil {
				return err
			}
			if err := os.Remove(path); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("there is no profile %s", name)
			} else if err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "Profile %s is removed.\n", name)
			return err
		}),
	}
	f := c.Flags()
	f.StringVar(&name, "profile", "",
		"`NAME` of the profile (default $SLUICE_PROFILE, else "+service.DefaultProfile+")")
	command.Complete(c, "profile", service.CompleteProfiles)
	return c
}
