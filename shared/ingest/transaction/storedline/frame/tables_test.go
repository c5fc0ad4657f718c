package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"

	"sluice/sampledata"
)

// buildDictionaries returns dictionaries whose tables differ: of lines, of few and of many letters, and of long
// matches.
func buildDictionaries(t *testing.T) map[string][]byte {
	t.Helper()
	numbers := rand.New(rand.NewPCG(5, 6))
	words := func(letters, length int) (texts [][]byte) {
		for range 400 {
			var text []byte
			for len(text) < 500 {
				word := make([]byte, 1+numbers.IntN(length))
				for i := range word {
					word[i] = byte(numbers.IntN(1+numbers.IntN(letters)) + 'A')
				}
				text = append(text, bytes.Repeat(word, 1+numbers.IntN(4))...)
			}
			texts = append(texts, text)
		}
		return texts
	}
	all := map[string][]byte{"stored lines": readDictionaryFile(t)}
	for name, texts := range map[string][][]byte{
		"lines": sampledata.Lines(400, 21, 0), "few letters": words(4, 6),
		"many letters": words(190, 20), "long": words(30, 200),
	} {
		dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{
			ID: 9, Contents: texts, History: bytes.Join(texts[:20], nil), Offsets: [3]int{1, 4, 8},
			Level: zstd.SpeedFastest,
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = dictionary
	}
	return all
}

// Literals are written as the library writes them with the same dictionary.
func TestLiteralsAreThoseOfTheLibrary(t *testing.T) {
	for name, dictionary := range buildDictionaries(t) {
		t.Run(name, func(t *testing.T) {
			inspected, err := zstd.InspectDictionary(dictionary)
			if err != nil {
				t.Fatal(err)
			}
			d, err := readDictionary(dictionary)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for n := range 400 {
				text := d.content[n : 2*n+30]
				scratch := &huff0.Scratch{Reuse: huff0.ReusePolicyMust}
				scratch.TransferCTable(inspected.LitEncoder())
				want, _, err := huff0.Compress1X(text, scratch)
				if err != nil {
					continue // the library finds that it does not pay, or a byte has no code
				}
				compared++
				var out [2 * maxFrame]byte
				got := out[:d.literals.write(out[:], 0, text)]
				if size, ok := d.literals.sizeOf(text); !bytes.Equal(got, want) || size != len(want) || !ok {
					t.Fatalf("%q became %x with a size of %d, %t; want %x", text, got, size, ok, want)
				}
			}
			if compared < 100 {
				t.Errorf("only %d texts were compared", compared)
			}
		})
	}
}

// Sequences of every length and offset that a text can have are read by the library as they were meant, whatever tables
// the dictionary has.
func TestSequencesAreReadByTheLibrary(t *testing.T) {
	for name, dictionary := range buildDictionaries(t) {
		t.Run(name, func(t *testing.T) {
			c := newCoder(t, dictionary)
			numbers := rand.New(rand.NewPCG(7, 8))
			modes := map[byte]int{}
			for range 3000 {
				b, text := randomSequences(c.dictionary, numbers)
				frame := b.frame[:c.write(b, text)]
				if got, err := c.decode(frame); err != nil || !bytes.Equal(got, text) {
					t.Fatalf("read %q, %v; want %q from %+v", got, err, text, b.sequences)
				}
				if len(frame) < len(text) {
					modes[c.dictionary.choose(b.sequences).modes]++
				}
			}
			const repeatAll = 3<<6 | 3<<4 | 3<<2
			if modes[repeatAll] == 0 || len(modes) < 2 {
				t.Errorf("frames by modes of their tables: %v; want some with and some without the dictionary's", modes)
			}
		})
	}
}

// The number of sequences has one byte up to 127, and two from there on.
func TestNumbersOfSequences(t *testing.T) {
	c := newCoder(t, readDictionaryFile(t))
	for _, count := range []int{0, 1, 126, 127, 128, 129, 255, 256, 257, MaxText / 4} {
		b, text := new(buffers), []byte(nil)
		offsets := c.dictionary.offsets
		for i := range count {
			b.literals = append(b.literals, 'e')
			b.sequences = append(b.sequences, newSequence(1, minMatch, offsets.use(uint32(1+i%2*3), 1)))
			text = append(text, "eeee"...)
		}
		frame := b.frame[:c.write(b, text)]
		if got, err := c.decode(frame); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d sequences: read %q, %v; want %q", count, got, err, text)
		}
		if count > 100 && len(frame) >= len(text) {
			t.Errorf("%d sequences: the frame is raw", count)
		}
	}
}

// randomSequences returns buffers with sequences and literals, and the text that they stand for.
func randomSequences(d *dictionary, numbers *rand.Rand) (b *buffers, text []byte) {
	b = new(buffers)
	window := bytes.Clone(d.content)
	offsets := d.offsets
	limit := []int{4, 40, 400, 2000}[numbers.IntN(4)]
	for {
		literals := numbers.IntN(limit)
		length := minMatch + numbers.IntN(limit)
		if numbers.IntN(2) == 0 {
			literals = numbers.IntN(3)
		}
		if len(b.literals)+literals > maxLiterals || len(window)-len(d.content)+literals+length > MaxText {
			break
		}
		for range literals {
			window = append(window, d.content[numbers.IntN(len(d.content))])
		}
		b.literals = append(b.literals, window[len(window)-literals:]...)
		distance := 1 + numbers.IntN(len(window))
		if i := numbers.IntN(4); i < len(offsets) {
			distance = int(offsets[i])
		}
		b.sequences = append(b.sequences, newSequence(literals, length, offsets.use(uint32(distance), literals)))
		for range length {
			window = append(window, window[len(window)-distance])
		}
	}
	return b, window[len(d.content):]
}

// Whatever the tables of a dictionary are damaged to, there is no encoder, or the library reads what it writes.
func TestDamagedTables(t *testing.T) {
	good := readDictionaryFile(t)
	inspected, err := zstd.InspectDictionary(good)
	if err != nil {
		t.Fatal(err)
	}
	line := sampledata.Lines(1, 4, 0)[0]
	refused, used := 0, 0
	for at := 8; at < len(good)-inspected.ContentSize()-12; at++ {
		for bit := range 8 {
			damaged := bytes.Clone(good)
			damaged[at] ^= 1 << bit
			if _, err := New(damaged); err != nil {
				refused++
				continue
			}
			used++
			t.Run(fmt.Sprintf("byte %d bit %d", at, bit), func(t *testing.T) { newCoder(t, damaged).check(t, line) })
		}
	}
	if refused == 0 || used == 0 {
		t.Errorf("%d dictionaries were refused and %d used, want some of both", refused, used)
	}
}
