package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/listener"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

func listenCommand() *cobra.Command {
	var conn service.Connection
	var l eventPrinter
	var events []string
	var address, public string
	c := &cobra.Command{
		Use:   "listen",
		Short: "print the tenant's events as they come, verified, for development",
		Long: `
It serves HTTPS with a certificate of its own, tells the service to accept that certificate, creates a webhook, and
removes both when it ends. Each request is verified as a receiver must: its signature and its time.

The service must reach this program. That of a local cloud on the same machine does; for any other, give --url the
address of a tunnel that passes TCP connections on to --address.`,
		Example: `
sluice listen
sluice listen --event batchtransaction:ingestionProcessed --forward http://localhost:8080/events`,
		RunE: conn.Run(func(ctx context.Context, c *client.Client, _ []string, stdout io.Writer) error {
			if events == nil {
				events = []string{webhook.AllEvents}
			}
			l.client = c
			l.printTo(stdout, os.Stderr)
			return l.run(ctx, address, public, events)
		}),
	}
	f := c.Flags()
	f.StringArrayVar(&events, "event", nil, "`TYPE` of events to listen to; can be repeated (default * for all)")
	f.StringVar(&l.forward, "forward", "",
		"`URL` to which each request is passed on; its answer is the answer to the service")
	f.StringVar(&address, "address", "127.0.0.1:0", "`HOST:PORT` to listen at; port 0 takes a free one")
	f.StringVar(&public, "url", "",
		"`URL` at which the service reaches this program (default that of --address)")
	f.BoolVar(&l.asJSON, "json", false, "print the messages, one a line, and everything else on standard error")
	output.Endless(c)
	conn.AddFlags(c)
	return c
}

// eventPrinter prints the events that a listener receives.
type eventPrinter struct {
	client  *client.Client
	forward string
	asJSON  bool
	// stdout is for messages as JSON, and info for everything else.
	stdout io.Writer
	info   *terminal.Terminal
	// mu keeps the lines of concurrent requests apart.
	mu sync.Mutex
}

// printTo sets where messages are printed, and what else there is to say: with --json that goes to standard error.
func (l *eventPrinter) printTo(stdout, stderr io.Writer) {
	l.stdout, l.info = stdout, terminal.New(stdout)
	if l.asJSON {
		l.info = terminal.New(stderr)
	}
}

// run listens until the context ends.
func (l *eventPrinter) run(ctx context.Context, address, public string, events []string) error {
	receiver := listener.Listener{
		Client: l.client, Name: "sluice listen", EventTypes: events, Forward: l.forward, OnRequest: l.report,
	}
	err := receiver.Run(ctx, address, public, func(public string) {
		l.info.Printf("listening to %s at %s; Ctrl-C ends it\n", strings.Join(events, " "), public)
	})
	if errors.Is(err, listener.ErrAddress) {
		return command.Usagef("--url %w", err)
	}
	return err
}

// report prints a request.
func (l *eventPrinter) report(r listener.Request) {
	if r.Refused != nil {
		l.printf("%s  REFUSED: %v\n", r.At.Format(time.TimeOnly), r.Refused)
		return
	}
	l.print(r.Body, r.Forwarded)
}

// print prints a message that was received.
func (l *eventPrinter) print(body []byte, note string) {
	if l.asJSON {
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintf(l.stdout, "%s\n", body)
		return
	}
	var m event.Message
	if err := json.Unmarshal(body, &m); err != nil {
		l.printf("%s  %s\n", time.Now().Format(time.TimeOnly), linefile.Printable(string(body)))
		return
	}
	l.printf("%s  %s  %s  %s  %s\n", m.When.Local().Format(time.TimeOnly), m.Type, m.CausationID,
		linefile.Printable(string(m.Payload)), note)
}

func (l *eventPrinter) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.info.Printf("%s", strings.TrimRight(fmt.Sprintf(format, args...), " \n")+"\n")
}
