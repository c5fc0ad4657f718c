// Package receipts has the commands that print and verify receipts of batches.
package receipts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/unpack"
)

// Commands returns the commands about receipts.
func Commands() []*cobra.Command {
	return []*cobra.Command{receiptCommand(), verifyCommand()}
}

func receiptCommand() *cobra.Command {
	var conn service.Connection
	c := &cobra.Command{
		Use: "receipt BATCH", Short: "print the receipt of a batch that has ended",
		Long: `
A signed statement of what was received and what was accepted, always the same. Keep it with the file; 'sluice verify'
verifies it, with or without the service.`,
		Example: "sluice receipt 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 > receipt.jose",
		RunE: conn.Run(func(ctx context.Context, c *client.Client, args []string, stdout io.Writer) error {
			text, err := c.Receipt(ctx, args[0])
			if err == nil {
				_, err = fmt.Fprintln(stdout, text)
			}
			return err
		}),
	}
	conn.AddFlags(c)
	return c
}

func verifyCommand() *cobra.Command {
	var v verifyRun
	c := &cobra.Command{
		Use: "verify RECEIPT FILE", Short: "verify the receipt of a batch against its file",
		Long: `
Checks that the service has signed the receipt, that FILE is what it received, and that the accepted lines are those of
the receipt. FILE may be packed with gzip or zstd; - is standard input. Lines that the validation report lists
(--report) were not accepted; without a report, the lines are checked only if none was rejected.

The keys are those of --keys, the JWK set at /receipts/jwks.json of the API. Without it, they are fetched once from the
issuer and kept in the user's cache folder; from then on no network is needed until a newer key has signed. No
credentials are needed. The exit code is 0 if all holds, 1 if not, and 2 if it could not be checked.

--json prints {"verified", "message", "lines_checked", "claims"}.`,
		Example: `
sluice verify receipt.jose batch.jsonl
sluice verify receipt.jose batch.jsonl.gz --report errors.jsonl --keys keys.json --issuer https://api.example.com/live`,
		RunE: command.Run(v.run),
	}
	f := c.Flags()
	f.StringVar(&v.keysPath, "keys", "", "`FILE` with the published keys (default fetched from the issuer)")
	f.StringVar(&v.issuer, "issuer", "",
		"`URL` of the API that must have issued the receipt (default that of the service which other "+
			"commands call)")
	f.StringVar(&v.reportPath, "report", "", "`FILE` with the validation report, if lines were rejected")
	f.BoolVar(&v.asJSON, "json", false, "print the outcome as JSON and nothing else")
	return c
}

// verifyRun is one run of the verify command.
type verifyRun struct {
	keysPath, issuer, reportPath string
	asJSON                       bool
}

// verifyOutput is the outcome of the verify command as JSON.
type verifyOutput struct {
	Verified     bool                  `json:"verified"`
	Message      string                `json:"message"`
	LinesChecked bool                  `json:"lines_checked"`
	Claims       *client.ReceiptClaims `json:"claims"`
}

func (v *verifyRun) run(ctx context.Context, args []string, stdout io.Writer) error {
	if err := files.RequireOneStdin(args[0], args[1], v.keysPath, v.reportPath); err != nil {
		return err
	}
	text, err := readReceipt(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	if err := v.findIssuer(); err != nil {
		return err
	}
	var out verifyOutput
	claims, err := v.verify(ctx, text)
	if err == nil {
		out.Claims = &claims
		out.LinesChecked, err = v.checkFile(ctx, claims, args[1])
	}
	if err != nil && !errors.Is(err, client.ErrReceipt) && !errors.Is(err, client.ErrReceiptFile) {
		return err
	}
	out.Verified, out.Message = err == nil, verifyMessage(out, err)
	if v.asJSON {
		err = output.PrintJSON(stdout, out)
	} else {
		terminal.New(stdout).Printf("%s\n", linefile.Printable(out.Message))
		err = nil
	}
	if err == nil && !out.Verified {
		return command.Rejected
	}
	return err
}

// verifyMessage says in one sentence or two what was found.
func verifyMessage(out verifyOutput, err error) string {
	switch {
	case errors.Is(err, client.ErrReceiptKey):
		return "Not verified: " + err.Error() + "; if the receipt is newer than the keys, fetch them again."
	case err != nil:
		return "Not verified: " + err.Error() + "."
	}
	c := out.Claims
	message := fmt.Sprintf("Verified: this file is that of batch %s of tenant %s, which ended as %s.", c.BatchID,
		c.Tenant, c.Status)
	switch {
	case c.AcceptedSHA256 == nil:
		return message + " None of its lines was accepted."
	case !out.LinesChecked:
		return message + " Which of its lines were accepted was not checked: some were rejected, so give their " +
			"report with --report."
	case *c.Counts.Accepted == 1:
		return message + " The accepted line is that of the receipt."
	}
	return message + fmt.Sprintf(" The %d accepted lines are those of the receipt.", *c.Counts.Accepted)
}

// compactJWS matches a JWS in compact form, as a receipt is.
var compactJWS = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$`)

// readReceipt returns the text of a receipt. If the other file is one and this is not, they were given in the wrong
// order, which is an error.
func readReceipt(ctx context.Context, path, filePath string) (string, error) {
	text, err := readAll(ctx, path)
	receipt := strings.TrimSpace(string(text))
	isReceipt := err == nil && compactJWS.MatchString(receipt)
	if err != nil && !errors.Is(err, errTooLarge) || isReceipt || filePath == files.StdName {
		return receipt, err
	}
	if other, otherErr := readAll(ctx, filePath); otherErr == nil && compactJWS.Match(bytes.TrimSpace(other)) {
		return "", command.Usagef("the receipt comes first, then the file: sluice verify %s %s",
			files.ShellName(filePath),
			files.ShellName(path))
	}
	return receipt, err
}

// checkFile checks the file, unpacked, and its lines.
func (v *verifyRun) checkFile(ctx context.Context, claims client.ReceiptClaims, path string) (linesChecked bool,
	err error) {
	var rejected map[int64]bool
	if v.reportPath != "" {
		if rejected, err = readRejectedLines(ctx, v.reportPath); err != nil {
			return false, err
		}
	}
	file, size, err := files.OpenSeekable(ctx, path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, min(size, unpack.HeadBytes))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, err
	}
	var content io.Reader = io.NewSectionReader(file, 0, size)
	if packed := unpack.Recognize(head); packed != batch.Identity {
		unpacking := linefile.Unpack(file, size, packed)
		defer unpacking.Close()
		content = unpacking
	}
	linesChecked, err = client.CheckReceiptFile(claims, contextReader{ctx, content}, rejected)
	if err != nil && errors.As(err, new(*unpack.Error)) {
		err = files.NameUnpackError(path, err)
	}
	return linesChecked, err
}

// contextReader ends reading with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// readRejectedLines returns the numbers of the lines that a validation report lists.
func readRejectedLines(ctx context.Context, path string) (map[int64]bool, error) {
	text, err := files.OpenInput(ctx, path)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	rejected := map[int64]bool{}
	for d := json.NewDecoder(text); ; {
		var entry struct {
			Line int64 `json:"line"`
		}
		err := d.Decode(&entry)
		if err == io.EOF {
			return rejected, nil
		}
		if err != nil || entry.Line < 1 || rejected[entry.Line] {
			return nil, fmt.Errorf("%s: it is not a validation report: each line must be an object with a line "+
				"number of its own", files.DisplayName(path))
		}
		rejected[entry.Line] = true
	}
}

// errTooLarge is the error for a file that is too large for a receipt, a report or keys.
var errTooLarge = errors.New("too large for what it should be")

// readAll reads a small file; - is standard input.
func readAll(ctx context.Context, path string) ([]byte, error) {
	file, err := files.OpenInput(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than %d bytes, which is %w", files.DisplayName(path), most, errTooLarge)
	}
	return bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")), err
}
