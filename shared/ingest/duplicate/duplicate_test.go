package duplicate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/shared/kit/difftest"
)

// The vectors come from the reference implementation of SipHash-2-4 with 128 bits (vectors.h, vectors_sip128), whose
// key is 00 01 .. 0f and whose input of n bytes is 00 01 .. n-1.
func TestDigestIsSipHash128(t *testing.T) {
	var secret [16]byte
	for i := range secret {
		secret[i] = byte(i)
	}
	key := NewKey(secret)
	for _, c := range []struct{ name, input, want string }{
		{"0 bytes", "", "a3817f04ba25a8e66df67214c7550293"},
		{"1 byte", "\x00", "da87c1d86b99af44347659119b22fc45"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := key.Digest([]byte(c.input))
			difftest.Equal(t, "digest", c.want, fmt.Sprintf("%x", Digest{d.Lo, d.Hi}.AppendTo(nil)))
		})
	}
}

func TestEncodedDigest(t *testing.T) {
	d := Digest{0x0123456789abcdef, 0xfedcba9876543210}
	b := d.AppendTo([]byte("x"))
	difftest.Equal(t, "encoded as", "efcdab89674523011032547698badcfe", fmt.Sprintf("%x", b[1:]))
	difftest.Equal(t, "decoded", d, DecodeDigest(b[1:]))
}

func TestPartitionsAreEven(t *testing.T) {
	key := NewKey([16]byte{1})
	var count [16]int
	for i := range 16000 {
		count[key.Digest(binary.AppendUvarint(nil, uint64(i))).Partition(16)]++
	}
	for p, n := range count {
		if n < 800 || n > 1200 {
			t.Errorf("partition %d has %d of 16000 digests, want 800 to 1200", p, n)
		}
	}
	difftest.Equal(t, "the largest digest is in partition", 15, (Digest{Hi: 1<<64 - 1}).Partition(16))
}

// randomDigests returns digests many of which share a half or a quarter, so that a mistake in comparing them shows.
func randomDigests(rng *rand.Rand, n int) []Digest {
	values := []uint64{0, 1, 1 << 32, 1<<32 + 1, 1 << 63, 1<<64 - 1}
	all := make([]Digest, n)
	for i := range all {
		switch rng.IntN(3) {
		case 0:
			all[i] = Digest{values[rng.IntN(len(values))], values[rng.IntN(len(values))]}
		case 1:
			all[i] = Digest{uint64(rng.IntN(n)), uint64(rng.IntN(3))}
		default:
			all[i] = Digest{rng.Uint64(), rng.Uint64()}
		}
	}
	return all
}

func TestTable(t *testing.T) {
	var table Table
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		numbers := map[Digest]uint32{}
		for _, d := range randomDigests(rng, rng.IntN(3000)) {
			want, known := numbers[d]
			if !known {
				want = uint32(len(numbers))
				numbers[d] = want
			}
			if got, isNew := table.Intern(d); got != want || isNew == known {
				t.Fatalf("seed %d: Intern(%x) = %d, %v, want %d, %v", seed, d, got, isNew, want, !known)
			}
		}
		difftest.Equal(t, fmt.Sprintf("seed %d: digests of table", seed), len(numbers), table.Len())
		for number, d := range table.Digests() {
			difftest.Equal(t, fmt.Sprintf("seed %d: digest %d is %x, which has number", seed, number, d),
				uint32(number), numbers[d])
		}
		table.Reset(rng.IntN(100))
	}
}

// TestFindSets compares with a map, for numbers of entries around the size of a bucket and its multiples.
func TestFindSets(t *testing.T) {
	var finder Finder
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 100, bucketEntries - 1, bucketEntries, bucketEntries + 1, 2*bucketEntries - 1,
		2 * bucketEntries, 2*bucketEntries + 1, 10 * bucketEntries, 1000, 10} {
		entries := make([]Entry, n)
		want := map[Digest][]uint64{}
		for i, d := range randomDigests(rng, n) {
			entries[i] = Entry{d, uint64(i)}
			if rng.IntN(50) == 0 {
				entries[i].Location |= MultiFlag
			}
			want[d] = append(want[d], entries[i].Location)
		}
		for d, locations := range want {
			if len(locations) == 1 && locations[0]&MultiFlag == 0 {
				delete(want, d)
			}
		}
		got := map[Digest][]uint64{}
		finder.FindSets(entries, func(set []Entry) {
			if got[set[0].Digest] != nil {
				t.Fatalf("%d entries: the set of %x was yielded twice", n, set[0].Digest)
			}
			for _, e := range set {
				got[e.Digest] = append(got[e.Digest], e.Location)
			}
		})
		difftest.Equal(t, fmt.Sprintf("%d entries: sets", n), want, got)
	}
}

func TestAllEntriesAreOneSet(t *testing.T) {
	entries := make([]Entry, 3*bucketEntries)
	for i := range entries {
		entries[i] = Entry{Digest{5, 6}, uint64(i)}
	}
	calls := 0
	new(Finder).FindSets(entries, func(set []Entry) {
		calls++
		difftest.Equal(t, "set", entries, set)
	})
	difftest.Equal(t, "sets were yielded", 1, calls)
}

// BenchmarkFindSets finds the duplicates of 10 million IDs, one in a thousand of which has a twin, partition by
// partition.
func BenchmarkFindSets(b *testing.B) {
	const ids, partitions = 10_000_000, 16
	rng := rand.New(rand.NewPCG(1, 2))
	parts := make([][]Entry, partitions)
	for i := range ids {
		d := Digest{rng.Uint64(), rng.Uint64()}
		parts[d.Partition(partitions)] = append(parts[d.Partition(partitions)], Entry{d, uint64(i)})
		if i%1000 == 0 {
			parts[d.Partition(partitions)] = append(parts[d.Partition(partitions)], Entry{d, uint64(i)})
		}
	}
	for b.Loop() {
		var finder Finder
		found := 0
		for _, entries := range parts {
			finder.FindSets(entries, func(set []Entry) { found += len(set) })
		}
		difftest.Equal(b, "duplicates", 2*ids/1000, found)
	}
}
