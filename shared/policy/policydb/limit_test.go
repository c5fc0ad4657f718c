package policydb

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"testing"
)

// object is one object under any key.
type object []byte

func (o object) Open(context.Context, string, string, int64, int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(o)), nil
}

func (o object) WriteObject(context.Context, string, func(io.Writer) error) error { return nil }

// An object that unpacks to more than the limit is not read to its end, also if its name is right.
func TestLimitOfContents(t *testing.T) {
	const limit = 1000
	for _, size := range []int{limit - 1, limit, limit + 1, 1000 * limit} {
		text := []byte(`{"entityType":"` + strings.Repeat("x", size-17) + `"}`)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(text)
		w.Close()
		b := newBundles(object(packed.Bytes()), 0)
		b.limit = limit
		sum := sha256.Sum256(text)
		c, err := b.read(t.Context(), "tenant", hex.EncodeToString(sum[:]))
		if isRead := err == nil; len(text) != size || isRead != (size <= limit) || isRead && c.EntityType == "" {
			t.Errorf("%d bytes: read %t, %v", size, isRead, err)
		}
	}
}
