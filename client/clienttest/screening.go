package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

const (
	// List is the only watchlist of the server.
	List = "un"
	// Wanted is the only name on it.
	Wanted = "Ivan Testov"
)

// refuseScreening answers a request that names a list which the server does not have.
func (s *Server) refuseScreening(w http.ResponseWriter, in *client.Screening) bool {
	if in == nil || !slices.ContainsFunc(in.Lists, func(name string) bool { return name != List }) {
		return false
	}
	replyInvalid(w, client.Detail{Loc: []any{"body", "screen_unknown", "lists"}, Type: "unknown_list",
		Msg: fmt.Sprintf("There is no list %q.", in.Lists[len(in.Lists)-1])})
	return true
}

// screen returns the number of distinct names of receivers in the file, and the alerts.
func (b *batch) screen() (names int64, alerts []client.Alert) {
	seen := map[string]bool{}
	number := int64(0)
	for line := range bytes.Lines(b.content) {
		number++
		var decoded struct {
			Receiver struct {
				Unknown struct {
					FullName string `json:"full_name"`
				} `json:"unknown"`
			} `json:"receiver"`
		}
		_ = json.Unmarshal(line, &decoded)
		name := decoded.Receiver.Unknown.FullName
		if name != "" && !seen[name] {
			seen[name] = true
			names++
		}
		if name == Wanted {
			alerts = append(alerts, client.Alert{Line: number, Role: "receiver", FullName: name, List: List,
				EntryID: "1", EntryName: Wanted, Score: 100, Explanation: "the names are equal"})
		}
	}
	return names, alerts
}

func (s *Server) readScreening(w http.ResponseWriter, r *http.Request) {
	b := s.findBatch(w, r)
	if b == nil {
		return
	}
	if b.Screening == nil {
		replyMessage(w, http.StatusNotFound, "The names of this batch are not screened.")
		return
	}
	result := wire.ScreeningResult{Lists: []client.ScreenedList{{List: List, Version: "1"}}}
	switch {
	case b.status == "" || b.status == client.StatusValidationStarted:
		result.Message = "Batch not yet validated."
		reply(w, http.StatusAccepted, result)
		return
	case b.status == client.StatusError:
		result.Message = b.errorMessage
	default:
		names, alerts := b.screen()
		hits, complete := int64(len(alerts)), true
		result.Message, result.NamesScreened, result.Hits = "Batch screened without hits.", &names, &hits
		if hits > 0 {
			result.Message, result.AlertsComplete = "Batch screened with hits.", &complete
			result.AlertsFileURL = s.URL + "/storage/alerts/" + r.PathValue("id") + "?" + b.signature
			result.AlertsFileURLExpiresAt = time.Now().Add(urlLifetime).UTC()
		}
	}
	reply(w, http.StatusOK, result)
}

func (s *Server) readAlerts(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches[r.PathValue("id")]
	if b == nil || r.URL.RawQuery != b.signature || r.Header.Get("Authorization") != "" {
		replyStorageError(w, http.StatusForbidden, "AccessDenied", "Access Denied")
		return
	}
	_, alerts := b.screen()
	for _, a := range alerts {
		_ = json.NewEncoder(w).Encode(a)
	}
}
