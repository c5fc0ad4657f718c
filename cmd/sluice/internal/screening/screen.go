// Package screening is the command that looks names up in lists.
package screening

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

func FormatList() string {
	names := make([]string, len(watchlist.Formats))
	for i, f := range watchlist.Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

func Command() *cobra.Command {
	var s screenRun
	c := &cobra.Command{
		Use:   "screen [NAME]",
		Short: "look names up in lists of sanctioned persons and organisations",
		Long: `
Looks up NAME, or each name of --file, in the lists that --list-file names, and prints the entries whose names reach
the threshold, best first, each with an explanation. Nothing leaves the machine.

With --service, the service looks NAME up in the tenant's lists, with the threshold of the tenant's configuration
unless another is given. It stores nothing of the name.

FORMAT is un-xml (the consolidated list of the United Nations), ofac-sdn-csv (sdn.csv of the United States Treasury;
alt.csv, add.csv and sdn_comments.csv are read if they are beside it), ftm-json (FollowTheMoney entities, one a line)
or targets-simple-csv (targets.simple.csv of OpenSanctions).

--file reads CSV with a header: the column "name", or else the first; "birth_date", "country" and "schema" are used if
they are there. All processors work on it (GOMAXPROCS sets how many); what is printed is in the order of the
file. Dates and countries take points from a hit whose entry has others; what only the entry has takes none.
--pairs reads CSV with the columns name1, name2 and schema, and scores each pair; it needs no list. A schema is one of
` + watchlist.SchemaNames() + `; a name without one may
be that of a person or of an organisation.

--json prints one object a line: {"name", "hits": [{"list", "id", "name", "score", "explanation"}]} for each name,
{"score"} for each pair.`,
		Example: `
sluice screen 'Ivan Testov' --list-file targets-simple-csv:targets.simple.csv
sluice screen --file names.csv --list-file un-xml:consolidated.xml --list-file ofac-sdn-csv:sdn.csv --json
sluice screen --pairs pairs.csv --json
sluice screen 'Ivan Testov' --service --birth-date 1968-03-17`,
		Annotations: command.Notes(`
Exit codes: 0 if there is no hit, 1 if there are hits, 2 if the command could not run.`),
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			s.stdout, s.ui = stdout, terminal.New(stdout)
			return s.run(ctx, args)
		}),
	}
	s.addFlags(c)
	return c
}

// screenRun is one run of the screen command.
type screenRun struct {
	stdout      io.Writer
	ui          *terminal.Terminal
	lists       Lists
	file, pairs string
	// query is what the flags say about every name.
	query     match.Query
	threshold float64
	asJSON    bool
	// isCompany is the type of the names whose file gives none.
	isCompany bool
	// usesService has the name looked up by the service of the connection.
	usesService bool
	connection  service.Connection
	flags       *pflag.FlagSet
}

// listFile is a list that the command line names.
type listFile struct {
	format watchlist.Format
	path   string
}

// name returns the name of the list in hits.
func (l listFile) name() string { return filepath.Base(l.path) }

// Lists are lists that the command line names.
type Lists []listFile

// Add adds a list of the form FORMAT:FILE.
func (l *Lists) Add(value string) error {
	format, path, found := strings.Cut(value, ":")
	if !found || path == "" || !slices.Contains(watchlist.Formats, watchlist.Format(format)) {
		return fmt.Errorf("%q is not FORMAT:FILE with one of the formats %s", value, FormatList())
	}
	*l = append(*l, listFile{watchlist.Format(format), path})
	return nil
}

// Build reads the lists and makes their index.
func (l Lists) Build() (*match.Index, error) {
	var sources []match.Source
	for _, file := range l {
		list, err := watchlist.Read(file.format, watchlist.FileSource(file.path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.path, err)
		}
		for _, problem := range list.Problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", linefile.Printable(file.path), linefile.Printable(problem.String()))
		}
		sources = append(sources, match.Source{Name: file.name(), Format: file.format, List: list})
	}
	return match.Build(sources...), nil
}

// AddFlags declares the flags of the command.
func (s *screenRun) addFlags(c *cobra.Command) {
	f := c.Flags()
	s.flags = f
	f.BoolVar(&s.usesService, "service", false, "look NAME up in the lists of the service")
	f.BoolVar(&s.isCompany, "company", false, "the name is that of a company")
	f.StringVar(&s.query.BirthDate, "birth-date", "", "`DATE` of birth: YYYY, YYYY-MM or YYYY-MM-DD")
	f.StringVar(&s.query.Gender, "gender", "", "`GENDER` of a person: female or male")
	f.StringArrayVar(&s.query.Countries, "country", nil,
		"a `COUNTRY` of the name's bearer, as a code or in English; can be repeated")
	f.StringArrayVar(&s.query.Lists, "list", nil,
		"search only the list of this `NAME`, that of its file or of the service; can be repeated")
	f.Func("list-file", "a list as `FORMAT:FILE`; can be repeated", s.lists.Add)
	f.StringVar(&s.file, "file", "", "CSV `FILE` of names to look up; - is standard input")
	f.StringVar(&s.pairs, "pairs", "", "CSV `FILE` of pairs of names to compare; - is standard input")
	f.Float64Var(&s.threshold, "threshold", match.Threshold, "`SCORE` that a hit must reach, 0 to 100")
	f.BoolVar(&s.asJSON, "json", false, "print one JSON object a line and nothing else")
	s.connection.AddFlags(c)
	command.Values(c, "gender", "female", "male")
}

func (s *screenRun) run(ctx context.Context, args []string) error {
	given := len(args)
	for _, path := range []string{s.file, s.pairs} {
		if path != "" {
			given++
		}
	}
	if err := CheckThreshold(s.threshold); err != nil {
		return err
	}
	switch {
	case given != 1:
		return command.Usagef("give one of NAME, --file and --pairs")
	case s.query.BirthDate != "" && !isPartialDate(s.query.BirthDate):
		return command.Usagef("--birth-date is YYYY, YYYY-MM or YYYY-MM-DD, not %q", s.query.BirthDate)
	case !slices.Contains([]string{"", "female", "male"}, s.query.Gender):
		return command.Usagef("--gender is female or male, not %q", s.query.Gender)
	case s.unknownCountry() != "":
		return command.Usagef("--country %s is not known; give a code such as ru, or a name in English such as Russia",
			s.unknownCountry())
	case s.usesService:
		return s.screenByService(ctx, args)
	case s.pairs != "":
		return s.scorePairs(ctx)
	case len(s.lists) == 0:
		return command.Usagef("name a list with --list-file FORMAT:FILE, or --service for those of the service")
	}
	if s.isCompany {
		s.query.Schema = watchlist.Organisation
	}
	if err := s.checkListNames(); err != nil {
		return err
	}
	index, err := s.loadLists()
	if err != nil {
		return err
	}
	if s.file != "" {
		return s.finish(s.screenFile(ctx, index, runtime.GOMAXPROCS(0)))
	}
	s.query.Name = args[0]
	return s.finish(s.screen(match.NewScreener(index), s.query))
}

// unknownCountry returns the first country of the flags that is not known; "" if all are.
func (s *screenRun) unknownCountry() string {
	for _, text := range s.query.Countries {
		if _, isKnown := watchlist.ParseCountry(text); !isKnown {
			return text
		}
	}
	return ""
}

// checkListNames returns an error if --list names a list that --list-file does not: nothing would be found in it.
func (s *screenRun) checkListNames() error {
	var names []string
	for _, l := range s.lists {
		names = append(names, l.name())
	}
	for _, name := range s.query.Lists {
		if !slices.Contains(names, name) {
			return command.Usagef("--list %s is not one of the lists that --list-file names: %s", name,
				strings.Join(names, ", "))
		}
	}
	return nil
}

// isPartialDate reports whether a text is a year, a month or a day.
func isPartialDate(text string) bool {
	for _, layout := range []string{"2006", "2006-01", "2006-01-02"} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// finish returns the exit code: 1 if there are hits.
func (s *screenRun) finish(hits int, err error) error {
	if err == nil && hits > 0 {
		return command.Rejected
	}
	return err
}

// loadLists reads the lists and makes their indexes.
func (s *screenRun) loadLists() (*match.Index, error) {
	x, err := s.lists.Build()
	if err != nil {
		return nil, err
	}
	for i, l := range s.lists {
		if !s.asJSON {
			s.ui.Printf("%s: %s, %s\n", linefile.Printable(l.path),
				terminal.CountNoun(int64(x.Lists[i].Entries), "entry", "entries"),
				terminal.CountOf(int64(x.Lists[i].Names), "name"))
		}
	}
	return x, nil
}

// screen looks up one name, prints its hits and returns their number.
func (s *screenRun) screen(screener *match.Screener, q match.Query) (int, error) {
	var b bytes.Buffer
	n, err := s.appendHits(&b, screener, q)
	if err != nil {
		return 0, err
	}
	return n, s.print(b.Bytes())
}

// print prints what appendHits has appended.
func (s *screenRun) print(text []byte) error {
	if s.asJSON {
		_, err := s.stdout.Write(text)
		return err
	}
	s.ui.Printf("%s", text)
	return nil
}

// appendHits looks up one name, appends what is to be printed of its hits and returns their number.
func (s *screenRun) appendHits(b *bytes.Buffer, screener *match.Screener, q match.Query) (int, error) {
	hits, err := screener.Screen(q, s.threshold)
	if err != nil {
		return 0, err
	}
	return len(hits), s.formatHits(b, q, hits)
}

// formatHits appends what is to be printed of the hits of a name.
func (s *screenRun) formatHits(b *bytes.Buffer, q match.Query, hits []match.Hit) error {
	if s.asJSON {
		return output.EncodeLine(b, struct {
			Name string      `json:"name"`
			Hits []match.Hit `json:"hits"`
		}{q.Name, append([]match.Hit{}, hits...)})
	}
	if len(hits) > 0 || s.file == "" {
		text := countHits(len(hits))
		if len(hits) == 0 && !match.NewAnalyzer().Analyze(q.Name).CanMatch(q.Schema) {
			text += ": the name has no word that says who is meant"
		}
		fmt.Fprintf(b, "%s: %s\n", linefile.Printable(q.Name), text)
	}
	for _, h := range hits {
		fmt.Fprintf(b, "  %5.1f  %s  %s %s\n         %s\n", h.Score, linefile.Printable(h.Name),
			linefile.Printable(h.List),
			linefile.Printable(h.ID), linefile.Printable(h.Explanation))
	}
	return nil
}

func countHits(n int) string {
	if n == 0 {
		return "no hit"
	}
	return terminal.CountOf(int64(n), "hit")
}

// scorePairs compares the pairs of a file.
func (s *screenRun) scorePairs(ctx context.Context) error {
	hits := 0
	err := eachRow(ctx, s.pairs, []string{"name1", "name2"}, func(cell func(string) string) error {
		schema, err := schemaOf(cell)
		if err != nil {
			return err
		}
		score := match.Pair(cell("name1"), cell("name2"), schema)
		if score >= s.threshold {
			hits++
		}
		if s.asJSON {
			return output.EncodeLine(s.stdout, map[string]float64{"score": score})
		}
		s.ui.Printf("%5.1f  %s | %s\n", score, linefile.Printable(cell("name1")), linefile.Printable(cell("name2")))
		return nil
	})
	return s.finish(hits, err)
}

// CheckThreshold returns an error for a score that no hit can have.
func CheckThreshold(threshold float64) error {
	if !(threshold >= 0 && threshold <= 100) {
		return command.Usagef("--threshold is 0 to 100, not %v", threshold)
	}
	return nil
}
