package console

import (
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"sluice/internal/figures"
	"sluice/shared/ingest/batch"
)

// Metrics says where the metrics of a local cloud are.
type Metrics struct {
	// Data is the data folder of the local cloud.
	Data string
	// Prefix begins the names of its functions.
	Prefix string
}

// metricsReader reads the log of a local cloud. It keeps the totals of the whole log; filtered queries are recomputed,
// one request at a time.
type metricsReader struct {
	config Metrics

	mu sync.Mutex
	// log is the whole log; nil until it is asked for.
	log *figures.Log
}

// maxSince is the longest time that a request can ask for.
const maxSince = 365 * 24 * time.Hour

// read returns the figures of all that was logged since a time, zero for all, of a batch, "" for all.
func (m *metricsReader) read(now, since time.Time, batchID string) (figures.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := figures.Options{Since: since, Batch: batchID, Prefix: m.config.Prefix}
	if !since.IsZero() || batchID != "" {
		log, err := figures.OpenLog(m.config.Data, o)
		if err != nil {
			return figures.Snapshot{}, err
		}
		defer log.Close()
		return log.Snapshot(now)
	}
	if m.log == nil {
		log, err := figures.OpenLog(m.config.Data, o)
		if err != nil {
			return figures.Snapshot{}, err
		}
		m.log = log
	}
	return m.log.Snapshot(now)
}

// close closes the log.
func (m *metricsReader) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		return nil
	}
	err := m.log.Close()
	m.log = nil
	return err
}

// getMetrics answers with what 'sluice metrics' shows, with ?since=DURATION and ?batch=ID of a part.
func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) {
	now, since, batchID := time.Now(), time.Time{}, r.URL.Query().Get("batch")
	if text := r.URL.Query().Get("since"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 || d > maxSince {
			writeProblem(w, problem{Status: http.StatusBadRequest, Detail: "since is a duration such as 10m."})
			return
		}
		since = now.Add(-d)
	}
	if batchID != "" {
		id, err := batch.ParseID(batchID)
		if err != nil {
			writeProblem(w, problem{Status: http.StatusBadRequest, Detail: "batch is the ID of a batch."})
			return
		}
		batchID = string(id)
	}
	snapshot, err := s.metrics.read(now, since, batchID)
	if err != nil {
		detail := "Its log cannot be read."
		if errors.Is(err, fs.ErrNotExist) {
			detail = "No local cloud has logged anything."
		}
		writeProblem(w, problem{Status: http.StatusNotFound, Title: "There are no metrics", Detail: detail})
		return
	}
	writeJSON(w, http.StatusOK, snapshot)
}

// refuseMetrics answers where there is no local cloud.
func refuseMetrics(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem{Status: http.StatusNotFound, Title: "There are no metrics",
		Detail: "They are those of a local cloud on this machine; on AWS, CloudWatch has them."})
}
