package lambda

import (
	"fmt"
	"sync"
	"time"
)

// request is one event for a function.
type request struct {
	id       string
	payload  []byte
	deadline time.Time // set when a process takes it
}

// pool holds the processes of one function.
type pool struct {
	service *Service
	fn      Function
	slots   chan struct{} // one for each request that may run

	mu        sync.Mutex
	idle      []*sandbox // the one used last at the end: the others get a chance to end
	all       map[*sandbox]bool
	closed    bool
	idleTimer *time.Timer
}

func newPool(s *Service, f Function) *pool {
	return &pool{service: s, fn: f, slots: make(chan struct{}, f.Concurrency), all: map[*sandbox]bool{}}
}

// run gives a request to an idle process or a new one and returns the answer.
func (p *pool) run(r request) Result {
	if p.fn.Endpoint != "" {
		return p.runRemotely(r)
	}
	for {
		box, fresh, err := p.acquire()
		if err != nil {
			return failedResult(r.id, "Runtime.InvalidEntrypoint", err.Error())
		}
		result, answered, lost := box.run(r)
		if lost && !fresh {
			// It died idle, before this request: none of its business.
			p.discard(box)
			continue
		}
		if answered {
			p.release(box)
		} else {
			p.discard(box)
		}
		return result
	}
}

func (p *pool) acquire() (box *sandbox, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		box = p.idle[n-1]
		p.idle = p.idle[:n-1]
		return box, false, nil
	}
	if box, err = startSandbox(p.service, p.fn); err != nil {
		return nil, false, fmt.Errorf("cannot start %s: %w", p.fn.Program, err)
	}
	p.all[box] = true
	return box, true, nil
}

func (p *pool) release(box *sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	box.idleSince = time.Now()
	p.idle = append(p.idle, box)
	if p.idleTimer == nil {
		p.idleTimer = time.AfterFunc(p.service.cfg.IdleTimeout, p.endIdleProcesses)
	}
}

func (p *pool) discard(box *sandbox) {
	p.mu.Lock()
	delete(p.all, box)
	p.mu.Unlock()
	box.kill()
}

// endIdleProcesses ends the processes that nobody has needed for a while.
func (p *pool) endIdleProcesses() {
	p.mu.Lock()
	p.idleTimer = nil
	keep := p.idle[:0]
	var old []*sandbox
	for _, box := range p.idle {
		if time.Since(box.idleSince) >= p.service.cfg.IdleTimeout {
			old = append(old, box)
			delete(p.all, box)
		} else {
			keep = append(keep, box)
		}
	}
	p.idle = keep
	if len(keep) > 0 && !p.closed {
		p.idleTimer = time.AfterFunc(p.service.cfg.IdleTimeout, p.endIdleProcesses)
	}
	p.mu.Unlock()
	for _, box := range old {
		box.kill()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.idleTimer != nil {
		p.idleTimer.Stop()
	}
	boxes := p.all
	p.all = map[*sandbox]bool{}
	p.mu.Unlock()
	for box := range boxes {
		box.kill()
	}
}
