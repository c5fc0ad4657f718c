package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"sluice/bench/table"
	"sluice/shared/platform/entity"
)

// The baseline for the whole of 'sluice validate' is a program that does the same with the standard library, as one
// without a scanner would: it reads the file, knows the entities, finds duplicates across the file and writes a report.
// It names one error of a rejected line, where ours names all, and not its position; and it accepts what the reference
// row accepts.

// baselineFlag makes the bench validate a file in this way, in a process of its own.
const baselineFlag = "baseline"

// baselineCost is what the baseline takes for a file.
type baselineCost struct {
	cpu time.Duration
	// rejected is the number of lines that it rejects.
	rejected int
}

// baselineLine is kept of every line, because a duplicate of it may follow. If the line is rejected it is a line of the
// report.
type baselineLine struct {
	Number                int    `json:"line"`
	RequestUUID           string `json:"request_uuid,omitempty"`
	TransactionExternalID string `json:"transaction_external_id,omitempty"`
	ModificationID        string `json:"modification_external_id,omitempty"`
	Code                  string `json:"code"`
}

// measureBaseline measures the baseline as measureWhole does 'sluice validate'.
func measureBaseline(file string) (baselineCost, error) {
	var c baselineCost
	for range 2 {
		cmd := exec.Command(os.Args[0], "-"+baselineFlag, file)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return c, fmt.Errorf("%w: %s", err, out)
		}
		if _, err := fmt.Sscan(string(out), &c.rejected); err != nil {
			return c, err
		}
		c.cpu = leastNonzero(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return c, nil
}

// validateByBaseline validates a file and prints how many lines it rejects.
func validateByBaseline(w io.Writer, path string) error {
	statuses, err := readBaselineEntities(path + ".entities")
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var lines []baselineLine
	uses := make(map[string]int) // of each modification ID
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	for number := 1; in.Scan(); number++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		line := newBaselineLine(in.Bytes(), statuses)
		line.Number = number
		if line.ModificationID != "" {
			uses[line.ModificationID]++
		}
		lines = append(lines, line)
	}
	if err := in.Err(); err != nil {
		return err
	}
	rejected, err := writeBaselineReport(path+".baseline", lines, uses)
	fmt.Fprintln(w, rejected)
	return err
}

func readBaselineEntities(path string) (map[string]entity.LifecycleStatus, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	statuses := make(map[string]entity.LifecycleStatus)
	for in := json.NewDecoder(bufio.NewReader(file)); ; {
		var e struct {
			ID              string                 `json:"id"`
			LifecycleStatus entity.LifecycleStatus `json:"lifecycleStatus"`
		}
		if err := in.Decode(&e); err == io.EOF {
			return statuses, nil
		} else if err != nil {
			return nil, err
		}
		statuses[e.ID] = e.LifecycleStatus
	}
}

// newBaselineLine checks everything of a line but whether it is a duplicate.
func newBaselineLine(text []byte, statuses map[string]entity.LifecycleStatus) (line baselineLine) {
	var r table.Record
	switch err := json.Unmarshal(text, &r); {
	case err != nil:
		line.Code = "json_invalid"
	case !r.Valid():
		line.Code = "invalid"
	}
	line.RequestUUID, line.TransactionExternalID = stringOrEmpty(r.RequestUUID), stringOrEmpty(r.TransactionExternalID)
	if r.Modification != nil {
		line.ModificationID = stringOrEmpty(r.Modification.ExternalID)
	}
	for _, e := range []*table.Entity{r.Sender, r.Receiver, r.SendingPartner, r.ReceivingPartner} {
		if line.Code != "" || e == nil || e.ByExternalID == nil {
			continue
		}
		if status, found := statuses[*e.ByExternalID]; !found {
			line.Code = "entity_not_found"
		} else if !status.IsOnboarded() {
			line.Code = "entity_not_onboarded"
		}
	}
	return line
}

func stringOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// writeBaselineReport writes the rejected lines; those that share their modification ID are rejected too.
func writeBaselineReport(path string, lines []baselineLine, uses map[string]int) (rejected int, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	report := json.NewEncoder(out)
	for i := range lines {
		if lines[i].Code == "" && uses[lines[i].ModificationID] > 1 {
			lines[i].Code = "duplicate_modification_id"
		}
		if lines[i].Code == "" {
			continue
		}
		rejected++
		if err := report.Encode(&lines[i]); err != nil {
			return 0, err
		}
	}
	return rejected, out.Flush()
}
