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
	sent  chan answer // holds one
	beats chan struct{}
}

type answer struct {
	output  any
	failure *Failure
}

func (t *tokens) issue() *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &token{id: t.newID(), sent: make(chan answer, 1), beats: make(chan struct{}, 1)}
	t.open[k.id] = k
	return k
}

func (t *tokens) forget(k *token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, k.id)
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
