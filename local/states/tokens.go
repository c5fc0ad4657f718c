package states

import "sync"

// taskTokens are the task tokens that somebody may still answer.
type taskTokens struct {
	newID func() string
	mu    sync.Mutex
	open  map[string]*taskToken
}

type taskToken struct {
	id         string
	machineARN string          // ARN of the machine
	result     chan taskResult // holds one
	heartbeats chan struct{}
}

type taskResult struct {
	output  any
	failure *Failure
}

func (t *taskTokens) create(owner string) *taskToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := &taskToken{id: t.newID(), machineARN: owner, result: make(chan taskResult, 1), heartbeats: make(chan struct{}, 1)}
	t.open[k.id] = k
	return k
}

func (t *taskTokens) remove(k *taskToken) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, k.id)
}

func (t *taskTokens) machineOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k, ok := t.open[id]; ok {
		return k.machineARN
	}
	return ""
}

// complete gives a task its answer; false when nobody waits for it any more.
func (t *taskTokens) complete(id string, a taskResult) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.open[id]
	if ok {
		delete(t.open, id)
		k.result <- a
	}
	return ok
}

// heartbeat tells that the work goes on.
func (t *taskTokens) heartbeat(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.open[id]
	if ok {
		select {
		case k.heartbeats <- struct{}{}:
		default:
		}
	}
	return ok
}
