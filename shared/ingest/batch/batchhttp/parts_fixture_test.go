package batchhttp_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sluice/shared/kit/objects"
)

// parts is a bucket that signs as S3 does, and keeps uploads in parts in memory.
type parts struct {
	*objects.Bucket
	mu      sync.Mutex
	uploads map[string]*partsUpload
	// onComplete, if it is not nil, is called by CompleteParts first; lost makes it lose its answer.
	onComplete func()
	lost       bool
}

// partsUpload is an upload in parts.
type partsUpload struct {
	key                string
	stored             map[int32]objects.Part
	completed, aborted bool
}

func newParts(b *objects.Bucket) *parts { return &parts{Bucket: b, uploads: map[string]*partsUpload{}} }

func (p *parts) StartParts(_ context.Context, key string, withChecksums bool) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := fmt.Sprintf("upload-%d-%t", len(p.uploads)+1, withChecksums)
	p.uploads[id] = &partsUpload{key: key, stored: map[int32]objects.Part{}}
	return id, nil
}

// find returns an upload that is neither completed nor aborted.
func (p *parts) find(key, id string) (*partsUpload, error) {
	u := p.uploads[id]
	if u == nil || u.key != key || u.completed || u.aborted {
		return nil, objects.ErrNoUpload
	}
	return u, nil
}

func (p *parts) ListParts(_ context.Context, key, id string) ([]objects.Part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, err := p.find(key, id)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(u.stored), func(a, b objects.Part) int {
			return cmp.Compare(a.Number,
				b.Number)
		}),
		nil
}

func (p *parts) CompleteParts(_ context.Context, key, id string, list []objects.Part) error {
	if p.onComplete != nil {
		p.onComplete()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u, err := p.find(key, id)
	if err != nil {
		return err
	}
	for _, part := range list {
		if u.stored[part.Number] != part {
			return objects.ErrPartsDiffer
		}
	}
	u.completed = true
	if p.lost {
		return errors.New("the connection broke")
	}
	return nil
}

func (p *parts) AbortParts(_ context.Context, key, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u, err := p.find(key, id); err == nil {
		u.aborted = true
	}
	return nil
}

// store stores a part of the only upload.
func (p *parts) store(number int32, size int64, etag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.uploads {
		u.stored[number] = objects.Part{Number: number, Size: size, ETag: `"` + etag + `"`}
	}
}

// state returns whether the only upload is completed or aborted.
func (p *parts) state() (completed, aborted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.uploads {
		completed, aborted = u.completed, u.aborted
	}
	return completed, aborted
}
