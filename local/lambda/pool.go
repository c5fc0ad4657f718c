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

	mu     sync.Mutex
	idle   []*sandbox // the one used last at the end: the others get a chance to end
	all    map[*sandbox]bool
	closed bool
	reaper *time.Timer
}

func newPool(s *Service, f Function) *pool {
	return &pool{service: s, fn: f, slots: make(chan struct{}, f.Concurrency), all: map[*sandbox]bool{}}
}

// run gives a request to an idle process or a new one and returns the answer.
func (p *pool) run(r request) Result {
	if p.fn.Endpoint != "" {
		return p.elsewhere(r)
	}
	for {
		box, fresh, err := p.take()
		if err != nil {
			return failure(r.id, "Runtime.InvalidEntrypoint", err.Error())
		}
		result, answered, lost := box.run(r)
		if lost && !fresh {
			// It died idle, before this request: none of its business.
			p.drop(box)
			continue
		}
		if answered {
			p.give(box)
		} else {
			p.drop(box)
		}
		return result
	}
}

func (p *pool) take() (box *sandbox, fresh bool, err error) {
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
	if box, err = start(p.service, p.fn); err != nil {
		return nil, false, fmt.Errorf("cannot start %s: %w", p.fn.Program, err)
	}
	p.all[box] = true
	return box, true, nil
}

func (p *pool) give(box *sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	box.since = time.Now()
	p.idle = append(p.idle, box)
	if p.reaper == nil {
		p.reaper = time.AfterFunc(p.service.cfg.IdleTimeout, p.reap)
	}
}

func (p *pool) drop(box *sandbox) {
	p.mu.Lock()
	delete(p.all, box)
	p.mu.Unlock()
	box.end()
}

// reap ends the processes that nobody has needed for a while.
func (p *pool) reap() {
	p.mu.Lock()
	p.reaper = nil
	keep := p.idle[:0]
	var old []*sandbox
	for _, box := range p.idle {
		if time.Since(box.since) >= p.service.cfg.IdleTimeout {
			old = append(old, box)
			delete(p.all, box)
		} else {
			keep = append(keep, box)
		}
	}
	p.idle = keep
	if len(keep) > 0 && !p.closed {
		p.reaper = time.AfterFunc(p.service.cfg.IdleTimeout, p.reap)
	}
	p.mu.Unlock()
	for _, box := range old {
		box.end()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.reaper != nil {
		p.reaper.Stop()
	}
	boxes := p.all
	p.all = map[*sandbox]bool{}
	p.mu.Unlock()
	for box := range boxes {
		box.end()
	}
}
