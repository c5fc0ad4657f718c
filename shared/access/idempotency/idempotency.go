// Package idempotency makes it safe to repeat a request whose answer was lost: a client names the request by a key, and
// a request with the same key is carried out once. Package httpapi is its one user.
//
// Who carries a request out is decided by conditional writes of one record for each key. The first run pins in it what
// must not differ between runs: the time of the request, and the ID of the object that it creates. A run that was
// killed, or failed for a fault of the service, may have had its effect; the next request with the key then runs with
// the same time and ID, so that it repeats the same writes and creates nothing twice. That holds for two runs at the
// same time, too.
package idempotency

import (
	"context"
	"errors"
	"time"
)

// Life is how long a key is kept, from the first request with it on.
const Life = 24 * time.Hour

// MaxKeyBytes is the length of the longest key.
const MaxKeyBytes = 255

// Key identifies a request that may be repeated: requests with the same key are one.
type Key struct {
	Tenant string
	// Client is the client that sends it: another one's key is another key.
	Client string
	// Path is the path of the endpoint: the same name means different requests on different paths.
	Path string
	// Name is the key that the client sends.
	Name string
}

// IsValidName reports whether a name can be that of a key: 1 to 255 printable ASCII characters.
func IsValidName(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return false
		}
	}
	return name != "" && len(name) <= MaxKeyBytes
}

// Digest is the SHA-256 of everything in which requests with the same key must agree.
type Digest [32]byte

// Pinned is what all runs of a request have in common.
type Pinned struct {
	// ID is the ID of the object that the request creates; empty if it needs none.
	ID string
	// StartedAt is the time of the request, as the first run found it.
	StartedAt time.Time
}

// Answer is the stored answer to a request.
type Answer struct {
	Status int
	// Body is nil if it must not be stored, because it holds secrets; the endpoint then makes it again.
	Body []byte
}

// Record is the stored state of a key.
type Record struct {
	Digest Digest
	Pinned Pinned
	// Run names the run that carries the request out, or did so last.
	Run string
	// Until is when that run has ended at the latest; zero once it is known to have ended.
	Until time.Time
	// Answer is nil until a run has succeeded.
	Answer *Answer
	// Expires is when the key is forgotten.
	Expires time.Time
}

// Store keeps records. Every method may be called concurrently. A write is one conditional write of one item; an error
// that is not named here means that its outcome is unknown, and the call can be repeated. Package idempotencytest tests
// an implementation against these promises.
type Store interface {
	// Create stores the first record of a key, or one in place of a record that has expired at a time. If there is
	// another one it changes nothing, and returns it with created false.
	Create(ctx context.Context, k Key, r Record, now time.Time) (current Record, created bool, err error)
	// TakeOver gives the record of a key to another run, until a time, on the condition that it still belongs to the
	// run seen and that there is no answer. Otherwise it changes nothing and returns the record as it is, the zero
	// Record if there is none, with taken false.
	TakeOver(ctx context.Context, k Key, seen, run string, until time.Time) (current Record, taken bool, err error)
	// Finish records the answer of a run. It returns ErrLost if the record belongs to another run by now.
	Finish(ctx context.Context, k Key, run string, a Answer) error
	// Release ends a run without an answer. It does nothing if the record belongs to another run.
	Release(ctx context.Context, k Key, run string) error
	// Forget removes the record of a run without an answer. It does nothing if the record belongs to another run.
	Forget(ctx context.Context, k Key, run string) error
}

var (
	// ErrReused means that the key names another request.
	ErrReused = errors.New("idempotency: the key was used for another request")
	// ErrRunning means that a run of the request has not ended.
	ErrRunning = errors.New("idempotency: the request is still running")
	// ErrLost means that another run has the request by now.
	ErrLost = errors.New("idempotency: another run has the request")
)

// Keys decides which requests are carried out. It is safe for concurrent use.
type Keys struct {
	Store Store
	Now   func() time.Time
	// NewRun returns a random name for a run.
	NewRun func() string
}

// Run is one request with a key, from Begin until it ends.
type Run struct {
	Pinned
	// Repeats means that an earlier run may have had its effect.
	Repeats bool
	// Answer is the answer of an earlier run; nil if the request is to be carried out.
	Answer *Answer

	keys *Keys
	key  Key
	name string
}

// maxTurns is how often Begin tries to get a record that others are taking at the same time.
const maxTurns = 4

// Begin decides whether a request is carried out. If the Run has an answer, the caller replies with it; otherwise it
// carries the request out and then calls Succeed, Fail or Refuse. newID makes the ID of the object that the request
// creates. until is when the caller has ended at the latest, so that a later request need not wait for it. Begin
// returns ErrReused if the key belongs to a request with another digest, and ErrRunning while another run of the
// request has not ended.
func (k *Keys) Begin(ctx context.Context, key Key, d Digest, newID func() (string, error), until time.Time) (
	*Run, error) {
	run, now := &Run{keys: k, key: key, name: k.NewRun()}, k.Now()
	id, err := newID()
	if err != nil {
		return nil, err
	}
	first := Record{
		Digest: d, Pinned: Pinned{ID: id, StartedAt: now}, Run: run.name, Until: until, Expires: now.Add(Life),
	}
	current, done, err := k.Store.Create(ctx, key, first, now)
	for turn := 0; !done && err == nil; turn++ {
		switch {
		case current.Run == run.name: // the answer to the write was lost
			done = true
		case current.Run == "": // the record was forgotten meanwhile
			run.Repeats = false
			current, done, err = k.Store.Create(ctx, key, first, now)
		case current.Digest != d:
			return nil, ErrReused
		case current.Answer != nil:
			run.Pinned, run.Answer = current.Pinned, current.Answer
			return run, nil
		case current.Until.After(now) || turn >= maxTurns:
			return nil, ErrRunning
		default:
			run.Repeats = true
			current, done, err = k.Store.TakeOver(ctx, key, current.Run, run.name, until)
		}
	}
	if err != nil {
		_ = run.Refuse(ctx) // otherwise the key would be blocked until the time of a run that does not exist
		return nil, err
	}
	run.Pinned = current.Pinned
	return run, nil
}

// Succeed ends the run with an answer, which every later request with the key gets. It returns ErrLost if another run
// has the request by now, which comes to the same answer. After any other error, a later request is carried out as the
// same one.
func (r *Run) Succeed(ctx context.Context, a Answer) error {
	return end(ctx, func(ctx context.Context) error { return r.keys.Store.Finish(ctx, r.key, r.name, a) })
}

// Fail ends a run which may have had its effect: the next request with the key is carried out as the same one.
func (r *Run) Fail(ctx context.Context) error {
	return end(ctx, func(ctx context.Context) error { return r.keys.Store.Release(ctx, r.key, r.name) })
}

// Refuse ends a run that had no effect: the key is free for any request, unless an earlier run may have had one.
func (r *Run) Refuse(ctx context.Context) error {
	if r.Repeats {
		return r.Fail(ctx)
	}
	return end(ctx, func(ctx context.Context) error { return r.keys.Store.Forget(ctx, r.key, r.name) })
}

// endTime is how long ending a run may take: less than the rest of an invocation for its reply. If that is not enough,
// the time of the run must pass before a later request is carried out.
const endTime = 500 * time.Millisecond

// end makes a write with which a run ends, also if the time of its request is over.
func end(ctx context.Context, write func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	return write(ctx)
}

type runKey struct{}

// NewContext returns a context that carries a run.
func NewContext(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// FromContext returns the run of the context's request, nil if the request has no key.
func FromContext(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}
