// Package duplicate finds the identifiers that occur more than once among many millions.
//
//	identifiers --Key.Digest--> digests --Digest.Partition--> entries of each partition --Finder.FindSets--> sets
//
// Identifiers are compared by keyed 128-bit digests instead of by themselves, which bounds the memory for each. The key
// is secret: the author of the file can neither make two different IDs look the same nor crowd a hash table. By chance,
// two of 15 million IDs collide in one of 10^24 batches.
package duplicate

import (
	"encoding/binary"

	"github.com/dchest/siphash"
)

// DigestBytes is the length of the encoded form of a Digest, in bytes.
const DigestBytes = 16

// Digest is the SipHash-2-4 of an identifier with 128 bits.
type Digest struct{ Hi, Lo uint64 }

// Key is the secret key of the digests of one batch. Digests with different keys cannot be compared.
type Key struct{ k0, k1 uint64 }

// NewKey returns the key made of 16 secret bytes.
func NewKey(secret [16]byte) Key {
	return Key{binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])}
}

// Digest returns the digest of an identifier. Identifiers are equal only if all their bytes are.
func (k Key) Digest(id []byte) Digest {
	lo, hi := siphash.Hash128(k.k0, k.k1, id)
	return Digest{hi, lo}
}

// Partition returns the partition of the digest, in [0, count). The count must be a power of two, at most 2^32.
// Partitions are cut by the highest bits of Hi.
func (d Digest) Partition(count int) int { return int(d.Hi >> 32 * uint64(count) >> 32) }

// AppendTo appends the encoded form of d: Hi and then Lo, each as 8 bytes, little endian.
func (d Digest) AppendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, d.Hi)
	return binary.LittleEndian.AppendUint64(b, d.Lo)
}

// DecodeDigest decodes the first DigestBytes bytes of b, which must be that long, as AppendTo encodes them.
func DecodeDigest(b []byte) Digest {
	_ = b[DigestBytes-1]
	return Digest{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}
