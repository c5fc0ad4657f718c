package names

// Sounds with another sign than their letter. Vowels are aeiou, w is a semivowel, and i stands for y as well.
const (
	soundSh = 'S'
	soundZh = 'Z'
	soundCh = 'C'
	soundKh = 'X'
	soundTs = 'c'
	soundJ  = 'J'
	// The sounds below are letters of scripts without vowels with several romanizations: theh as th, t or
	// s, the emphatic consonants as d, dh, z or th, qaf as q, k, g or gh, ayn as any vowel or not at all, a final heh
	// with dots as a, ah, at or et, and alef maksura as a or i.
	soundTheh   = 'Q'
	soundDhal   = 'D'
	soundQaf    = 'q'
	soundAyn    = 'A'
	soundFinalT = 'H'
	soundFinalY = 'Y'
)

// spelling is a group of letters and its sounds.
type spelling struct {
	letters string
	sounds  string
	// isThere reports whether the spelling applies at a place of a word; nil means everywhere.
	isThere func(word []byte, start, end int) bool
}

// spellings are the groups of several letters, by their first letter. The first fitting one applies.
var spellings = func() (t [128][]spelling) {
	for _, s := range []spelling{
		{"shch", "S", nil}, {"stch", "S", nil}, {"sch", "S", nil}, {"sh", "S", nil}, {"sj", "S", nil}, {"zh", "Z", nil},
		{"zj", "Z", nil}, {"dzh", "J", nil}, {"dsch", "J", nil}, {"djev", "diev", nil}, {"djew", "diew", nil},
		{"dj", "J", nil},
		{"dzad", "dzad", nil}, {"dz", "z", nil}, {"kh", "X", nil}, {"gh", "g", nil}, {"tsch", "C", nil},
		{"tch", "C", nil},
		{"tsj", "C", nil}, {"tj", "ti", nil}, {"chtch", "S", nil}, {"ch", "X", isBeforeConsonant}, {"ch", "C", nil},
		{"cz", "C", nil}, {"ck", "k", nil}, {"cq", "k", nil}, {"ph", "f", nil}, {"pf", "f", nil}, {"th", "t", nil},
		{"dh", "d", nil}, {"bh", "b", nil}, {"jh", "J", nil}, {"ts", "c", nil}, {"tz", "c", nil}, {"ce", "se", nil},
		{"cic", "siC", isAtEnd},
		{"ic", "iC", isSlavicEnding}, {"ci", "si", nil}, {"cy", "si", nil}, {"gue", "ge", isInLongWord},
		{"gui", "gi", isInLongWord},
		{"qua", "ka", nil}, {"que", "ke", nil}, {"qui", "ki", nil}, {"quo", "ko", nil}, {"q", "k", nil},
		{"xa", "Xa", isAtStart}, {"xo", "Xo", isAtStart}, {"xe", "kse", isAtStart}, {"x", "S", isAtStart},
		{"x", "X", isBeforeConsonant}, {"x", "ks", nil}, {"c", "k", nil},
		{"j", "i", isGlide}, {"j", "J", nil}, {"y", "i", nil}, {"ou", "u", nil}, {"oo", "u", nil}, {"ee", "i", nil},
		{"ije", "ie", nil},
	} {
		t[s.letters[0]] = append(t[s.letters[0]], s)
	}
	return t
}()

func isAtStart(_ []byte, start, _ int) bool { return start == 0 }

func isAtEnd(word []byte, start, end int) bool { return start > 0 && end == len(word) }

// isInLongWord reports whether the word is longer than a syllable of Chinese names.
func isInLongWord(word []byte, _, _ int) bool { return len(word) > 4 }

// isBeforeConsonant reports whether a consonant follows: "Christo", "Achmed", "Axmed".
func isBeforeConsonant(word []byte, _, end int) bool {
	return end < len(word) && word[end] >= 'a' && !isVowel(word[end]) && word[end] != 'y' && word[end] != 'h' &&
		word[end] != 'c'
}

// isSlavicEnding reports whether a word ends in the c of "Karadzic", unlike "Cedric".
func isSlavicEnding(word []byte, start, end int) bool {
	return end == len(word) && start >= 3 && !isVowel(word[start-1]) && word[start-1] != 'r' && word[start-1] != 'n'
}

// isGlide reports whether the letter j at a place is the y of Slavic languages and German: "Sergej", "Gajdukevich",
// "Fjodor", "Uljana". Elsewhere it may be the j of English or French.
func isGlide(word []byte, start, end int) bool {
	if start == 0 {
		return false
	}
	before := word[start-1]
	switch before {
	case 'e', 'i', 'o', 'y':
		return end == len(word) || !isVowel(word[end]) && word[end] != 'j'
	case 'b', 'f', 'k', 'l', 'p', 't', 'v', 'w':
		isArticle := start == 2 && before == 'l' && isVowel(word[0])
		return !isArticle && end < len(word) && isVowel(word[end])
	case 'm':
		return end < len(word) && word[end] == 'o'
	case 'h': // after the sounds of tsch and sch
		return start >= 3 && word[start-2] == 'c' && word[start-3] == 's'
	}
	return start == 1 && !isVowel(before) && before != 'd'
}

// appendSounds appends the sounds of lower-case letters, at most maxSounds of them in all.
func appendSounds(b, letters []byte) []byte {
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
		candidates := spellings[c&0x7f]
		for k := range candidates {
			s := &candidates[k]
			if hasPrefix(letters[i:], s.letters, c) && (s.isThere == nil || s.isThere(letters, i, i+len(s.letters))) {
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
	// A final h after an open vowel is silent.
	if n := len(b) - start; n >= 3 && b[len(b)-1] == 'h' {
		if before := b[len(b)-2]; before == 'a' || before == 'e' || before == 'o' {
			b = b[:len(b)-1]
		}
	}
	return b
}

// abjadSounds are the sounds of the letters of scripts without vowels in the notation of letters.go; 0 is the letter
// itself.
var abjadSounds = [128]byte{
	'A': soundAyn, 'C': soundCh, 'D': soundDhal, 'G': 'g', 'H': soundFinalT, 'K': 'h', 'S': soundSh, 'T': soundTheh,
	'X': soundKh, 'Y': soundFinalY, 'Z': soundZh, 'c': soundTs, 'j': soundJ, 'q': soundQaf, 'y': 'i',
}

// appendAbjadSounds is appendSounds for a word of a script without vowels. Equal neighbouring consonants have a vowel
// between them.
func appendAbjadSounds(b, letters []byte) []byte {
	start := len(b)
	for _, c := range letters {
		if sound := abjadSounds[c&0x7f]; sound != 0 {
			c = sound
		}
		if isVowel(c) {
			b = appendSound(b, start, c)
		} else if len(b)-start < maxSounds {
			b = append(b, c)
		}
	}
	if n := len(b) - start; n >= 3 && letters[len(letters)-1] == 'h' {
		b = b[:len(b)-1] // heh, which only carries the vowel
	}
	return b
}

// hasPrefix reports whether letters, with first in place of the first letter, begin with a prefix.
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

// digitLookalike returns the letter for a digit inside a word.
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

func isVowel(c byte) bool { return vowelSounds[c] }

// vowelSounds has the sounds that are vowels.
var vowelSounds = [256]bool{
	'a': true, 'e': true, 'i': true, 'o': true, 'u': true, soundAyn: true, soundFinalT: true, soundFinalY: true,
}
