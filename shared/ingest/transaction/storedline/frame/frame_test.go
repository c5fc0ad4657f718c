package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"sluice/sampledata"
)

// magic begins every zstd frame.
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// coder encodes with this package and decodes with the library, with the same dictionary.
type coder struct {
	*Encoder
	decoder *zstd.Decoder
}

func newCoder(t testing.TB, dictionary []byte) coder {
	t.Helper()
	encoder, err := New(dictionary)
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDicts(dictionary))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decoder.Close)
	return coder{encoder, decoder}
}

// decode returns the text of a frame.
func (c coder) decode(frame []byte) ([]byte, error) {
	return c.decoder.DecodeAll(append(bytes.Clone(magic), frame...), nil)
}

// check encodes a text and decodes it again, and returns the frame, nil if the text is not encoded.
func (c coder) check(t testing.TB, text []byte) []byte {
	t.Helper()
	prefix := []byte("prefix")
	out, ok := c.Append(prefix, text)
	frame, found := bytes.CutPrefix(out, prefix)
	if !found || !ok && len(frame) > 0 {
		t.Fatalf("%t, appended to %q: %q", ok, prefix, out)
	}
	if !ok {
		return nil
	}
	if got, err := c.decode(frame); err != nil || !bytes.Equal(got, text) {
		t.Fatalf("read %q, %v; want %q", got, err, text)
	}
	if largest := 4 + blockHeaderSize + len(text); len(frame) > largest {
		t.Errorf("%d bytes became %d", len(text), len(frame))
	}
	return frame
}

// readDictionaryFile returns the dictionary that stored lines have.
func readDictionaryFile(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../dictionaries/1.dict")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// randomBytes returns bytes that cannot be compressed.
func randomBytes(n int) []byte {
	source := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = source.Read(b)
	return b
}

func TestTextsOfEverySize(t *testing.T) {
	dictionary := readDictionaryFile(t)
	c := newCoder(t, dictionary)
	content := c.dictionary.content
	line := bytes.Join(sampledata.Lines(5, 1, 0), []byte("\n"))
	random := randomBytes(MaxText + 1)
	for name, text := range map[string][]byte{
		"lines":                     line,
		"random":                    random,
		"one byte":                  make([]byte, MaxText+1),
		"a digit":                   bytes.Repeat([]byte("7"), MaxText+1),
		"two bytes":                 bytes.Repeat([]byte("ab"), MaxText),
		"the dictionary":            content,
		"the end of the dictionary": content[len(content)-MaxText-1:],
		"its end and its beginning": append(bytes.Clone(content[len(content)-100:]), content...),
		"its first bytes, later":    append(bytes.Clone(random[:50]), content...),
		"random, then a match":      append(bytes.Clone(random[:900]), random[100:]...),
	} {
		t.Run(name, func(t *testing.T) {
			for size := range MaxText {
				if size < 300 || size%97 == 0 || size > MaxText-20 {
					c.check(t, text[:size])
				}
			}
			c.check(t, text[:MaxText])
			if frame := c.check(t, text[:MaxText+1]); frame != nil {
				t.Errorf("a text of %d bytes has a frame", MaxText+1)
			}
		})
	}
}

func TestSmallAlphabets(t *testing.T) {
	c := newCoder(t, readDictionaryFile(t))
	for value := range 256 {
		for _, size := range []int{1, 2, 3, 4, 5, 8, 31, 32, 33, 255, 256, 257, MaxText} {
			c.check(t, bytes.Repeat([]byte{byte(value)}, size))
		}
	}
	numbers := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := make([]byte, numbers.IntN(MaxText+1))
		letters := 1 + numbers.IntN(20)
		for i := range text {
			text[i] = "01\x00\xff\"{}:,abcdeEUR -Z"[numbers.IntN(letters)]
		}
		c.check(t, text)
	}
}

// Texts that the index finds at the first byte of the dictionary, at its last ones, and beyond its end in themselves.
func TestMatchesAtTheEdges(t *testing.T) {
	c := newCoder(t, readDictionaryFile(t))
	content := c.dictionary.content
	first, last := content[:64], content[len(content)-64:]
	for name, text := range map[string][]byte{
		"first byte":             append([]byte("\x80\x81"), first...),
		"last bytes":             append([]byte("\x80\x81"), last...),
		"over the end":           append(bytes.Clone(last), last...),
		"first byte at the end":  append(randomBytes(MaxText/4), first...),
		"after nothing":          bytes.Clone(first),
		"as often as can be":     bytes.Repeat(first, MaxText/len(first)),
		"in the text alone":      bytes.Repeat(randomBytes(100), 10),
		"at a distance of one":   append([]byte("x"), bytes.Repeat([]byte{0x80}, 1000)...),
		"the same again, cut":    append(bytes.Clone(first), first[:33]...),
		"shorter than a string":  append([]byte("\x80"), first[:shortString]...),
		"all but the last bytes": append(bytes.Clone(first), 0x80, 0x81, 0x82, 0x83),
	} {
		t.Run(name, func(t *testing.T) {
			frame := c.check(t, text)
			if frame == nil || name != "shorter than a string" && len(frame) >= len(text) {
				t.Errorf("%d bytes became %d", len(text), len(frame))
			}
		})
	}
}

// A text that has too many literals is left to another encoder.
func TestTooManyLiterals(t *testing.T) {
	c := newCoder(t, readDictionaryFile(t))
	random := randomBytes(maxLiterals + 1)
	if c.check(t, random[:maxLiterals]) == nil {
		t.Errorf("%d literals have no frame", maxLiterals)
	}
	if c.check(t, random) != nil {
		t.Errorf("%d literals have a frame", maxLiterals+1)
	}
}

// variousTexts returns texts for a coder: lines, none, and some that are hard to encode.
func variousTexts(c coder) [][]byte {
	texts := sampledata.Lines(300, 3, 0)
	texts = append(texts, nil, []byte("x"), make([]byte, 1000), randomBytes(500))
	// Texts that end where the text before them goes on as the dictionary does.
	for at := 0; at < 20_000; at += 500 {
		text := append([]byte("\x80\x81"), c.dictionary.content[at:at+40]...)
		texts = append(texts, text, text[:12])
	}
	return texts
}

// The frame of a text does not depend on texts before it.
func TestFramesAreReproducible(t *testing.T) {
	dictionary := readDictionaryFile(t)
	c := newCoder(t, dictionary)
	for i, text := range variousTexts(c) {
		alone, err := New(dictionary)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := alone.Append(nil, text)
		if got, _ := c.Append(nil, text); !bytes.Equal(got, want) {
			t.Errorf("text %d became %x, then %x", i, want, got)
		}
	}
}

// The frame of a text does not depend on others at the same time.
func TestFramesAtTheSameTime(t *testing.T) {
	c := newCoder(t, readDictionaryFile(t))
	texts := variousTexts(c)
	var want [][]byte
	for _, text := range texts {
		frame, _ := c.Append(nil, text)
		want = append(want, frame)
	}
	var running sync.WaitGroup
	for worker := range 4 {
		running.Go(func() {
			for _, i := range rand.New(rand.NewPCG(0, uint64(worker))).Perm(len(texts)) {
				if got, _ := c.Append(nil, texts[i]); !bytes.Equal(got, want[i]) {
					t.Errorf("text %d became %x, then %x", i, want[i], got)
				}
			}
		})
	}
	running.Wait()
}

func TestDictionariesThatCannotBeUsed(t *testing.T) {
	good := readDictionaryFile(t)
	largeID := bytes.Clone(good)
	binary.LittleEndian.PutUint32(largeID[4:], maxID+1)
	for name, dictionary := range map[string][]byte{
		"none":              nil,
		"content alone":     []byte(strings.Repeat("content", 100)),
		"an ID of 2 bytes":  largeID,
		"too large content": append(bytes.Clone(good), make([]byte, maxContent)...),
		"cut":               good[:100],
	} {
		if _, err := New(dictionary); err == nil {
			t.Errorf("%s: a dictionary for which there is no encoder was accepted", name)
		}
	}
}

func FuzzAppend(f *testing.F) {
	c := newCoder(f, readDictionaryFile(f))
	for _, line := range sampledata.Lines(5, 7, 0) {
		f.Add(line)
	}
	f.Add([]byte(fmt.Sprint(make([]int, 200))))
	f.Add(c.dictionary.content[:200])
	f.Add(c.dictionary.content[len(c.dictionary.content)-200:])
	f.Fuzz(func(t *testing.T, text []byte) {
		first := c.check(t, text)
		if again := c.check(t, text); !bytes.Equal(first, again) {
			t.Errorf("%q became %x, then %x", text, first, again)
		}
	})
}
