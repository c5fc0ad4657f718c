package batches

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
)

// partsFrom is the size in bytes from which on a file is uploaded in parts, so that it can be resumed.
const partsFrom = 64 << 20

// declare adds to a request what will be uploaded: in parts, each with its checksum, if the file is large; otherwise by
// one PUT of exactly this file.
func (u *uploadRun) declare(request *client.UploadOptions, file io.ReaderAt, size int64) error {
	request.ContentLength = &size
	if u.inParts || size >= partsFrom {
		request.Upload, request.PartChecksums = client.UploadMultipart, true
		return nil
	}
	var err error
	request.ChecksumSHA256, err = u.checksum(file, size)
	return err
}

// checksum returns the SHA-256 of the file as storage writes it.
func (u *uploadRun) checksum(file io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(file, 0, size)); err != nil {
		return "", fmt.Errorf("read %s: %w", linefile.Printable(u.path), err)
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}

// checkResume returns an error if a flag says anything about the batch whose upload is resumed: it is as it was begun.
func (u *uploadRun) checkResume() error {
	if u.resume == "" {
		return nil
	}
	if _, err := batch.ParseID(u.resume); err != nil {
		return command.Usagef("--resume takes the ID of a batch, such as 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01, not %q",
			u.resume)
	}
	if name := command.GivenFlag(u.options.flags, "reject-on-invalid", "max-rejected", "validate-only", "on-duplicate",
		"name", "metadata", "parts", "screen", "threshold", "on-hit"); name != "" {
		return command.Usagef("--resume goes on with the batch as it was begun; leave out --%s", name)
	}
	return nil
}

// resumeUpload uploads the file of a batch that awaits it, of an upload in parts the missing ones. If the service has
// the whole file already, it uploads nothing.
func (u *uploadRun) resumeUpload(ctx context.Context, file io.ReaderAt, size int64) error {
	s, err := u.client.Status(ctx, u.batchID)
	if err != nil {
		return err
	}
	if s.Status != "" || s.Message != client.MessageNotUploaded {
		u.uploaded = true
		u.ui.Printf("The service has the file already.\n")
		return nil
	}
	target, err := u.client.SignUpload(ctx, u.batchID)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusConflict {
		return u.uploadParts(ctx, file, size)
	}
	if err != nil {
		return err
	}
	sum, err := u.checksum(file, size)
	if err != nil {
		return err
	}
	if announced := target.RequiredHeaders["X-Amz-Checksum-Sha256"]; announced != "" && announced != sum {
		return fmt.Errorf("%w: its SHA-256 is %s, and the upload was begun for %s", client.ErrOtherFile, sum, announced)
	}
	return u.uploadFile(ctx, target, file, size)
}

// uploadParts uploads the parts of the file that are missing, with a progress bar.
func (u *uploadRun) uploadParts(ctx context.Context, file io.ReaderAt, size int64) error {
	u.canResume = true
	progress := terminal.NewProgressBar(u.ui, size)
	var stored atomic.Int64
	err := u.client.UploadParts(ctx, u.batchID, file, size, client.PartsOptions{
		OnResume: func(n int64, replaced int) {
			stored.Store(n)
			if n > 0 {
				u.ui.PrintStep(terminal.Bold, "resumed", time.Since(progress.Started),
					"the service has "+terminal.FormatBytes(n)+" already")
			}
			if replaced > 0 {
				u.ui.Printf("  sent again because they differ from the file: %s\n",
					terminal.CountOf(int64(replaced), "part"))
			}
		},
		Progress:   func(n int64) { progress.Update(n, n-stored.Load()) },
		OnComplete: func() { u.sentAll.Store(true) },
	})
	progress.Clear()
	if err != nil {
		return err
	}
	u.uploaded = true
	u.ui.PrintStep(terminal.Bold, "uploaded", time.Since(progress.Started),
		"the service has "+terminal.FormatBytes(size))
	return nil
}

// isResumable reports whether an upload that ended with an error can be resumed.
func (u *uploadRun) isResumable(ctx context.Context, err error) bool {
	var refused *client.Error
	isRefused := errors.As(err, &refused) && refused.Status < http.StatusInternalServerError &&
		refused.Status != http.StatusTooManyRequests
	return u.canResume && !u.uploaded && (ctx.Err() != nil || !isRefused && !errors.Is(err, client.ErrOtherFile))
}

// resumableError is the error of an upload that broke off.
func (u *uploadRun) resumableError(cause error) error {
	if u.path == files.StdName {
		return fmt.Errorf("%w; continue with the same input: %s", cause,
			u.conn.CommandLine("upload", "--resume", u.batchID, files.StdName))
	}
	return fmt.Errorf("%w; continue with: %s", cause,
		u.conn.CommandLine("upload", "--resume", u.batchID, files.ArgumentName(u.path)))
}

// allLists takes the place of names of lists: it means all that the tenant has.
const allLists = "all"

// uploadScreening are the flags that have the names of a batch screened by the service.
type uploadScreening struct {
	lists     string
	threshold float64
	onHit     string
	flags     *pflag.FlagSet
	findings.AlertsOutput
}

func (o *uploadScreening) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.flags = f
	f.StringVar(&o.lists, "screen", "", "have the names of unknown entities screened with the tenant's `LISTS`, names "+
		"separated by commas; "+allLists+" means all of them")
	findings.AddScreenFlags(c, &o.threshold, &o.onHit)
	o.AddFlag(f)
}

// check returns an error if flags do not fit together.
func (o *uploadScreening) check() error {
	return findings.CheckScreenFlags(o.flags, o.threshold, o.onHit, o.lists != "",
		"lists to screen with: --screen LISTS")
}

// request returns what the service is asked for; nil if names are not to be screened.
func (o *uploadScreening) request() *client.Screening {
	if o.lists == "" {
		return nil
	}
	in := &client.Screening{Threshold: &o.threshold, OnHit: o.onHit}
	if o.lists != allLists {
		in.Lists = strings.Split(o.lists, ",")
	}
	return in
}

// show fetches the hits of a batch that has ended, shows the first ones, and stores all if they are to be stored.
func (o *uploadScreening) show(ctx context.Context, c *client.Client, ui *terminal.Terminal, last client.Status) error {
	if o.lists == "" {
		return nil
	}
	result, err := c.ScreeningResult(ctx, last.BatchID)
	if err != nil {
		return err
	}
	if result.Hits == nil {
		ui.Printf("The names were not screened.\n")
		return nil
	}
	if result.AlertsFileURL != "" {
		if err := o.fetch(ctx, c, result.AlertsFileURL); err != nil {
			return err
		}
	}
	complete := result.AlertsComplete == nil || *result.AlertsComplete
	return o.Finish(ui, &report.Screening{Names: *result.NamesScreened, Hits: *result.Hits, Complete: complete})
}

// fetch reads the alerts, all of them if they are stored.
func (o *uploadScreening) fetch(ctx context.Context, c *client.Client, url string) error {
	body, err := c.OpenAlerts(ctx, url)
	if err != nil {
		return err
	}
	defer body.Close()
	var in io.Reader = body
	if o.Alerts == nil {
		in = io.LimitReader(body, findings.MaxReadBytes)
	}
	if _, err := io.Copy(o.Writer(), in); err != nil {
		return fmt.Errorf("read the hits: %w", err)
	}
	return nil
}
