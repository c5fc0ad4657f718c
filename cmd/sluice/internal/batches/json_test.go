package batches

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/kit/difftest"
)

// compact removes the white space between the tokens of JSON.
func compact(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	return out.String()
}

// With --json a command prints the reply and nothing else: no field is invented, dropped, reordered or rewritten, also
// of a batch that has no status or no results yet.
func TestJSONIsTheReplyAndNothingElse(t *testing.T) {
	const id = "01980000-0000-7000-8000-000000000001"
	for name, c := range map[string]struct {
		httpStatus int
		reply      string
		// codes are the exit codes of status and results.
		codes [2]int
	}{
		"nothing yet": {http.StatusAccepted, `{"message":"Batch not yet uploaded completely.","batch_id":"` + id + `"}`,
			[2]int{exitUnfinished3, exitUnfinished3}},
		"processed, in another order and with new fields": {http.StatusOK,
			`{"z":1.50,"status":"PROCESSED","valid":true,"message":"\u003cok\u003e é",` +
				`"counts":{"invalid":0,"total":1000}, "new":[null, {}]}`,
			[2]int{0, 0}},
		"failed": {http.StatusOK, `{"status":"ERROR","valid":null,"message":"damaged"}`, [2]int{1, 1}},
		"rejected": {http.StatusOK, `{"status":"VALIDATION_FAILED","valid":false,"message":"","errors_file_url":"x"}`,
			[2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				w.WriteHeader(c.httpStatus)
				_, _ = io.WriteString(w, c.reply)
				return true
			}
			for i, command := range []string{"status", "results"} {
				code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, command, id, "--json")
				difftest.Equal(t, fmt.Sprintf("%s --json", command), compact(t, c.reply), compact(t, stdout))
				difftest.Equal(t, command+": exit code and stderr", []any{c.codes[i], ""}, []any{code, stderr})
			}
		})
	}
}

const exitUnfinished3 = int(command.Unfinished)

// upload --json prints the last status as it came.
func TestUploadJSON(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	const reply = `{"status":"PROCESSED","batch_id":"b",` +
		`"counts":{"total":1,"accepted":1,"invalid":0,"ingested":1},"new":1.0}`
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.Contains(r.URL.Path, "/batch/status/"):
			_, _ = io.WriteString(w, reply)
		case strings.Contains(r.URL.Path, "/batch/validation-result/"):
			_, _ = io.WriteString(w, `{"valid":true}`)
		default:
			return false
		}
		return true
	}
	code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload",
		commandtest.WriteBatch(t), "--json")
	difftest.Equal(t, "exit code and stderr", []any{0, ""}, []any{code, stderr})
	difftest.Equal(t, "output", reply, compact(t, stdout))
}
