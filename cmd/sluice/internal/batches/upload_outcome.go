package batches

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sluice/client"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

// printOutcome prints how the batch ended and what is wrong with it.
func (u *uploadRun) printOutcome(ctx context.Context, last client.Status, lines io.ReaderAt) error {
	result, err := u.client.ValidationResult(ctx, u.batchID)
	if err != nil {
		return err
	}
	u.rejected = last.Status != client.StatusProcessed || result.Valid == nil || !*result.Valid
	if last.ErrorMessage != "" {
		u.ui.Printf("%s\n", u.ui.Paint(terminal.Red, linefile.Printable(last.ErrorMessage)))
	}
	counts := last.Counts
	if counts.Total == nil {
		counts = result.Counts
	}
	printDuplicate(u.ui, last)
	printCounts(u.ui, counts)
	if err := u.screen.show(ctx, u.client, u.ui, last); err != nil {
		return err
	}
	if u.brief {
		return nil
	}
	return findings.ShowReport(ctx, u.client, u.ui, result, lines, u.report)
}

// explain adds to the error of a run what became of the batch and how to continue.
func (u *uploadRun) explain(ctx context.Context, err error) error {
	switch {
	case u.isResumable(ctx, err) && ctx.Err() != nil:
		return u.resumableError(command.ErrInterrupted)
	case u.isResumable(ctx, err):
		return u.resumableError(err)
	case ctx.Err() != nil && u.uploaded:
		return continuesError(command.ErrInterrupted, u.conn, u.batchID)
	case ctx.Err() != nil && u.sentAll.Load():
		return u.unknownError(command.ErrInterrupted)
	case ctx.Err() != nil && u.uploadSlots != nil:
		return fmt.Errorf("%w; it was not uploaded", command.ErrInterrupted)
	case ctx.Err() != nil:
		return fmt.Errorf("%w; nothing was stored, run the same command again to start over", command.ErrInterrupted)
	case u.uploaded:
		return continuesError(err, u.conn, u.batchID)
	case u.sentAll.Load() && errors.As(err, new(*client.UnreachableError)):
		return u.unknownError(err)
	}
	return err
}

// unknownError is the error of a command that has sent a file and does not know whether it has arrived.
func (u *uploadRun) unknownError(cause error) error {
	return fmt.Errorf("%w; whether the service has the file is not known, but this says it: %s", cause,
		u.conn.CommandLine("status", u.batchID))
}
