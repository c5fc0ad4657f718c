package linefile

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"runtime"
	"time"

	"sluice/shared/access/auth"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
)

// Validation says how a file of lines is validated: as the service does it for a tenant with the usual settings.
type Validation struct {
	// ReceivedAt takes the place of the receipt time.
	ReceivedAt time.Time
	// MainEntity says which entity of a line is the main entity.
	MainEntity tenancy.MainEntityRule
	// Entities are all entities that exist; nil means that references to entities are not checked.
	Entities *validation.Directory
	// Screening is how names are screened; nil if they are not.
	Screening *validation.FileScreening
	// CSV receives the report as CSV, and Rejected the rejected lines; nil if they are not wanted.
	CSV, Rejected io.Writer
	// Workers is how many chunks are worked on at the same time; 0 means one for each core.
	Workers int
	// TempDir is the folder for temporary files; "" means that of the system.
	TempDir string
	// Progress, unless it is nil, is called with how much is done, by several goroutines at once.
	Progress func(Progress)
}

// Progress is how far the validation of a file is.
type Progress struct {
	// Done is how much of the file's size is done: reading it is most of the work, and what follows is the last tenth.
	Done int64
	// Read is how many bytes are read, and Lines how many transactions those have.
	Read, Lines int64
}

// Run validates a file, which is not packed, and writes the report to out. If the file has become shorter meanwhile,
// the error is validation.ErrShrank.
func (v Validation) Run(ctx context.Context, file *os.File, size int64, out io.Writer) (report.Summary, error) {
	settings := auth.DefaultSettings()
	rules := transaction.Rules{
		ReceivedAt: v.ReceivedAt, MaxPast: settings.MaxPast, MaxFuture: settings.MaxFuture, MainEntity: v.MainEntity,
		CollectNames: v.Screening != nil,
	}
	in := validation.FileInput{
		Source:     NewSource(file),
		Plan:       chunk.NewPlan(size, 0),
		NewScanner: func() validation.Scanner { return scanner.New(rules) },
		Entities:   v.Entities,
		Screening:  v.Screening,
		CSV:        v.CSV,
		Rejected:   v.Rejected,
		Workers:    v.Workers,
		TempDir:    v.TempDir,

		MaxReportBytes: report.DefaultMaxBytes,
	}
	if in.Workers == 0 {
		in.Workers = runtime.GOMAXPROCS(0)
	}
	if v.Progress != nil {
		in.Progress = func(p validation.Progress) {
			v.Progress(Progress{Done: (9*p.Read + p.Settled) / 10, Read: p.Read, Lines: p.Lines})
		}
	}
	rand.Read(in.DigestKey[:])
	summary, err := validation.ValidateFile(ctx, in, out)
	if info, statErr := file.Stat(); err == nil && statErr == nil && info.Size() < size {
		err = validation.ErrShrank // the last page of a mapped file reads as zeros beyond its new end
	}
	return summary, err
}
