package admin

import (
	"fmt"
	"strings"
	"time"

	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
)

// printStatus prints the status for people.
func printStatus(ui *terminal.Terminal, s statusOutput) {
	ui.Printf("%s in %s at %s\n", linefile.Printable(s.Prefix), linefile.Printable(s.Place),
		s.At.Local().Format(time.DateTime))
	for _, part := range []struct {
		name, head, none string
		lines            []string
	}{
		{"open_batches", "Open batches", "none", openLines(s.OpenBatches)},
		{"slots", "Slots", "none", slotLines(s.Slots)},
		{"dead_letters", "Dead letters", "none", deadLetterLines(s.DeadLetters)},
		{"alarms", "Alarms", "none", alarmLines(s.Alarms)},
		{"throttles", "Throttled", "none in the past hour", throttleLines(s.Throttles)},
	} {
		lines := part.lines
		if reason, failed := s.NotRead[part.name]; failed {
			lines = append(lines, "NOT READ: "+reason)
		}
		if reason, isMissing := s.NotThere[part.name]; isMissing {
			lines = append(lines, reason)
		}
		if len(lines) == 0 {
			lines = []string{part.none}
		}
		for i, line := range lines {
			head := ""
			if i == 0 {
				head = part.head
			}
			ui.Printf("%s %s\n", ui.Paint(terminal.Bold, fmt.Sprintf("%-12s", head)), linefile.Printable(line))
		}
	}
}

// formatAtLeast writes a number of things that may be more.
func formatAtLeast(n int, atLeast bool) string {
	if atLeast {
		return "at least " + terminal.FormatNumber(int64(n))
	}
	return terminal.FormatNumber(int64(n))
}

func openLines(statuses []openOutput) (lines []string) {
	for _, s := range statuses {
		lines = append(lines, fmt.Sprintf("%s %s (the oldest for %s)", formatAtLeast(s.Batches, s.AtLeast), s.Status,
			terminal.FormatSeconds(s.OldestSeconds)))
	}
	return lines
}

func slotLines(stages []slotsOutput) (lines []string) {
	for _, s := range stages {
		line := fmt.Sprintf("%s: %d", s.Stage, s.Used)
		if s.Of != nil {
			line += fmt.Sprintf(" of %d", *s.Of)
		}
		line += " in use, " + formatAtLeast(s.Waiting, s.AtLeast) + " waiting"
		if s.Waiting > 0 {
			line += " (the first was received " + terminal.FormatSeconds(s.OldestSeconds) + " ago)"
		}
		lines = append(lines, line)
	}
	return lines
}

func deadLetterLines(queues []deadLetterOutput) (lines []string) {
	for _, q := range queues {
		if q.Messages == 0 {
			continue
		}
		line := formatAtLeast(q.Messages, q.AtLeast) + " in " + q.Queue
		if q.OldestSeconds != nil {
			line += " (the oldest for " + terminal.FormatSeconds(*q.OldestSeconds) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func alarmLines(alarms *alarmsOutput) (lines []string) {
	if alarms == nil {
		return nil
	}
	for _, a := range alarms.InAlarm {
		lines = append(lines, fmt.Sprintf("%-6s  %s since %s: %s", strings.ToUpper(a.Severity), a.Alarm,
			a.Since.Local().Format(time.DateTime), a.Meaning))
	}
	if len(lines) == 0 {
		return []string{fmt.Sprintf("none of %d in ALARM", alarms.Checked)}
	}
	return lines
}

func throttleLines(throttles []throttleOutput) (lines []string) {
	for _, t := range throttles {
		if t.Requests > 0 {
			lines = append(lines, terminal.FormatNumber(t.Requests)+" "+t.What)
		}
	}
	return lines
}
