// Package duplicate finds, among many millions of identifiers, those that occur more than once. Identifiers are compared by
// keyed 128-bit digests: whoever makes the file does not know the key, so can neither make two different IDs look the same
// nor crowd a hash table, and by chance two of 15 million IDs collide once in 10^24 batches.
package duplicate

import (
	"encoding/binary"

	"github.com/dchest/siphash"
)

// DigestBytes is the length of a digest's byte form.
const DigestBytes = 16

// Digest is the SipHash-2-4-128 of an identifier.
type Digest struct{ Hi, Lo uint64 }

// Key is the secret of the digests of one batch.
type Key struct{ k0, k1 uint64 }

// NewKey makes a key of 16 secret bytes.
func NewKey(secret [16]byte) Key {
	return Key{binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])}
}

// Digest returns the digest of an identifier, exactly its bytes.
func (k Key) Digest(id []byte) Digest {
	lo, hi := siphash.Hash128(k.k0, k.k1, id)
	return Digest{hi, lo}
}

// Part returns which of the given number of parts, a power of two, the digest belongs to.
func (d Digest) Part(parts int) int { return int(d.Hi >> 32 * uint64(parts) >> 32) }

// AppendTo appends the byte form of d.
func (d Digest) AppendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, d.Hi)
	return binary.LittleEndian.AppendUint64(b, d.Lo)
}

// DigestOf reads the byte form of a digest: the first DigestBytes of b.
func DigestOf(b []byte) Digest {
	_ = b[DigestBytes-1]
	return Digest{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}
