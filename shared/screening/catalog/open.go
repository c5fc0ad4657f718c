package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"sluice/shared/screening/match"
)

// loadTimeout bounds the loading of one version.
const loadTimeout = time.Minute

// indexCache holds indexes and drops the least recently used for new ones. Memory and files of an index are released
// when the last Loaded and Screener with it are gone.
type indexCache struct {
	mu sync.Mutex
	// loads are the held indexes and the running loads.
	loads map[VersionRef]*load
	bytes int64
	// clock orders uses.
	clock int64
}

// load is the loading of an index and, once done is closed, its result.
type load struct {
	done   chan struct{}
	loaded Loaded
	err    error
	bytes  int64
	used   int64
}

// get returns a version that is held.
func (c *indexCache) get(ref VersionRef) (Loaded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.loads[ref]
	if p == nil || !isDone(p) {
		return Loaded{}, false
	}
	c.clock++
	p.used = c.clock
	return p.loaded, true
}

// load returns a version, loading it unless it is held. Calls at the same time load it once.
func (l *Loader) load(ctx context.Context, v Version) (Loaded, error) {
	c := &l.indexes
	c.mu.Lock()
	p := c.loads[v.VersionRef]
	if p == nil {
		p = &load{done: make(chan struct{}), bytes: v.Indexes[match.FileFormat()].Bytes}
		if err := c.reserve(v.VersionRef, p.bytes, l.MaxBytes); err != nil {
			c.mu.Unlock()
			return Loaded{}, err
		}
		c.loads[v.VersionRef] = p
		// The load goes on if this caller gives up: others may wait for it.
		go l.run(context.WithoutCancel(ctx), v, p)
	}
	c.clock++
	p.used = c.clock
	c.mu.Unlock()
	select {
	case <-p.done:
		return p.loaded, p.err
	case <-ctx.Done():
		return Loaded{}, ctx.Err()
	}
}

// reserve counts the bytes of an index to load, and drops others until it fits. Its caller holds the mutex.
func (c *indexCache) reserve(ref VersionRef, bytes, limit int64) error {
	if bytes > limit {
		return fmt.Errorf("the index of %s has %d bytes, more than the %d that may be held", ref, bytes, limit)
	}
	for c.bytes+bytes > limit {
		var oldest VersionRef
		var found *load
		for ref, p := range c.loads {
			if isDone(p) && (found == nil || p.used < found.used) {
				oldest, found = ref, p
			}
		}
		if found == nil {
			break // all others are being loaded
		}
		c.bytes -= found.bytes
		delete(c.loads, oldest)
	}
	c.bytes += bytes
	return nil
}

func isDone(p *load) bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// run loads a version and ends the load.
func (l *Loader) run(ctx context.Context, v Version, p *load) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	index, size, err := l.open(ctx, v)
	c := &l.indexes
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += size - p.bytes
	p.bytes = size
	if err != nil {
		p.err = fmt.Errorf("loading watchlist %s: %w", v, err)
		delete(c.loads, v.VersionRef)
	} else {
		p.loaded = Loaded{Version: v, index: index}
	}
	close(p.done)
}

// open maps the index of a version and returns its size, 0 after an error.
func (l *Loader) open(ctx context.Context, v Version) (*match.Index, int64, error) {
	f, err := os.CreateTemp(l.Dir, "sluice-watchlist-*.idx")
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	// The mapping keeps the content of the file after its name is removed, so that no file remains however the process
	// ends. Where open files cannot be removed, it is removed at the end.
	if os.Remove(f.Name()) != nil {
		defer os.Remove(f.Name())
	}
	if file, found := v.Indexes[match.FileFormat()]; found {
		err = l.download(ctx, v.indexKey(file), file, f)
	} else {
		l.Log.WarnContext(ctx, messageBuilt, "owner", v.Owner, "list", v.List, "version", v.Version)
		err = l.rebuild(ctx, v, f)
	}
	if err != nil {
		return nil, 0, err
	}
	index, err := match.OpenFile(f)
	if err != nil {
		return nil, 0, err
	}
	if len(index.Lists) != 1 || index.Lists[0].List != v.List || index.Lists[0].Version != v.Version {
		return nil, 0, errors.Join(errors.New("the index belongs to another list or version"), index.Close())
	}
	runtime.SetFinalizer(index, (*match.Index).Close)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return index, info.Size(), nil
}

// download copies an index and compares its checksum.
func (l *Loader) download(ctx context.Context, key string, file IndexFile, w io.Writer) error {
	body, err := l.Files.Open(ctx, key, "", 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	digest := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, digest), io.LimitReader(body, file.Bytes+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", key, err)
	}
	if sum := hex.EncodeToString(digest.Sum(nil)); n != file.Bytes || sum != file.SHA256 {
		return fmt.Errorf("%s has %d bytes or more with the SHA-256 %s, want %d with %s", key, n, sum, file.Bytes,
			file.SHA256)
	}
	return nil
}

// rebuild builds and writes this program's index of a version's entries.
func (l *Loader) rebuild(ctx context.Context, v Version, w io.Writer) error {
	entries, err := ReadEntries(ctx, l.Files, v)
	if err != nil {
		return err
	}
	index, err := build(v, entries)
	if err != nil {
		return err
	}
	_, err = index.WriteTo(w)
	return err
}
