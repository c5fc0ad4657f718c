package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/client"
)

// meaning says what a status means to a person.
var meaning = map[string]string{
	client.StatusValidationStarted: "the file is clean; its lines are being checked",
	client.StatusValidationFailed:  "nothing of the batch was taken",
	client.StatusPendingIngestion:  "validation is complete; waiting for ingestion",
	client.StatusInitialized:       "ready to be stored",
	client.StatusInProgress:        "lines are being stored",
	client.StatusProcessed:         "everything that was valid is stored",
	client.StatusError:             "nothing of the batch was taken",
}

// follow shows the states that a batch passes, and its counts as they grow, until it has come to its end.
func follow(ctx context.Context, c *client.Client, con *console, batchID string, pace client.PollInterval) (client.Status, error) {
	began, last := time.Now(), "-"
	defer con.show("")
	return c.Follow(ctx, batchID, pace, func(s client.Status) {
		if s.Status != last {
			last = s.Status
			con.printf("%s\n", stateLine(con, s, time.Since(began)))
		}
		if !s.IsTerminal() {
			con.show("  %s", progressOf(s))
		}
	})
}

func stateLine(con *console, s client.Status, since time.Duration) string {
	name, said := s.Status, meaning[s.Status]
	if name == "" {
		name, said = "waiting", strings.TrimSuffix(s.Message, ".")
	}
	mark := bold
	switch s.Status {
	case client.StatusProcessed:
		mark = green
	case client.StatusValidationFailed, client.StatusError:
		mark = red
	}
	return fmt.Sprintf("  %s %6.1f s  %s", con.paint(mark, fmt.Sprintf("%-18s", name)), since.Seconds(), con.paint(dim, said))
}

// progressOf is the bar and counts of a batch that is on its way.
func progressOf(s client.Status) string {
	if s.Status == "" {
		return "waiting ..."
	}
	text := fmt.Sprintf("%s %s of %s", bar(s.BytesDone, s.BytesTotal, 24), size(s.BytesDone), size(s.BytesTotal))
	if counts := countsOf(s.Counts); counts != "" {
		text += "  " + counts
	}
	return text
}

// countsOf lists the counts that are known.
func countsOf(c client.Counts) string {
	var parts []string
	for _, n := range []struct {
		name string
		of   *int64
	}{{"lines", c.Total}, {"accepted", c.Accepted}, {"invalid", c.Invalid}, {"stored", c.Ingested}} {
		if n.of != nil {
			parts = append(parts, number(*n.of)+" "+n.name)
		}
	}
	return strings.Join(parts, ", ")
}
