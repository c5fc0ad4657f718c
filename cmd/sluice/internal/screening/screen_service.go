package screening

import (
	"bytes"
	"context"
	"os"
	"time"

	"sluice/client"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// screenByService has the service look the name up, and prints what a look-up in files prints.
func (s *screenRun) screenByService(ctx context.Context, args []string) error {
	if s.file != "" || s.pairs != "" || len(s.lists) > 0 {
		return command.Usagef("--service takes one NAME, without --file, --pairs and --list-file")
	}
	q, err := s.nameQuery(args[0])
	if err != nil {
		return err
	}
	api, err := s.connection.NewClient(ctx)
	if err != nil {
		return err
	}
	found, warnings, err := api.MatchName(ctx, q)
	if err != nil {
		return err
	}
	s.query.Name, s.query.Schema = q.Name, watchlist.Person
	if q.IsCompany {
		s.query.Schema = watchlist.Organisation
	}
	var text bytes.Buffer
	if err := s.formatHits(&text, s.query, hitsOf(found)); err != nil {
		return err
	}
	if err := s.print(text.Bytes()); err != nil {
		return err
	}
	for _, warning := range warnings {
		terminal.New(os.Stderr).Printf("%s\n", linefile.Printable(warning))
	}
	return s.finish(len(found), nil)
}

// nameQuery returns what the flags ask of the service.
func (s *screenRun) nameQuery(name string) (client.NameQuery, error) {
	q := client.NameQuery{Name: name, IsCompany: s.isCompany, Gender: s.query.Gender, Lists: s.query.Lists}
	if s.isCompany && (s.query.BirthDate != "" || s.query.Gender != "") {
		return q, command.Usagef("a company has neither --birth-date nor --gender")
	}
	if s.query.BirthDate != "" {
		born, err := time.Parse(time.DateOnly, s.query.BirthDate)
		if err != nil {
			return q, command.Usagef("--birth-date is YYYY-MM-DD with --service, not %q", s.query.BirthDate)
		}
		q.BirthDate = born.Format("02/01/2006")
	}
	switch len(s.query.Countries) {
	case 0:
	case 1:
		q.Country = s.query.Countries[0]
	default:
		return q, command.Usagef("--service takes one --country, not %d", len(s.query.Countries))
	}
	if s.flags.Changed("threshold") {
		q.Threshold = &s.threshold
	}
	return q, nil
}

// hitsOf returns the hits of the service as a look-up in files has them.
func hitsOf(found []client.NameHit) []match.Hit {
	hits := make([]match.Hit, len(found))
	for i, h := range found {
		hits[i] = match.Hit{List: h.List, ID: h.ID, Name: h.Name, Score: h.Score, Explanation: h.Explanation}
	}
	return hits
}
