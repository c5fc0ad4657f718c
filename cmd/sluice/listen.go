package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"sluice/client"
	"sluice/internal/cli"
	"sluice/shared/event"
	"sluice/shared/webhook"
)

func listenCommand() *cli.Command {
	var conn connection
	var l listener
	var events listFlag
	var address, public string
	return &cli.Command{
		Name:    "listen",
		Summary: "print the tenant's events as they come, verified, for development",
		Description: `
It serves HTTPS with a certificate of its own, tells the service to accept that certificate, creates a webhook, and
removes both when it ends. Each request is verified as a receiver must: its signature and its time.

The service must reach this program. That of a local cloud on the same machine does; for any other, give --url the
address of a tunnel that passes TCP connections on to --address.`,
		Flags: func(f *flag.FlagSet) {
			f.Var(&events, "event", "`TYPE` of events to listen to; can be repeated (default * for all)")
			f.StringVar(&l.forward, "forward", "",
				"`URL` to which each request is passed on; its answer is the answer to the service")
			f.StringVar(&address, "address", "127.0.0.1:0", "`HOST:PORT` to listen at; port 0 takes a free one")
			f.StringVar(&public, "url", "",
				"`URL` at which the service reaches this program (default that of --address)")
			f.BoolVar(&l.asJSON, "json", false, "print the messages, one a line, and everything else on standard error")
			conn.addFlags(f)
		},
		Examples: []string{
			"sluice listen",
			"sluice listen --event batchtransaction:ingestionProcessed --forward http://localhost:8080/events",
		},
		Run: func(ctx context.Context, _ []string, stdout io.Writer) error {
			c, err := conn.newClient()
			if err != nil {
				return err
			}
			if events == nil {
				events = listFlag{webhook.AllEvents}
			}
			l.client, l.stdout, l.info = c, stdout, newTerminal(stdout)
			if l.asJSON {
				l.info = newTerminal(io.Discard)
			}
			return l.run(ctx, address, public, events)
		},
	}
}

// listener receives deliveries on this machine.
type listener struct {
	client  *client.Client
	forward string
	asJSON  bool
	secret  string
	stdout  io.Writer
	info    *terminal
	// mu keeps the lines of concurrent requests apart.
	mu sync.Mutex
}

// removePatience is how long removing what was created may take.
const removePatience = 15 * time.Second

// run listens until the context ends.
func (l *listener) run(ctx context.Context, address, public string, events []string) (err error) {
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	defer socket.Close()
	if public == "" {
		public = "https://" + socket.Addr().String()
	}
	u, err := url.Parse(public)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return cli.Usagef("--url %s is not an https URL", public)
	}
	certificate, err := newCertificate(u.Hostname(), time.Now())
	if err != nil {
		return err
	}
	l.secret = rand.Text()
	// Nobody else guesses the path, so that what arrives there comes from the service.
	u = u.JoinPath("sluice-listen-" + strings.ToLower(rand.Text()))
	server := &http.Server{
		Handler: http.HandlerFunc(l.receive), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ServeTLS(socket, "", "") }()
	defer server.Close()
	remove, err := l.register(ctx, u.String(), certificate, events)
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	l.info.printf("listening to %s at %s; Ctrl-C ends it\n", strings.Join(events, " "), public)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("cannot listen any more: %w", err)
	}
}

// register tells the service about the certificate and creates the webhook. remove takes back what was made, also if
// register returns an error.
func (l *listener) register(ctx context.Context, address string, certificate tls.Certificate, events []string) (
	remove func(context.Context) error, err error) {
	var undo []func(context.Context) error
	remove = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, removePatience)
		defer cancel()
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i](ctx))
		}
		return errors.Join(errs...)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	configuration, err := l.client.TrustReceiver(ctx, address, string(text))
	if err != nil {
		return remove, fmt.Errorf("cannot have the certificate of this program accepted: %w", err)
	}
	undo = append(undo, func(ctx context.Context) error { return l.client.DistrustReceiver(ctx, configuration) })
	w, err := l.client.CreateWebhook(ctx, client.WebhookSettings{
		URL: address, Enabled: true, EventTypes: events, Name: "sluice listen", Secret: l.secret,
		EmailAddresses: []string{}, Type: string(webhook.Single), BatchSize: webhook.DefaultBatchSize,
	})
	if err != nil {
		return remove, fmt.Errorf("cannot create a webhook: %w", err)
	}
	undo = append(undo, func(ctx context.Context) error { return l.client.DeleteWebhook(ctx, w.ID) })
	return remove, nil
}

// maxReceivedBytes is the size of the largest request that is read. Deliveries are far smaller.
const maxReceivedBytes = 1 << 20

// receive answers a delivery: it verifies, prints and forwards it.
func (l *listener) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReceivedBytes))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if err := webhook.Verify(r.Header, body, l.secret, time.Now()); err != nil {
		l.printf("%s  REFUSED: %v\n", time.Now().Format(time.TimeOnly), err)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	status, note := http.StatusOK, ""
	if l.forward != "" {
		status, note = l.pass(r, body)
	}
	l.print(body, note)
	w.WriteHeader(status)
}

// pass forwards a request and returns the status for the service, and what to print about it.
func (l *listener) pass(r *http.Request, body []byte) (status int, note string) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, l.forward, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway, "not forwarded: " + err.Error()
	}
	request.Header = r.Header.Clone()
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway, "not forwarded: " + err.Error()
	}
	defer reply.Body.Close()
	return reply.StatusCode, fmt.Sprintf("forwarded: %d", reply.StatusCode)
}

// print prints a message that was received.
func (l *listener) print(body []byte, note string) {
	if l.asJSON {
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintf(l.stdout, "%s\n", body)
		return
	}
	var m event.Message
	if err := json.Unmarshal(body, &m); err != nil {
		l.printf("%s  %s\n", time.Now().Format(time.TimeOnly), printable(string(body)))
		return
	}
	l.printf("%s  %s  %s  %s  %s\n", m.When.Local().Format(time.TimeOnly), m.Type, m.CausationID,
		printable(string(m.Payload)), note)
}

func (l *listener) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info.printf("%s", strings.TrimRight(fmt.Sprintf(format, args...), " \n")+"\n")
}

// certificateLife is how long the certificate is valid. The program ends before.
const certificateLife = 30 * 24 * time.Hour

// newCertificate makes a certificate of a host, signed by itself.
func newCertificate(host string, now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "sluice listen"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
