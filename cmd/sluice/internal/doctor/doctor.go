// Package doctor has the command that finds faults of this machine, a connection and its service.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

// Command returns the command doctor.
func Command() *cobra.Command {
	var conn service.Connection
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "say what this machine, the connection and the service lack",
		Long: `
A line for each check: its outcome, its name, what was found and what to do. no means that the client may not do
something, which may be as it should be. It asks the service for the first item of some lists and for an upload that
cannot be, so nothing changes. The exit code is 1 if a check failed.`,
		Example: "sluice doctor\nsluice doctor --profile test --json",
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			e := &examination{conn: &conn, now: time.Now}
			e.run(ctx)
			if ctx.Err() != nil {
				return command.ErrInterrupted
			}
			return e.print(stdout, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON, one a line")
	conn.AddFlags(c)
	return c
}

// The outcomes of a check.
const (
	ok     = "ok"
	no     = "no"
	failed = "failed"
)

// finding is the result of a check.
type finding struct {
	Outcome string `json:"outcome"`
	Check   string `json:"check"`
	Found   string `json:"found"`
	// Remedy is the advice for a check that did not succeed; "" for others.
	Remedy string `json:"remedy"`
}

// examination runs the checks in order. A failed one ends those that depend on it.
type examination struct {
	conn     *service.Connection
	now      func() time.Time
	findings []finding
}

func (e *examination) add(outcome, check, found, remedy string) {
	e.findings = append(e.findings, finding{outcome, check, found, remedy})
}

func (e *examination) run(ctx context.Context) {
	e.checkTemporaryFolder()
	config, source, err := e.conn.Resolve(ctx)
	if err != nil {
		e.add(failed, "connection", err.Error(), "name a service: 'sluice login', 'sluice local', or the flags in "+
			"'sluice help'")
		return
	}
	api, err := client.New(config)
	if err != nil {
		e.add(failed, "connection", err.Error(), "complete it, as 'sluice help' says")
		return
	}
	e.add(ok, "connection", fmt.Sprintf("%s, client %s, from %s", config.APIURL, config.ClientID, source), "")
	if e.checkAddress(ctx, config.APIURL) && e.checkToken(ctx, api, config) {
		e.checkPermissions(ctx, api)
	}
}

// checkTemporaryFolder checks the folder to which standard input and unpacked files are copied.
func (e *examination) checkTemporaryFolder() {
	file, err := os.CreateTemp("", "sluice-")
	if err != nil {
		e.add(failed, "temporary files", err.Error(), "set TMPDIR to a folder that can be written")
		return
	}
	_ = file.Close()
	_ = os.Remove(file.Name())
	e.add(ok, "temporary files", os.TempDir(), "")
}

const (
	answerTimeout = 10 * time.Second
	// maxSkew is how much this machine's clock may differ from the service's. Storage refuses what was signed more than
	// 15 minutes away.
	maxSkew = time.Minute
)

// checkAddress calls the service without a token, and compares its clock with this machine's.
func (e *examination) checkAddress(ctx context.Context, apiURL string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, apiURL, nil)
	if err != nil {
		e.add(failed, "service", err.Error(), "correct the address")
		return false
	}
	before := e.now()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		remedy := "check the address, the network and the proxy"
		if proxy, _ := http.ProxyFromEnvironment(request); proxy != nil {
			remedy += " (" + proxy.Redacted() + ")"
		}
		var failure *url.Error
		if errors.As(err, &failure) {
			err = failure.Err
		}
		e.add(failed, "service", request.URL.Host+" does not answer: "+err.Error(), remedy)
		return false
	}
	_ = answer.Body.Close()
	took := e.now().Sub(before)
	e.add(ok, "service", fmt.Sprintf("%s answers within %d ms", request.URL.Host, took.Milliseconds()), "")
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return true
	}
	switch skew := before.Add(took / 2).Sub(date).Truncate(time.Second); {
	case skew.Abs() <= maxSkew:
		e.add(ok, "clock", fmt.Sprintf("within %v of the service's", max(skew.Abs(), time.Second)), "")
	case skew > 0:
		e.add(failed, "clock", fmt.Sprintf("%v ahead of the service's", skew), "set it, by NTP for example")
	default:
		e.add(failed, "clock", fmt.Sprintf("%v behind the service's", -skew), "set it, by NTP for example")
	}
	return true
}

func (e *examination) checkToken(ctx context.Context, api *client.Client, config client.Config) bool {
	err := api.Authenticate(ctx)
	var refused *client.TokenError
	switch {
	case err == nil:
		e.add(ok, "token", "client "+config.ClientID+" gets one for "+config.Scope, "")
		return true
	case errors.As(err, &refused) && refused.Code == "invalid_client":
		e.add(failed, "token", err.Error(), "check the ID and the secret; an operator sees in 'sluice admin client "+
			"list' whether the client is disabled")
	case errors.As(err, &refused) && refused.Code == "invalid_scope":
		e.add(failed, "token", err.Error(), "the scope is tenant/ and the ID of the client's own tenant")
	default:
		e.add(failed, "token", err.Error(), "check the address of the token endpoint, "+config.TokenURL)
	}
	return false
}

// checkPermissions asks for something of each area.
func (e *examination) checkPermissions(ctx context.Context, api *client.Client) {
	today := e.now().UTC()
	for _, area := range []struct {
		name string
		ask  func() error
	}{
		{"upload", func() error { return askForUpload(ctx, api) }},
		{"batches", func() error {
			_, _, err := api.Batches(ctx, client.BatchQuery{Limit: 1}, "")
			return err
		}},
		{"transactions", func() error {
			_, err := api.TransactionSummary(ctx, today, today)
			return err
		}},
		{"entities", func() error {
			_, _, err := api.Entities(ctx, client.EntityQuery{Limit: 1}, "")
			return err
		}},
		{"policies", func() error {
			_, err := api.Policies(ctx)
			return err
		}},
		{"webhooks", func() error {
			_, err := api.Webhooks(ctx)
			return err
		}},
	} {
		err := area.ask()
		var refused *client.Error
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			e.add(ok, area.name, "allowed", "")
		case errors.As(err, &refused) && refused.Status == http.StatusForbidden && !refused.Foreign:
			e.add(no, area.name, refused.Message, "an operator grants it, if the client is to have it")
		default:
			e.add(failed, area.name, err.Error(), "try again; if it stays, report it with the ID of the request")
		}
	}
}

// askForUpload asks for a batch whose name is refused, which tells whether the client may upload.
func askForUpload(ctx context.Context, api *client.Client) error {
	upload, err := api.CreateUploadWith(ctx, client.UploadOptions{Name: "\x00"})
	if err == nil {
		_, err = api.CancelBatch(ctx, upload.BatchID)
		return err
	}
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity {
		return nil
	}
	return err
}

// print prints the findings, and returns command.Rejected if a check failed.
func (e *examination) print(stdout io.Writer, asJSON bool) error {
	if asJSON {
		if err := output.PrintJSONLines(stdout, e.findings); err != nil {
			return err
		}
	}
	var result error
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, f := range e.findings {
		if f.Outcome == failed {
			result = command.Rejected
		}
		text := linefile.Printable(f.Found)
		if f.Remedy != "" {
			text += "; " + linefile.Printable(f.Remedy)
		}
		if !asJSON {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Outcome, f.Check, text)
		}
	}
	return errors.Join(table.Flush(), result)
}
