package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sluice/client"
)

const statusUsage = `sluice status BATCH: where a batch stands

`

const resultsUsage = `sluice results BATCH: what validation found

When lines were rejected, their report is fetched: the first of each kind of error is shown, and --report keeps all of it.

`

func runStatus(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := newFlags("status", statusUsage)
	asJSON := f.Bool("json", false, "print the service's reply")
	wait := f.Bool("follow", false, "follow the batch to its end")
	var at connection
	at.flags(f)
	rest, err := f.parse(args, 1, stdout)
	if err != nil {
		return ended(err, stderr)
	}
	c, err := at.client()
	if err != nil {
		return cannot(stderr, err)
	}
	con := newConsole(stdout)
	var s client.Status
	if *wait {
		s, err = follow(ctx, c, con, rest[0], client.Gently)
	} else {
		s, err = c.Status(ctx, rest[0])
	}
	switch {
	case ctx.Err() != nil:
		return cannot(stderr, fmt.Errorf("interrupted; the batch goes on: sluice status %s", rest[0]))
	case err != nil:
		return cannot(stderr, err)
	case *asJSON:
		err = printJSON(stdout, s)
	default:
		printStatus(con, s, *wait)
	}
	if err != nil {
		return cannot(stderr, err)
	}
	if s.Status == client.StatusValidationFailed || s.Status == client.StatusError || s.Counts.Invalid != nil && *s.Counts.Invalid > 0 {
		return exitRejected
	}
	return exitOK
}

func printStatus(con *console, s client.Status, followed bool) {
	if s.Status == "" {
		con.printf("%s\n", s.Message)
		return
	}
	if !followed {
		con.printf("%s: %s\n", con.paint(bold, s.Status), meaning[s.Status])
	}
	if s.ErrorMessage != "" {
		con.printf("%s\n", con.paint(red, printable(s.ErrorMessage)))
	}
	if text := countsOf(s.Counts); text != "" {
		con.printf("%s\n", text)
	}
	if !s.IsTerminal() {
		con.printf("%s\n", progressOf(s))
	}
	con.printf("received %s\n", s.ReceivedAt.Format("2006-01-02 15:04:05.000 MST"))
}

func runResults(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := newFlags("results", resultsUsage)
	asJSON := f.Bool("json", false, "print the service's reply")
	reportTo := f.String("report", "", "keep the report of rejected lines in `FILE`")
	var at connection
	at.flags(f)
	rest, err := f.parse(args, 1, stdout)
	if err != nil {
		return ended(err, stderr)
	}
	c, err := at.client()
	if err != nil {
		return cannot(stderr, err)
	}
	r, err := c.ValidationResult(ctx, rest[0])
	if err == nil && r.Valid == nil {
		err = errors.New("there are no results yet: " + r.Message)
	}
	if err != nil {
		return cannot(stderr, err)
	}
	con := newConsole(stdout)
	if *asJSON {
		err = printJSON(stdout, r)
	} else {
		con.printf("%s\n", printable(r.Message))
		if text := countsOf(r.Counts); text != "" {
			con.printf("%s\n", text)
		}
	}
	if err == nil && r.ErrorsFileURL != "" && (!*asJSON || *reportTo != "") {
		err = showReport(ctx, c, con, r, nil, *reportTo)
	}
	switch {
	case err != nil:
		return cannot(stderr, err)
	case *r.Valid:
		return exitOK
	}
	return exitRejected
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
