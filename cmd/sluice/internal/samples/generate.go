// Package samples is the command that generates batches of test data.
package samples

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/sampledata"
)

func Command() *cobra.Command {
	var options sampledata.Options
	var path string
	c := &cobra.Command{
		Use:   "generate",
		Short: "generate a batch of test data, and the truth about its bad lines",
		Long: `
Writes three files: FILE, one realistic transaction a line; FILE.entities, the entities to onboard before an upload
('sluice admin entities import'); and FILE.truth, one {"line": n, "kind": code} for each bad line. With -o - only the
transactions are written, to standard output. The same options give the same bytes.`,
		Example: `
sluice generate --lines 100000 -o batch.jsonl
sluice generate --lines 100000 --bad 0.01 --seed 2 -o bad.jsonl
sluice generate --lines 1000 -o - | sluice validate -
sluice generate --lines 1000000 -o - | gzip > batch.jsonl.gz`,
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			if path == "" {
				return command.Usagef("-o FILE is needed")
			}
			if path == files.StdName {
				return generateLines(ctx, options, stdout)
			}
			started := time.Now()
			written, err := WriteFiles(ctx, options, path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(stdout, "%s: %s, %s in %.1f s; beside it .entities and .truth\n", path,
				terminal.CountOf(options.Lines, "line"), terminal.FormatBytes(written), time.Since(started).Seconds())
			return err
		}),
	}
	f := c.Flags()
	f.Int64Var(&options.Lines, "lines", 1000, "`N` lines")
	f.Uint64Var(&options.Seed, "seed", 1, "`SEED` of the random data: each gives another batch")
	f.Float64Var(&options.Bad, "bad", 0, "`SHARE` of bad lines, 0 to 1 (default 0)")
	f.IntVar(&options.Entities, "entities", 0,
		"`N` entities to refer to (default a tenth of the lines, 20 to 100,000)")
	f.StringVarP(&path, "output", "o", "", "`FILE` to write, required; - is standard output")
	return c
}

// WriteFiles writes a batch, its entities and its truth, and returns the size of the batch in bytes. If it fails, it
// removes the files.
func WriteFiles(ctx context.Context, o sampledata.Options, path string) (written int64, err error) {
	g, err := sampledata.New(o)
	if err != nil {
		return 0, err
	}
	var files [3]*os.File
	for i, name := range []string{path, path + ".truth", path + ".entities"} {
		if files[i], err = os.Create(name); err != nil {
			return 0, err
		}
		defer func() {
			if err = errors.Join(err, files[i].Close()); err != nil {
				_ = os.Remove(name)
			}
		}()
	}
	if written, err = g.WriteWithTruth(contextWriter{ctx, files[0]}, files[1]); err != nil {
		return written, err
	}
	return written, g.WriteEntities(contextWriter{ctx, files[2]})
}

// generateLines writes the lines of a batch, without its entities and its truth.
func generateLines(ctx context.Context, o sampledata.Options, stdout io.Writer) error {
	g, err := sampledata.New(o)
	if err != nil {
		return err
	}
	_, err = g.WriteWithTruth(contextWriter{ctx, stdout}, io.Discard)
	return err
}

// contextWriter writes until its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write writes p, or fails if the context has ended.
func (w contextWriter) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, fmt.Errorf("%w; nothing was kept", command.ErrInterrupted)
	}
	return w.w.Write(p)
}
