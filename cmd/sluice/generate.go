package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sluice/sampledata"
)

const generateUsage = `sluice generate --lines N -o FILE: make a batch to try things with

Writes FILE, one realistic transaction a line; FILE.entities, what to onboard before ('sluice admin entities import'); and
FILE.truth, one {"line": n, "kind": code} for each bad line. The same options give the same bytes.

`

func runGenerate(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := newFlags("generate", generateUsage)
	var o sampledata.Options
	f.Int64Var(&o.Lines, "lines", 1000, "`N` lines")
	f.Uint64Var(&o.Seed, "seed", 1, "another `S` makes another batch")
	f.Float64Var(&o.Bad, "bad", 0, "`SHARE` of bad lines, 0 to 1")
	f.IntVar(&o.Entities, "entities", 0, "`N` known entities; 0: a tenth of the lines, 20 to 100,000")
	path := f.String("o", "", "`FILE` to write")
	if _, err := f.parse(args, 0, stdout); err != nil {
		return ended(err, stderr)
	}
	if *path == "" {
		return cannot(stderr, errors.New("-o FILE is needed; see 'sluice generate --help'"))
	}
	began := time.Now()
	written, err := generateFiles(ctx, o, *path)
	if err != nil {
		return cannot(stderr, err)
	}
	fmt.Fprintf(stdout, "%s: %s lines, %s in %.1f s; beside it .entities and .truth\n", *path, number(o.Lines), size(written), time.Since(began).Seconds())
	return exitOK
}

// generateFiles writes a batch, its entities and its truth, and returns the bytes of the batch.
func generateFiles(ctx context.Context, o sampledata.Options, path string) (written int64, err error) {
	g, err := sampledata.New(o)
	if err != nil {
		return 0, err
	}
	var files [3]*os.File
	for i, name := range []string{path, path + ".truth", path + ".entities"} {
		if files[i], err = os.Create(name); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, files[i].Close()) }()
	}
	if written, err = g.WriteWithTruth(until{ctx, files[0]}, files[1]); err != nil {
		return written, err
	}
	return written, g.WriteEntities(until{ctx, files[2]})
}

// until writes until the context ends.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u until) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, errors.New("interrupted; the files are not complete")
	}
	return u.w.Write(p)
}
