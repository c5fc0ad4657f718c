// Package guardduty stands in for GuardDuty Malware Protection for S3. It scans new objects with the product's built-in
// check and publishes the results as the events that GuardDuty sends.
package guardduty

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/local/template"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/malware"
)

// Object identifies one state of an object.
type Object struct{ ETag, Version string }

// Config describes a Service.
type Config struct {
	// Plans name the buckets and prefixes that are scanned.
	Plans   []template.Plan
	Region  string
	Account string
	// Open opens an object for reading and returns which state of it was opened.
	Open func(ctx context.Context, bucket, key string) (io.ReadCloser, Object, error)
	// Publish sends an event to the event bus.
	Publish func(event []byte) error
	// NewID returns a UUID, used as the ID of an event.
	NewID func() string
	Now   func() time.Time
}

// Service scans objects in the background. Scans that have not been completed by Close are lost; the product's sweep
// requests them again.
type Service struct {
	Config
	jobs    chan job
	closed  <-chan struct{}
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu sync.Mutex
	// scriptedScans counts the scans of files that script their results.
	scriptedScans map[job]int
}

// job is a request for one scan.
type job struct{ plan, bucket, key string }

// parallelScans is the number of objects that are scanned at a time.
const parallelScans = 8

// maxWaiting is the number of requested scans that wait for a worker. A further request waits for a place.
const maxWaiting = 1024

// New starts the service, which runs until Close.
func New(ctx context.Context, c Config) *Service {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Service{
		Config: c, jobs: make(chan job, maxWaiting), closed: ctx.Done(), cancel: cancel, scriptedScans: map[job]int{},
	}
	for range parallelScans {
		s.workers.Go(func() {
			for {
				select {
				case j := <-s.jobs:
					s.process(ctx, j)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return s
}

// Close interrupts all scans and waits for them to end.
func (s *Service) Close() {
	s.cancel()
	s.workers.Wait()
}

// ScanCreated requests a scan of a new object if a plan covers it.
func (s *Service) ScanCreated(bucket, key string) {
	for _, p := range s.Plans {
		covers := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
		if p.Bucket == bucket && (len(p.Prefixes) == 0 || slices.ContainsFunc(p.Prefixes, covers)) {
			s.request(job{p.ID, bucket, key})
		}
	}
}

// request hands a job to the workers. After Close it has no effect.
func (s *Service) request(j job) {
	select {
	case s.jobs <- j:
	case <-s.closed:
	}
}

// Path is the path of SendObjectMalwareScan, the only operation that is served.
const Path = "/object-malware-scan/send"

// ServeHTTP serves SendObjectMalwareScan: it requests a scan of one object in a protected bucket. The prefixes of the
// plan do not apply.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Object struct {
			Bucket string `json:"bucket"`
			Key    string `json:"key"`
		} `json:"s3Object"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&in)
	i := slices.IndexFunc(s.Plans, func(p template.Plan) bool { return p.Bucket == in.Object.Bucket })
	w.Header().Set("Content-Type", "application/json")
	if err != nil || i < 0 || in.Object.Key == "" {
		w.Header().Set("X-Amzn-ErrorType", "BadRequestException")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"__type":"BadRequestException","message":"The request does not name an object of a protected bucket."}`)
		return
	}
	s.request(job{s.Plans[i].ID, in.Object.Bucket, in.Object.Key})
	_, _ = io.WriteString(w, "{}")
}

// process runs a scan and publishes its result.
func (s *Service) process(ctx context.Context, j job) {
	result, err := s.scan(ctx, j)
	if err != nil || ctx.Err() != nil {
		return // the object is gone or may not be read: GuardDuty sends no result either
	}
	if text, err := json.Marshal(result); err == nil {
		_ = s.Publish(text) // fails only while the local cloud is being stopped
	}
}

// scan scans an object and returns the event with the result.
func (s *Service) scan(ctx context.Context, j job) (intake.ScanEvent, error) {
	body, object, err := s.Open(ctx, j.bucket, j.key)
	if err != nil {
		return intake.ScanEvent{}, err
	}
	defer body.Close()
	e := intake.ScanEvent{EventEnvelope: intake.EventEnvelope{
		Version: "0", ID: s.NewID(), DetailType: intake.ScanEventType, Source: "aws.guardduty", Account: s.Account,
		Region: s.Region, Time: s.Now().UTC().Truncate(time.Second),
		Resources: []string{"arn:aws:guardduty:" + s.Region + ":" + s.Account + ":malware-protection-plan/" + j.plan},
	}}
	d := &e.Detail
	d.SchemaVersion, d.ResourceType = "1.0", "S3_OBJECT"
	d.Object.Bucket, d.Object.Key, d.Object.ETag = j.bucket, j.key, strings.Trim(object.ETag, `"`)
	if object.Version != "" {
		d.Object.Version = &object.Version
	}
	content := bufio.NewReader(body)
	waitAsScripted(ctx, content)
	if result := s.scriptedResult(j, content); result != "" {
		d.ScanStatus, d.Result.Status = statusOf[result], result
		return e, nil
	}
	if isPasswordProtected(content) {
		d.ScanStatus, d.Result.Status, d.Result.Reasons = "SKIPPED", intake.Unsupported, []string{"PASSWORD_PROTECTED"}
		return e, nil
	}
	threat, err := malware.Builtin{}.Scan(ctx, content)
	switch {
	case err != nil:
		d.ScanStatus, d.Result.Status = "FAILED", intake.ScanFailed
	case threat.Kind == malware.Clean:
		d.ScanStatus, d.Result.Status = "COMPLETED", intake.NoThreatsFound
	default:
		d.ScanStatus, d.Result.Status = "COMPLETED", intake.ThreatsFound
		d.Result.Threats = []intake.Threat{{Name: threat.Name}}
	}
	return e, nil
}

// statusOf holds the scan status that accompanies each result.
var statusOf = map[intake.ScanResult]string{
	intake.NoThreatsFound: "COMPLETED", intake.ThreatsFound: "COMPLETED", intake.Unsupported: "SKIPPED",
	intake.AccessDenied: "SKIPPED", intake.ScanFailed: "FAILED",
}

// scriptPrefix begins the first line of a file that scripts the results of its scans, in order, so that every result
// can be tried.
const scriptPrefix = "# scan results: "

// scriptedResult returns the next result in the first line of such a file, and "" after the last one and for any other
// file.
func (s *Service) scriptedResult(j job, r *bufio.Reader) intake.ScanResult {
	head, _ := r.Peek(256) // an error only means that the file is shorter
	line, _, _ := strings.Cut(string(head), "\n")
	words, ok := strings.CutPrefix(line, scriptPrefix)
	if !ok {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	results, n := strings.Fields(words), s.scriptedScans[j]
	s.scriptedScans[j]++
	if n >= len(results) || statusOf[intake.ScanResult(results[n])] == "" {
		return ""
	}
	return intake.ScanResult(results[n])
}

// delayPrefix begins the first line of a file whose scan takes as long as the line says, such as 150ms.
const delayPrefix = "# scan takes "

// waitAsScripted waits as long as the first line of such a file says, and not at all for any other file.
func waitAsScripted(ctx context.Context, r *bufio.Reader) {
	head, _ := r.Peek(64) // an error only means that the file is shorter
	line, _, _ := strings.Cut(string(head), "\n")
	text, ok := strings.CutPrefix(line, delayPrefix)
	delay, err := time.ParseDuration(text)
	if !ok || err != nil {
		return
	}
	timer := time.NewTimer(min(delay, time.Minute))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// isPasswordProtected reports whether a file is a zip archive whose first entry is encrypted, which GuardDuty cannot
// scan.
func isPasswordProtected(r *bufio.Reader) bool {
	head, err := r.Peek(8)
	return err == nil && string(head[:4]) == "PK\x03\x04" && head[6]&1 == 1
}
