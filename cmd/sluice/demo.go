package main

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

	"sluice/client"
	"sluice/sampledata"
)

const demoUsage = `sluice demo: see everything work, in some seconds

Starts a local cloud on a folder that is removed at the end, makes a tenant and a client, onboards entities, uploads a good batch
and one with every kind of error, reads a transaction back, and stops.

`

func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := newFlags("demo", demoUsage)
	lines := f.Int64("lines", 2000, "`N` lines in the good batch")
	if _, err := f.parse(args, 0, stdout); err != nil {
		return ended(err, stderr)
	}
	dir, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return cannot(stderr, err)
	}
	defer os.RemoveAll(dir)
	d := demo{con: newConsole(stdout), dir: dir, data: filepath.Join(dir, "data"), began: time.Now()}
	program, err := localProgram()
	if err != nil {
		return cannot(stderr, err)
	}
	cloud, err := startCloud(ctx, program, d.data)
	if err != nil {
		return cannot(stderr, err)
	}
	d.con.printf("%s a local cloud answers at %s after %.1f s\n", d.con.paint(green, "*"), cloud.at.APIURL, time.Since(d.began).Seconds())
	err = d.run(ctx, cloud, *lines)
	stopped := cloud.stop()
	switch {
	case ctx.Err() != nil:
		return cannot(stderr, errors.Join(errors.New("interrupted; the local cloud is stopped and its data removed"), stopped))
	case err != nil:
		return cannot(stderr, fmt.Errorf("%w\n%s", err, cloud.output()))
	case stopped != nil:
		return cannot(stderr, stopped)
	}
	d.con.printf("\n%s stopped; all of it took %.1f s. 'make local' starts one that stays.\n", d.con.paint(green, "*"), time.Since(d.began).Seconds())
	return exitOK
}

// demo is one run of the demo.
type demo struct {
	con    *console
	dir    string
	data   string
	began  time.Time
	client *client.Client
}

func (d *demo) run(ctx context.Context, cloud *cloud, lines int64) error {
	good, bad := filepath.Join(d.dir, "good.jsonl"), filepath.Join(d.dir, "bad.jsonl")
	if err := d.prepare(ctx, cloud, good, bad, lines); err != nil {
		return err
	}
	if err := d.upload(ctx, "A good batch", upload{path: good, reject: true}, client.StatusProcessed); err != nil {
		return err
	}
	if err := d.readBack(ctx, good); err != nil {
		return err
	}
	if err := d.upload(ctx, "A batch with every kind of error: one is enough to reject it", upload{path: bad, reject: true},
		client.StatusValidationFailed); err != nil {
		return err
	}
	return d.upload(ctx, "The same batch with --reject-on-invalid=false: its invalid lines are dropped",
		upload{path: bad, brief: true}, client.StatusProcessed)
}

// prepare makes a tenant, a client, two batches and their entities.
func (d *demo) prepare(ctx context.Context, cloud *cloud, good, bad string, lines int64) error {
	d.con.printf("\n%s\n", d.con.paint(bold, "A tenant, a client and entities"))
	var tenant struct {
		ID string `json:"tenant_id"`
	}
	var caller struct {
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
	if err := d.admin(ctx, &caller, "client", "create", "--tenant", tenant.ID); err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		o    sampledata.Options
	}{
		{good, sampledata.Options{Lines: lines, Seed: 1}},
		{bad, sampledata.Options{Lines: 8 * sampledata.EveryKind(), Seed: 2, Bad: 0.25}},
	} {
		if _, err := generateFiles(ctx, file.o, file.path); err != nil {
			return err
		}
		if err := d.admin(ctx, nil, "entities", "import", file.path+".entities", "--tenant", tenant.ID); err != nil {
			return err
		}
	}
	var err error
	d.client, err = client.New(client.Config{
		APIURL: cloud.at.APIURL, TokenURL: cloud.at.TokenURL, ClientID: caller.ID, ClientSecret: caller.Secret, Scope: caller.Scope,
	})
	return err
}

// admin runs the admin command as anybody would, and decodes what it prints into out.
func (d *demo) admin(ctx context.Context, out any, args ...string) error {
	d.con.printf("  $ sluice admin %s\n", strings.ReplaceAll(strings.Join(args, " "), d.dir+string(filepath.Separator), ""))
	var stdout, stderr bytes.Buffer
	if code := runAdmin(ctx, append(args, "--data", d.data), &stdout, &stderr); code != exitOK {
		return errors.New(strings.TrimSpace(stderr.String()))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(stdout.Bytes(), out)
}

// quickly reads the status so often that hardly a state is missed; a local cloud has no limits.
func quickly(int) time.Duration { return 5 * time.Millisecond }

func (d *demo) upload(ctx context.Context, title string, u upload, want string) error {
	d.con.printf("\n%s\n", d.con.paint(bold, title))
	u.client, u.con, u.pace = d.client, d.con, quickly
	if err := u.run(ctx); err != nil {
		return err
	}
	if s, err := d.client.Status(ctx, u.batchID); err != nil || s.Status != want {
		return errors.Join(fmt.Errorf("the batch should have ended as %s but is %s", want, s.Status), err)
	}
	return nil
}

// readBack shows a transaction of the file as the service gives it.
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
	d.con.printf("\n%s\n  GET /tm/realtime/api/transactions/%s\n", d.con.paint(bold, "Its first transaction, read back"), line.ID)
	t, err := d.client.Transaction(ctx, line.ID)
	if err != nil {
		return err
	}
	for _, m := range t.Modifications {
		d.con.printf("  line %d of batch %s, received %s\n", m.Line, m.BatchID, m.ReceivedAt.Format(time.RFC3339Nano))
		d.con.printf("  %s\n", d.con.paint(dim, cut(printable(string(m.Transaction)), max(d.con.width-3, 76))))
		if !bytes.Contains(text, append(bytes.TrimSpace(m.Transaction), '\n')) {
			return errors.New("the transaction is not the line that was sent")
		}
	}
	return nil
}
