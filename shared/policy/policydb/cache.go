package policydb

import (
	"context"
	"sync"
	"time"
)

// loadTimeout bounds the loading of one value.
const loadTimeout = time.Minute

// cache holds what was loaded. What was used least recently makes room for the rest; what is larger than the whole
// cache is returned and not held. The zero cache holds nothing; loads at the same time are one load also there.
type cache[K comparable, V any] struct {
	maxBytes int64

	mu    sync.Mutex
	loads map[K]*load[V]
	bytes int64
	// clock orders uses.
	clock int64
}

// load is the loading of a value and, once done is closed, its result.
type load[V any] struct {
	done  chan struct{}
	value V
	err   error
	bytes int64
	used  int64
}

// peek returns a value that is held.
func (c *cache[K, V]) peek(k K) (value V, isHeld bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.loads[k]
	if l == nil || !l.isDone() {
		return value, false
	}
	c.clock++
	l.used = c.clock
	return l.value, l.err == nil
}

// get returns a value, loading it unless it is held. Read returns it with its size in bytes. Calls at the same time
// load it once; an error is returned to all of them, and the next call tries again.
func (c *cache[K, V]) get(ctx context.Context, k K, read func(context.Context) (V, int64, error)) (V, error) {
	c.mu.Lock()
	l := c.loads[k]
	if l == nil {
		l = &load[V]{done: make(chan struct{})}
		if c.loads == nil {
			c.loads = map[K]*load[V]{}
		}
		c.loads[k] = l
		// The load goes on if this caller gives up: others may wait for it.
		go c.run(context.WithoutCancel(ctx), k, l, read)
	}
	c.clock++
	l.used = c.clock
	c.mu.Unlock()
	select {
	case <-l.done:
		return l.value, l.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// run loads a value and ends the load.
func (c *cache[K, V]) run(ctx context.Context, k K, l *load[V], read func(context.Context) (V, int64, error)) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	value, bytes, err := read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	l.value, l.bytes, l.err = value, bytes, err
	close(l.done)
	if err != nil || bytes > c.maxBytes {
		delete(c.loads, k)
		return
	}
	c.bytes += bytes
	c.evict()
}

// evict drops the values that were used least recently until the rest fits. Its caller holds the mutex.
func (c *cache[K, V]) evict() {
	for c.bytes > c.maxBytes {
		var oldest K
		var found *load[V]
		for k, l := range c.loads {
			if l.isDone() && (found == nil || l.used < found.used) {
				oldest, found = k, l
			}
		}
		if found == nil {
			return
		}
		c.bytes -= found.bytes
		delete(c.loads, oldest)
	}
}

func (l *load[V]) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}
