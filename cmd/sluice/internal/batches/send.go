package batches

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
)

func sendCommand() *cobra.Command {
	var conn service.Connection
	var options client.SendOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "send FILE",
		Short: "send single transactions, each of which is stored at once",
		Long: `
FILE holds one transaction a line (JSON Lines), which may be packed with gzip or zstd, or one transaction in any layout;
- is standard input. The lines are sent one after the other, in their order. A transaction that is refused is reported,
and the others are sent all the same. For many transactions 'sluice upload' is faster.

--json prints the reply to each stored transaction, one a line; refusals are printed on standard error.`,
		Example: `
sluice send transaction.json
sluice send --migrated history.jsonl
head -1 batch.jsonl | sluice send - --json`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			file, err := openTransactions(ctx, args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			c, err := conn.NewClient(ctx)
			if err != nil {
				return err
			}
			s := &sender{client: c, options: options, ui: terminal.New(stdout)}
			if asJSON {
				s.replies, s.ui = stdout, terminal.New(os.Stderr)
			}
			return s.finish(ctx, s.sendAll(ctx, file))
		}),
	}
	f := c.Flags()
	f.BoolVar(&options.Migrated, "migrated", false, "accept transactions of any age: they are migrated history")
	f.BoolVar(&asJSON, "json", false, "print the service's replies")
	conn.AddFlags(c)
	return c
}

// openTransactions opens a file of transactions at its beginning: one transaction in any layout, or lines, which may be
// packed. The error says what any other file is.
func openTransactions(ctx context.Context, path string) (*os.File, error) {
	file, size, err := files.OpenSeekable(ctx, path)
	if err != nil {
		return nil, err
	}
	text := make([]byte, min(size, maxWholeFile))
	if _, err := file.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, file.Close())
	}
	isOne := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Valid(text)
	if !isOne {
		if file, _, err = files.UnpackLines(ctx, file, size, path, "sluice send -"); err != nil {
			return nil, err
		}
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}

// finish prints what became of the transactions, and returns how the command ends; err is that of sendAll.
func (s *sender) finish(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w; %s sent", command.ErrInterrupted,
			terminal.CountNoun(s.stored+s.refused, "transaction was", "transactions were"))
	case err != nil:
		return err
	case s.stored+s.refused == 0:
		return errors.New("the file contains no transaction")
	}
	if s.replies == nil {
		s.ui.Printf("%s stored, %d refused\n", terminal.CountOf(s.stored, "transaction"), s.refused)
	}
	if s.refused > 0 {
		return command.Rejected
	}
	return nil
}

// maxWholeFile is the size up to which a file is read at once to see whether it holds one transaction on several lines.
const maxWholeFile = 1 << 20

// sender sends the transactions of a file.
type sender struct {
	client  *client.Client
	options client.SendOptions
	ui      *terminal.Terminal
	// replies gets the reply to each stored transaction; nil for none.
	replies         io.Writer
	stored, refused int64
}

// sendAll sends each line that is not blank, or the whole file if that is one JSON value.
func (s *sender) sendAll(ctx context.Context, file io.Reader) error {
	r := bufio.NewReaderSize(file, maxWholeFile)
	if start, err := r.Peek(maxWholeFile); errors.Is(err, io.EOF) && json.Valid(start) {
		return s.send(ctx, 1, bytes.TrimSpace(start))
	}
	for number := int64(1); ; number++ {
		line, err := r.ReadBytes('\n')
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := s.send(ctx, number, text); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// send sends one transaction, and reports it if it is rejected as invalid. Any other failure is an error.
func (s *sender) send(ctx context.Context, line int64, text []byte) error {
	receipt, err := s.client.SendTransaction(ctx, text, s.options)
	var refused *client.Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity:
			s.refused++
			s.ui.Printf("line %d: %s\n", line, strings.ReplaceAll(terminal.PrintableLines(refused.Error()), "\n",
				"\n  "))
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	s.stored++
	if s.replies != nil {
		_, err = fmt.Fprintf(s.replies, "%s\n", bytes.TrimSpace(receipt.Reply))
	}
	return err
}
