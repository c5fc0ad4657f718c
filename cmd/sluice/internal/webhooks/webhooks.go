// Package webhooks has the commands about events, the webhooks that deliver them, and receivers.
package webhooks

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

// Commands returns the commands about events and their receivers.
func Commands() []*cobra.Command {
	return []*cobra.Command{webhooksCommand(), listenCommand(), outboundCommand()}
}

func webhooksCommand() *cobra.Command {
	return command.Group(&cobra.Command{
		Use:   "webhooks",
		Short: "manage the addresses to which events are delivered, and the deliveries",
		Example: `
sluice webhooks create https://receiver.example.com/sluice --event batchtransaction:ingestionProcessed
sluice webhooks deliveries 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 --outcome Failed`,
		Annotations: command.Notes(
			"docs/webhooks.md walks through the life of a webhook; 'sluice listen' shows events as they come."),
	},
		listWebhooksCommand(), createWebhookCommand(), getWebhookCommand(), updateWebhookCommand(),
		deleteWebhookCommand(), testWebhookCommand(), deliveriesCommand(), resendCommand(),
	)
}

// webhookFlags are the flags that set what a tenant sets of a webhook.
type webhookFlags struct {
	name, kind, secretFile string
	batchSize              int64
	events, emails         []string
}

func (w *webhookFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&w.name, "name", "", "`NAME` for people")
	f.StringArrayVar(&w.events, "event", nil,
		"`TYPE` of events that are delivered; can be repeated (default * for all)")
	f.StringArrayVar(&w.emails, "email", nil, "`ADDRESS` of somebody in charge; can be repeated")
	f.StringVar(&w.kind, "type", "", "`TYPE`: Single, or Batch to get the events of a minute at once (default Single)")
	f.Int64Var(&w.batchSize, "batch-size", 0,
		"`NUMBER` of events that fill a delivery of the type Batch, 10 to 100 (default 100)")
	f.StringVar(&w.secretFile, "secret-file", "", "`FILE` with the secret that signs deliveries; - is standard input")
	command.Values(c, "type", "Single", "Batch")
}

// apply sets what the flags give, and leaves the rest.
func (w *webhookFlags) apply(ctx context.Context, s *client.WebhookSettings) error {
	if w.name != "" {
		s.Name = w.name
	}
	if w.events != nil {
		s.EventTypes = w.events
	}
	if w.emails != nil {
		s.EmailAddresses = w.emails
	}
	if w.kind != "" {
		s.Type = w.kind
	}
	if w.batchSize != 0 {
		s.BatchSize = w.batchSize
	}
	if w.secretFile != "" {
		var err error
		s.Secret, err = files.ReadSecret(ctx, w.secretFile)
		return err
	}
	return nil
}

func listWebhooksCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "list", Short: "list all webhooks", Example: "sluice webhooks list",
	}, func(ctx context.Context, c *client.Client, _ []string, asJSON bool, stdout io.Writer) error {
		list, err := c.Webhooks(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return output.PrintJSONLines(stdout, list)
		}
		if len(list) == 0 {
			fmt.Fprintln(os.Stderr, "There are no webhooks; 'sluice webhooks create' makes one.")
		}
		table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		for _, w := range list {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", w.ID, webhookState(w.Webhook), linefile.Printable(w.URL),
				strings.Join(w.EventTypes, " "))
		}
		return table.Flush()
	})
}

// webhookState says in a word or two how a webhook is.
func webhookState(w wire.Webhook) string {
	switch {
	case w.DisabledReason != nil:
		return "disabled (" + *w.DisabledReason + ")"
	case !w.Enabled:
		return "disabled"
	case w.FailingSince != nil:
		return "failing"
	}
	return "enabled"
}

func createWebhookCommand() *cobra.Command {
	var flags webhookFlags
	var disabled bool
	c := service.Command(&cobra.Command{
		Use: "create URL", Short: "create a webhook",
		Long: `
Without --secret-file the service makes the secret, which is printed this once.`,
		Example: `
sluice webhooks create https://receiver.example.com/sluice
sluice webhooks create https://receiver.example.com/sluice --type Batch --batch-size 50 --secret-file secret.txt`,
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		s := client.WebhookSettings{
			URL: args[0], Enabled: !disabled, EventTypes: []string{"*"}, EmailAddresses: []string{}, Type: "Single",
			BatchSize: 100,
		}
		if err := flags.apply(ctx, &s); err != nil {
			return err
		}
		w, err := c.CreateWebhook(ctx, s)
		if err != nil {
			return err
		}
		return printWebhook(stdout, w, asJSON)
	})
	f := c.Flags()
	flags.addFlags(c)
	f.BoolVar(&disabled, "disabled", false, "create it switched off")
	return c
}

func getWebhookCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "get WEBHOOK", Short: "show a webhook, and whether it fails",
		Example: "sluice webhooks get 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		w, err := c.Webhook(ctx, args[0])
		if err != nil {
			return err
		}
		return printWebhook(stdout, w, asJSON)
	})
}

// printWebhook prints a webhook for people, or the service's reply.
func printWebhook(stdout io.Writer, w client.Webhook, asJSON bool) error {
	if asJSON {
		return output.PrintReply(stdout, w.Reply)
	}
	f := output.NewFacts(stdout)
	f.Add("webhook", w.ID)
	f.Add("name", w.Name)
	f.Add("URL", w.URL)
	f.Add("state", webhookState(w.Webhook))
	f.Add("events", strings.Join(w.EventTypes, " "))
	if f.Add("type", w.Type); w.Type == "Batch" {
		f.Add("batch size", fmt.Sprint(w.BatchSize))
	}
	f.Add("email", strings.Join(w.EmailAddresses, " "))
	f.AddTime("failing since", w.FailingSince)
	f.AddTime("is disabled from", w.DisablesAt)
	f.AddTime("disabled at", w.DisabledAt)
	f.AddTime("old secret until", w.PreviousSecretUntil)
	f.Add("secret", w.Secret)
	return f.Print()
}

func updateWebhookCommand() *cobra.Command {
	var flags webhookFlags
	var url string
	var enable, disable bool
	c := service.Command(&cobra.Command{
		Use: "update WEBHOOK", Short: "change what the flags name, and leave the rest",
		Long: `
A new secret and the one before both sign for 24 hours. Enabling a webhook that the service has disabled ends its
failure.`,
		Example: "sluice webhooks update 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11 --enable",
	}, func(ctx context.Context, c *client.Client, args []string, asJSON bool, stdout io.Writer) error {
		if enable && disable {
			return command.Usagef("--enable and --disable exclude each other")
		}
		w, err := c.Webhook(ctx, args[0])
		if err != nil {
			return err
		}
		s := w.Settings()
		if url != "" {
			s.URL = url
		}
		s.Enabled = (s.Enabled || enable) && !disable
		if err := flags.apply(ctx, &s); err != nil {
			return err
		}
		if w, err = c.UpdateWebhook(ctx, args[0], s); err != nil {
			return err
		}
		return printWebhook(stdout, w, asJSON)
	})
	f := c.Flags()
	f.StringVar(&url, "url", "", "`URL` to which events are delivered")
	flags.addFlags(c)
	f.BoolVar(&enable, "enable", false, "switch it on")
	f.BoolVar(&disable, "disable", false, "switch it off")
	return c
}

func deleteWebhookCommand() *cobra.Command {
	return service.Command(&cobra.Command{
		Use: "delete WEBHOOK", Short: "delete a webhook; its pending deliveries end",
		Example: "sluice webhooks delete 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e11",
	}, func(ctx context.Context, c *client.Client, args []string, _ bool, _ io.Writer) error {
		return c.DeleteWebhook(ctx, args[0])
	})
}
