package batches

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

const (
	// maxUploads is how many files one command uploads at a time.
	maxUploads = 4
	// maxFollowed is how many batches one command works on at a time: those that are uploaded and those that it
	// follows.
	maxFollowed = 16
)

// checkSeveral returns an error if a flag makes sense for one file only, or a file is named twice.
func checkSeveral(paths []string, flags *pflag.FlagSet) error {
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return command.Usagef("the file %s is named twice", linefile.Printable(path))
		}
	}
	switch command.GivenFlag(flags, "report", "alerts", "resume") {
	case "report":
		return command.Usagef("--report is for one file; of several, 'sluice results BATCH' fetches it later")
	case "alerts":
		return command.Usagef("--alerts is for one file; upload the files one by one")
	case "resume":
		return command.Usagef("--resume is for one file: that of the batch")
	}
	return nil
}

// uploads are the runs of one upload command with several files.
type uploads struct {
	runs   []*uploadRun
	stdout io.Writer
	ui     *terminal.Terminal
	// asJSON, quiet and detach are the flags of the command.
	asJSON, quiet, detach bool

	mu sync.Mutex
	// outcomes are those of the runs that have ended, in the order of the files.
	outcomes []*uploadOutcome
	// ids are the IDs of the batches that exist, in the order of the files; printedIDs is the number of files processed
	// so far, whose IDs are printed if they have one.
	ids        []string
	printedIDs int
	uploaded   int
	ended      int
}

// uploadOutcome is how the run of one of several files has ended, as --json prints it.
type uploadOutcome struct {
	File    string `json:"file"`
	BatchID string `json:"batch_id,omitempty"`
	// ExitCode is what the command would have ended with, had it been given this file alone.
	ExitCode int    `json:"exit_code"`
	Error    string `json:"error,omitempty"`
	// Status is the service's last reply about the status.
	Status json.RawMessage `json:"status,omitempty"`
}

// newUploads returns runs that upload files as the given one would.
func newUploads(like *uploadRun, paths []string, stdout io.Writer) *uploads {
	n := len(paths)
	s := &uploads{stdout: stdout, outcomes: make([]*uploadOutcome, n), ids: make([]string, n)}
	interval := shareInterval(like.interval, min(n, maxFollowed))
	slots := make(chan struct{}, maxUploads)
	for _, path := range paths {
		s.runs = append(s.runs, &uploadRun{
			client: like.client, conn: like.conn, ui: terminal.New(io.Discard), path: path, options: like.options,
			screen: like.screen, inParts: like.inParts, brief: true, uploadSlots: slots, interval: interval,
		})
	}
	return s
}

// shareInterval returns an interval with which n batches are read as often, in all, as one is with the given one.
func shareInterval(interval client.PollInterval, n int) client.PollInterval {
	return func(i int) time.Duration { return time.Duration(n) * interval(i*n) }
}

// run uploads all files and returns how the command ends: with 2 if a file could not be uploaded or its batch not be
// followed, otherwise with 1 if a batch was rejected. It uploads nothing if one of the files cannot be a batch.
func (s *uploads) run(ctx context.Context) error {
	s.ui = terminal.New(s.stdout)
	if s.asJSON || s.quiet {
		s.ui = terminal.New(io.Discard)
	}
	defer s.ui.SetLive()
	if unusable := s.checkFiles(); unusable > 0 {
		return fmt.Errorf("%d of %d files cannot be uploaded, so nothing was", unusable, len(s.runs))
	}
	s.showProgress()
	var group sync.WaitGroup
	slots := make(chan struct{}, maxFollowed)
	for i, run := range s.runs {
		slots <- struct{}{} // a run ends soon after ctx
		group.Go(func() {
			defer func() { <-slots }()
			s.runOne(ctx, i, run)
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	worst := 0
	for _, o := range s.outcomes {
		worst = max(worst, o.ExitCode)
	}
	if worst != command.ExitOK {
		return command.ExitCode(worst)
	}
	return nil
}

// checkFiles prints an error for each file that cannot be a batch, and returns their number. It skips inputs that can
// be read only once, such as standard input.
func (s *uploads) checkFiles() (unusable int) {
	for _, run := range s.runs {
		if err := files.CheckRegular(run.path, "sluice upload -"); err != nil {
			unusable++
			s.printOutcome(run, &uploadOutcome{File: run.path, ExitCode: command.ExitFailed, Error: err.Error()})
		}
	}
	return unusable
}

// runOne uploads one file and prints how that ended.
func (s *uploads) runOne(ctx context.Context, i int, run *uploadRun) {
	run.detach = s.detach
	run.onBatch = func(id string) { s.lock(func() { s.ids[i] = id; s.printIDs() }) }
	run.onUploaded = func() { s.lock(func() { s.uploaded++; s.showProgress() }) }
	err := run.run(ctx)
	outcome := &uploadOutcome{File: run.path, BatchID: run.batchID, Status: run.last.Reply}
	switch {
	case err != nil:
		err = run.explain(ctx, err)
		outcome.ExitCode, outcome.Error = command.ExitFailed, err.Error()
		if ctx.Err() != nil {
			outcome.ExitCode = command.ExitInterrupted
		}
	case run.rejected:
		outcome.ExitCode = int(command.Rejected)
	}
	s.lock(func() {
		s.outcomes[i] = outcome
		s.ended++
		s.printOutcome(run, outcome)
		s.printIDs()
		s.showProgress()
	})
}

// lock calls f while no other run prints.
func (s *uploads) lock(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// printIDs prints, with --quiet, the IDs of the batches in the order of the files. A file that has got none is left
// out.
func (s *uploads) printIDs() {
	for ; s.quiet && s.printedIDs < len(s.runs); s.printedIDs++ {
		switch id := s.ids[s.printedIDs]; {
		case id != "":
			fmt.Fprintln(s.stdout, id)
		case s.outcomes[s.printedIDs] == nil:
			return
		}
	}
}

// printOutcome prints how the run of a file has ended.
func (s *uploads) printOutcome(run *uploadRun, o *uploadOutcome) {
	if o.Error != "" {
		s.ui.SetLive()
		fmt.Fprintf(os.Stderr, "sluice: %s: %s\n", files.DisplayName(run.path), o.Error)
	}
	if s.asJSON {
		// Nobody is left to be told of a failure, as of all other output.
		_ = output.PrintJSONLines(s.stdout, []*uploadOutcome{o})
		return
	}
	if o.Error == "" {
		s.ui.Printf("%s\n", s.formatOutcome(run))
	}
}

// formatOutcome writes how a batch has ended, or that it goes on, in one line.
func (s *uploads) formatOutcome(run *uploadRun) string {
	status, details := run.last.Status, formatCounts(run.last.Counts)
	look := terminal.Green
	switch {
	case s.detach:
		status, look = "uploaded", terminal.Bold
	case run.rejected && run.last.ErrorMessage != "":
		look, details = terminal.Red, linefile.Printable(run.last.ErrorMessage)
	case run.rejected:
		look = terminal.Red
	}
	line := s.ui.Paint(look, fmt.Sprintf("%-17s", status)) + "  " + run.batchID + "  " + files.DisplayName(run.path)
	if details != "" {
		line += ": " + details
	}
	return line
}

// showProgress shows on a terminal how many files are uploaded and how many batches have ended.
func (s *uploads) showProgress() {
	if s.ended == len(s.runs) {
		s.ui.SetLive()
		return
	}
	s.ui.SetLive(terminal.Part{Text: fmt.Sprintf("%d of %s uploaded", s.uploaded,
		terminal.CountOf(int64(len(s.runs)), "file")), Rank: 0},
		terminal.Part{Text: fmt.Sprintf("%d ended", s.ended), Rank: 1})
}
