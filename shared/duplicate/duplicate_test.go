package duplicate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The vectors are those of the reference implementation of SipHash-2-4 with 128 bits (vectors.h, vectors_sip128), whose
// key is 00 01 .. 0f and whose input of n bytes is 00 01 .. n-1.
func TestDigestIsSipHash128(t *testing.T) {
	var secret [16]byte
	for i := range secret {
		secret[i] = byte(i)
	}
	key := NewKey(secret)
	for input, want := range map[string]string{
		"":     "a3817f04ba25a8e66df67214c7550293",
		"\x00": "da87c1d86b99af44347659119b22fc45",
	} {
		d := key.Digest([]byte(input))
		got := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, d.Lo), d.Hi)
		if fmt.Sprintf("%x", got) != want {
			t.Errorf("digest of %q is %x, want %s", input, got, want)
		}
	}
}

func TestDigestHasABytesForm(t *testing.T) {
	d := Digest{0x0123456789abcdef, 0xfedcba9876543210}
	b := d.AppendTo([]byte("x"))
	if len(b) != 1+DigestBytes || DigestOf(b[1:]) != d {
		t.Errorf("%x came back as %x", d, DigestOf(b[1:]))
	}
}

func TestPartsAreEven(t *testing.T) {
	key := NewKey([16]byte{1})
	var count [16]int
	for i := range 16000 {
		count[key.Digest(binary.AppendUvarint(nil, uint64(i))).Part(16)]++
	}
	for p, n := range count {
		if n < 800 || n > 1200 {
			t.Errorf("part %d has %d of 16000", p, n)
		}
	}
	if p := (Digest{Hi: 1<<64 - 1}).Part(16); p != 15 {
		t.Errorf("the last digest is of part %d", p)
	}
}

// digests draws digests that share their halves and quarters, so that a mistake in comparing them shows.
func digests(rng *rand.Rand, n int) []Digest {
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
		for _, d := range digests(rng, rng.IntN(3000)) {
			want, known := numbers[d]
			if !known {
				want = uint32(len(numbers))
				numbers[d] = want
			}
			if got, fresh := table.Number(d); got != want || fresh == known {
				t.Fatalf("seed %d: %x is number %d, fresh %v; want %d, %v", seed, d, got, fresh, want, !known)
			}
		}
		if table.Len() != len(numbers) {
			t.Fatalf("%d digests, want %d", table.Len(), len(numbers))
		}
		for number, d := range table.Digests() {
			if numbers[d] != uint32(number) {
				t.Fatalf("number %d is %x", number, d)
			}
		}
		table.Reset(rng.IntN(100))
	}
}

// TestSets compares with a map, over lists of every length around the size of a bucket and its multiples.
func TestSets(t *testing.T) {
	var finder Finder
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 100, bucketEntries - 1, bucketEntries, bucketEntries + 1, 2*bucketEntries - 1,
		2 * bucketEntries, 2*bucketEntries + 1, 10 * bucketEntries, 1000, 10} {
		entries := make([]Entry, n)
		byDigest := map[Digest][]uint64{}
		for i, d := range digests(rng, n) {
			entries[i] = Entry{d, uint64(i)}
			if rng.IntN(50) == 0 {
				entries[i].Place |= Several
			}
			byDigest[d] = append(byDigest[d], entries[i].Place)
		}
		for d, places := range byDigest {
			if len(places) == 1 && places[0]&Several == 0 {
				delete(byDigest, d)
			}
		}
		got := map[Digest][]uint64{}
		finder.Sets(entries, func(set []Entry) {
			if got[set[0].Digest] != nil {
				t.Fatalf("%d entries: set of %x twice", n, set[0].Digest)
			}
			for _, e := range set {
				got[e.Digest] = append(got[e.Digest], e.Place)
			}
		})
		if diff := cmp.Diff(byDigest, got); diff != "" {
			t.Fatalf("%d entries (-want +got):\n%s", n, diff)
		}
	}
}

func TestOneSetOfAll(t *testing.T) {
	entries := make([]Entry, 3*bucketEntries)
	for i := range entries {
		entries[i] = Entry{Digest{5, 6}, uint64(i)}
	}
	calls := 0
	new(Finder).Sets(entries, func(set []Entry) {
		calls++
		if diff := cmp.Diff(entries, set); diff != "" {
			t.Error(diff)
		}
	})
	if calls != 1 {
		t.Errorf("%d sets", calls)
	}
}

// BenchmarkSets finds the duplicates of 10 million IDs, one in a thousand of which has a twin, partition by partition.
func BenchmarkSets(b *testing.B) {
	const ids, partitions = 10_000_000, 16
	rng := rand.New(rand.NewPCG(1, 2))
	parts := make([][]Entry, partitions)
	for i := range ids {
		d := Digest{rng.Uint64(), rng.Uint64()}
		parts[d.Part(partitions)] = append(parts[d.Part(partitions)], Entry{d, uint64(i)})
		if i%1000 == 0 {
			parts[d.Part(partitions)] = append(parts[d.Part(partitions)], Entry{d, uint64(i)})
		}
	}
	for b.Loop() {
		var finder Finder
		found := 0
		for _, entries := range parts {
			finder.Sets(entries, func(set []Entry) { found += len(set) })
		}
		if found != 2*ids/1000 {
			b.Fatalf("%d duplicates", found)
		}
	}
}
