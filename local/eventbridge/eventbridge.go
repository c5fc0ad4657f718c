// Package eventbridge provides the default event bus of EventBridge. It passes events to the functions of the rules
// whose patterns they match, runs the rules that have a schedule, and serves PutEvents.
package eventbridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"sluice/local/template"
)

// Config describes a Bus.
type Config struct {
	Rules   []template.Rule
	Region  string
	Account string
	// Invoke invokes a function, named by its logical ID, asynchronously on behalf of a rule.
	Invoke func(rule template.Rule, function string, event []byte) error
	// NewID returns a UUID, used as the ID of an event.
	NewID func() string
	// Log receives each event that is put on the bus by PutEvents, as a line of JSON; nil for none.
	Log io.Writer
}

// Bus is a running event bus. It is safe for concurrent use.
type Bus struct {
	Config
	cancel context.CancelFunc
	ended  sync.WaitGroup
	// mu keeps lines of the log apart.
	mu sync.Mutex
}

// New starts the schedules, which run until Close.
func New(ctx context.Context, c Config) *Bus {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &Bus{Config: c, cancel: cancel}
	for _, r := range c.Rules {
		if r.Every > 0 {
			b.ended.Go(func() { b.runSchedule(ctx, r) })
		}
	}
	return b
}

// Close stops the schedules and waits for the events being sent.
func (b *Bus) Close() {
	b.cancel()
	b.ended.Wait()
}

// Publish passes an event, as JSON, to the functions of every rule whose pattern it matches. It tries all of them and
// returns their errors joined.
func (b *Bus) Publish(event []byte) error {
	var decoded map[string]any
	if err := json.Unmarshal(event, &decoded); err != nil {
		return err
	}
	var errs []error
	for _, r := range b.Rules {
		if r.Matches(decoded) {
			errs = append(errs, b.invokeAll(r, event))
		}
	}
	return errors.Join(errs...)
}

// invokeAll passes an event to all functions of a rule.
func (b *Bus) invokeAll(r template.Rule, event []byte) error {
	var errs []error
	for _, f := range r.Functions {
		errs = append(errs, b.Invoke(r, f, event))
	}
	return errors.Join(errs...)
}

// runSchedule sends the events of a rule with a schedule until the context ends.
func (b *Bus) runSchedule(ctx context.Context, r template.Rule) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case at := <-tick.C:
			_ = b.invokeAll(r, b.scheduledEvent(r, at)) // an error does not end the schedule
		case <-ctx.Done():
			return
		}
	}
}

// scheduledEvent returns the event that a schedule sends.
func (b *Bus) scheduledEvent(r template.Rule, at time.Time) []byte {
	text, _ := json.Marshal(map[string]any{
		"version": "0", "id": b.NewID(), "detail-type": "Scheduled Event", "source": "aws.events", "account": b.Account,
		"region": b.Region,
		"time":   at.UTC().Format(time.RFC3339),
		"resources": []string{
			"arn:" + template.Partition + ":events:" + b.Region + ":" + b.Account + ":rule/" + r.Name,
		},
		"detail": map[string]any{},
	})
	return text
}

// TargetPrefix begins the header X-Amz-Target of requests to EventBridge.
const TargetPrefix = "AWSEvents."

// DefaultBus is the name of the only event bus.
const DefaultBus = "default"

const (
	// maxEntries and maxRequest are the greatest number of entries in a request and their greatest size in bytes.
	maxEntries = 10
	maxRequest = 1 << 20
)

// entry is an event in a request of PutEvents.
type entry struct {
	// Time is in seconds since 1970.
	Time         *float64
	Source       string
	DetailType   string
	Detail       string
	Resources    []string
	EventBusName string
}

// result is the answer about one entry.
type result struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

// ServeHTTP serves PutEvents.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") != TargetPrefix+"PutEvents" {
		refuse(w, "UnknownOperationException", "The local cloud serves only PutEvents.")
		return
	}
	var in struct{ Entries []entry }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest+64<<10)).Decode(&in); err != nil {
		refuse(w, "SerializationException", "The request is not valid.")
		return
	}
	if len(in.Entries) < 1 || len(in.Entries) > maxEntries {
		refuse(w, "ValidationException", "1 to 10 entries are allowed.")
		return
	}
	for _, e := range in.Entries {
		if BusName(e.EventBusName) != DefaultBus {
			refuse(w, "ResourceNotFoundException", "Event bus "+e.EventBusName+" does not exist.")
			return
		}
	}
	var out struct {
		FailedEntryCount int
		Entries          []result
	}
	for _, e := range in.Entries {
		answer := b.put(e)
		if answer.ErrorCode != "" {
			out.FailedEntryCount++
		}
		out.Entries = append(out.Entries, answer)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(out)
}

// BusName returns the name of a bus that is given by its name or its ARN; "" means the default.
func BusName(nameOrARN string) string {
	if _, name, isARN := strings.Cut(nameOrARN, ":event-bus/"); isARN {
		return name
	}
	if nameOrARN == "" {
		return DefaultBus
	}
	return nameOrARN
}

// put accepts an entry: it writes the event to the log and publishes it.
func (b *Bus) put(e entry) result {
	switch {
	case e.Source == "" || e.DetailType == "" || e.Detail == "":
		return result{ErrorCode: "InvalidArgument", ErrorMessage: "Source, DetailType and Detail are required."}
	case strings.HasPrefix(e.Source, "aws."):
		return result{ErrorCode: "NotAuthorizedForSourceException", ErrorMessage: "Not authorized for the source."}
	}
	var detail map[string]any
	if json.Unmarshal([]byte(e.Detail), &detail) != nil || detail == nil {
		return result{ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed."}
	}
	id, at := b.NewID(), time.Now()
	if e.Time != nil {
		seconds, fraction := math.Modf(*e.Time)
		at = time.Unix(int64(seconds), int64(fraction*1e9))
	}
	if e.Resources == nil {
		e.Resources = []string{}
	}
	event, err := json.Marshal(map[string]any{
		"version": "0", "id": id, "detail-type": e.DetailType, "source": e.Source, "account": b.Account,
		"region": b.Region, "time": at.UTC().Format(time.RFC3339), "resources": e.Resources,
		"detail": json.RawMessage(e.Detail),
	})
	if err == nil {
		err = b.Publish(event)
	}
	if err != nil {
		return result{ErrorCode: "InternalFailure", ErrorMessage: err.Error()}
	}
	if b.Log != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, _ = b.Log.Write(append(event, '\n'))
	}
	return result{EventID: id}
}

// refuse sends an error about a whole request.
func refuse(w http.ResponseWriter, errorType, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": errorType, "message": message})
}
