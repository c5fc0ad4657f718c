package policydb

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"sluice/shared/policy"
)

// Files keeps objects.
type Files interface {
	// Open reads the bytes [from, to) of an object, or to its end if to is negative. The etag is "".
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
	// WriteObject stores what write writes as an object, in the place of one that exists, or nothing if write fails.
	WriteObject(ctx context.Context, key string, write func(io.Writer) error) error
}

// KeyPrefix begins the keys of all objects.
const KeyPrefix = "policies/"

// contentsCacheBytes bounds the contents that a store keeps, in bytes of their JSON.
const contentsCacheBytes = 24 << 20

// bundles are the contents of versions that are not drafts, in objects named by their digests.
type bundles struct {
	files Files
	// limit is the size of the largest contents as JSON.
	limit int64
	cache cache[bundleKey, policy.Contents]
}

// newBundles returns the contents in files. It caches up to cacheBytes of their JSON.
func newBundles(f Files, cacheBytes int64) *bundles {
	b := &bundles{files: f, limit: policy.MaxBundleBytes}
	b.cache.maxBytes = cacheBytes
	return b
}

type bundleKey struct{ tenant, digest string }

func (k bundleKey) object() string { return KeyPrefix + k.tenant + "/" + k.digest + ".json.gz" }

// write stores contents as EncodeContents has returned them. Storing them again changes nothing.
func (b *bundles) write(ctx context.Context, tenant, digest string, text []byte) error {
	err := b.files.WriteObject(ctx, bundleKey{tenant, digest}.object(), func(w io.Writer) error {
		packed := gzip.NewWriter(w)
		if _, err := packed.Write(text); err != nil {
			return err
		}
		return packed.Close()
	})
	if err != nil {
		return fmt.Errorf("store contents of a policy: %w", err)
	}
	return nil
}

// read returns shared contents, which must not be changed. It returns an error if the digest of the object is not its
// name.
func (b *bundles) read(ctx context.Context, tenant, digest string) (policy.Contents, error) {
	k := bundleKey{tenant, digest}
	return b.cache.get(ctx, k, func(ctx context.Context) (policy.Contents, int64, error) { return b.decode(ctx, k) })
}

// decode reads contents, and the size of their JSON.
func (b *bundles) decode(ctx context.Context, k bundleKey) (policy.Contents, int64, error) {
	text, err := b.load(ctx, k)
	if err != nil {
		return policy.Contents{}, 0, fmt.Errorf("read contents of a policy: %w", err)
	}
	c, err := policy.DecodeContents(text)
	return c, int64(len(text)), err
}

// load reads the JSON of contents.
func (b *bundles) load(ctx context.Context, k bundleKey) (text []byte, err error) {
	err = b.scan(ctx, k, func(r io.Reader) (err error) {
		text, err = io.ReadAll(r)
		return err
	})
	return text, err
}

// scan calls read with the JSON of contents. What read has made of it counts only if scan succeeds: the digest is
// compared after it.
func (b *bundles) scan(ctx context.Context, k bundleKey, read func(io.Reader) error) error {
	body, err := b.files.Open(ctx, k.object(), "", 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	packed, err := gzip.NewReader(body)
	if err != nil {
		return fmt.Errorf("%s: %w", k.object(), err)
	}
	sum := sha256.New()
	text := &io.LimitedReader{R: io.TeeReader(packed, sum), N: b.limit + 1}
	if err := read(text); err != nil {
		return fmt.Errorf("%s: %w", k.object(), err)
	}
	if _, err := io.Copy(io.Discard, text); err != nil {
		return fmt.Errorf("%s: %w", k.object(), err)
	}
	if text.N == 0 {
		return fmt.Errorf("%s has more than %d bytes", k.object(), b.limit)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != k.digest {
		return fmt.Errorf("%s has the SHA-256 %s", k.object(), got)
	}
	return nil
}

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
