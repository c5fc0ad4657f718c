package names

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
