// Package adapterserver is the command that answers for a screening provider.
package adapterserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/listener"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/match"
)

// Variables of the environment that hold the keys of an adapter.
const (
	encryptionKeyVariable     = "SLUICE_ADAPTER_ENCRYPTION_KEY"
	authenticationKeyVariable = "SLUICE_ADAPTER_AUTHENTICATION_KEY"
)

func Command() *cobra.Command {
	var conn service.Connection
	var a adapterCommandFlags
	c := &cobra.Command{
		Use:   "adapter",
		Short: "answer for a screening provider, as an example and for tests",
		Long: `
Serves the adapter of one screening provider: it accepts the messages of the service, looks the entities up in lists or
in a file of answers, and delivers what it finds to the receptor of the service. Its source is the example for
adapters of other providers; docs/contract/screening.md has the contract.

It serves HTTPS with a certificate of its own that it has the service accept as long as it runs, unless
--certificate and --key give it another one or --http says that something else speaks TLS. Configure the provider with
the URL that it prints.

The keys are those of the provider's configuration, in Base64: ` + encryptionKeyVariable + ` and
` + authenticationKeyVariable + `, or the flags. Without them, messages are neither encrypted nor authenticated.

--answers reads a JSON list of {"name", "entityUniqueId", "matchData"}: an entity with that name, in any case, has that
match. --fail makes it answer as adapters should not; it can be repeated:
  reject     answer 400             fail     answer 500            silent   accept and never answer
  error      answer with an error   invalid  send an invalid match twice    answer twice
  wrong-mac  spoil the MAC          upload   upload each response`,
		Example: `
sluice adapter --provider acme --list-file targets-simple-csv:targets.simple.csv
sluice adapter --provider acme --answers answers.json --fail twice --delay 30s`,
		RunE: conn.Run(func(ctx context.Context, c *client.Client, _ []string, stdout io.Writer) error {
			a.server.client, a.server.ui = c, terminal.New(stdout)
			return a.run(ctx)
		}),
	}
	f := c.Flags()
	f.StringVar(&a.provider, "provider", "example", "`ID` of the provider")
	f.StringVar(&a.address, "address", "127.0.0.1:0", "`HOST:PORT` to listen at; port 0 takes a free one")
	f.StringVar(&a.public, "url", "",
		"`URL` at which the service reaches this program (default that of --address)")
	f.BoolVar(&a.plain, "http", false, "serve HTTP without TLS")
	f.StringVar(&a.certificate, "certificate", "", "PEM `FILE` with the certificate to serve")
	f.StringVar(&a.key, "key", "", "PEM `FILE` with the key of the certificate")
	f.StringVar(&a.encryption, "encryption-key", "",
		"`KEY` for encryption (default $"+encryptionKeyVariable+")")
	f.StringVar(&a.authentication, "authentication-key", "",
		"`KEY` for authentication (default $"+authenticationKeyVariable+")")
	f.Func("list-file", "a list as `FORMAT:FILE`, as of 'sluice screen'; can be repeated", a.lists.Add)
	f.Float64Var(&a.threshold, "threshold", match.Threshold, "`SCORE` that a hit must reach, 0 to 100")
	f.StringVar(&a.answers, "answers", "", "JSON `FILE` with answers")
	f.StringArrayVar(&a.server.faults, "fail", nil, "`FAULT` to make; can be repeated")
	f.DurationVar(&a.server.delay, "delay", 0, "`TIME` to wait before each answer")
	conn.AddFlags(c)
	command.Values(c, "fail", adapterFaults...)
	return c
}

// adapterCommandFlags are what the command line says about an adapter.
type adapterCommandFlags struct {
	provider, address, public  string
	certificate, key           string
	plain                      bool
	encryption, authentication string
	answers                    string
	lists                      screening.Lists
	threshold                  float64
	server                     adapterServer
}

// adapterFaults are the values of --fail.
var adapterFaults = []string{"reject", "fail", "silent", "error", "invalid", "twice", "wrong-mac", "upload"}

// run serves the adapter until the context ends.
func (a *adapterCommandFlags) run(ctx context.Context) (err error) {
	if err := a.prepare(); err != nil {
		return err
	}
	socket, err := net.Listen("tcp", a.address)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w", a.address, err)
	}
	defer socket.Close()
	if a.public == "" {
		a.public = "https://" + socket.Addr().String()
	}
	u, err := url.Parse(a.public)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return command.Usagef("--url %s is not an https URL", a.public)
	}
	server := &http.Server{Handler: &a.server, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0)}
	failed := make(chan error, 1)
	if a.plain {
		go func() { failed <- server.Serve(socket) }()
	} else {
		certificate, remove, loadErr := a.loadCertificate(ctx, u)
		defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
		if loadErr != nil {
			return loadErr
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		go func() { failed <- server.ServeTLS(socket, "", "") }()
	}
	// Answers under way are given up when the program ends: the service will say that the provider did not answer.
	a.server.ctx = ctx
	defer a.server.pending.Wait()
	defer server.Close()
	a.server.printf("adapter of provider %s at %s; Ctrl-C ends it\n", a.provider, a.public)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("cannot serve any more: %w", err)
	}
}

// prepare reads the keys, the lists and the answers.
func (a *adapterCommandFlags) prepare() (err error) {
	s := &a.server
	s.provider = a.provider
	for _, fault := range s.faults {
		if !slices.Contains(adapterFaults, fault) {
			return command.Usagef("--fail %s is not one of %s", fault, strings.Join(adapterFaults, ", "))
		}
	}
	if (a.certificate == "") != (a.key == "") {
		return command.Usagef("--certificate and --key belong together")
	}
	if err := screening.CheckThreshold(a.threshold); err != nil {
		return err
	}
	if a.provider == "" {
		return command.Usagef("--provider needs the ID of the provider")
	}
	if a.plain && a.public == "" {
		return command.Usagef("--http needs --url: the https URL at which the service reaches what speaks TLS for it")
	}
	if a.plain && a.certificate != "" {
		return command.Usagef("--http serves no certificate: leave out --certificate and --key")
	}
	a.encryption = cmp.Or(a.encryption, os.Getenv(encryptionKeyVariable))
	a.authentication = cmp.Or(a.authentication, os.Getenv(authenticationKeyVariable))
	if a.encryption != "" || a.authentication != "" {
		if s.keys, err = adapter.ParseKeys(a.encryption, a.authentication); err != nil {
			return command.Usagef("%v", err)
		}
	}
	if a.answers != "" {
		if s.answers, err = readAnswers(a.answers); err != nil {
			return err
		}
	}
	if len(a.lists) > 0 {
		s.threshold = a.threshold
		index, err := a.lists.Build()
		if err != nil {
			return err
		}
		s.screener = match.NewScreener(index)
	}
	return nil
}

// removePatience is how long removing what was created may take.
const removePatience = 15 * time.Second

// loadCertificate returns the certificate to serve. Without one of the user's it makes one and has the service accept
// it; remove takes that back.
func (a *adapterCommandFlags) loadCertificate(ctx context.Context, u *url.URL) (
	certificate tls.Certificate, remove func(context.Context) error, err error) {
	remove = func(context.Context) error { return nil }
	if a.certificate != "" {
		certificate, err = tls.LoadX509KeyPair(a.certificate, a.key)
		return certificate, remove, err
	}
	if certificate, err = listener.NewCertificate(u.Hostname(), time.Now()); err != nil {
		return certificate, remove, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	configuration, err := a.server.client.TrustReceiver(ctx, a.public, string(text))
	if err != nil {
		return certificate, remove, fmt.Errorf("cannot have the certificate of this program accepted: %w", err)
	}
	return certificate, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, removePatience)
		defer cancel()
		return a.server.client.DistrustReceiver(ctx, configuration)
	}, nil
}
