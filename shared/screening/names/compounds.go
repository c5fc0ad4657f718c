package names

import "bytes"

var (
	servantPrefixes = [][]byte{
		[]byte("abdul"), []byte("abdal"), []byte("abdel"), []byte("abdol"), []byte("abdur"), []byte("abdus"),
		[]byte("abdir"),
		[]byte("abdil"), []byte("abdoul"), []byte("abduul"), []byte("abddul"), []byte("abbdul"), []byte("abdl"),
	}
	faithSuffixes = [][]byte{
		[]byte("uddin"), []byte("eddin"), []byte("addin"), []byte("iddin"), []byte("uddine"), []byte("eddine"),
		[]byte("addine"),
		[]byte("oddin"), []byte("ouddin"), []byte("aldin"), []byte("eldin"), []byte("uldin"), []byte("udin"),
		[]byte("ouddine"), []byte("oudine"),
	}
)

// endLatin ends a word in Latin letters. Compound names of Arabic origin are written in one word or in several; they
// are split: "abdulrahman" is "abd rahman", "salahuddin" is "salah din".
func (s *Splitter) endLatin(start int) {
	w := s.buf[start:]
	if len(w) >= 3 && w[0] == 'a' && w[1] == 'd' && w[2] == 'b' {
		w[1], w[2] = 'b', 'd' // only an exchange of letters gives such a beginning
	}
	if string(w) == "badul" || string(w) == "bdul" || string(w) == "abdu" {
		s.pushText(start, "abd") // nor is any of these a name
		return
	}
	if len(w) >= 7 && w[0] == 'e' && w[1] == w[2] && bytes.IndexByte([]byte("dnrstz"), w[1]) >= 0 && w[3] == 'a' {
		n := copy(w, w[2:]) // the assimilated article before some consonants: "Essaadi"
		s.buf = s.buf[:start+n]
		w = s.buf[start:]
	}
	if len(w) >= 4 && w[0] == 'a' && w[1] == 'b' && w[2] == 'd' {
		s.endServant(start)
		return
	}
	if len(w) == 5 && string(w) == "allah" && s.Len() > 0 && string(s.Word(s.Len()-1)) == "abd" {
		s.mergeServantOfGod()
		return
	}
	if n := len(w); n >= 5 && (w[n-1] == 'n' || w[n-1] == 'e') {
		for _, suffix := range faithSuffixes {
			if !bytes.HasSuffix(w, suffix) {
				continue
			}
			if stem := n - len(suffix); stem >= 3 && (len(suffix) > 4 || stem >= 4) {
				s.buf = append(s.buf[:start+stem], "din"...)
				s.insertBreak(start, start+stem)
				s.push(start + stem)
				return
			} else if stem == 0 {
				s.buf = append(s.buf[:start], "din"...)
				break
			}
		}
	}
	s.push(start)
}

// endServant ends a word that begins with "abd", servant (of God, by one of his names).
func (s *Splitter) endServant(start int) {
	w := s.buf[start:]
	for _, prefix := range servantPrefixes {
		if !bytes.HasPrefix(w, prefix) {
			continue
		}
		rest := w[len(prefix):]
		switch {
		case len(rest) == 0:
			s.buf = s.buf[:start+3]
			s.push(start)
			return
		case string(rest) == "lah" || string(rest) == "la":
			s.buf = append(s.buf[:start], "abdullah"...)
			s.push(start)
			return
		case len(rest) >= 3:
			n := copy(s.buf[start+3:], rest)
			s.buf = s.buf[:start+3+n]
			s.insertBreak(start, start+3)
			s.push(start + 3)
			return
		}
	}
	s.push(start)
}

// mergeServantOfGod replaces the words "abd" and "allah" by their usual single word.
func (s *Splitter) mergeServantOfGod() {
	last := len(s.ends) - 1
	s.word.source.start = s.sources[last].start
	s.ends, s.sources = s.ends[:last], s.sources[:last]
	start := 0
	if n := len(s.ends); n > 0 {
		start = int(s.ends[n-1])
	}
	s.buf = append(s.buf[:start], "abdullah"...)
	s.push(start)
}

// abjadWords are short words of Arabic and Hebrew with their forms in Latin letters.
var abjadWords = map[string]string{
	"bn": "bin", "abn": "ibn", "Abd": "abd", "abw": "abu", "aby": "abu", "al": "al", "bnt": "bint", "wld": "ould",
	"am": "umm",
	"bw": "abu", "Abdallh": "abdullah", "Abdlh": "abdullah", "Abdllh": "abdullah", "Abdullh": "abdullah",
	"aldyn": "din", "dyn": "din", "allh": "~Alh",
}

// abjadSuffixes are the second parts of compound names in one word or in two.
var abjadSuffixes = []struct{ letters, word string }{
	{"aldyn", "din"}, {"alrKmn", "~rKmn"}, {"alrKman", "~rKman"}, {"alKq", "~Kq"},
}

// endAbjad ends a word of a script without vowels.
func (s *Splitter) endAbjad(start int) {
	w := bytes.Clone(s.buf[start:])
	if string(w) == "allh" && s.Len() > 0 && string(s.Word(s.Len()-1)) == "abd" {
		s.mergeServantOfGod()
		return
	}
	if text, found := abjadWords[string(w)]; found {
		s.pushText(start, text)
		return
	}
	if len(w) >= 7 && bytes.HasPrefix(w, []byte("Abdal")) { // abd al-
		s.pushText(start, "abd")
		s.pushAbjad(len(s.buf), w[5:])
		return
	}
	switch {
	case len(w) >= 6 && bytes.HasPrefix(w, []byte("wal")): // and the
		s.pushText(start, "wa")
		start, w = len(s.buf), w[3:]
	case len(w) >= 5 && w[0] == 'l' && w[1] == 'l': // for the
		w = w[2:]
	case len(w) >= 4 && w[0] == 'a' && w[1] == 'l': // the article
		w = w[2:]
	}
	if stem, found := bytes.CutSuffix(w, []byte("allh")); found && len(stem) >= 2 {
		w = append(stem, "Alh"...) // the vowel before the name of God is any
	}
	for _, suffix := range abjadSuffixes {
		if stem, found := bytes.CutSuffix(w, []byte(suffix.letters)); found && len(stem) >= 2 {
			s.pushAbjad(start, stem)
			s.pushText(len(s.buf), suffix.word)
			return
		}
	}
	s.pushAbjad(start, w)
}

// pushAbjad replaces the text from start on by a word of the given letters of a script without vowels.
func (s *Splitter) pushAbjad(start int, letters []byte) {
	s.buf = append(append(s.buf[:start], abjadMark), letters...)
	s.push(start)
}

// pushText replaces the text from start on by a word.
func (s *Splitter) pushText(start int, word string) {
	s.buf = append(s.buf[:start], word...)
	s.push(start)
}

// abjadLetters are the Latin forms of the capitals of letters.go.
var abjadLetters = [128]string{
	'A': "a", 'C': "ch", 'D': "d", 'G': "gh", 'H': "a", 'S': "sh", 'T': "th", 'X': "kh", 'Y': "a", 'Z': "zh",
}

// spellAbjad romanizes the letters of scripts without vowels in a word of mixed scripts.
func (s *Splitter) spellAbjad(start int) {
	w := bytes.Clone(s.buf[start:])
	s.buf = s.buf[:start]
	for _, c := range w {
		if c < 0x80 && abjadLetters[c] != "" {
			s.buf = append(s.buf, abjadLetters[c]...)
		} else {
			s.buf = append(s.buf, c)
		}
	}
}

// joinInitials joins three or more consecutive words of one letter, which are an abbreviation: "L.X.C" is "lxc".
func (s *Splitter) joinInitials() {
	for i := 0; i+2 < s.Len(); i++ {
		n := i
		for n < s.Len() && len(s.Word(n)) == 1 {
			n++
		}
		if n-i < 3 {
			continue
		}
		s.sources[n-1].start = s.sources[i].start
		s.ends = append(s.ends[:i], s.ends[n-1:]...)
		s.sources = append(s.sources[:i], s.sources[n-1:]...)
	}
}

// minJoinConsonants is the least number of consonants of joins that correspond to other words.
const minJoinConsonants = 3

// JoinSimilarity returns the similarity of two words, at least one of them joined from two: apart from spaces, they
// must be nearly equal, with the same consonants and, where vowels are written, vowels at the same places.
func JoinSimilarity(a, b *Word) (int, Kind) {
	if a.IsSame(b) {
		return Equal, Joined
	}
	if (a.flags|b.flags)&isForeign != 0 || min(a.consonants[0], b.consonants[0]) < minJoinConsonants {
		return 0, Different
	}
	if (a.flags^b.flags)&isAbjad != 0 {
		// One less is enough, because differences are cut to whole thousandths.
		if s, kind := acrossScripts(a, b, minScriptJoinSimilarity-1); kind == Script && s >= minScriptJoinSimilarity {
			return s, Joined
		}
		return 0, Different
	}
	if a.shape() != b.shape() {
		return 0, Different
	}
	if s := 1000 - soundCost(a, b, 1000-minJoinSimilarity); s >= minJoinSimilarity {
		return s, Joined
	}
	return 0, Different
}

// shape returns a hash of the classes of the consonants and of the places of the vowels.
func (w *Word) shape() uint64 {
	h, _ := w.countShape()
	return h
}

// countShape returns the shape and the number of its classes.
func (w *Word) countShape() (h uint64, n uint8) {
	before := byte(0)
	for _, c := range w.sounds[:w.n] {
		class := shapeClass[c&0x7f]
		if class == before && class == 'a' { // rare, so that the processor predicts it
			continue
		}
		before = class
		h = h*hashBase + uint64(class)
		n++
	}
	return h, n
}

// shapeClass is the class of a sound in a shape.
var shapeClass = func() (t [128]byte) {
	for c := range t {
		if t[c] = skeletonClass[c]; t[c] == 0 {
			t[c] = byte(c)
		}
		if isVowel(byte(c)) {
			t[c] = 'a'
		}
	}
	return t
}()

// joinHash returns the hash of two texts written as one. The length is the second text's.
func joinHash(a, b uint64, length uint8) uint64 { return a*hashPowers[min(length, maxWordBytes)] + b }

// isOneSound reports whether the last sound of a word and the first sound of the next become one in their join.
func isOneSound(last, first byte) bool { return last == first && !isVowel(first) }

// isRepeatedConsonant reports whether a doubled sound was counted as a consonant in both skeletons.
func isRepeatedConsonant(c byte) bool { return skeletonClass[c] != 0 && c != soundJ }

// Join returns two neighbouring words as if they were written as one.
func Join(a, b *Word) Word {
	w := Word{
		Hash: joinHash(a.Hash, b.Hash, b.length),
		flags: (a.flags|b.flags)&(isAbjad|isForeign) | a.flags&(beginsWithVowel|secondBeginsWithVowel) |
			b.flags&(endsWithVowel|secondEndsWithVowel),
		length: min(a.length+b.length, maxWordBytes),
		first:  a.first,
	}
	if w.flags&isForeign != 0 || (a.class|b.class)&classNumber != 0 {
		return w // numbers have one spelling
	}
	n := copy(w.sounds[:], a.sounds[:a.n])
	second := b.sounds[:b.n]
	isDoubled := len(second) > 0 && n > 0 && isOneSound(w.sounds[n-1], second[0])
	if isDoubled {
		second = second[1:]
	}
	w.n = uint8(n + copy(w.sounds[n:], second))
	for i := range w.skeletons {
		// The first consonant of b is not repeated if a ends with it.
		rest, count := b.skeletons[i], b.consonants[i]
		if isDoubled && isRepeatedConsonant(b.sounds[0]) {
			count--
			rest -= uint64(skeletonClass[b.sounds[0]]) * hashPowers[count]
		}
		w.skeletons[i] = a.skeletons[i]*hashPowers[count] + rest
		w.consonants[i] = a.consonants[i] + count
	}
	return w
}
