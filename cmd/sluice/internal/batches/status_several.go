package batches

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"sluice/client"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
)

// statuses are those of several batches, which one status command shows.
type statuses struct {
	client *client.Client
	conn   *service.Connection
	ids    []string
	stdout io.Writer
	ui     *terminal.Terminal
	asJSON bool
	// follow has the batches followed to their end.
	follow bool

	mu sync.Mutex
	// rows are in the order of the IDs.
	rows []statusRow
	// drawn is how many lines the table on the terminal has.
	drawn int
}

// statusRow is what is known of one batch.
type statusRow struct {
	isRead bool
	status client.Status
	err    error
}

// newStatuses returns the statuses of the given batches, of which none is read yet.
func newStatuses(c *client.Client, conn *service.Connection, ids []string, stdout io.Writer, asJSON,
	follow bool) (*statuses,
	error) {
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return nil, command.Usagef("the batch %s is named twice", linefile.Printable(id))
		}
	}
	s := &statuses{client: c, conn: conn, ids: ids, stdout: stdout, ui: terminal.New(stdout), asJSON: asJSON,
		follow: follow, rows: make([]statusRow, len(ids))}
	if asJSON {
		s.ui = terminal.New(io.Discard)
	}
	return s, nil
}

// run reads the statuses and returns how the command ends: with 2 if one could not be read, with 3 if a batch has not
// ended, otherwise with 1 if something was rejected.
func (s *statuses) run(ctx context.Context) error {
	var group sync.WaitGroup
	slots := make(chan struct{}, maxFollowed)
	interval := shareInterval(client.Gently, min(len(s.ids), maxFollowed))
	for i, id := range s.ids {
		slots <- struct{}{} // the readings end soon after ctx
		group.Go(func() {
			defer func() { <-slots }()
			s.read(ctx, i, id, interval)
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return s.explainInterruption()
	}
	if !s.follow {
		s.printAll()
	}
	return s.exit()
}

// read reads the status of one batch, with follow until the batch has ended.
func (s *statuses) read(ctx context.Context, i int, id string, interval client.PollInterval) {
	var status client.Status
	var err error
	if s.follow {
		status, err = s.client.Follow(ctx, id, interval, func(now client.Status) { s.update(i, now) })
	} else {
		status, err = s.client.Status(ctx, id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[i].err = err; err != nil {
		return
	}
	s.rows[i].status, s.rows[i].isRead = status, true
	if s.follow && s.asJSON {
		s.printJSON(status)
	}
}

// update shows a status of a followed batch: in the table on a terminal, elsewhere as a line if it is a new status.
func (s *statuses) update(i int, now client.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.rows[i]
	s.rows[i].status, s.rows[i].isRead = now, true
	switch {
	case s.ui.Width > 0:
		s.draw()
	case !last.isRead || last.status.Status+last.status.Message != now.Status+now.Message:
		s.ui.Printf("%s\n", s.format(i))
	}
}

// draw replaces the table on the terminal. Of more batches than there are lines it shows those that have not ended.
func (s *statuses) draw() {
	s.ui.Measure()
	height := len(s.rows)
	if _, rows, err := term.GetSize(int(s.ui.Tty.Fd())); err == nil && rows > 2 {
		height = min(height, rows-2)
	}
	var out strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&out, "\r\x1b[%dA\x1b[J", s.drawn)
	}
	lines, hidden := s.chooseLines(height)
	for _, line := range lines {
		out.WriteString(terminal.Truncate(line, s.ui.Width-1) + "\n")
	}
	if s.drawn = len(lines); hidden > 0 {
		fmt.Fprintf(&out, "and %d more\n", hidden)
		s.drawn++
	}
	s.ui.Printf("%s", out.String())
}

// chooseLines returns the lines of the table that fit into a height, and how many do not.
func (s *statuses) chooseLines(height int) (lines []string, hidden int) {
	spare := len(s.rows) - height // how many ended batches are left out
	for i, r := range s.rows {
		if spare > 0 && r.isRead && r.status.IsTerminal() {
			spare--
			continue
		}
		lines = append(lines, s.format(i))
	}
	if len(lines) > height {
		lines = lines[:height]
	}
	return lines, len(s.rows) - len(lines)
}

// format writes what is known of a batch in one line.
func (s *statuses) format(i int) string {
	r := s.rows[i]
	line := linefile.Printable(s.ids[i]) + "  "
	if !r.isRead {
		return line + "-"
	}
	if r.status.Status == "" {
		return line + linefile.Printable(strings.TrimSuffix(r.status.Message, "."))
	}
	line += fmt.Sprintf("%-18s", r.status.Status)
	var details []string
	if !r.status.IsTerminal() {
		details = append(details, strings.TrimSpace(terminal.FormatPercent(r.status.BytesDone, r.status.BytesTotal)))
	}
	for _, text := range []string{formatCounts(r.status.Counts), wire.OrZero(r.status.Name), r.status.ErrorMessage} {
		if text = linefile.Printable(text); text != "" {
			details = append(details, text)
		}
	}
	return strings.TrimRight(line+"  "+strings.Join(details, "  "), " ")
}

// printAll prints what was read once, in the order of the IDs.
func (s *statuses) printAll() {
	for i, r := range s.rows {
		switch {
		case r.err != nil:
		case s.asJSON:
			s.printJSON(r.status)
		default:
			s.ui.Printf("%s\n", s.format(i))
		}
	}
}

// PrintJSON prints a reply as it came, on one line.
func (s *statuses) printJSON(status client.Status) {
	var out bytes.Buffer
	if err := json.Compact(&out, status.Reply); err == nil { // the reply was decoded before
		fmt.Fprintf(s.stdout, "%s\n", &out)
	}
}

// explainInterruption returns the error of an interrupted command. It says how to go on with the batches that have not
// ended.
func (s *statuses) explainInterruption() error {
	var open []string
	for i, r := range s.rows {
		if !r.isRead || !r.status.IsTerminal() {
			open = append(open, s.ids[i])
		}
	}
	if len(open) == 0 {
		return command.ErrInterrupted
	}
	return fmt.Errorf("%w; the batches continue: %s", command.ErrInterrupted,
		s.conn.CommandLine("status", append([]string{"--follow"}, open...)...))
}

// exit prints the errors and returns how the command ends.
func (s *statuses) exit() error {
	failed, unfinished, rejected := false, false, false
	for i, r := range s.rows {
		if r.err != nil {
			fmt.Fprintf(os.Stderr, "sluice: %s: %v\n", linefile.Printable(s.ids[i]), r.err)
			failed = true
			continue
		}
		switch statusExit(r.status) {
		case command.Unfinished:
			unfinished = true
		case command.Rejected:
			rejected = true
		}
	}
	switch {
	case failed:
		return command.ExitCode(command.ExitFailed)
	case unfinished:
		return command.Unfinished
	case rejected:
		return command.Rejected
	}
	return nil
}
