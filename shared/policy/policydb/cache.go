package policydb

import (
	"context"
	"sync"
	"time"
)

// loadTimeout bounds the loading of one value.
const loadTimeout = time.Minute

// cache keeps loaded values and evicts the least recently used ones when they have more than maxBytes. A value larger
// than that is returned but not kept. Calls for one key at the same time share a load, also in the zero cache, which
// keeps nothing.
type cache[K comparable, V any] struct {
	maxBytes int64

	mu    sync.Mutex
	loads map[K]*load[V]
	bytes int64
	// clock is the number of uses so far. The use of a load is its value at that time.
	clock int64
}

// load is the loading of one value. Its value, err and bytes are set once done is closed.
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

// get returns a value that is held, or loads it by read, which returns it with its size in bytes. Calls at the same
// time share one load and its error. Errors are not kept: the next call loads again.
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
