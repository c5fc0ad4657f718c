package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/uuid"

	"sluice/shared/access/audit"
)

// actRecorder writes the records of one admin act to the log group of the functions, from where they reach the audit
// trail as those of requests do.
type actRecorder struct {
	logs *cloudwatchlogs.Client
	// caller names who runs the command.
	caller func(ctx context.Context) string
	// group is the log group of the functions; stream is that of this act, "" until it is created.
	group, stream string
	// requestID is that of the records of this act.
	requestID string
}

func newActRecorder(cfg aws.Config, prefix string, isLocal bool) *actRecorder {
	r := &actRecorder{logs: cloudwatchlogs.NewFromConfig(cfg), group: "/sluice/" + prefix + "/functions"}
	r.caller = func(ctx context.Context) string {
		if isLocal {
			return "operator (" + systemUser() + ")"
		}
		return awsCaller(ctx, cfg)
	}
	return r
}

// awsCaller returns the ARN of the AWS identity that signs requests or, where STS does not tell, the system's user.
func awsCaller(ctx context.Context, cfg aws.Config) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 1 }).
		GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil || aws.ToString(out.Arn) == "" {
		return systemUser()
	}
	return *out.Arn
}

// systemUser returns the user of the operating system who runs the command.
func systemUser() string {
	u, err := user.Current()
	if err != nil {
		return "unknown user"
	}
	return "system user " + u.Username
}

// errNotRecorded means that an act was done, and that there is no record of its end.
var errNotRecorded = errors.New("the command ended, but its outcome could not be recorded")

// run runs an act between two records. It does not begin an act whose record cannot be written. The error
// is errNotRecorded if the record of its end cannot; the result counts then.
func (r *actRecorder) run(ctx context.Context, record audit.Record, act func() (any, error)) (any, error) {
	r.requestID = uuid.NewString()
	record.Kind, record.RequestID, record.Caller = "audit", r.requestID, audit.Printable(r.caller(ctx))
	record.Source, _ = os.Hostname()
	record.Outcome = audit.Started
	if err := r.write(ctx, record); err != nil {
		return nil, fmt.Errorf("nothing was done, because it cannot be recorded: %w", err)
	}
	begin := time.Now()
	result, err := act()
	record.Outcome, record.Milliseconds = audit.OK, time.Since(begin).Milliseconds()
	if err != nil {
		record.Outcome, result = audit.Failed, nil
	} else {
		record.Objects = withObjectsOf(record.Objects, result)
	}
	if e := r.write(context.WithoutCancel(ctx), record); e != nil {
		return result, errors.Join(err, fmt.Errorf("%w: %q: %w", errNotRecorded, record.Outcome, e))
	}
	return result, err
}

// write appends a record to the stream of the act.
func (r *actRecorder) write(ctx context.Context, record audit.Record) error {
	if r.stream == "" {
		stream := "admin/" + time.Now().UTC().Format("2006/01/02/") + record.RequestID
		_, err := r.logs.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{
			LogGroupName: &r.group, LogStreamName: &stream,
		})
		// The name is new: a stream that exists was created by an attempt whose answer was lost.
		if exists := (*types.ResourceAlreadyExistsException)(nil); err != nil && !errors.As(err, &exists) {
			return err
		}
		r.stream = stream
	}
	record.Time = time.Now().UTC()
	return putEvents(ctx, r, record.Time, record)
}

// writtenTogether is how many records one call writes: fewer than the 10,000 events and 1 MB that it may have.
const writtenTogether = 1000

// writeTransitions appends what the act has changed, with the ID of the act's records, which name its caller.
func (r *actRecorder) writeTransitions(ctx context.Context, transitions []audit.Transition) error {
	now := time.Now().UTC()
	for part := range slices.Chunk(transitions, writtenTogether) {
		for i := range part {
			part[i].Kind, part[i].Time, part[i].RequestID = "transition", now, r.requestID
		}
		if err := putEvents(ctx, r, now, part...); err != nil {
			return fmt.Errorf("what was changed could not be recorded: %w", err)
		}
	}
	return nil
}

// putEvents appends records of the same time to the stream of the act.
func putEvents[T any](ctx context.Context, r *actRecorder, at time.Time, records ...T) error {
	events := make([]types.InputLogEvent, len(records))
	for i, record := range records {
		text, err := json.Marshal(record)
		if err != nil {
			return err
		}
		events[i] = types.InputLogEvent{Message: aws.String(string(text)), Timestamp: aws.Int64(at.UnixMilli())}
	}
	out, err := r.logs.PutLogEvents(ctx, &cloudwatchlogs.PutLogEventsInput{
		LogGroupName: &r.group, LogStreamName: &r.stream, LogEvents: events,
	})
	if err == nil && out.RejectedLogEventsInfo != nil {
		err = fmt.Errorf("the log group %s rejected the record: check the clock of this machine", r.group)
	}
	return err
}

// recordedMembers are the members of a command's result that its record names.
var recordedMembers = []string{"tenant_id", "client_id", "batch_enabled", "disabled", "permissions", "access_layers",
	"kid", "imported", "listed", "list", "outcome"}

// withObjectsOf adds what a command's result names: tenants, clients, rights, keys, and how many entities.
func withObjectsOf(objects map[string]string, result any) map[string]string {
	if objects == nil {
		objects = map[string]string{}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return objects
	}
	if keys, ok := result.(rotatedKeys); ok {
		objects["kid"] = keys[len(keys)-1].KeyID
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return objects // a list
	}
	for _, name := range recordedMembers {
		if value, ok := members[name]; ok {
			objects[name] = audit.Printable(strings.Trim(string(value), `"`))
		}
	}
	return objects
}
