// Package guardduty stands in for GuardDuty's Malware Protection for S3: it scans new objects by the product's built-in check and
// tells the results by the events that GuardDuty sends.
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
	"sluice/shared/intake"
	"sluice/shared/malware"
	"sluice/shared/upload"
)

// Object is which one an object is.
type Object struct{ ETag, Version string }

// Config is what a Service needs.
type Config struct {
	Plans   []template.Plan
	Region  string
	Account string
	// Open reads an object and says which one it is.
	Open    func(ctx context.Context, bucket, key string) (io.ReadCloser, Object, error)
	Publish func(event []byte) error // to the event bus
	NewID   func() string
	Now     func() time.Time
}

// Service scans in the background. What is not scanned when it ends is forgotten; the product's sweep finds that out.
type Service struct {
	Config
	jobs   chan job
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	scans map[job]int // of files with a script
}

type job struct{ plan, bucket, key string }

const workers = 2

// New starts the service. It ends with Close.
func New(ctx context.Context, c Config) *Service {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Service{Config: c, jobs: make(chan job, 1024), cancel: cancel, scans: map[job]int{}}
	for range workers {
		s.ended.Add(1)
		go func() {
			defer s.ended.Done()
			for {
				select {
				case j := <-s.jobs:
					s.work(ctx, j)
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return s
}

// Close stops all scans.
func (s *Service) Close() {
	s.cancel()
	s.ended.Wait()
}

// Created takes a new object that a plan covers.
func (s *Service) Created(bucket, key string) {
	for _, p := range s.Plans {
		covers := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
		if p.Bucket == bucket && (len(p.Prefixes) == 0 || slices.ContainsFunc(p.Prefixes, covers)) {
			s.jobs <- job{p.ID, bucket, key}
		}
	}
}

// Path is that of the one request that there is: SendObjectMalwareScan.
const Path = "/object-malware-scan/send"

// ServeHTTP takes the request for a scan of one object in a protected bucket, whatever the prefixes of its plan.
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
		_, _ = io.WriteString(w, `{"__type":"BadRequestException","message":"The request names no object of a protected bucket."}`)
		return
	}
	s.jobs <- job{s.Plans[i].ID, in.Object.Bucket, in.Object.Key}
	_, _ = io.WriteString(w, "{}")
}

func (s *Service) work(ctx context.Context, j job) {
	result, err := s.scan(ctx, j)
	if err != nil || ctx.Err() != nil {
		return // it is gone or refused: nobody waits for a result
	}
	if text, err := json.Marshal(result); err == nil {
		_ = s.Publish(text) // a bus that is closing takes no more
	}
}

// scan is one scan and the event that tells of it.
func (s *Service) scan(ctx context.Context, j job) (intake.ScanResult, error) {
	body, object, err := s.Open(ctx, j.bucket, j.key)
	if err != nil {
		return intake.ScanResult{}, err
	}
	defer body.Close()
	e := intake.ScanResult{
		Version: "0", ID: s.NewID(), DetailType: intake.ScanResultType, Source: "aws.guardduty", Account: s.Account, Region: s.Region,
		Time:      s.Now().UTC().Truncate(time.Second),
		Resources: []string{"arn:aws:guardduty:" + s.Region + ":" + s.Account + ":malware-protection-plan/" + j.plan},
	}
	d := &e.Detail
	d.SchemaVersion, d.ResourceType = "1.0", "S3_OBJECT"
	d.Object.Bucket, d.Object.Key, d.Object.ETag = j.bucket, j.key, strings.Trim(object.ETag, `"`)
	if object.Version != "" {
		d.Object.Version = &object.Version
	}
	content := bufio.NewReader(body)
	if result := s.scripted(j, content); result != "" {
		d.ScanStatus, d.Result.Status = statusOf[result], result
		return e, nil
	}
	if locked(content) {
		d.ScanStatus, d.Result.Status, d.Result.Reasons = "SKIPPED", upload.Unsupported, []string{"PASSWORD_PROTECTED"}
		return e, nil
	}
	threat, err := malware.Builtin{}.Scan(ctx, content)
	switch {
	case err != nil:
		d.ScanStatus, d.Result.Status = "FAILED", upload.Failed
	case threat.Kind == malware.Clean:
		d.ScanStatus, d.Result.Status = "COMPLETED", upload.Clean
	default:
		d.ScanStatus, d.Result.Status = "COMPLETED", upload.Threats
		d.Result.Threats = []intake.Threat{{Name: threat.Name}}
	}
	return e, nil
}

var statusOf = map[upload.Result]string{
	upload.Clean: "COMPLETED", upload.Threats: "COMPLETED", upload.Unsupported: "SKIPPED", upload.Denied: "SKIPPED", upload.Failed: "FAILED",
}

// script begins a file that says itself what its scans come to, one after the other, so that each result can be tried out.
const script = "# scan results: "

// scripted returns the result that is next in such a file's first line; "" for other files, and behind the last.
func (s *Service) scripted(j job, r *bufio.Reader) upload.Result {
	head, _ := r.Peek(256) // a shorter file is no error
	line, _, _ := strings.Cut(string(head), "\n")
	words, ok := strings.CutPrefix(line, script)
	if !ok {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	results, n := strings.Fields(words), s.scans[j]
	s.scans[j]++
	if n >= len(results) || statusOf[upload.Result(results[n])] == "" {
		return ""
	}
	return upload.Result(results[n])
}

// locked reports whether a file is a zip archive whose first entry is encrypted: GuardDuty cannot look into it.
func locked(r *bufio.Reader) bool {
	head, err := r.Peek(8)
	return err == nil && string(head[:4]) == "PK\x03\x04" && head[6]&1 == 1
}
