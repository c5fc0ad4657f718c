package execution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/kit/deadline"
	"sluice/shared/screening"
)

// Notice is the input of an execution that sends resolutions of matches to the adapter of their provider, and
// of its only state.
type Notice struct {
	Tenant     string          `json:"tenant"`
	BatchID    string          `json:"batch_id"`
	ProviderID string          `json:"provider"`
	Matches    []ResolvedMatch `json:"matches"`
	// At is when the resolutions were about to be stored.
	At time.Time `json:"at"`
}

// ResolvedMatch is a match and the version that it has with its resolution.
type ResolvedMatch struct {
	EntityID string `json:"entity"`
	MatchID  string `json:"match"`
	Version  int64  `json:"version"`
}

// Notifier starts executions of the state machine of resolutions (statemachine/resolution.asl.json).
type Notifier struct {
	client *sfn.Client
	arn    string
	now    func() time.Time
}

// NewNotifier returns a notifier for the state machine with the given ARN.
func NewNotifier(client *sfn.Client, arn string, now func() time.Time) *Notifier {
	return &Notifier{client, arn, now}
}

// Start sees to it that the adapters of foreign providers learn of resolutions that the caller is about to store: it
// has requestTime to do so. If they are never stored, nothing is sent. Repeating it is success. A caller that failed to
// store them calls it again before the next attempt: the notice of the first attempt may have given up by then.
func (n *Notifier) Start(ctx context.Context, b screening.Batch, resolved []screening.Match) error {
	for _, notice := range Notices(b, resolved, n.now().UTC()) {
		input, err := json.Marshal(notice)
		if err != nil {
			return err
		}
		_, err = n.client.StartExecution(ctx, &sfn.StartExecutionInput{
			StateMachineArn: &n.arn, Name: aws.String(notice.name()), Input: aws.String(string(input)),
		})
		var exists *types.ExecutionAlreadyExists
		if err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("start the notice of resolutions in screening batch %s: %w", b.ID, err)
		}
	}
	return nil
}

// Notices returns what to tell the adapters of foreign providers about matches of a batch that were resolved: one
// notice for each provider, in the order of their IDs.
func Notices(b screening.Batch, resolved []screening.Match, at time.Time) []Notice {
	byProvider := map[string]*Notice{}
	for _, m := range resolved {
		i := slices.IndexFunc(b.Providers, func(p screening.ProviderRun) bool { return p.AnswerID == m.AnswerID })
		if i < 0 || b.Providers[i].ID == screening.BuiltIn {
			continue
		}
		id := b.Providers[i].ID
		if byProvider[id] == nil {
			byProvider[id] = &Notice{Tenant: b.Tenant, BatchID: b.ID, ProviderID: id, At: at}
		}
		byProvider[id].Matches = append(byProvider[id].Matches, ResolvedMatch{m.EntityID, m.ID, m.Version})
	}
	var notices []Notice
	for _, n := range byProvider {
		notices = append(notices, *n)
	}
	slices.SortFunc(notices, func(x, y Notice) int { return strings.Compare(x.ProviderID, y.ProviderID) })
	return notices
}

// name returns the name of the execution: the ID of the batch, and what tells the notice from others of the batch.
// Notices of the same resolutions within requestTime have one name, because the execution of the first waits for what
// is stored for any of them. A later one has another: that execution may have ended without finding anything.
func (n Notice) name() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %d", n.ProviderID, n.At.Truncate(requestTime).Unix())
	for _, m := range n.Matches {
		fmt.Fprintf(h, " %q %q %d", m.EntityID, m.MatchID, m.Version)
	}
	return n.BatchID + "_" + hex.EncodeToString(h.Sum(nil))[:32]
}

// Resolutions tells adapters about resolutions; AdapterCalls does.
type Resolutions interface {
	// ResolveMatches returns nil once the adapter has accepted the resolutions, a *Refusal if it has not, and any other
	// error if the service itself is at fault.
	ResolveMatches(ctx context.Context, tenant, batchID, providerID string, matches []screening.Match) error
}

// Notify is the step that sends resolutions of matches to the adapter of their provider.
type Notify struct {
	Store    screening.Store
	Adapters Resolutions
	Now      func() time.Time
	Log      *slog.Logger
}

// NotStored asks the state machine to run the step again soon: the resolutions are not stored yet.
type NotStored struct{ Message string }

// Error implements error.
func (e *NotStored) Error() string { return e.Message }

const (
	// requestTime is how long a request that resolves matches takes at most, from its notice to the storing.
	requestTime = 30 * time.Second
	// storingTime is how long after its notice a resolution may be stored: by the request that has started it, or by
	// one that came within requestTime and found it started.
	storingTime = 2 * requestTime
)

// Handle sends the present resolutions of the matches of a notice to the adapter of their provider. It may be repeated:
// the adapter is then called again. Matches whose resolution was never stored are left out.
func (n *Notify) Handle(ctx context.Context, in Notice) error {
	ctx, cancel := deadline.Shorten(ctx, margin)
	defer cancel()
	err := n.handle(ctx, in)
	var refusal *Refusal
	var notStored *NotStored
	switch {
	case errors.As(err, &refusal) && refusal.MayPass:
		return &Unreachable{refusal.Message}
	case errors.As(err, &refusal):
		n.Log.ErrorContext(ctx, "an adapter refused resolutions", "tenant", in.Tenant, "batch", in.BatchID, "provider",
			in.ProviderID, "reason", refusal.Message)
		return nil
	case errors.As(err, &notStored):
		return notStored
	case err != nil:
		n.Log.ErrorContext(ctx, "notice of resolutions failed", "batch", in.BatchID, "provider", in.ProviderID, "error",
			err)
		return &Transient{"the step did not finish; its log has the cause"}
	}
	return nil
}

func (n *Notify) handle(ctx context.Context, in Notice) error {
	b, err := n.Store.Get(ctx, in.Tenant, in.BatchID)
	if errors.Is(err, screening.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	refs, versions := make([]screening.MatchRef, len(in.Matches)), map[screening.MatchRef]int64{}
	for i, m := range in.Matches {
		refs[i] = screening.MatchRef{EntityID: m.EntityID, MatchID: m.MatchID}
		versions[refs[i]] = m.Version
	}
	matches, err := n.Store.GetMatches(ctx, b, refs)
	if err != nil {
		return err
	}
	stored := slices.DeleteFunc(matches, func(m screening.Match) bool {
		return m.Version < versions[screening.MatchRef{EntityID: m.EntityID, MatchID: m.ID}]
	})
	if len(stored) < len(in.Matches) && n.Now().Before(in.At.Add(storingTime)) {
		return &NotStored{"the resolutions are not stored yet"}
	}
	if len(stored) == 0 {
		return nil
	}
	return n.Adapters.ResolveMatches(ctx, in.Tenant, in.BatchID, in.ProviderID, stored)
}
