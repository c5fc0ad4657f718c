package idempotency_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencytest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestIsValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "a": true, " ": true, "~": true, "\x1f": false, "\x7f": false, "é": false, "a\nb": false,
		strings.Repeat("x", 254): true, strings.Repeat("x", 255): true, strings.Repeat("x", 256): false,
	} {
		difftest.Equal(t, fmt.Sprintf("%q of %d bytes is valid", name, len(name)), want, idempotency.IsValidName(name))
	}
}

var errLost = errors.New("the answer is lost")

// client sends one request again and again, to a service that is killed and loses its store at chosen points.
type client struct {
	t     *testing.T
	store *idempotencytest.Memory
	now   time.Time
	runs  int
	// created counts how often something was created, by its ID and time.
	created map[idempotency.Pinned]int
	// failing is the method of the store whose next call fails; isAfter means that it has its effect all the same.
	failing string
	isAfter bool
}

func newClient(t *testing.T) *client {
	c := &client{
		t: t, store: idempotencytest.NewMemory(), created: map[idempotency.Pinned]int{},
		now: time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC),
	}
	c.store.Fault = func(method string) (before, after error) {
		switch {
		case method != c.failing:
			return nil, nil
		case c.isAfter:
			c.failing = ""
			return nil, errLost
		}
		c.failing = ""
		return errLost, nil
	}
	return c
}

const requestTime = 10 * time.Second

func (c *client) begin(d idempotency.Digest) (*idempotency.Run, error) {
	keys := &idempotency.Keys{
		Store: c.store, Now: func() time.Time { return c.now },
		NewRun: func() string { c.runs++; return fmt.Sprint("run ", c.runs) },
	}
	newID := func() (string, error) { return fmt.Sprint("id ", c.runs), nil }
	return keys.Begin(c.t.Context(), idempotency.Key{Tenant: "t", Path: "/p", Name: "k"}, d, newID,
		c.now.Add(requestTime))
}

// The ways in which a request goes.
var fates = []string{
	"succeeds", "is refused", "killed at the start", "killed after its effect", "fails at the start",
	"fails after its effect",
	"Create fails", "Create is lost", "TakeOver fails", "TakeOver is lost", "Finish fails", "Finish is lost",
	"Forget fails", "Forget is lost", "Release fails", "Release is lost",
}

// send sends the request, and returns the answer that the client gets; nil if it gets none or a refusal.
func (c *client) send(fate string) *idempotency.Answer {
	if method, isFault := strings.CutSuffix(fate, " is lost"); isFault {
		c.failing, c.isAfter = method, true
	} else if method, isFault := strings.CutSuffix(fate, " fails"); isFault {
		c.failing, c.isAfter = method, false
	}
	defer func() { c.failing = "" }()
	run, err := c.begin(idempotency.Digest{1})
	switch {
	case errors.Is(err, idempotency.ErrReused):
		c.t.Errorf("%s: the key belongs to another request", fate)
		return nil
	case err != nil:
		return nil
	case run.Answer != nil:
		return run.Answer
	case strings.HasPrefix(fate, "Release"):
		_ = run.Fail(c.t.Context())
		return nil
	case fate == "is refused" || strings.HasPrefix(fate, "Forget"):
		_ = run.Refuse(c.t.Context())
		return nil
	case fate == "killed at the start":
		return nil
	case fate == "fails at the start":
		_ = run.Fail(c.t.Context())
		return nil
	}
	c.created[run.Pinned]++
	switch fate {
	case "killed after its effect":
		return nil
	case "fails after its effect":
		_ = run.Fail(c.t.Context())
		return nil
	}
	answer := idempotency.Answer{Status: 201, Body: []byte(run.ID)}
	_ = run.Succeed(c.t.Context(), answer)
	return &answer
}

// Three requests with one key, however they end, and all later ones create one thing, and every answer names it. A
// later request need not wait longer than the time of a request that was killed.
func TestOneEffectWhateverHappens(t *testing.T) {
	var try func(path []string)
	try = func(path []string) {
		c := newClient(t)
		var answers []*idempotency.Answer
		for _, fate := range path {
			answers = append(answers, c.send(fate))
			c.now = c.now.Add(time.Second)
		}
		c.now = c.now.Add(requestTime)
		for range 2 {
			last := c.send("succeeds")
			if last == nil {
				t.Errorf("%q: the request is not answered after the others have ended", path)
			}
			answers = append(answers, last)
		}
		difftest.Len(t, fmt.Sprintf("%q: created", path), 1, c.created)
		for _, a := range answers {
			if a != nil && string(a.Body) != string(answers[len(answers)-1].Body) {
				t.Errorf("%q: the answers are %s and %s", path, a.Body, answers[len(answers)-1].Body)
			}
		}
		if len(path) < 3 {
			for _, fate := range fates {
				try(append(path[:len(path):len(path)], fate))
			}
		}
	}
	try(nil)
}

// A key that is refused is free for another request; one whose request may have had its effect is not.
func TestAnotherRequest(t *testing.T) {
	for fate, want := range map[string]error{
		"is refused": nil, "Create fails": nil, "Create is lost": nil,
		"succeeds": idempotency.ErrReused, "fails at the start": idempotency.ErrReused,
		"killed at the start": idempotency.ErrReused,
	} {
		c := newClient(t)
		c.send(fate)
		errtest.Is(t, "after a request that "+fate+": error", errtest.Of(c.begin(idempotency.Digest{2})), want)
	}
	c := newClient(t)
	c.send("fails after its effect")
	c.send("is refused")
	errtest.Is(t, "after a refusal of a request that may have had its effect",
		errtest.Of(c.begin(idempotency.Digest{2})), idempotency.ErrReused)
}

func TestRunningAndExpired(t *testing.T) {
	c := newClient(t)
	first := errtest.Must(c.begin(idempotency.Digest{1}))(t)
	start := c.now
	for _, test := range []struct {
		after time.Duration
		want  error
	}{{0, idempotency.ErrRunning}, {requestTime - 1, idempotency.ErrRunning}, {requestTime, nil}} {
		c.now = start.Add(test.after)
		errtest.Is(t, fmt.Sprintf("%v after the beginning of a request", test.after),
			errtest.Of(c.begin(idempotency.Digest{1})), test.want)
	}
	errtest.Is(t, "the answer of a run whose request another one has",
		first.Succeed(t.Context(), idempotency.Answer{Status: 200}), idempotency.ErrLost)
	c.now = start.Add(idempotency.Life)
	if run, err := c.begin(idempotency.Digest{2}); err != nil || run.Repeats || run.Pinned == first.Pinned {
		t.Errorf("after the life of the key: run %+v, error %v; want a new one", run, err)
	}
}
