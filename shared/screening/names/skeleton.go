package names

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
