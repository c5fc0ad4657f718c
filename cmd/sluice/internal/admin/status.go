package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/figures"
	"sluice/internal/localcloud"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

const (
	// statusPatience is how long the reading of one part of the status may take.
	statusPatience = 15 * time.Second
	// maxCounted is how many batches that wait for a slot of a stage, and dead letters of a local cloud, are counted.
	maxCounted = 10_000
	// throttledWithin is the age of the oldest throttled requests that are counted.
	throttledWithin = time.Hour
)

// statusOutput is the state of an installation. A part that is null could not be read, or there is none of it.
type statusOutput struct {
	At time.Time `json:"at"`
	// Prefix and Place say which installation it is: the place is its region, or the data folder of a local cloud.
	Prefix      string             `json:"prefix"`
	Place       string             `json:"place"`
	OpenBatches []openOutput       `json:"open_batches"`
	Slots       []slotsOutput      `json:"slots"`
	DeadLetters []deadLetterOutput `json:"dead_letters"`
	Alarms      *alarmsOutput      `json:"alarms"`
	Throttles   []throttleOutput   `json:"throttles"`
	// NotRead says of each part that could not be read why, and NotThere of each that the installation has not.
	NotRead  map[string]string `json:"not_read,omitempty"`
	NotThere map[string]string `json:"not_there,omitempty"`
}

// openOutput is the batches in one status.
type openOutput struct {
	Status  batch.Status `json:"status"`
	Batches int          `json:"batches"`
	// AtLeast means that there may be more, and older ones.
	AtLeast       bool    `json:"at_least"`
	OldestSeconds float64 `json:"oldest_seconds"`
}

// slotsOutput is the slots of one stage.
type slotsOutput struct {
	Stage admission.Pool `json:"stage"`
	Used  int            `json:"used"`
	// Of is how many there are; nil if the installation does not tell.
	Of      *int `json:"of,omitempty"`
	Waiting int  `json:"waiting"`
	AtLeast bool `json:"at_least"`
	// OldestSeconds is the time since the receipt of the first batch that waits.
	OldestSeconds float64 `json:"oldest_seconds"`
}

// deadLetterOutput is the dead letters in one queue.
type deadLetterOutput struct {
	Queue    string `json:"queue"`
	Messages int    `json:"messages"`
	AtLeast  bool   `json:"at_least"`
	// OldestSeconds is the age of the oldest message, nil if there is none or if it is not known yet.
	OldestSeconds *float64 `json:"oldest_seconds"`
}

// throttleOutput is the requests that something has throttled in the past hour.
type throttleOutput struct {
	What     string `json:"what"`
	Requests int64  `json:"requests"`
}

// errNotThere is the error of a part that an installation has not.
type errNotThere string

func (e errNotThere) Error() string { return string(e) }

// statusReader reads the parts of the status.
type statusReader struct {
	*admin
	out statusOutput
}

func (a *admin) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "show what an installation is doing and what is wrong with it",
		Long: `
Shows open batches by status with the oldest, slots, dead letters, alarms, and what was throttled in the past hour. It
counts what all tenants have and shows nothing of one, so it is not recorded, and works while the log does not. What
cannot be read is named with the reason, and the exit code is then 2.`,
		Example: `
sluice admin status
sluice admin status --prefix sluice-test --json
sluice admin status --query "alarms.in_alarm[?severity=='page'].alarm"`,
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			cfg, err := a.awsConfig(ctx)
			if err != nil {
				return err
			}
			a.aws = cfg
			r := statusReader{a, statusOutput{At: a.now, Prefix: a.prefix, Place: cfg.Region}}
			if a.isLocal {
				r.out.Place = a.dataFolder()
			}
			r.read(ctx)
			if err := ctx.Err(); err != nil {
				return err
			}
			if asJSON {
				err = output.PrintJSON(stdout, r.out)
			} else {
				printStatus(terminal.New(stdout), r.out)
			}
			if parts := slices.Sorted(maps.Keys(r.out.NotRead)); err == nil && len(parts) > 0 {
				err = fmt.Errorf("not read: %s; the reasons are in the output", strings.Join(parts, ", "))
			}
			return err
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// dataFolder returns the data folder of the local cloud.
func (a *admin) dataFolder() string { return cmp.Or(a.data, localcloud.DefaultDataDir) }

// read reads all parts at once. A part that cannot be read does not keep the others from being read.
func (r *statusReader) read(ctx context.Context) {
	parts := map[string]func(context.Context) error{
		"open_batches": r.readBatches, "slots": r.readSlots, "dead_letters": r.readDeadLetters,
		"alarms": r.readAlarms, "throttles": r.readThrottles,
	}
	r.out.NotRead, r.out.NotThere = map[string]string{}, map[string]string{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for name, read := range parts {
		group.Go(func() {
			limited, cancel := context.WithTimeout(ctx, statusPatience)
			defer cancel()
			err := read(limited)
			mu.Lock()
			defer mu.Unlock()
			if missing := errNotThere(""); errors.As(err, &missing) {
				r.out.NotThere[name] = err.Error()
			} else if err != nil {
				r.out.NotRead[name] = err.Error()
			}
		})
	}
	group.Wait()
}

func (r *statusReader) readBatches(ctx context.Context) error {
	store, err := r.batches(ctx)
	if err != nil {
		return err
	}
	backlogs, err := store.Backlogs(ctx)
	if err != nil {
		return err
	}
	r.out.OpenBatches = []openOutput{}
	for _, status := range batch.Statuses() {
		if b, isThere := backlogs[status]; isThere {
			r.out.OpenBatches = append(r.out.OpenBatches,
				openOutput{status, b.Batches, b.IsCut, r.secondsSince(b.Since)})
		}
	}
	return nil
}

// secondsSince returns the time that has passed since t, 0 for the zero time.
func (r *statusReader) secondsSince(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(r.now.Sub(t).Round(time.Second).Seconds(), 0)
}

func (r *statusReader) readSlots(ctx context.Context) error {
	tables, err := r.tables(ctx, "TABLE_ADMISSION")
	if err != nil {
		return err
	}
	var settings map[string]string // a local cloud does not tell
	if !r.isLocal {
		if settings, err = functionVariables(ctx, lambda.NewFromConfig(r.aws), r.prefix+"-verdict"); err != nil {
			return err
		}
	}
	slots := admission.Slots{Queue: admissiondb.New(dynamo.NewClient(r.aws), tables["TABLE_ADMISSION"])}
	writers, _ := strconv.Atoi(settings["INGEST_CONCURRENCY"])
	limits, _ := admission.ParseLimits(settings["SLOTS"], settings["TRANSACTIONS_WARM_THROUGHPUT"], writers)
	var pools []slotsOutput
	for _, pool := range admission.Pools() {
		l, err := slots.Load(ctx, pool, maxCounted)
		if err != nil {
			return err
		}
		s := slotsOutput{Stage: pool, Used: l.Used, Waiting: l.Waiting, AtLeast: l.IsCut,
			OldestSeconds: r.secondsSince(l.Since)}
		if limit, isKnown := limits[pool]; isKnown {
			n := limit.SlotsAfter(l.Slots)
			s.Of = &n
		}
		pools = append(pools, s)
	}
	r.out.Slots = pools
	return nil
}

// readDeadLetters counts the messages of each queue. Those of a local cloud are files in one folder.
func (r *statusReader) readDeadLetters(ctx context.Context) error {
	if !r.isLocal {
		queues, err := r.queues(ctx)
		r.out.DeadLetters = queues
		return err
	}
	dir, err := os.Open(filepath.Join(r.dataFolder(), "dead-letters"))
	if errors.Is(err, fs.ErrNotExist) {
		r.out.DeadLetters = []deadLetterOutput{}
		return nil
	} else if err != nil {
		return err
	}
	defer dir.Close()
	files, err := dir.ReadDir(maxCounted)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	letters := deadLetterOutput{Queue: dir.Name(), Messages: len(files), AtLeast: len(files) == maxCounted}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			continue // it was removed meanwhile
		}
		if age := r.secondsSince(info.ModTime()); letters.OldestSeconds == nil || age > *letters.OldestSeconds {
			letters.OldestSeconds = &age
		}
	}
	r.out.DeadLetters = []deadLetterOutput{letters}
	return nil
}

// readThrottles counts what was throttled: on AWS by its metrics, in a local cloud by its log.
func (r *statusReader) readThrottles(ctx context.Context) error {
	if !r.isLocal {
		throttles, err := r.throttles(ctx)
		r.out.Throttles = throttles
		return err
	}
	log, err := figures.OpenLog(r.dataFolder(), figures.Options{Prefix: r.prefix, Since: r.now.Add(-throttledWithin)})
	if errors.Is(err, fs.ErrNotExist) {
		return errNotThere("the local cloud has no log yet")
	} else if err != nil {
		return err
	}
	defer log.Close()
	s, err := log.Snapshot(r.now)
	if err != nil {
		return err
	}
	functions := throttleOutput{What: "functions"}
	for _, f := range s.Functions {
		functions.Requests += f.Throttled
	}
	r.out.Throttles = []throttleOutput{functions}
	return nil
}
