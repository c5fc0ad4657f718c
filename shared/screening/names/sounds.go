package names

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
