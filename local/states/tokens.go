package states

import "sync"

// tokens are the task tokens that somebody may still answer.
type tokens struct {
	newID func() string
	mu    sync.Mutex
	open  map[string]*token
}

type token struct {
	id    string
	owner string      // ARN of the machine
	sent  chan answer // holds one
	beats chan struct{}
}

type answer struct {
	output  any
	failure *Failure
}

func (t *tokens) issue(owner string) *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &token{id: t.newID(), owner: owner, sent: make(chan answer, 1), beats: make(chan struct{}, 1)}
	t.open[k.id] = k
	return k
}

func (t *tokens) forget(k *token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, k.id)
}

func (t *tokens) machine(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k, ok := t.open[id]; ok {
		return k.owner
	}
	return ""
}

// answer gives a task its answer; false when nobody waits for it any more.
func (t *tokens) answer(id string, a answer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.open[id]
	if ok {
		delete(t.open, id)
		k.sent <- a
	}
	return ok
}

// beat tells that the work goes on.
func (t *tokens) beat(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.open[id]
	if ok {
		select {
		case k.beats <- struct{}{}:
		default:
		}
	}
	return ok
}
