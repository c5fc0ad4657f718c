package batches

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

func statusCommand() *cobra.Command {
	var conn service.Connection
	var asJSON, toEnd bool
	c := &cobra.Command{
		Use:   "status BATCH...",
		Short: "show the status of batches",
		Long: `
The exit code says how the batch ended: 0 if every transaction was stored, 1 if something was rejected or failed, and 3
while it has not ended. Several batches are a table, which --follow redraws on a terminal and prints as lines elsewhere;
the exit code is then 3 while one of them has not ended, and otherwise 1 if something was rejected or failed. Ctrl-C
ends the command and leaves the batches alone.`,
		Example: `
sluice status 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01
sluice status 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 --follow
sluice upload monday.jsonl tuesday.jsonl --detach --quiet | xargs sluice status --follow`,
		RunE: conn.Run(func(ctx context.Context, c *client.Client, args []string, stdout io.Writer) error {
			if len(args) > 1 {
				s, err := newStatuses(c, &conn, args, stdout, asJSON, toEnd)
				if err != nil {
					return err
				}
				return s.run(ctx)
			}
			return showStatus(ctx, c, &conn, args[0], stdout, asJSON, toEnd)
		}),
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false,
		"print the service's reply and nothing else, indented; of several batches, on a line each")
	f.BoolVar(&toEnd, "follow", false, "follow the batch to its end; with --json, print the last reply")
	conn.AddFlags(c)
	return c
}

// showStatus prints the status of one batch, at once or at its end, and returns how the command ends.
func showStatus(ctx context.Context, c *client.Client, conn *service.Connection, batchID string, stdout io.Writer,
	asJSON,
	toEnd bool) error {
	ui := terminal.New(stdout)
	if asJSON {
		ui = terminal.New(io.Discard)
	}
	var s client.Status
	var err error
	if toEnd {
		s, err = follow(ctx, c, ui, batchID, client.Gently, false)
	} else {
		s, err = c.Status(ctx, batchID)
	}
	switch {
	case ctx.Err() != nil:
		return continuesError(command.ErrInterrupted, conn, batchID)
	case err != nil:
		return err
	case asJSON:
		err = output.PrintReply(stdout, s.Reply)
	default:
		printStatus(ui, s, toEnd)
	}
	if err != nil {
		return err
	}
	return statusExit(s)
}

// statusExit returns how a command ends that has shown the status of a batch.
func statusExit(s client.Status) error {
	switch {
	case !s.IsTerminal():
		return command.Unfinished
	case s.Status != client.StatusProcessed, s.Counts.Invalid != nil && *s.Counts.Invalid > 0:
		return command.Rejected
	}
	return nil
}

// continuesError is the error of a command that ends before the batch does.
func continuesError(cause error, conn *service.Connection, batchID string) error {
	return fmt.Errorf("%w; the batch continues: %s", cause, conn.CommandLine("status", batchID))
}

// statusMeanings says for people what each status means.
var statusMeanings = map[string]string{
	client.StatusValidationStarted: "the file is clean; its lines are being validated",
	client.StatusValidationFailed:  "nothing of the batch was stored",
	client.StatusPendingIngestion:  "validation is complete; waiting for ingestion",
	client.StatusInitialized:       "ready to be stored",
	client.StatusInProgress:        "lines are being stored",
	client.StatusProcessed:         "every valid line is stored",
	client.StatusError:             "nothing of the batch was stored",
}

// meaningOf says for people what the status of a batch means.
func meaningOf(s client.Status) string {
	if s.Status == client.StatusProcessed && s.ValidateOnly {
		return "the batch is validated; nothing of it is stored, as was asked for"
	}
	return statusMeanings[s.Status]
}

// timeFormat is how points in time are printed.
const timeFormat = "2006-01-02 15:04:05.000 MST"

func printStatus(ui *terminal.Terminal, s client.Status, followed bool) {
	if s.Status == "" {
		ui.Printf("%s\n", linefile.Printable(s.Message))
		printQueue(ui, s)
		printLabels(ui, wire.OrZero(s.Name), s.Metadata)
		return
	}
	if !followed {
		ui.Printf("%s: %s\n", ui.Paint(terminal.Bold, s.Status), meaningOf(s))
	}
	if s.ErrorMessage != "" {
		ui.Printf("%s\n", ui.Paint(terminal.Red, linefile.Printable(s.ErrorMessage)))
	}
	printCounts(ui, s.Counts)
	printQueue(ui, s)
	if !s.IsTerminal() {
		ui.Printf("%s of %s (%s)\n", terminal.FormatBytes(s.BytesDone), terminal.FormatBytes(s.BytesTotal),
			strings.TrimSpace(terminal.FormatPercent(s.BytesDone, s.BytesTotal)))
	}
	printDuplicate(ui, s)
	printLabels(ui, wire.OrZero(s.Name), s.Metadata)
	if s.ReceivedAt == nil {
		return // it was not uploaded
	}
	ui.Printf("received %s\n", s.ReceivedAt.Format(timeFormat))
	if !followed {
		printHistory(ui, s)
	}
}

// printQueue says how many batches are before one that waits for its turn.
func printQueue(ui *terminal.Terminal, s client.Status) {
	for _, p := range queuePart(s) {
		ui.Printf("%s\n", p.Text)
	}
}

// messageUnnoticed takes the place of client.MessageNotUploaded once this command has uploaded the file: the event that
// tells the service of it may come a moment later.
const messageUnnoticed = "The scan of the file has not begun yet."

// follow shows the statuses that a batch passes, and its counts as they grow, until its status is terminal. Uploaded
// means that this command has uploaded the file, so that the service has it even if it does not say so yet.
func follow(
	ctx context.Context, c *client.Client, ui *terminal.Terminal, batchID string, interval client.PollInterval,
	uploaded bool,
) (client.Status, error) {
	started, last := time.Now(), "-" // not a status: the first one is always printed
	var pace pace
	defer ui.SetLive()
	return c.Follow(ctx, batchID, interval, func(s client.Status) {
		if uploaded && s.Message == client.MessageNotUploaded {
			s.Message = messageUnnoticed
		}
		if shown := s.Status + s.Message; shown != last {
			last = shown
			printStatusStep(ui, s, time.Since(started))
			if s.Message == client.MessageNotUploaded {
				ui.Printf("  %s\n", ui.Paint(terminal.Dim,
					"Its file must be PUT to the URL that was given with the batch. "+
						"Ctrl-C ends this command, not the batch."))
			}
		}
		if !s.IsTerminal() {
			ui.SetLive(pace.format(s, time.Now())...)
		}
	})
}

// pace measures how fast the present pass over a batch is.
type pace struct {
	status string
	// since is when the pass was first seen; bytes and stored are what was done then.
	since         time.Time
	bytes, stored int64
}

// format writes the progress of a batch that is not at its end, as the parts of a line.
func (p *pace) format(s client.Status, now time.Time) []terminal.Part {
	stored := wire.OrZero(s.Counts.Ingested)
	if p.since.IsZero() || s.Status != p.status || s.BytesDone < p.bytes {
		*p = pace{s.Status, now, s.BytesDone, stored}
	}
	elapsed := now.Sub(p.since)
	if s.Status == "" {
		return append([]terminal.Part{{Text: fmt.Sprintf("waiting for %.0f s", elapsed.Seconds()), Rank: 0}},
			queuePart(s)...)
	}
	if s.QueuePosition != nil {
		return queuePart(s)
	}
	parts := []terminal.Part{
		{Text: terminal.Bar(s.BytesDone, s.BytesTotal, terminal.BarColumns), Rank: terminal.RankOfBar},
		{Text: terminal.FormatPercent(s.BytesDone, s.BytesTotal), Rank: 0},
	}
	if done := s.BytesDone - p.bytes; done > 0 && elapsed > 0 {
		rate := terminal.FormatRate(done, elapsed)
		if lines := float64(stored-p.stored) / elapsed.Seconds(); lines >= 1 {
			rate = terminal.FormatNumber(int64(lines)) + " lines/s"
		}
		parts = append(parts, terminal.Part{Text: rate, Rank: 1}, terminal.Part{Text: terminal.FormatTimeLeft(done,
			s.BytesTotal-p.bytes, elapsed), Rank: 0})
	}
	return append(parts, terminal.Part{Text: formatLiveCounts(s.Counts), Rank: 2},
		terminal.Part{Text: terminal.FormatBytes(s.BytesDone) + " of " + terminal.FormatBytes(s.BytesTotal), Rank: 3})
}

// queuePart says how many batches are before one that waits for its turn; nothing for any other.
func queuePart(s client.Status) []terminal.Part {
	switch {
	case s.QueuePosition == nil:
		return nil
	case *s.QueuePosition <= 1:
		return []terminal.Part{{Text: "next in the queue", Rank: 0}}
	}
	return []terminal.Part{{Text: fmt.Sprintf("number %s in the queue", terminal.FormatNumber(*s.QueuePosition)),
		Rank: 0}}
}

// printStatusStep prints a status that a followed batch has reached.
func printStatusStep(ui *terminal.Terminal, s client.Status, elapsed time.Duration) {
	name, meaning := s.Status, meaningOf(s)
	if name == "" {
		name, meaning = "waiting", linefile.Printable(strings.TrimSuffix(s.Message, "."))
	}
	look := terminal.Bold
	switch s.Status {
	case client.StatusProcessed:
		look = terminal.Green
	case client.StatusValidationFailed, client.StatusError:
		look = terminal.Red
	}
	ui.PrintStep(look, name, elapsed, meaning)
}

// formatLiveCounts writes the counts of a batch that is being stored: what grows, and what is invalid.
func formatLiveCounts(c client.Counts) string {
	if c.Accepted == nil || c.Ingested == nil {
		return formatCounts(c)
	}
	text := terminal.FormatNumber(*c.Ingested) + " of " + terminal.FormatNumber(*c.Accepted) + " stored"
	if c.Invalid != nil && *c.Invalid > 0 {
		text += ", " + terminal.FormatNumber(*c.Invalid) + " invalid"
	}
	return text
}

// printCounts prints the counts that are known, if any are.
func printCounts(ui *terminal.Terminal, c client.Counts) {
	if text := formatCounts(c); text != "" {
		ui.Printf("%s\n", text)
	}
}

// formatCounts lists the counts that are known.
func formatCounts(c client.Counts) string {
	var parts []string
	for _, count := range []struct {
		name  string
		value *int64
	}{{"lines", c.Total}, {"accepted", c.Accepted}, {"invalid", c.Invalid}, {"stored", c.Ingested}} {
		if count.value == nil {
			continue
		}
		name := count.name
		if name == "lines" && *count.value == 1 {
			name = "line"
		}
		parts = append(parts, terminal.FormatNumber(*count.value)+" "+name)
	}
	return strings.Join(parts, ", ")
}
