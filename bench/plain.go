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

	onboarding "sluice/shared/entity"
)

// The yardstick for the whole of `sluice validate` does with the standard library what a program without a scanner
// would: it too reads the file, knows the entities, finds duplicates over the whole file and writes a report. It says
// one thing of a rejected line where ours says all, and not where; and it takes what the reference takes.
const plainFlag = "plain"

// plainLine is what is kept of each line, as a duplicate of it may follow, and is then a line of the report.
type plainLine struct {
	Number                int    `json:"line"`
	RequestUUID           string `json:"request_uuid,omitempty"`
	TransactionExternalID string `json:"transaction_external_id,omitempty"`
	ModificationID        string `json:"modification_external_id,omitempty"`
	Code                  string `json:"code"`
}

// measurePlain is like what measureWhole does with our program, in a process of its own too. It returns how many lines
// were rejected.
func measurePlain(file string) (cpu time.Duration, rejected int, err error) {
	for range 2 {
		cmd := exec.Command(os.Args[0], "-"+plainFlag, file)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return 0, 0, fmt.Errorf("%w: %s", err, out)
		}
		if _, err := fmt.Sscan(string(out), &rejected); err != nil {
			return 0, 0, err
		}
		cpu = least(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return cpu, rejected, nil
}

// plain judges a file and prints how many lines it rejects.
func plain(w io.Writer, path string) error {
	states, err := plainEntities(path + ".entities")
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var lines []plainLine
	times := make(map[string]int) // of each modification ID
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	for number := 1; in.Scan(); number++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		line := plainJudge(in.Bytes(), states)
		line.Number = number
		if line.ModificationID != "" {
			times[line.ModificationID]++
		}
		lines = append(lines, line)
	}
	if err := in.Err(); err != nil {
		return err
	}
	rejected, err := plainReport(path+".plain", lines, times)
	fmt.Fprintln(w, rejected)
	return err
}

func plainEntities(path string) (map[string]onboarding.LifecycleStatus, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	states := make(map[string]onboarding.LifecycleStatus)
	for in := json.NewDecoder(bufio.NewReader(file)); ; {
		var e onboarding.StatusEntry
		if err := in.Decode(&e); err == io.EOF {
			return states, nil
		} else if err != nil {
			return nil, err
		}
		states[e.ID] = e.LifecycleStatus
	}
}

// plainJudge says everything of a line but whether it is a duplicate.
func plainJudge(text []byte, states map[string]onboarding.LifecycleStatus) (line plainLine) {
	var r record
	switch err := json.Unmarshal(text, &r); {
	case err != nil:
		line.Code = "json_invalid"
	case !r.valid():
		line.Code = "invalid"
	}
	line.RequestUUID, line.TransactionExternalID = textOf(r.RequestUUID), textOf(r.TransactionExternalID)
	if r.Modification != nil {
		line.ModificationID = textOf(r.Modification.ExternalID)
	}
	for _, e := range []*entity{r.Sender, r.Receiver, r.SendingPartner, r.ReceivingPartner} {
		if line.Code != "" || e == nil || e.ByExternalID == nil {
			continue
		}
		if state, found := states[*e.ByExternalID]; !found {
			line.Code = "entity_not_found"
		} else if !state.IsOnboarded() {
			line.Code = "entity_not_onboarded"
		}
	}
	return line
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// plainReport writes the rejected lines, those with an ID that another line has too among them.
func plainReport(path string, lines []plainLine, times map[string]int) (rejected int, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	report := json.NewEncoder(out)
	for i := range lines {
		if lines[i].Code == "" && times[lines[i].ModificationID] > 1 {
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
