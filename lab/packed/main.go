// Packed puts the same lines through a local cloud three times: as they are, in gzip and in zstd, in turn, several
// times over. It prints what each stage takes and how many lines a second are processed, of each the fastest.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"sluice/client"
	"sluice/internal/testcloud"
	"sluice/sampledata"
)

func main() {
	lines := flag.Int64("lines", 100_000, "number of `LINES` of the file")
	rounds := flag.Int("rounds", 3, "how `OFTEN` each file is uploaded")
	dir := flag.String("dir", os.TempDir(), "`DIR` for the data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *lines, *rounds, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "packed:", err)
		os.Exit(1)
	}
}

// packedFile is a file and what was measured of its batches.
type packedFile struct {
	encoding string
	path     string
	size     int64
	runs     []measured
}

// measured is how long the stages of one batch took. Scanned is from the receipt of the file to the beginning of its
// validation: the scan, unpacking, and the scan of what was unpacked.
type measured struct{ uploaded, scanned, validated, ingested time.Duration }

// all is the time from the receipt of a file to the end of its batch.
func (m measured) all() time.Duration { return m.scanned + m.validated + m.ingested }

func run(ctx context.Context, out io.Writer, lines int64, rounds int, dir string) (err error) {
	dir, err = os.MkdirTemp(dir, "sluice-packed-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cloud, err := testcloud.Start(ctx, filepath.Join(dir, "cloud"), nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cloud.Stop()) }()
	files, err := writeFiles(ctx, cloud, dir, lines)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{APIURL: cloud.APIURL, TokenURL: cloud.TokenURL, ClientID: cloud.ClientID,
		ClientSecret: cloud.ClientSecret, Scope: cloud.Scope})
	if err != nil {
		return err
	}
	for round := range rounds {
		for i := range files {
			f := files[(round+i)%len(files)] // none is always the first one
			m, err := f.process(ctx, c)
			if err != nil {
				return fmt.Errorf("%s: %w", f.encoding, err)
			}
			f.runs = append(f.runs, m)
		}
	}
	print(out, files, lines, rounds)
	return printUnpacking(out, filepath.Join(cloud.Data, "logs", "functions.log"))
}

// writeFiles makes the lines, onboards their entities and writes the lines in every encoding.
func writeFiles(ctx context.Context, cloud *testcloud.Cloud, dir string, lines int64) ([]*packedFile, error) {
	g, err := sampledata.New(sampledata.Options{Lines: lines, Seed: 1, Entities: int(min(lines/10+20, 20_000))})
	if err != nil {
		return nil, err
	}
	entities := filepath.Join(dir, "entities")
	if err := writeFile(entities, g.WriteEntities); err != nil {
		return nil, err
	}
	if err := cloud.Admin(ctx, nil, "entities", "import", entities); err != nil {
		return nil, err
	}
	plain := &packedFile{encoding: client.EncodingIdentity, path: filepath.Join(dir, "batch.jsonl")}
	err = writeFile(plain.path, func(w io.Writer) error {
		for range lines {
			line, _, _ := g.Next()
			if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
				return err
			}
		}
		return nil
	})
	files := []*packedFile{plain}
	for encoding, newWriter := range map[string]func(io.Writer) (io.WriteCloser, error){
		client.EncodingGzip: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		client.EncodingZstd: func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		f := &packedFile{encoding: encoding, path: plain.path + "." + encoding}
		err = errors.Join(err, writeFile(f.path, func(w io.Writer) error { return pack(w, plain.path, newWriter) }))
		files = append(files, f)
	}
	slices.SortFunc(files[1:], func(a, b *packedFile) int { return cmp.Compare(a.encoding, b.encoding) })
	for _, f := range files {
		info, statErr := os.Stat(f.path)
		if err = errors.Join(err, statErr); err != nil {
			return nil, err
		}
		f.size = info.Size()
	}
	return files, nil
}

// pack packs a file.
func pack(w io.Writer, path string, newWriter func(io.Writer) (io.WriteCloser, error)) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	packer, err := newWriter(w)
	if err != nil {
		return err
	}
	_, err = io.Copy(packer, in)
	return errors.Join(err, packer.Close())
}

// writeFile creates a file with what write writes.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	return errors.Join(write(out), out.Flush(), file.Close())
}

// process uploads the file as a batch of its own and follows it to its end.
func (f *packedFile) process(ctx context.Context, c *client.Client) (m measured, err error) {
	u, err := c.CreateUploadWith(ctx, client.UploadOptions{RejectOnInvalid: true, ContentEncoding: f.encoding})
	if err != nil {
		return m, err
	}
	file, err := os.Open(f.path)
	if err != nil {
		return m, err
	}
	defer file.Close()
	begun := time.Now()
	if err := c.UploadFile(ctx, u, file, f.size, nil); err != nil {
		return m, err
	}
	m.uploaded = time.Since(begun)
	last, err := c.Follow(ctx, u.BatchID, func(int) time.Duration { return time.Second }, nil)
	if err != nil {
		return m, err
	}
	if last.Status != client.StatusProcessed {
		return m, fmt.Errorf("the batch ended with %s: %s", last.Status, last.ErrorMessage)
	}
	reached := map[string]time.Time{}
	for _, entry := range last.History {
		reached[entry.Status] = entry.At
	}
	m.scanned = reached[client.StatusValidationStarted].Sub(*last.ReceivedAt)
	m.validated = reached[client.StatusPendingIngestion].Sub(reached[client.StatusValidationStarted])
	m.ingested = reached[client.StatusProcessed].Sub(reached[client.StatusPendingIngestion])
	return m, nil
}

// print prints what was measured as a table.
func print(w io.Writer, files []*packedFile, lines int64, rounds int) {
	fmt.Fprintf(w, "%d lines, %.1f MB; the fastest of %d rounds, in seconds\n", lines, float64(files[0].size)/1e6,
		rounds)
	fmt.Fprintf(w, "%-10s %8s %8s %14s %10s %10s %8s %9s %9s\n", "encoding", "MB", "upload", "scan, unpack",
		"validation", "ingestion", "all", "lines/s", "of plain")
	plain := fastest(files[0].runs, measured.all)
	for _, f := range files {
		all := fastest(f.runs, measured.all)
		fmt.Fprintf(w, "%-10s %8.1f %8.2f %14.2f %10.2f %10.2f %8.2f %9.0f %8.0f%%\n", f.encoding, float64(f.size)/1e6,
			fastest(f.runs, func(m measured) time.Duration { return m.uploaded }),
			fastest(f.runs, func(m measured) time.Duration { return m.scanned }),
			fastest(f.runs, func(m measured) time.Duration { return m.validated }),
			fastest(f.runs, func(m measured) time.Duration { return m.ingested }),
			all, float64(lines)/all, 100*plain/all)
	}
}

// fastest returns the shortest of a duration of runs, in seconds: what else the machine does only ever adds to it.
func fastest(runs []measured, of func(measured) time.Duration) float64 {
	least := of(runs[0])
	for _, m := range runs {
		least = min(least, of(m))
	}
	return least.Seconds()
}
