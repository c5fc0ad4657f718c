package screening

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// Bounds of what screenFile keeps in memory: rows that are read ahead, by worker, in portions of names and bytes. A
// portion has at least one row, however long that is.
const (
	portionNames      = 256
	portionBytes      = 1 << 18
	portionsPerWorker = 4
)

// portion is some consecutive rows of a file and, when done is closed, what is to be printed of them.
type portion struct {
	queries []match.Query
	size    int
	output  bytes.Buffer
	hits    int
	err     error
	done    chan struct{}
}

// screenFile looks up each name of a file with some workers at once, prints the hits in the order of the file and
// returns how many names have any.
func (s *screenRun) screenFile(ctx context.Context, index *match.Index, workers int) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work := make(chan *portion)
	inOrder := make(chan *portion, workers*portionsPerWorker)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			screener := match.NewScreener(index)
			for p := range work {
				s.screenPortion(ctx, screener, p)
			}
		})
	}
	var readErr error
	running.Go(func() {
		defer close(inOrder)
		defer close(work)
		readErr = s.readPortions(ctx, work, inOrder)
	})
	hits, err := s.printPortions(inOrder, stop)
	running.Wait()
	if err == nil {
		err = readErr
	}
	return hits, err
}

// readPortions reads the rows of the file. A portion goes to a worker as soon as one is free, so that rows that come
// slowly do not wait for each other.
func (s *screenRun) readPortions(ctx context.Context, work, inOrder chan<- *portion) error {
	p := newPortion()
	pass := func(isFull bool) error {
		if isFull {
			select {
			case work <- p:
			case <-ctx.Done():
				return errNotWhole
			}
		} else {
			select {
			case work <- p:
			default:
				return nil
			}
		}
		inOrder <- p
		p = newPortion()
		return nil
	}
	err := eachRow(ctx, s.file, []string{"name"}, func(cell func(string) string) error {
		q, err := s.queryOf(cell)
		if err != nil {
			return err
		}
		p.add(q)
		return pass(len(p.queries) >= portionNames || p.size >= portionBytes)
	})
	if err == nil && len(p.queries) > 0 {
		err = pass(true)
	}
	return err
}

func newPortion() *portion { return &portion{done: make(chan struct{})} }

// add adds a row.
func (p *portion) add(q match.Query) {
	p.queries = append(p.queries, q)
	p.size += len(q.Name)
}

// queryOf returns what a row asks for.
func (s *screenRun) queryOf(cell func(column string) string) (match.Query, error) {
	q := s.query
	q.Name = cell("name")
	schema, err := schemaOf(cell)
	if err != nil {
		return q, err
	}
	if schema != "" {
		q.Schema = schema
	}
	if date := strings.TrimSpace(cell("birth_date")); date != "" {
		if !isPartialDate(date) {
			return q, cellError{"birth_date", date, "YYYY, YYYY-MM or YYYY-MM-DD"}
		}
		q.BirthDate = date
	}
	if country := strings.TrimSpace(cell("country")); country != "" {
		q.Countries = strings.Split(country, ";")
	}
	return q, nil
}

// schemaOf returns the schema that a row gives; "" if it gives none.
func schemaOf(cell func(column string) string) (watchlist.Schema, error) {
	text := strings.TrimSpace(cell("schema"))
	if text == "" {
		return "", nil
	}
	schema, isKnown := watchlist.ParseSchema(text)
	if !isKnown {
		return "", cellError{"schema", text, "one of " + watchlist.SchemaNames()}
	}
	return schema, nil
}

// cellError is the error for a cell with a value that its column cannot have.
type cellError struct{ column, value, wanted string }

// Error says what is wrong, and not yet where.
func (e cellError) Error() string {
	return fmt.Sprintf("%s is %s, not %q", e.column, e.wanted, e.value)
}

// screenPortion looks up the names of a portion.
func (s *screenRun) screenPortion(ctx context.Context, screener *match.Screener, p *portion) {
	defer close(p.done)
	for _, q := range p.queries {
		if ctx.Err() != nil {
			p.err = fmt.Errorf("%w; not all names were looked up", command.ErrInterrupted)
			return
		}
		n, err := s.appendHits(&p.output, screener, q)
		if err != nil {
			p.err = err
			return
		}
		if n > 0 {
			p.hits++
		}
	}
}

// printPortions prints portions in their order until there are no more, and returns how many names have hits. After an
// error it stops the others and prints nothing more.
func (s *screenRun) printPortions(inOrder <-chan *portion, stop func()) (hits int, err error) {
	progress := s.progress()
	total := 0
	for p := range inOrder {
		<-p.done
		if err == nil {
			err = p.err
		}
		if err == nil {
			err = s.print(p.output.Bytes())
		}
		if err != nil {
			stop()
			continue
		}
		total += len(p.queries)
		hits += p.hits
		progress.SetLive(terminal.Part{Text: fmt.Sprintf("%s, %d with hits", terminal.CountOf(int64(total), "name"),
			hits)})
	}
	progress.SetLive()
	if err == nil && !s.asJSON {
		s.ui.Printf("%s, %d with hits\n", terminal.CountOf(int64(total), "name"), hits)
	}
	return hits, err
}

// progress returns the terminal that shows how far a file has been screened: standard output, or standard error if that
// is not a terminal or has JSON.
func (s *screenRun) progress() *terminal.Terminal {
	switch {
	case s.ui.Tty == nil:
		return terminal.New(os.Stderr)
	case s.asJSON:
		return terminal.New(io.Discard)
	}
	return s.ui
}

// eachRow calls f for each row of a CSV file with a header. Of one required column, the first takes the place if no
// column has its name. A cellError of f gets the name of the file and the line.
func eachRow(ctx context.Context, path string, required []string, f func(cell func(column string) string) error) error {
	file, err := files.OpenInput(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord, reader.LazyQuotes, reader.ReuseRecord = -1, true, true
	columns, err := readHeader(reader, required)
	if err != nil {
		return fmt.Errorf("%s: %w", files.DisplayName(path), err)
	}
	for {
		if err := ctx.Err(); err != nil {
			return errNotWhole
		}
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", files.DisplayName(path), err)
		}
		line, _ := reader.FieldPos(0)
		err = f(func(column string) string {
			if i, found := columns[column]; found && i < len(row) {
				return row[i]
			}
			return ""
		})
		if errors.As(err, new(cellError)) {
			return fmt.Errorf("%s, line %d: %w", files.DisplayName(path), line, err)
		}
		if err != nil {
			return err
		}
	}
}

// readHeader returns the places of the columns by their names.
func readHeader(reader *csv.Reader, required []string) (map[string]int, error) {
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the file is empty; its first line must name the columns (%s)",
			strings.Join(required, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))] = i
	}
	for _, name := range required {
		if _, found := columns[name]; !found && len(required) > 1 {
			return nil, fmt.Errorf("the header has no column %q", name)
		} else if !found {
			columns[name] = 0
		}
	}
	return columns, nil
}

// errNotWhole is the error of a file that was being read when the command was interrupted.
var errNotWhole = fmt.Errorf("%w; the file was not read to its end", command.ErrInterrupted)
