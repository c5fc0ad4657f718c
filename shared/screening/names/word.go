// Package names reads names of persons and organisations in any script: it folds them to words of Latin letters, finds
// the distinctive words, and compares words by spelling and sound.
package names

// maxSounds is the greatest number of compared sounds of a word.
const maxSounds = 20

// Word is a folded word, analysed for comparison. It depends only on the word's text, and has no pointers and the same
// layout on every machine, so that an index can store it unchanged.
type Word struct {
	// Hash is the hash of the text: different texts have different hashes, within 64 bits.
	Hash uint64
	// skeletons are hashes of the word's consonants, reduced to classes of related ones. The second omits doubtful
	// ones; it equals the first if there are none.
	skeletons [2]uint64
	// sounds[:n] is the pronunciation: one byte for each vowel and consonant, independent of the spelling.
	sounds   [maxSounds]byte
	concepts [maxConcepts]uint16
	class    class
	// Weight is the weight of the word in a name, in hundredths of an ordinary word, by Mode.
	Weight [Modes]uint16
	n      uint8
	// length is the number of letters.
	length uint8
	// consonants are the numbers of consonants in the skeletons.
	consonants [2]uint8
	// first is the first letter of the word if it is one of a to z; otherwise 0.
	first byte
	flags flags
}

type flags uint8

const (
	// isInitial words are one letter.
	isInitial flags = 1 << iota
	// isAbjad words are from a script without vowels.
	isAbjad
	// isForeign words have letters that are not romanized.
	isForeign
	// beginsWithVowel and endsWithVowel report vowels before and after the first skeleton; their doubles are for the
	// second.
	beginsWithVowel
	endsWithVowel
	secondBeginsWithVowel
	secondEndsWithVowel
)

// vowelEnds are the flags of a skeleton.
var vowelEnds = [2][2]flags{{beginsWithVowel, endsWithVowel}, {secondBeginsWithVowel, secondEndsWithVowel}}

// Mode is the kind of a name.
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
	m := loadTables().meaningOf(folded)
	w := Word{class: m.class, concepts: m.concepts}
	if isNumber(string(folded)) || isRoman(string(folded)) {
		w.class |= classNumber
	}
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
	if len(letters) == 1 && w.flags&isAbjad != 0 && w.flags&isForeign == 0 {
		w.flags |= isInitial
	}
	if len(folded) > 0 && folded[0] >= 'a' && folded[0] <= 'z' {
		w.first = folded[0]
		if len(folded) == 1 {
			w.flags |= isInitial
		}
	}
	if w.flags&isForeign == 0 {
		if w.flags&isAbjad != 0 {
			w.n = uint8(len(appendAbjadSounds(w.sounds[:0], letters)))
		} else {
			w.n = uint8(len(appendSounds(w.sounds[:0], letters)))
		}
		w.setSkeletons()
	}
	w.setWeights(string(folded))
	return w
}

// IsInitial reports whether the word is one letter.
func (w *Word) IsInitial() bool { return w.flags&isInitial != 0 }

// IsShort reports whether the word has few sounds, such as a syllable of a Chinese or Korean name.
func (w *Word) IsShort() bool { return w.n <= shortWord+1 && w.flags&isAbjad == 0 }

// IsForm reports whether the word is an organisation form by itself.
func (w *Word) IsForm() bool { return w.class&classForm != 0 }

// IsFormStart reports whether the word begins an organisation form of several words.
func (w *Word) IsFormStart() bool { return w.class&classFormStart != 0 }

// IsOfOrganisations reports whether the word describes an organisation's kind, trade or place.
func (w *Word) IsOfOrganisations() bool { return w.class&(classGeneric|classTrade|classPlace) != 0 }

// IsDescent reports whether the word joins a name with a parent's name: "bin".
func (w *Word) IsDescent() bool { return w.class&classDescent != 0 }

// IsNumber reports whether the word is a number, in digits or Roman numerals from II on.
func (w *Word) IsNumber() bool { return w.class&classNumber != 0 }

// IsDistinctive reports whether the word distinguishes names: it is not a title, a particle, a stop word or an initial.
func (w *Word) IsDistinctive(m Mode) bool {
	if m == Person {
		return w.class&(classTitle|classParticle) == 0 && !w.IsInitial()
	}
	return w.class&classStop == 0 && !w.IsInitial()
}

// Kind is how two words correspond.
type Kind uint8

const (
	// Different words do not correspond.
	Different Kind = iota
	// Exact words are equal.
	Exact
	// Spelling variants sound the same.
	Spelling
	// Edited words differ by few letters.
	Edited
	// Vowels: the words have the same consonants.
	Vowels
	// Script: the consonants of a word from a script without vowels.
	Script
	// Meaning: the words mean the same, in one language or in two.
	Meaning
	// Initial: one word is the first letter of the other.
	Initial
	// Joined words are written as one in one name and as two in the other.
	Joined
)

// String names a kind as explanations do.
func (k Kind) String() string {
	switch k {
	case Exact:
		return "exact"
	case Spelling:
		return "sounds the same"
	case Edited:
		return "misspelt"
	case Vowels:
		return "sounds alike"
	case Script:
		return "transliterated"
	case Meaning:
		return "means the same"
	case Initial:
		return "initial"
	case Joined:
		return "written as one"
	}
	return "different"
}

// Weights of words in hundredths.
const (
	weightOrdinary  = 100
	weightCommon    = 75
	weightShort     = 85
	weightPatronym  = 35
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
		person = weightServant // "servant of" a person is another person
	case w.class&classParticle != 0:
		person = weightParticle
	case w.class&classCommon != 0:
		person = weightCommon
	case isPatronym(text):
		person = weightPatronym
	}
	switch {
	case w.IsInitial():
	case w.class&classNumber != 0:
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

// isRoman reports whether a word is a Roman numeral from II on, frequent in names of funds and ships.
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

var patronymEndings = []string{"ovich", "evich", "ovych", "evych", "yovych", "ovna", "evna", "ivna", "yivna", "ovic",
	"evic", "ovitch",
	"evitch", "owicz", "ewicz", "ovits", "avich", "auna", "eevna", "ichna", "inichna", "ievich", "ievna"}

// isPatronym reports whether a word is a patronym of Russian, Ukrainian or Belarusian.
func isPatronym(text string) bool {
	if len(text) < 7 {
		return false
	}
	switch text[len(text)-2:] {
	case "ch", "na", "ic", "cz", "ts": // the last letters of patronymEndings
	default:
		return false
	}
	for _, ending := range patronymEndings {
		if len(text) > len(ending) && text[len(text)-len(ending):] == ending {
			return true
		}
	}
	return false
}
