package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sluice/client"
	"sluice/internal/command"
)

// maxSecretBytes bounds what is read of standard input as a secret.
const maxSecretBytes = 4096

func loginCommand() *cobra.Command {
	var conn connection
	var tenant string
	c := &cobra.Command{
		Use:   "login",
		Short: "store how to reach a service, as a profile for other commands",
		Long: `
The secret is asked for without showing it, or read from standard input if that is not a terminal. It is checked by
fetching a token, and stored with the addresses in a file that only you can read. What was stored before under the same
name, except the secret, need not be given again.`,
		Example: `
sluice login --api-url https://api.example.com --client-id 0199a1c2 --tenant 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01
sluice login --profile test --data .sluice
sluice login --profile test < secret.txt
sluice upload batch.jsonl --profile test`,
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			if tenant != "" && conn.config.Scope != "" {
				return command.Usagef("give either --tenant or --scope")
			}
			if tenant != "" {
				conn.config.Scope = scopePrefix + tenant
			}
			return login(ctx, &conn, newTerminal(stdout))
		}),
	}
	f := c.Flags()
	f.StringVar(&tenant, "tenant", "", "`ID` of the tenant; the same as --scope tenant/ID")
	conn.addFlags(c)
	return c
}

// login completes a connection, checks it and stores it as a profile.
func login(ctx context.Context, conn *connection, ui *terminal) error {
	if err := conn.readEnvironment(ctx); err != nil {
		return err
	}
	name := conn.profile
	setDefault(&name, defaultProfile)
	if _, err := profilePath(name); err != nil {
		return err
	}
	config := conn.config
	if conn.data != "" {
		if err := completeFromLocalCloud(&config, conn.data); err != nil {
			return err
		}
	}
	earlier, err := readProfile(name)
	if err == nil && conn.data == "" {
		if config.APIURL == "" { // otherwise the token URL is that of the given address
			setDefault(&config.TokenURL, earlier.TokenURL)
		}
		setDefault(&config.APIURL, earlier.APIURL)
		setDefault(&config.ClientID, earlier.ClientID)
		setDefault(&config.Scope, scopePrefix+earlier.Tenant)
	}
	setDefault(&config.TokenURL, tokenURLOf(config.APIURL))
	if err := checkLogin(config); err != nil {
		return err
	}
	if config.ClientSecret == "" {
		if config.ClientSecret, err = askSecret(ctx, "Secret of client "+printable(config.ClientID)+": "); err != nil {
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
	path, err := profile{
		APIURL: config.APIURL, TokenURL: config.TokenURL, Tenant: tenantOf(config.Scope),
		ClientID: config.ClientID, ClientSecret: config.ClientSecret,
	}.store(name)
	if err != nil {
		return fmt.Errorf("store the profile: %w", err)
	}
	ui.printf("Logged in as client %s of tenant %s at %s. Profile %s is stored in %s\n", printable(config.ClientID),
		printable(tenantOf(config.Scope)), printable(config.APIURL), name, path)
	return nil
}

// checkLogin returns an error that names the flags that are missing, before the secret is asked for.
func checkLogin(c client.Config) error {
	var missing []string
	for _, field := range []struct{ flag, value string }{
		{"--api-url", c.APIURL}, {"--client-id", c.ClientID}, {"--tenant", tenantOf(c.Scope)},
	} {
		if field.value == "" {
			missing = append(missing, field.flag)
		}
	}
	if missing != nil {
		return command.Usagef("missing: %s", strings.Join(missing, ", "))
	}
	if !strings.HasPrefix(c.Scope, scopePrefix) {
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
			setDefault(&name, os.Getenv("SLUICE_PROFILE"))
			setDefault(&name, defaultProfile)
			path, err := profilePath(name)
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
		"`NAME` of the profile (default $SLUICE_PROFILE, else "+defaultProfile+")")
	command.Complete(c, "profile", completeProfiles)
	return c
}
