package names

// maxSounds is the number of sounds of a word that are compared.
const maxSounds = 20

// Word is what the comparison of a folded word needs. It depends on nothing but the word's text, and has no pointers and
// the same layout on every machine, so that an index can store words as they are.
type Word struct {
	// Hash is that of the text. Words of different texts have different hashes, as far as 64 bits go.
	Hash uint64
	// skeletons are hashes of the word's consonants, reduced to classes of those that languages exchange. The second is
	// that without doubtful ones; it equals the first if there are none.
	skeletons [2]uint64
	// sounds[:n] is how the word sounds: one byte for each vowel and consonant, whatever the spelling.
	sounds   [maxSounds]byte
	concepts [maxConcepts]uint16
	class    class
	// Weight is what the word says about who is meant, in hundredths of an ordinary word, by Mode.
	Weight [Modes]uint16
	n      uint8
	// length is the number of letters.
	length uint8
	// consonants are the numbers of consonants in the skeletons.
	consonants [2]uint8
	// first is the first letter of the word if it is one of a to z; otherwise 0.
	first byte
	flags flags
	_     [2]uint8
}

type flags uint8

const (
	// isInitial words are one letter.
	isInitial flags = 1 << iota
	// isAbjad words are from a script without vowels.
	isAbjad
	// isForeign words have letters that are not romanized.
	isForeign
	// beginsWithVowel and endsWithVowel are about what the first skeleton leaves out at its ends; twice as much about
	// the second.
	beginsWithVowel
	endsWithVowel
	secondBeginsWithVowel
	secondEndsWithVowel
)

// vowelEnds are the flags of a skeleton.
var vowelEnds = [2][2]flags{{beginsWithVowel, endsWithVowel}, {secondBeginsWithVowel, secondEndsWithVowel}}

// Mode is the kind of name that words belong to.
type Mode uint8

const (
	// Person is the name of a person.
	Person Mode = iota
	// Organisation is the name of anything else.
	Organisation
	modes
)

// Modes is the number of modes.
const Modes = int(modes)

// NewWord analyses a folded word, as Splitter returns it.
func NewWord(folded []byte) Word {
	m := loadTables().words[string(folded)]
	w := Word{class: m.class, concepts: m.concepts}
	letters := folded
	if len(letters) > 0 && letters[0] == abjadMark {
		w.flags, letters = isAbjad, letters[1:]
	}
	for _, c := range letters {
		w.Hash = w.Hash*hashBase + uint64(c)
		if c >= 0x80 {
			w.flags |= isForeign
		}
	}
	w.length = uint8(len(letters))
	if len(folded) > 0 && folded[0] >= 'a' && folded[0] <= 'z' {
		w.first = folded[0]
		if len(folded) == 1 {
			w.flags |= isInitial
		}
	}
	if w.flags&isForeign == 0 {
		w.n = uint8(len(appendSounds(w.sounds[:0], letters, w.flags&isAbjad != 0)))
		w.setSkeletons()
	}
	w.setWeights(string(folded))
	return w
}

// IsInitial reports whether the word is one letter.
func (w *Word) IsInitial() bool { return w.flags&isInitial != 0 }

// IsShort reports whether the word has few sounds, as syllables of Chinese and Korean names have.
func (w *Word) IsShort() bool { return w.n <= shortWord+1 && w.flags&isAbjad == 0 }

// IsForm reports whether the word is an organisation form by itself.
func (w *Word) IsForm() bool { return w.class&classForm != 0 }

// IsFormStart reports whether the word begins an organisation form of several words.
func (w *Word) IsFormStart() bool { return w.class&classFormStart != 0 }

// IsTelling reports whether the word says who is meant: it is not a title, a particle, a stop word or an initial.
func (w *Word) IsTelling(m Mode) bool {
	if m == Person {
		return w.class&(classTitle|classParticle) == 0 && !w.IsInitial()
	}
	return w.class&classStop == 0 && !w.IsInitial()
}

// Weights of words in hundredths.
const (
	weightOrdinary  = 100
	weightCommon    = 75
	weightShort     = 85
	weightPatronym  = 45
	weightInitial   = 30
	weightParticle  = 12
	weightServant   = 45
	weightTitle     = 8
	weightStop      = 10
	weightGeneric   = 45
	weightTrade     = 65
	weightOneLetter = 30
	weightNumber    = 30
)

func (w *Word) setWeights(text string) {
	length := int(w.n)
	if w.flags&isForeign != 0 {
		length = len(text) / 2
	}
	base := uint16(weightOrdinary)
	if length <= 3 && w.flags&isAbjad == 0 && !isNumber(text) {
		base = weightShort
	}
	person, organisation := base, base
	switch {
	case w.IsInitial():
		person, organisation = weightInitial, weightOneLetter
	case w.class&classTitle != 0:
		person = weightTitle
	case text == "abd":
		person = weightServant // the servant of someone is not that one
	case w.class&classParticle != 0:
		person = weightParticle
	case w.class&classCommon != 0:
		person = weightCommon
	case isPatronym(text):
		person = weightPatronym
	}
	switch {
	case w.IsInitial():
	case isNumber(text) || isRoman(text):
		organisation = weightNumber
	case w.class&classStop != 0:
		organisation = weightStop
	case w.class&classGeneric != 0:
		organisation = weightGeneric
	case w.class&classTrade != 0:
		organisation = weightTrade
	}
	w.Weight = [Modes]uint16{Person: person, Organisation: organisation}
}

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// isRoman reports whether a word is a number of Roman numerals from II on, as names of funds and ships have it.
func isRoman(text string) bool {
	if len(text) < 2 || len(text) > 5 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c != 'i' && c != 'v' && c != 'x' {
			return false
		}
	}
	return true
}

var patronymEndings = []string{"ovich", "evich", "ovych", "evych", "yovych", "ovna", "evna", "ivna", "yivna", "ovic", "evic", "ovitch",
	"evitch", "owicz", "ewicz", "ovits", "avich", "auna", "eevna", "ichna", "inichna", "ievich", "ievna"}

// isPatronym reports whether a word is a patronym of Russian, Ukrainian or Belarusian.
func isPatronym(text string) bool {
	if len(text) < 7 {
		return false
	}
	for _, ending := range patronymEndings {
		if len(text) > len(ending) && text[len(text)-len(ending):] == ending {
			return true
		}
	}
	return false
}

// Sounds of several letters. Vowels are aeiou, w is a semivowel, and i stands for y as well.
const (
	soundSh = 'S'
	soundZh = 'Z'
	soundCh = 'C'
	soundKh = 'X'
	soundTs = 'c'
	soundJ  = 'J'
)

// spelling is a group of letters and the sounds it is read as.
type spelling struct {
	letters string
	sounds  string
}

// spellings are the groups of several letters, by their first letter, the longest first.
var spellings = func() (t [128][]spelling) {
	for _, s := range []spelling{
		{"shch", "S"}, {"stch", "S"}, {"sch", "S"}, {"sh", "S"}, {"sj", "S"}, {"zh", "Z"}, {"zj", "Z"}, {"dzh", "J"}, {"dsch", "J"},
		{"dj", "J"}, {"dz", "z"}, {"kh", "X"}, {"gh", "g"}, {"tsch", "C"}, {"tch", "C"}, {"tsj", "C"}, {"tj", "C"}, {"ch", "C"},
		{"cz", "C"}, {"ck", "k"}, {"cq", "k"}, {"ph", "f"}, {"pf", "f"}, {"th", "t"}, {"dh", "d"}, {"bh", "b"},
		{"jh", "J"}, {"ts", "c"}, {"tz", "c"}, {"ce", "se"}, {"ci", "si"}, {"cy", "si"}, {"qu", "k"}, {"q", "k"}, {"x", "ks"},
		{"c", "k"}, {"j", "J"}, {"y", "i"}, {"ou", "u"}, {"oo", "u"}, {"ee", "i"}, {"ije", "ie"}, {"0", "0"},
	} {
		t[s.letters[0]] = append(t[s.letters[0]], s)
	}
	return t
}()

// appendSounds appends the sounds of lower-case letters, at most maxSounds of them in all.
func appendSounds(b, letters []byte, isAbjad bool) []byte {
	hasLetters := 0
	for _, c := range letters {
		if c >= 'a' {
			hasLetters++
		}
	}
	start := len(b)
	for i := 0; i < len(letters) && len(b)-start < maxSounds-1; {
		c := letters[i]
		if hasLetters >= 3 && c <= '9' && i > 0 && i+1 < len(letters) && letters[i-1] > '9' && letters[i+1] > '9' {
			c = digitLookalike(c)
		}
		size, sounds := 1, ""
		for _, s := range spellings[c&0x7f] {
			if (len(s.letters) == 1 || !isAbjad || isDigraph(s.letters)) && hasPrefix(letters[i:], s.letters, c) {
				size, sounds = len(s.letters), s.sounds
				break
			}
		}
		if sounds == "" {
			b = appendSound(b, start, c)
		} else {
			for j := range len(sounds) {
				b = appendSound(b, start, sounds[j])
			}
		}
		i += size
	}
	// A final h after a vowel is only a way to write the vowel.
	if n := len(b) - start; n >= 3 && b[len(b)-1] == 'h' && (isVowel(b[len(b)-2]) || isAbjad) {
		b = b[:len(b)-1]
	}
	return b
}

// isDigraph reports whether a group of letters is one letter of an abjad.
func isDigraph(letters string) bool { return len(letters) == 2 && letters[1] == 'h' || letters == "ts" }

// hasPrefix reports whether letters, of which the first is to be read as first, begin with a prefix.
func hasPrefix(letters []byte, prefix string, first byte) bool {
	return len(letters) >= len(prefix) && first == prefix[0] && string(letters[1:len(prefix)]) == prefix[1:]
}

// appendSound appends a sound unless it repeats the preceding one.
func appendSound(b []byte, start int, sound byte) []byte {
	if len(b) > start && b[len(b)-1] == sound && sound >= 'A' || len(b)-start >= maxSounds {
		return b
	}
	return append(b, sound)
}

// digitLookalike returns the letter that a digit inside a word stands for.
func digitLookalike(c byte) byte {
	switch c {
	case '0':
		return 'o'
	case '1':
		return 'i'
	case '3':
		return 'e'
	case '4':
		return 'a'
	case '5':
		return 's'
	case '7':
		return 't'
	}
	return c
}

func isVowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }

// skeletonClass is the class of a consonant in a skeleton; 0 for sounds that are left out.
var skeletonClass = func() (t [128]byte) {
	for _, c := range []string{"bp", "d", "t", "fv", "hgX", "k", "l", "m", "n", "r", "szSZCcJ"} {
		for i := range len(c) {
			t[c[i]] = c[0]
		}
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// setSkeletons computes the skeletons. The letters J and w are consonants in some languages and vowels in others, so
// that a word with one of them has two. In a script without vowels, w is a consonant where a vowel follows it.
func (w *Word) setSkeletons() {
	sounds := w.sounds[:w.n]
	if n := len(sounds); n > 2 && sounds[n-1] == 'h' {
		sounds = sounds[:n-1]
	}
	for i, c := range sounds {
		class := skeletonClass[c]
		isDoubtful := c == soundJ
		if c == 'w' {
			class, isDoubtful = 'f', true
			if w.flags&isAbjad != 0 && i > 0 && (i+1 == len(sounds) || !isVowel(sounds[i+1]) && sounds[i+1] != 'w') {
				class = 0
			}
		}
		if i > 0 && i == len(sounds)-1 && c == 'e' {
			continue // mute in many languages
		}
		w.addConsonant(0, class, i, len(sounds))
		if isDoubtful {
			class = 0
		}
		w.addConsonant(1, class, i, len(sounds))
	}
}

// addConsonant adds the consonant at place i of n to a skeleton; a class of 0 is a vowel.
func (w *Word) addConsonant(skeleton int, class byte, i, n int) {
	if class != 0 {
		w.skeletons[skeleton] = w.skeletons[skeleton]*hashBase + uint64(class)
		w.consonants[skeleton]++
		return
	}
	if i == 0 {
		w.flags |= vowelEnds[skeleton][0]
	}
	if i == n-1 {
		w.flags |= vowelEnds[skeleton][1]
	}
}

// ConsonantHash returns a hash that words with the same consonants share, or of the whole word if it has none.
func (w *Word) ConsonantHash() uint64 {
	if w.consonants[0] == 0 {
		return mix(w.Hash)
	}
	return mix(w.skeletons[0])
}

// skeleton returns a skeleton with what is at its ends.
func (w *Word) skeleton(i int) uint64 {
	s := w.skeletons[i] * 4
	if w.flags&vowelEnds[i][0] != 0 {
		s |= 1
	}
	if w.flags&vowelEnds[i][1] != 0 {
		s |= 2
	}
	return s
}

// hashBase is the base of the hashes of this package: a text is the number that its bytes are in this base, modulo 2^64.
// The hash of two words written as one follows from theirs, and indexes can store hashes.
const hashBase = 0x9e3779b97f4a7c15

// hashPowers are the powers of hashBase.
var hashPowers = func() (t [2*maxWordBytes + 1]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] * hashBase
	}
	return t
}()

// Join returns two neighbouring words as if they were written as one.
func Join(a, b *Word) Word {
	w := Word{
		Hash: a.Hash*hashPowers[min(b.length, maxWordBytes)] + b.Hash,
		flags: (a.flags|b.flags)&(isAbjad|isForeign) | a.flags&(beginsWithVowel|secondBeginsWithVowel) |
			b.flags&(endsWithVowel|secondEndsWithVowel),
		length: min(a.length+b.length, maxWordBytes),
		first:  a.first,
	}
	if w.flags&isForeign != 0 {
		return w
	}
	n := copy(w.sounds[:], a.sounds[:a.n])
	second := b.sounds[:b.n]
	isDoubled := len(second) > 0 && n > 0 && second[0] == w.sounds[n-1] && !isVowel(second[0])
	if isDoubled {
		second = second[1:]
	}
	w.n = uint8(n + copy(w.sounds[n:], second))
	for i := range w.skeletons {
		// The first consonant of b is not repeated if a ends with it.
		rest, count := b.skeletons[i], b.consonants[i]
		if class := skeletonClass[b.sounds[0]]; isDoubled && class != 0 && b.sounds[0] != soundJ {
			count--
			rest -= uint64(class) * hashPowers[count]
		}
		w.skeletons[i] = a.skeletons[i]*hashPowers[count] + rest
		w.consonants[i] = a.consonants[i] + count
	}
	return w
}
