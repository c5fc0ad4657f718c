package policydb

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

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
func (b *bundles) load(ctx context.Context, k bundleKey) ([]byte, error) {
	body, err := b.files.Open(ctx, k.object(), "", 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	packed, err := gzip.NewReader(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.object(), err)
	}
	text, err := io.ReadAll(io.LimitReader(packed, b.limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.object(), err)
	}
	if int64(len(text)) > b.limit {
		return nil, fmt.Errorf("%s has more than %d bytes", k.object(), b.limit)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != k.digest {
		return nil, fmt.Errorf("%s has the SHA-256 %x", k.object(), sum)
	}
	return text, nil
}
