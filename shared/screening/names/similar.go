package names

import "cmp"

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
		return "spelling"
	case Edited:
		return "edit"
	case Vowels:
		return "phonetic"
	case Script:
		return "transliterated"
	case Meaning:
		return "meaning"
	case Initial:
		return "initial"
	case Joined:
		return "joined"
	}
	return "different"
}

// Similarities in thousandths.
const (
	// Equal is the similarity of equal words.
	Equal = 1000
	// minSimilarity is the least similarity at which words correspond.
	minSimilarity     = 790
	initialSimilarity = 800
	// minJoinSimilarity takes its place for words that are joined.
	minJoinSimilarity = 960
	meaningSimilarity = 970
	// minScriptSimilarity takes its place if vowels are not written in one of the words.
	minScriptSimilarity = 840
)

// scriptSimilarity bounds the similarity of two words of which one is from a script without vowels: the fewer letters it
// has, the more names it can stand for.
func scriptSimilarity(a, b *Word) int {
	if (a.flags^b.flags)&isAbjad == 0 {
		return Equal
	}
	written := a.n
	if b.flags&isAbjad != 0 {
		written = b.n
	}
	return [...]int{0, 0, 820, 880, 930, 950, 960}[min(written, 6)]
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

// Similarity returns how similar two words are, in thousandths, and why; 0 if they do not correspond.
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

// soundSimilarity is Similarity of words that are not the same, whatever they mean.
func soundSimilarity(a, b *Word) (int, Kind) {
	if (a.flags|b.flags)&isForeign != 0 {
		return 0, Different
	}
	if a.IsInitial() != b.IsInitial() {
		if a.first != 0 && a.first == b.first {
			return initialSimilarity, Initial
		}
		return 0, Different
	}
	sharesSkeleton := a.sharesSkeleton(b, leastConsonants(a, b))
	maxEdits := MaxEdits(int(min(a.n, b.n)))
	if !sharesSkeleton && (maxEdits == 0 || !isEdited(a, b, maxEdits)) {
		return 0, Different
	}
	s := 1000 - soundCost(a, b, 1000-minSimilarity)
	switch {
	case s < minSimilarity:
		return 0, Different
	case (a.flags^b.flags)&isAbjad != 0:
		if s < minScriptSimilarity {
			return 0, Different
		}
		return min(s, scriptSimilarity(a, b)), Script
	case s >= 995:
		return 990, Spelling
	case sharesSkeleton:
		return s, Vowels
	}
	return s, Edited
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

// Identity is the same for words that are the same, and only for them.
type Identity struct {
	Hash   uint64
	Script uint8
}

// Identity returns the identity of the word.
func (w *Word) Identity() Identity { return Identity{w.Hash, uint8(w.flags & isAbjad)} }

// Compare orders words: those with the same consonants are next to each other.
func Compare(a, b *Word) int {
	return cmp.Or(cmp.Compare(a.skeletons[0], b.skeletons[0]), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.flags, b.flags))
}

// IsSame reports whether two words are the same.
func (w *Word) IsSame(o *Word) bool { return w.Hash == o.Hash && (w.flags^o.flags)&isAbjad == 0 }

// sharesSkeleton reports whether two words have the same consonants, at least as many as given, and vowels at the same
// ends.
func (w *Word) sharesSkeleton(o *Word, consonants uint8) bool {
	for i := range w.skeletons {
		for j := range o.skeletons {
			if w.consonants[i] >= consonants && w.skeleton(i) == o.skeleton(j) {
				return true
			}
		}
	}
	return false
}

// leastConsonants returns how many consonants two words must share for that to say anything. One is too little, unless
// the vowels of a word are not written.
func leastConsonants(a, b *Word) uint8 {
	if (a.flags|b.flags)&isAbjad != 0 {
		return 1
	}
	return 2
}

// isEdited reports whether two words begin alike and are at most k edits apart after their first sounds: people seldom
// err in the first letter.
func isEdited(a, b *Word, k int) bool {
	return initialClass[a.sounds[0]] == initialClass[b.sounds[0]] && withinEdits(a.sounds[1:a.n], b.sounds[1:b.n], k)
}

// initialClass is the class of a sound at the beginning of a word.
var initialClass = func() (t [128]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	for _, class := range []string{"bpfvw", "dt", "kghX", "sSzZCcJ", "aeiou"} {
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

// Costs of differences between sounds, in hundredths of a sound.
const (
	costSound     = 100
	costVowel     = 50
	costDiphthong = 30
	// costEnding is that of the last vowel of a word, which tells Mario from Maria and Hassan from Hassani.
	costEnding     = 110
	costUnwritten  = 6
	costLong       = 15
	costExchange   = 60
	costFirstSound = 40
)

// soundCost returns the difference of two words in thousandths of the longer one, or 1000 if it is above a limit.
func soundCost(a, b *Word, limit int) int {
	if a.n == 0 || b.n == 0 {
		return 1000
	}
	if b.flags&isAbjad != 0 && a.flags&isAbjad == 0 {
		a, b = b, a
	}
	// If only one word is from a script without vowels, it is a.
	abjad := (a.flags^b.flags)&isAbjad != 0
	x, y := a.sounds[:a.n], b.sounds[:b.n]
	// The limit of the cost; what follows the table only adds to it.
	limit = limit * max(len(x), len(y)) / 10
	var gaps [maxSounds]int16
	vowels := 0
	for j := range y {
		gaps[j] = int16(gapCost(y, j))
		if abjad {
			gaps[j] = int16(unwrittenCost(y, j))
		}
		if isVowel(y[j]) {
			vowels++
		}
	}
	if !abjad {
		for _, c := range x {
			if isVowel(c) {
				vowels--
			}
		}
		// Each vowel that the other word lacks costs at least that of a diphthong.
		if max(vowels, -vowels)*costDiphthong > limit {
			return 1000
		}
	}
	var rows [3][maxSounds + 1]int16
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	for j := range y {
		prev[j+1] = prev[j] + gaps[j]
	}
	least := int16(0) // of the preceding row
	for i := 1; i <= len(x); i++ {
		gap := int16(gapCost(x, i-1))
		if abjad {
			gap = int16(writtenCost(x, i-1))
		}
		row[0] = prev[0] + gap
		best := row[0]
		costs := &replaceCosts[x[i-1]&0x7f]
		for j := 1; j <= len(y); j++ {
			c := prev[j-1]
			if x[i-1] != y[j-1] {
				replace := int16(costs[y[j-1]&0x7f])
				if abjad {
					replace = int16(replaceCost(x[i-1], y[j-1], abjad))
				} else if i == len(x) && j == len(y) && isFullVowel(x[i-1]) && isFullVowel(y[j-1]) {
					replace *= 2
				}
				c += replace
			}
			c = min(c, prev[j]+gap, row[j-1]+gaps[j-1])
			if i > 1 && j > 1 && !abjad && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				c = min(c, prev2[j-2]+costExchange)
			}
			row[j] = c
			best = min(best, c)
		}
		// An exchange of neighbours goes on from the row before.
		if int(best) > limit && int(least) > limit-costExchange {
			return 1000
		}
		least = best
		prev2, prev, row = prev, row, prev2
	}
	cost := int(prev[len(y)])
	if x[0] != y[0] && replaceCost(x[0], y[0], abjad) > 50 && !abjad {
		cost += costFirstSound
	}
	if n := min(len(x), len(y)); n <= shortWord && !abjad {
		// Short words have many neighbours.
		if cost = cost * 13 / 10; x[0] != y[0] && (x[0] == soundJ || y[0] == soundJ) {
			cost += costFirstSound
		}
		if n < shortWord {
			cost = cost * 18 / 10
		}
	}
	return cost * 10 / max(len(x), len(y))
}

// shortWord is the number of sounds of words in which a difference is rarely an error.
const shortWord = 4

// isFullVowel reports whether a sound is one of the vowels that endings of names consist of.
func isFullVowel(c byte) bool { return c == 'a' || c == 'i' || c == 'o' }

// gapCost returns the cost of a sound that the other word lacks.
func gapCost(sounds []byte, i int) int {
	c := sounds[i]
	switch {
	case isVowel(c) || c == 'w':
		if isFullVowel(c) && i+1 == len(sounds) && i > 1 && !isVowel(sounds[i-1]) {
			return costEnding
		}
		if (c == 'i' || c == 'u' || c == 'w') && (i > 0 && isVowel(sounds[i-1]) || i+1 < len(sounds) && isVowel(sounds[i+1])) {
			return costDiphthong
		}
		return costVowel
	case c == 'h':
		return costVowel
	}
	return costSound
}

// writtenCost returns the cost of a letter of a script without vowels that the other word lacks: long vowels are written
// for a reason.
func writtenCost(sounds []byte, i int) int {
	switch sounds[i] {
	case 'a':
		if i > 0 {
			return costVowel
		}
	case 'h':
		if i+1 == len(sounds) {
			return costUnwritten
		}
	}
	return costSound
}

// unwrittenCost returns the cost of a sound that a word of a script without vowels lacks: short vowels are not written,
// diphthongs are.
func unwrittenCost(sounds []byte, i int) int {
	c := sounds[i]
	switch {
	case i == 0:
		return costSound // a word that begins with a vowel is written with a letter for it
	case c == 'a' || c == 'e':
		if i > 0 && i+1 == len(sounds) && !isVowel(sounds[i-1]) {
			return costLong
		}
		return costUnwritten
	case isVowel(c) || c == 'w':
		if i > 0 && isVowel(sounds[i-1]) {
			return costVowel
		}
		if i+1 == len(sounds) {
			return costEnding
		}
		return costLong
	}
	return gapCost(sounds, i)
}

// replaceCosts are the costs of the pairs of sounds that languages exchange; all other pairs cost a sound.
var replaceCosts = func() (t [128][128]uint8) {
	for a := range t {
		for b := range t[a] {
			t[a][b] = costSound
		}
	}
	set := func(cost uint8, pairs ...string) {
		for _, p := range pairs {
			t[p[0]][p[1]], t[p[1]][p[0]] = cost, cost
		}
	}
	set(20, "ei", "ou", "wv", "sz", "sc", "zc", "kg")
	set(25, "ae", "SC", "SZ", "Xh", "fv", "Ss", "Zz", "cC", "JZ", "gh")
	set(30, "uw", "ow", "Sc", "Kk", "Xk", "Xg", "td", "bp", "JC", "sZ", "zZ")
	set(45, "iJ", "ao", "eo", "Jg", "zd", "CX", "Ck", "kc", "iu", "sC", "zJ")
	set(60, "ai", "au", "eu", "io", "mn", "Js", "ts", "tz")
	return t
}()

// replaceCost returns the cost of sound b in the place of a. If a is of a script without vowels, its i and w stand for
// several long vowels, and its a for any vowel at the beginning of a word.
func replaceCost(a, b byte, abjad bool) int {
	if abjad {
		switch {
		case a == 'i' && b == 'e', a == 'w' && (b == 'u' || b == 'o' || b == 'v' || b == 'w'), a == 'a' && isVowel(b):
			return costUnwritten
		case a == 'd' && b == 'z', a == 't' && b == 's', a == 'b' && b == 'p', a == 'k' && b == 'g', a == 'J' && b == 'g':
			return costLong
		case a == 'X' && b == 'h', a == 'h' && b == 'X', a == 's' && b == 'z', a == 'z' && b == 's', a == 'h' && b == 'g', a == 'g' && b == 'h', a == 'X' && b == 'g':
			return costExchange
		}
	}
	return int(replaceCosts[a&0x7f][b&0x7f])
}

// JoinSimilarity returns how similar two words are of which at least one is joined from two: what is left of a name
// whose spaces are elsewhere must be nearly equal, with the same consonants and, where they are written, vowels at the
// same places.
func JoinSimilarity(a, b *Word) (int, Kind) {
	if a.IsSame(b) {
		return Equal, Joined
	}
	if (a.flags|b.flags)&isForeign != 0 || min(a.consonants[0], b.consonants[0]) < 3 {
		return 0, Different
	}
	switch (a.flags ^ b.flags) & isAbjad {
	case 0:
		if a.shape() != b.shape() {
			return 0, Different
		}
	default:
		if a.skeletons[0] != b.skeletons[0] {
			return 0, Different
		}
	}
	if s := 1000 - soundCost(a, b, 1000-minJoinSimilarity); s >= minJoinSimilarity {
		return min(s, scriptSimilarity(a, b)), Joined
	}
	return 0, Different
}

// shape returns a hash of the classes of the consonants and of the places of the vowels.
func (w *Word) shape() uint64 {
	var h uint64
	isVowel := false
	for _, c := range w.sounds[:w.n] {
		class := shapeClass[c]
		if class == 'a' && isVowel {
			continue
		}
		isVowel = class == 'a'
		h = h*hashBase + uint64(class)
	}
	return h
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
