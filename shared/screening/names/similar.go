package names

import (
	"bytes"
	"cmp"
)

// Similarities in thousandths.
const (
	// Equal is the similarity of equal words.
	Equal = 1000
	// minSimilarity is the least similarity at which words correspond.
	minSimilarity     = 790
	initialSimilarity = 800
	// minKnownSimilarity replaces minSimilarity if one of the words describes organisations, and they begin
	// differently: "China" and "Sina".
	minKnownSimilarity = 880
	// minJoinSimilarity replaces it for joined words.
	minJoinSimilarity = 960
	// minScriptJoinSimilarity replaces that if one of the words is written without vowels.
	minScriptJoinSimilarity = 930
	meaningSimilarity       = 970
	// minScriptSimilarity replaces minSimilarity if one of the words is written without vowels.
	minScriptSimilarity = 840
)

// scriptSimilarity bounds the similarity of a word of a script without vowels to another word: the fewer letters it
// has, the more names it can stand for.
func scriptSimilarity(a, b *Word) int {
	if (a.flags^b.flags)&isAbjad == 0 {
		return Equal
	}
	written := a.n
	if b.flags&isAbjad != 0 {
		written = b.n
	}
	return writtenSimilarity(int(written))
}

// writtenSimilarity bounds the similarity of a word of a script without vowels to a word of another script by the
// number of its letters.
func writtenSimilarity(letters int) int {
	return [...]int{0, 0, 850, 880, 930, 950, 960}[min(letters, 6)]
}

// MaxEdits returns the number of edits that a word of n sounds may have: longer words have more places for errors and
// fewer neighbours.
func MaxEdits(n int) int {
	switch {
	case n < 4:
		return 0
	case n < 8:
		return 1
	}
	return 2
}

// Similarity returns the similarity of two words in thousandths and its kind; 0 if they do not correspond.
func Similarity(a, b *Word) (int, Kind) {
	if a.IsSame(b) {
		return Equal, Exact
	}
	s, kind := soundSimilarity(a, b)
	if s < meaningSimilarity && a.sharesConcept(b) {
		return meaningSimilarity, Meaning
	}
	return s, kind
}

// soundSimilarity is Similarity for different words, without regard to their meanings.
func soundSimilarity(a, b *Word) (int, Kind) {
	if (a.flags|b.flags)&isForeign != 0 || (a.class|b.class)&classNumber != 0 {
		return 0, Different
	}
	if a.IsInitial() != b.IsInitial() {
		if a.first != 0 && a.first == b.first {
			return initialSimilarity, Initial
		}
		return 0, Different
	}
	if (a.flags^b.flags)&isAbjad != 0 {
		return acrossScripts(a, b, minScriptSimilarity)
	}
	sharesSkeleton := a.sharesSkeleton(b, leastConsonants(a, b))
	if !sharesSkeleton && !isEdited(a, b, MaxEdits(int(min(a.n, b.n)))) {
		if isExchanged(a, b) {
			return 1000 - 10*costExchange/int(a.n)*13/10, Edited
		}
		return 0, Different
	}
	s := 1000 - soundCost(a, b, 1000-minSimilarity)
	switch {
	case s < minSimilarity:
		return 0, Different
	case s >= 995:
		return 990, Spelling
	case s < minKnownSimilarity && a.sounds[0] != b.sounds[0] && a.IsOfOrganisations() != b.IsOfOrganisations():
		return 0, Different // a known word is seldom a misspelling of an unknown one
	case sharesSkeleton:
		return s, Vowels
	}
	return s, Edited
}

// acrossScripts is soundSimilarity if one of the words is from a script without vowels. Similarities below the required
// one may be 0.
func acrossScripts(a, b *Word, least int) (int, Kind) {
	if a.flags&isAbjad == 0 {
		a, b = b, a
	}
	if scriptSimilarity(a, b) < least {
		return 0, Different
	}
	bare := b.bareSounds()
	if bare == nil {
		if s := scriptLikeness(a, b, b.sounds[:b.n], least); s > 0 && sharesScriptSkeleton(b, a, false) {
			return s, Script
		}
		return 0, Different
	}
	// The word without its article counts only if the whole word is not similar at all.
	if s := scriptLikeness(a, b, b.sounds[:b.n], minScriptSimilarity); s > 0 && sharesScriptSkeleton(b, a, false) {
		return s, Script
	}
	if s := scriptLikeness(a, b, bare, minScriptSimilarity); s > 0 && sharesScriptSkeleton(b, a, true) {
		return s, Script
	}
	return 0, Different
}

// scriptLikeness returns the similarity of a word of a script without vowels to the sounds of another word; 0 if it is
// below a least similarity.
func scriptLikeness(abjad, latin *Word, sounds []byte, least int) int {
	s := 1000 - scriptDifference(abjad.sounds[:abjad.n], sounds, 1000-least)
	if s < least {
		return 0
	}
	return min(s, scriptSimilarity(abjad, latin))
}

func (w *Word) sharesConcept(o *Word) bool {
	for _, a := range w.concepts {
		if a == 0 {
			return false
		}
		for _, b := range o.concepts {
			if a == b {
				return true
			}
		}
	}
	return false
}

// Identity is equal for equal words, and only for them.
type Identity struct {
	Hash   uint64
	Script uint8
}

// Identity returns the identity of the word. A join may sound different from the word with the same letters.
func (w *Word) Identity() Identity {
	sounds := uint64(w.consonants[0])
	for _, c := range w.sounds[:w.n] {
		sounds = sounds*hashBase + uint64(c)
	}
	return Identity{w.Hash ^ mix(sounds), uint8(w.flags & isAbjad)}
}

// Compare orders words: those with the same consonants are next to each other.
func Compare(a, b *Word) int {
	return cmp.Or(cmp.Compare(a.skeletons[0], b.skeletons[0]), cmp.Compare(a.Hash, b.Hash),
		cmp.Compare(a.flags, b.flags))
}

// IsSame reports whether two words are the same.
func (w *Word) IsSame(o *Word) bool { return w.Hash == o.Hash && (w.flags^o.flags)&isAbjad == 0 }

// sharesSkeleton reports whether two words have the same consonants, at least a given number, and vowels at the same
// ends.
func (w *Word) sharesSkeleton(o *Word, consonants uint8) bool {
	first, second := o.skeleton(0), o.skeleton(1)
	for i := range w.skeletons {
		if s := w.skeleton(i); (s == first || s == second) && w.consonants[i] >= consonants {
			return true
		}
	}
	return false
}

// leastConsonants returns the number of consonants that two words must share at least: more than one, unless the vowels
// of a word are not written.
func leastConsonants(a, b *Word) uint8 {
	if (a.flags|b.flags)&isAbjad != 0 {
		return 1
	}
	return 2
}

// minExchanged is the least number of sounds of words whose first two may be exchanged.
const minExchanged = 4

// isExchanged reports whether two words differ in the order of their first two sounds: "Abid" and "Baid".
func isExchanged(a, b *Word) bool {
	return a.n == b.n && a.n >= minExchanged && a.sounds[0] == b.sounds[1] && a.sounds[1] == b.sounds[0] &&
		a.sounds[0] != a.sounds[1] && bytes.Equal(a.sounds[2:a.n], b.sounds[2:b.n])
}

// isEdited reports whether two words begin with sounds of one class and are at most k edits apart after them: errors in
// the first letter are rare. Words without edits need two sounds or more.
func isEdited(a, b *Word, k int) bool {
	if k == 0 {
		return a.n >= 2 && bytes.Equal(a.sounds[:a.n], b.sounds[:b.n])
	}
	return initialClass[a.sounds[0]] == initialClass[b.sounds[0]] && withinEdits(a.sounds[1:a.n], b.sounds[1:b.n], k)
}

// initialClass is the class of a sound at the beginning of a word.
var initialClass = func() (t [128]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	for _, class := range []string{"bpfvw", "dtDQ", "kghXq", "sSzZCcJ", "aeiouA"} {
		for i := range len(class) {
			t[class[i]] = class[0]
		}
	}
	return t
}()

// withinEdits reports whether a and b are at most k edits apart: insertions, deletions, replacements and exchanges of
// neighbours, each place being edited once.
func withinEdits(a, b []byte, k int) bool {
	if len(a)-len(b) > k || len(b)-len(a) > k {
		return false
	}
	// Common beginnings and ends need no edit.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch n := max(len(a), len(b)); {
	case n <= k:
		return true
	case k < 2:
		return n == 2 && len(a) == len(b) && a[0] == b[1] && a[1] == b[0]
	}
	var rows [3][maxSounds + 1]int8
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = int8(j)
	}
	for i := 1; i <= len(a); i++ {
		row[0] = int8(i)
		best := row[0]
		for j := 1; j <= len(b); j++ {
			c := prev[j-1]
			if a[i-1] != b[j-1] {
				c++
			}
			c = min(c, prev[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				c = min(c, prev2[j-2]+1)
			}
			row[j] = c
			best = min(best, c)
		}
		if int(best) > k+1 {
			return false
		}
		prev2, prev, row = prev, row, prev2
	}
	return int(prev[len(b)]) <= k
}
