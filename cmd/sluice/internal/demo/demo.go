// Package demo is the command that shows the whole service on a local cloud of its own.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/batches"
	"sluice/cmd/sluice/internal/local"
	"sluice/cmd/sluice/internal/policies"
	"sluice/cmd/sluice/internal/samples"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/internal/localcloud"
	"sluice/openapi/wire"
	"sluice/sampledata"
)

func Command(run runner) *cobra.Command {
	var lines int64
	c := &cobra.Command{
		Use:   "demo",
		Short: "see everything work, in a few seconds",
		Long: `
Starts a local cloud on a folder that is removed at the end, creates a tenant and a client, onboards entities, uploads
a good batch and one with every kind of error, reads a transaction back, imports a policy and evaluates it for a
company, and stops.`,
		Example: "sluice demo",
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			if lines < 1 {
				return command.Usagef("--lines must be at least 1")
			}
			return runDemo(ctx, run, terminal.New(stdout), lines)
		}),
	}
	c.Flags().Int64Var(&lines, "lines", 2000, "`N` lines in the good batch")
	return c
}

// runner runs the command that args name and returns the exit code.
type runner func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// runDemo runs the demo on a local cloud of its own, in a temporary folder.
func runDemo(ctx context.Context, run runner, ui *terminal.Terminal, lines int64) error {
	dir, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := demo{runProgram: run, ui: ui, dir: dir, data: filepath.Join(dir, "data")}
	started := time.Now()
	program, err := local.FindProgram()
	if err != nil {
		return err
	}
	cloud, err := local.Start(ctx, program, d.data)
	if err != nil {
		return err
	}
	ui.Printf("%s a local cloud answers at %s after %.1f s\n", ui.Paint(terminal.Green, "*"), cloud.Descriptor.APIURL,
		time.Since(started).Seconds())
	err = d.run(ctx, cloud.Descriptor, lines)
	stopErr := cloud.Stop()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%w; the local cloud is stopped and its data removed", command.ErrInterrupted)
		return errors.Join(err, stopErr)
	case err != nil:
		return fmt.Errorf("%w\n%s", err, cloud.LastOutput())
	case stopErr != nil:
		return stopErr
	}
	ui.Printf("\n%s stopped; all of it took %.1f s. 'make local' starts a local cloud that stays.\n",
		ui.Paint(terminal.Green, "*"), time.Since(started).Seconds())
	return nil
}

// demo is one run of the demo.
type demo struct {
	runProgram runner
	ui         *terminal.Terminal
	// dir is the temporary folder, and data the local cloud's data folder in it.
	dir, data string
	client    *client.Client
}

func (d *demo) run(ctx context.Context, cloud localcloud.Descriptor, lines int64) error {
	good, bad := filepath.Join(d.dir, "good.jsonl"), filepath.Join(d.dir, "bad.jsonl")
	if err := d.prepare(ctx, cloud, good, bad, lines); err != nil {
		return err
	}
	if err := d.upload(ctx, "A good batch",
		good, batches.FileUpload{RejectOnInvalid: true}, client.StatusProcessed); err != nil {
		return err
	}
	if err := d.readBack(ctx, good); err != nil {
		return err
	}
	if err := d.upload(ctx, "A batch with every kind of error: one is enough to reject it",
		bad, batches.FileUpload{RejectOnInvalid: true}, client.StatusValidationFailed); err != nil {
		return err
	}
	if err := d.upload(ctx, "The same batch with --reject-on-invalid=false: its invalid lines are dropped",
		bad, batches.FileUpload{Brief: true}, client.StatusProcessed); err != nil {
		return err
	}
	return d.evaluatePolicy(ctx)
}

// prepare creates a tenant, its client, two batches and their entities.
func (d *demo) prepare(ctx context.Context, cloud localcloud.Descriptor, good, bad string, lines int64) error {
	d.ui.Printf("\n%s\n", d.ui.Paint(terminal.Bold, "A tenant, a client and entities"))
	var tenant struct {
		ID string `json:"tenant_id"`
	}
	var credentials struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Scope  string `json:"scope"`
	}
	if err := d.admin(ctx, &tenant, "tenant", "create"); err != nil {
		return err
	}
	if err := d.admin(ctx, nil, "tenant", "enable-batch", tenant.ID); err != nil {
		return err
	}
	if err := d.admin(ctx, &credentials, "client", "create", "--tenant", tenant.ID,
		"--permission", "BatchUpload", "--permission", "BatchRead", "--permission", "TransactionRead",
		"--permission", "PolicyConfigurationAccess", "--permission", "PolicyConfigurationCreate",
		"--permission", "PolicyConfigurationEdit", "--permission", "PolicyConfigurationApprove"); err != nil {
		return err
	}
	for _, file := range []struct {
		path    string
		options sampledata.Options
	}{
		{good, sampledata.Options{Lines: lines, Seed: 1}},
		{bad, sampledata.Options{Lines: 8 * sampledata.EveryKind(), Seed: 2, Bad: 0.25}},
	} {
		if _, err := samples.WriteFiles(ctx, file.options, file.path); err != nil {
			return err
		}
		if err := d.admin(ctx, nil, "entities", "import", file.path+".entities", "--tenant", tenant.ID); err != nil {
			return err
		}
	}
	var err error
	d.client, err = client.New(client.Config{
		APIURL: cloud.APIURL, TokenURL: cloud.TokenURL,
		ClientID: credentials.ID, ClientSecret: credentials.Secret, Scope: credentials.Scope,
	})
	return err
}

// admin runs an admin command as a person would, and decodes what it prints into out unless that is nil.
func (d *demo) admin(ctx context.Context, out any, args ...string) error {
	line := strings.ReplaceAll(strings.Join(args, " "), d.dir+string(filepath.Separator), "")
	d.ui.Printf("  $ sluice admin %s\n", line)
	var stdout, stderr bytes.Buffer
	args = append(append([]string{"admin"}, args...), "--data", d.data)
	if code := d.runProgram(ctx, args, &stdout, &stderr); code != command.ExitOK {
		return errors.New(strings.TrimSpace(stderr.String()))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(stdout.Bytes(), out)
}

// pollOften reads a status so often that hardly one is missed. A local cloud has no rate limit.
func pollOften(int) time.Duration { return 5 * time.Millisecond }

// upload uploads a file and checks that the batch ends in the status that is wanted.
func (d *demo) upload(ctx context.Context, title, path string, o batches.FileUpload, want string) error {
	d.ui.Printf("\n%s\n", d.ui.Paint(terminal.Bold, title))
	o.Interval = pollOften
	id, err := batches.UploadFile(ctx, d.client, d.ui, path, o)
	if err != nil {
		return err
	}
	if s, err := d.client.Status(ctx, id); err != nil || s.Status != want {
		return errors.Join(fmt.Errorf("the batch should have ended as %s but is %s", want, s.Status), err)
	}
	return nil
}

// readBack reads the first transaction of the file from the service, shows it and compares it.
func (d *demo) readBack(ctx context.Context, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var line struct {
		ID string `json:"transaction_external_id"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&line); err != nil {
		return err
	}
	d.ui.Printf("\n%s\n  GET /tm/realtime/api/transactions/%s\n",
		d.ui.Paint(terminal.Bold, "Its first transaction, read back"), line.ID)
	t, err := d.client.Transaction(ctx, line.ID)
	if err != nil {
		return err
	}
	for _, m := range t.Modifications {
		d.ui.Printf("  line %d of batch %s, received %s\n", wire.OrZero(m.Line), wire.OrZero(m.BatchID),
			m.ReceivedAt.Format(time.RFC3339Nano))
		d.ui.Printf("  %s\n", d.ui.Paint(terminal.Dim, terminal.Truncate(linefile.Printable(string(m.Transaction)),
			max(d.ui.Width-3, 76))))
		if !bytes.Contains(text, append(bytes.TrimSpace(m.Transaction), '\n')) {
			return errors.New("the transaction is not the line that was sent")
		}
	}
	return nil
}

// evaluatePolicy imports the example policy for companies, publishes it and shows what it asks of a company.
func (d *demo) evaluatePolicy(ctx context.Context) error {
	d.ui.Printf("\n%s\n", d.ui.Paint(terminal.Bold, "A policy: what a bank asks of a company, and why"))
	for _, name := range []string{"company.yaml", "acme.yaml"} {
		text, err := sampledata.Policies.ReadFile("policies/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(d.dir, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	d.ui.Printf("  $ sluice policy import company.yaml --publish\n")
	contents, err := policies.PublishFile(ctx, d.client, d.ui, filepath.Join(d.dir, "company.yaml"))
	if err != nil {
		return err
	}
	d.ui.Printf("  $ sluice policy evaluate --policy Company --entity acme.yaml --category Risk --explain\n")
	err = policies.ExplainEntity(ctx, d.client, d.ui, contents, filepath.Join(d.dir, "acme.yaml"), "Risk")
	if !errors.Is(err, command.Rejected) {
		return errors.Join(errors.New("the evaluation should have found wrong values"), err)
	}
	return nil
}
