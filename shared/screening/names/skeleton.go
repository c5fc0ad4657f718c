package names

import "bytes"

// skeletonClass is the class of a consonant in a skeleton; 0 for omitted sounds.
var skeletonClass = func() (t [128]byte) {
	for _, c := range []string{"bp", "dD", "tQ", "fv", "hgX", "kq", "l", "m", "n", "r", "szSZCcJ"} {
		for i := range len(c) {
			t[c[i]] = c[0]
		}
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// setSkeletons computes the skeletons. The letters J and w and a final u are consonants in some languages and vowels in
// others, so that a word with one of them has two. In a word with J, w is a consonant. In a script without vowels, w is
// a consonant where a vowel follows it.
func (w *Word) setSkeletons() {
	sounds := w.sounds[:w.n]
	if n := len(sounds); n > 2 && sounds[n-1] == 'h' {
		sounds = sounds[:n-1]
	}
	doubtful := byte('w')
	if bytes.IndexByte(sounds, soundJ) >= 0 {
		doubtful = soundJ
	}
	for i, c := range sounds {
		class := skeletonClass[c]
		if c == 'w' {
			class = 'f'
			if w.flags&isAbjad != 0 && isUnwrittenVowel(sounds, i) {
				class = 0
			}
		}
		if i > 0 && i == len(sounds)-1 && c == 'e' {
			continue // mute in many languages
		}
		w.addConsonant(0, class, i, len(sounds))
		switch {
		case c == doubtful:
			class = 0
		case c == soundCh && doubtful != soundJ && len(sounds) > shortWord+1:
			class = skeletonClass[soundKh] // in German and Polish
		case c == 'u' && i == len(sounds)-1 && len(sounds) > shortWord && w.flags&isAbjad == 0:
			class = 'f' // for a final v in Belarusian
		}
		w.addConsonant(1, class, i, len(sounds))
	}
}

// isUnwrittenVowel reports whether sound i of a script without vowels, which is w, is a vowel.
func isUnwrittenVowel(sounds []byte, i int) bool {
	return i > 0 && (i+1 == len(sounds) || !isVowel(sounds[i+1]) && sounds[i+1] != 'w')
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

// skeleton returns a skeleton with the vowels at its ends, whose flags are in the order of vowelEnds.
func (w *Word) skeleton(i int) uint64 {
	return w.skeletons[i]*4 | uint64(w.flags/beginsWithVowel>>(2*i)&3)
}

// hashBase is the base of the hashes of this package: the bytes of a text are digits of a number in this base, modulo
// 2^64. The hash of two words written as one follows from theirs, and indexes can store hashes.
const hashBase = 0x9e3779b97f4a7c15

// hashPowers are the powers of hashBase.
var hashPowers = func() (t [2*maxWordBytes + 1]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] * hashBase
	}
	return t
}()

// scriptClass is the class of a consonant if one of two words is from a script without vowels: each letter of such a
// script stands for several sounds.
var scriptClass = func() (t [128]byte) {
	for _, c := range []string{"bp", "tdszSZCcDQ", "fv", "kghXqJ", "l", "m", "n", "r"} {
		for i := range len(c) {
			t[c[i]] = c[0]
		}
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// reading is a way to read the doubtful letters of a word in the comparison with a word of another script.
type reading uint8

const (
	// plainReading has the usual reading of all letters.
	plainReading reading = iota
	// vowelReading has w as a vowel and a final heh with dots as a t.
	vowelReading
	// glideReading has j as a vowel in Latin letters, and omits the h of a script without vowels if Latin letters would
	// join it to the letter before: "Fathi", "Azhar".
	glideReading
	// bareReading omits the article at the beginning of a word in Latin letters.
	bareReading
	readings
)

// abjadSkeleton returns a hash of the consonants, in the classes of scriptClass, of a word of a script without vowels
// in a reading, 0 if it has none, and reports whether another reading may differ.
func (w *Word) abjadSkeleton(r reading) (hash uint64, isDoubtful bool) {
	sounds := w.sounds[:w.n]
	consonants := 0
	for i, c := range sounds {
		class := scriptClass[c]
		switch c {
		case 'w', 'h', soundJ, soundFinalT:
			isDoubtful = true
			class = doubtfulClass(sounds, i, r)
		}
		if class != 0 {
			hash = hash*hashBase + uint64(class)
			consonants++
		} else if i == 0 {
			hash++
		}
	}
	if consonants == 0 {
		return 0, isDoubtful
	}
	return hash, isDoubtful
}

// doubtfulClass returns the class of a sound that is a consonant only in some readings of a word of a script without
// vowels.
func doubtfulClass(sounds []byte, i int, r reading) byte {
	switch c := sounds[i]; c {
	case 'w':
		if isUnwrittenVowel(sounds, i) || r == vowelReading {
			return 0
		}
		return 'f'
	case 'h':
		if i == len(sounds)-1 && i > 1 || r == glideReading && i > 0 && isDigraphStart(sounds[i-1]) {
			return 0
		}
	case soundFinalT:
		if r == vowelReading {
			return scriptClass['t']
		}
	}
	return scriptClass[sounds[i]]
}

// isDigraphStart reports whether a sound and a following h look like two letters for one sound.
func isDigraphStart(c byte) bool {
	return c == 't' || c == 'd' || c == 's' || c == 'z' || c == 'k' || c == 'g' || c == soundDhal || c == soundTheh
}

// bareSounds returns the sounds of a word in Latin letters without the Arabic article at its beginning, nil if there is
// none.
func (w *Word) bareSounds() []byte {
	if w.n < 5 || w.flags&isAbjad != 0 || !isVowel(w.sounds[0]) || w.sounds[1] != 'l' {
		return nil
	}
	return w.sounds[2:w.n]
}

// latinReading has the classes of the sounds of words in Latin letters in a reading, 0 for omitted ones.
type latinReading [128]byte

// plainLatin, vowelLatin and glideLatin are the readings of words in Latin letters. The second differs from the first
// only for words with w, the third only for words with j.
var plainLatin, vowelLatin, glideLatin = func() (plain, vowel, glide latinReading) {
	plain = scriptClass
	plain['w'] = 'f'
	vowel, glide = plain, plain
	vowel['w'], glide[soundJ] = 0, 0
	return plain, vowel, glide
}()

// hashFactors are the factors of a hash before a class is added: a class of 0 leaves it unchanged. A factor is faster
// than a branch that the processor cannot predict.
var hashFactors = [2]uint64{1, hashBase}

// skeleton returns a hash of the consonants among the sounds of a word in Latin letters, 0 if there are none. A final h
// does not count.
func (t *latinReading) skeleton(sounds []byte) uint64 {
	if n := len(sounds); n > 2 && sounds[n-1] == 'h' {
		sounds = sounds[:n-1]
	}
	hash, classes := uint64(0), byte(0)
	if len(sounds) > 0 && t[sounds[0]&0x7f] == 0 {
		hash = 1
	}
	for _, c := range sounds {
		class := t[c&0x7f]
		classes |= class
		hash = hash*hashFactors[min(class, 1)] + uint64(class)
	}
	if classes == 0 {
		return 0
	}
	return hash
}

// scriptHashes are hashes of a word's consonants by reading. Repeated ones are 0.
type scriptHashes [readings]uint64

// scriptSkeletons returns the hashes of the word's consonants in the classes of scriptClass.
func (w *Word) scriptSkeletons() (t scriptHashes) {
	if w.flags&isAbjad != 0 {
		var isDoubtful bool
		t[plainReading], isDoubtful = w.abjadSkeleton(plainReading)
		if isDoubtful {
			t[vowelReading], _ = w.abjadSkeleton(vowelReading)
			t[glideReading], _ = w.abjadSkeleton(glideReading)
		}
	} else {
		sounds := w.sounds[:w.n]
		t[plainReading] = plainLatin.skeleton(sounds)
		if bytes.IndexByte(sounds, 'w') >= 0 {
			t[vowelReading] = vowelLatin.skeleton(sounds)
		}
		if bytes.IndexByte(sounds, soundJ) >= 0 {
			t[glideReading] = glideLatin.skeleton(sounds)
		}
		if bare := w.bareSounds(); bare != nil {
			t[bareReading] = plainLatin.skeleton(bare)
		}
	}
	if t[vowelReading]|t[glideReading]|t[bareReading] == 0 {
		return t
	}
	for r := plainReading + 1; r < readings; r++ {
		for other := range r {
			if t[r] != 0 && t[other] == t[r] {
				t[r] = 0
			}
		}
	}
	return t
}

// sharesScriptSkeleton reports whether a word in Latin letters has the consonants of a word of a script without vowels,
// in the bare reading or in any other.
func sharesScriptSkeleton(latin, abjad *Word, isBare bool) bool {
	a, b := latin.scriptSkeletons(), abjad.scriptSkeletons()
	for r, h := range a {
		if (reading(r) == bareReading) == isBare && h != 0 &&
			(h == b[plainReading] || h == b[vowelReading] || h == b[glideReading]) {
			return true
		}
	}
	return false
}
