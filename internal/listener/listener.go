// Package listener receives a tenant's events on this machine, as they are delivered to webhooks, for development: the
// command `sluice listen` prints them, and the console shows them.
package listener

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice/client"
	"sluice/shared/connect/webhook"
)

// Listener receives deliveries. All fields but Forward are required.
type Listener struct {
	// Client tells the service where to deliver.
	Client *client.Client
	// Name is that of the webhook.
	Name string
	// EventTypes are the types that are delivered, or webhook.AllEvents alone.
	EventTypes []string
	// Forward is where each request is passed on to, whose answer is that for the service; "" for nowhere.
	Forward string
	// OnRequest is called with each request, by several goroutines at once.
	OnRequest func(Request)

	secret string
}

// Request is a request of the service, or of somebody who pretends to be it.
type Request struct {
	// At is when it came.
	At time.Time
	// Body is a message, if Refused is nil.
	Body []byte
	// Refused says why the request is not one of the service; nil if it is.
	Refused error
	// Forwarded says what became of a request that was passed on; "" for one that was not.
	Forwarded string
}

// ErrAddress means that the public address cannot be used.
var ErrAddress = errors.New("not an https URL")

// removePatience is how long removing what was created may take.
const removePatience = 15 * time.Second

// Run listens at an address of this machine until the context ends, and then returns nil. The service delivers to
// public or, if that is "", to the address itself. It has to accept the certificate that is made for it. The service is
// told to do that, and a webhook is created; both are removed at the end. onReady is called once everything is there.
func (l *Listener) Run(ctx context.Context, address, public string, onReady func(public string)) (err error) {
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
		return fmt.Errorf("%s is %w", public, ErrAddress)
	}
	certificate, err := NewCertificate(u.Hostname(), time.Now())
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
	remove, err := l.register(ctx, u.String(), certificate)
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	onReady(public)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("cannot listen any more: %w", err)
	}
}

// register tells the service about the certificate and creates the webhook. remove takes back what was made, also if
// register returns an error.
func (l *Listener) register(ctx context.Context, address string, certificate tls.Certificate) (
	remove func(context.Context) error, err error,
) {
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
	configuration, err := l.Client.TrustReceiver(ctx, address, string(text))
	if err != nil {
		return remove, fmt.Errorf("cannot have the certificate of this program accepted: %w", err)
	}
	undo = append(undo, func(ctx context.Context) error { return l.Client.DistrustReceiver(ctx, configuration) })
	w, err := l.Client.CreateWebhook(ctx, client.WebhookSettings{
		URL: address, Enabled: true, EventTypes: l.EventTypes, Name: l.Name, Secret: l.secret,
		EmailAddresses: []string{}, Type: string(webhook.Single), BatchSize: webhook.DefaultBatchSize,
	})
	if err != nil {
		return remove, fmt.Errorf("cannot create a webhook: %w", err)
	}
	undo = append(undo, func(ctx context.Context) error { return l.Client.DeleteWebhook(ctx, w.ID) })
	return remove, nil
}

// maxReceivedBytes is the size of the largest request that is read. Deliveries are far smaller.
const maxReceivedBytes = 1 << 20

// receive answers a delivery: it verifies it, passes it on and reports it.
func (l *Listener) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReceivedBytes))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	got := Request{At: time.Now(), Body: body}
	if got.Refused = webhook.Verify(r.Header, body, l.secret, got.At); got.Refused != nil {
		l.OnRequest(got)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	status := http.StatusOK
	if l.Forward != "" {
		status, got.Forwarded = l.pass(r, body)
	}
	l.OnRequest(got)
	w.WriteHeader(status)
}

// pass forwards a request and returns the status for the service, and what to report about it.
func (l *Listener) pass(r *http.Request, body []byte) (status int, note string) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, l.Forward, bytes.NewReader(body))
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

// certificateLife is how long the certificate is valid. The program ends before.
const certificateLife = 30 * 24 * time.Hour

// NewCertificate makes a certificate of a host, signed by itself.
func NewCertificate(host string, now time.Time) (tls.Certificate, error) {
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
