package names

import (
	"unicode/utf8"
)

// Limits of a name. A longer name is cut, and Splitter.Truncated reports it.
const (
	// MaxBytes is the greatest number of bytes of a name.
	MaxBytes = 4096
	// MaxWords is the greatest number of its words.
	MaxWords = 48
	// maxWordBytes is the greatest number of bytes of a folded word.
	maxWordBytes = 48
)

// abjadMark is the first byte of a folded word from a script without vowels: it distinguishes such a word from a word
// in Latin letters with the same letters.
const abjadMark = '~'

// Splitter folds names into words of lower-case ASCII letters and digits. Letters that cannot be romanized stay
// unchanged. It is reused for many names and not safe for concurrent use.
type Splitter struct {
	fold *foldings
	buf  []byte
	ends []int32
	// sources are the places of the words in the name; parts of one word have the same place.
	sources []source
	// Truncated reports whether the name exceeded the limits.
	Truncated bool
	word      wordState
}

// source is a range of the bytes of a name.
type source struct{ start, end int32 }

// wordState is the state of the word being read.
type wordState struct {
	start int
	// source is the beginning of the word in the name.
	source              source
	isStarted           bool
	latin, other, abjad int
	// afterLower reports that the preceding byte was a lower-case letter of ASCII.
	afterLower bool
	// isVowelOpen reports that the vowel of the last Indic consonant is still unknown.
	isVowelOpen bool
}

// NewSplitter returns a splitter.
func NewSplitter() *Splitter { return &Splitter{fold: loadFoldings()} }

// Len returns the number of words of the name.
func (s *Splitter) Len() int { return len(s.ends) }

// Word returns a word of the name, valid until the next call of Split.
func (s *Splitter) Word(i int) []byte {
	start := int32(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.buf[start:s.ends[i]]
}

// Source returns the range of a word in the name's bytes.
func (s *Splitter) Source(i int) (start, end int) {
	return int(s.sources[i].start), int(s.sources[i].end)
}

// asciiClass is 0 for separators, 1 for dropped characters, and otherwise the letter or digit in lower case.
var asciiClass = func() (t [128]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c] = c
		t[c-'a'+'A'] = c
	}
	t['\''], t['`'] = 1, 1
	return t
}()

// Split folds a name.
func (s *Splitter) Split(name string) {
	s.buf, s.ends, s.sources, s.Truncated, s.word = s.buf[:0], s.ends[:0], s.sources[:0], false, wordState{}
	if len(name) > MaxBytes {
		name, s.Truncated = name[:MaxBytes], true
	}
	for i := 0; i < len(name); {
		c := name[i]
		if c >= utf8.RuneSelf {
			i += s.addRune(name, i)
			continue
		}
		switch folded := asciiClass[c]; folded {
		case 0:
			s.endWord(name, i)
		case 1:
			s.word.afterLower = false
		default:
			if s.word.afterLower && c <= 'Z' && c >= 'A' {
				s.endWord(name, i)
			}
			s.startWord(i)
			s.buf = append(s.buf, folded)
			s.word.latin++
			s.word.afterLower = c >= 'a'
		}
		i++
		if len(s.ends) == MaxWords {
			s.Truncated = s.Truncated || i < len(name)
			break
		}
	}
	s.endWord(name, len(name))
	s.joinInitials()
}

func (s *Splitter) startWord(source int) {
	if !s.word.isStarted {
		s.word.source.start, s.word.isStarted = int32(source), true
	}
}

// addRune adds the rune at a place of the name and returns its length.
func (s *Splitter) addRune(name string, i int) int {
	r, size := utf8.DecodeRuneInString(name[i:])
	if r >= 0x0900 && r < 0x0d80 {
		s.addIndic(name, i, r)
		return size
	}
	switch f := s.fold.get(r); f {
	case separator:
		s.endWord(name, i)
	case dropped:
		s.word.afterLower = false
		if r >= 0x0590 && r < 0x0700 && !isMark(r) {
			s.startWord(i)
			s.word.abjad++
		}
	case kept:
		s.startWord(i)
		s.buf = append(s.buf, name[i:i+size]...)
		s.word.other++
		s.word.afterLower = false
	case hangul:
		s.endWord(name, i)
		s.startWord(i)
		s.addSyllable(int(r - 0xac00))
		s.endWord(name, i+size)
	default:
		s.startWord(i)
		s.buf = f.appendTo(s.buf)
		s.word.afterLower = false
		switch {
		case r < 0x0370 || r >= 0x1d400 || r >= 0x1e00 && r < 0x1f00 || r >= 0xff00:
			s.word.latin++
		case r >= 0x0590 && r < 0x0780 || r >= 0xfb1d && r < 0xff00:
			s.word.abjad++
		default:
			s.word.other++
		}
	}
	return size
}

// isMark reports whether a dropped rune of the Arabic or Hebrew block is a mark and not a letter.
func isMark(r rune) bool { return r != 'ء' }

// addSyllable adds a syllable of Hangul.
func (s *Splitter) addSyllable(n int) {
	if vowel, isAlone := loneVowels[n]; isAlone {
		s.buf = append(s.buf, vowel...)
		s.word.other++
		return
	}
	s.buf = append(s.buf, hangulInitials[n/588]...)
	s.buf = append(s.buf, hangulVowels[n%588/28]...)
	s.buf = append(s.buf, hangulFinals[n%28]...)
	s.word.other++
}

// addIndic adds a letter of an Indic script. A consonant has the vowel a unless a vowel sign, a virama or the end of
// the word follows.
func (s *Splitter) addIndic(name string, i int, r rune) {
	offset := (r - 0x0900) & 0x7f
	isConsonant := offset >= 0x15 && offset <= 0x39 || offset >= 0x58 && offset <= 0x5f
	isSign := offset >= 0x3e && offset <= 0x4d
	f := s.fold.get(r)
	if f == separator {
		s.endWord(name, i)
		return
	}
	s.startWord(i)
	if s.word.isVowelOpen && !isSign && offset != 0x3c {
		s.buf = append(s.buf, 'a')
		s.word.isVowelOpen = false
	}
	switch {
	case offset == 0x3c:
		return
	case isSign:
		s.word.isVowelOpen = false
	case isConsonant:
		s.word.isVowelOpen = true
	}
	if f.isLetters() {
		s.buf = f.appendTo(s.buf)
	} else if f == kept {
		s.buf = utf8.AppendRune(s.buf, r)
	}
	s.word.other++
}

// endWord ends the current word, if there is one.
func (s *Splitter) endWord(name string, end int) {
	w := s.word
	if w.latin > 0 && w.other > 0 {
		s.foldLookalikes(name[w.source.start:end], w)
	}
	s.word = wordState{start: w.start}
	if len(s.buf) == w.start || len(s.ends) >= MaxWords {
		s.buf = s.buf[:w.start]
		return
	}
	s.word.source = source{w.source.start, int32(end)}
	if w.abjad > 0 && w.latin == 0 && w.other == 0 {
		s.endAbjad(w.start)
	} else {
		if w.abjad > 0 {
			s.spellAbjad(w.start)
		}
		s.endLatin(w.start)
	}
	s.word = wordState{start: len(s.buf)}
}

// foldLookalikes folds a word of mixed scripts again. If it is mostly Latin, letters that look like Latin ones become
// Latin.
func (s *Splitter) foldLookalikes(source string, w wordState) {
	if w.latin < w.other {
		return
	}
	s.buf = s.buf[:w.start]
	for _, r := range source {
		f := s.fold.get(r)
		lower := r
		if r >= 0x0391 && r <= 0x042f {
			lower = r + 0x20
		}
		if like := s.fold.lookalikes[lower]; like != 0 {
			f = like
		}
		if f.isLetters() {
			s.buf = f.appendTo(s.buf)
		}
	}
}

// push ends a word of at most maxWordBytes, beginning at start.
func (s *Splitter) push(start int) {
	if len(s.buf)-start > maxWordBytes {
		s.buf, s.Truncated = s.buf[:start+maxWordBytes], true
	}
	if len(s.buf) > start && len(s.ends) < MaxWords {
		s.ends = append(s.ends, int32(len(s.buf)))
		s.sources = append(s.sources, s.word.source)
		return
	}
	s.buf = s.buf[:start]
}

// insertBreak splits the last word in the buffer: the part after at becomes the next word.
func (s *Splitter) insertBreak(start, at int) {
	if len(s.ends) < MaxWords && at > start {
		s.ends = append(s.ends, int32(at))
		s.sources = append(s.sources, s.word.source)
	}
}

// foldWords returns the words of a text.
func foldWords(text string) []string {
	s := NewSplitter()
	s.Split(text)
	words := make([]string, s.Len())
	for i := range words {
		words[i] = string(s.Word(i))
	}
	return words
}
