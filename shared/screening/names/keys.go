package names

// maxKeyedSounds is the greatest number of sounds in keys of edits. The beginnings of words within MaxEdits of each
// other share keys as well.
const maxKeyedSounds = 8

// Seeds of the kinds of keys.
const (
	textSeed     = 0x243f6a8885a308d3
	skeletonSeed = 0x452821e638d01377
	editSeed     = 0x13198a2e03707344
	conceptSeed  = 0xa4093822299f31d0
	initialSeed  = 0x082efa98ec4e6c89
	// For words of one kind of script compared with words of another.
	scriptSeed = 0xbe5466cf34e90c6c
	// For words compared with joins: their shapes, and their consonants by script.
	shapeSeed      = 0xc0ac29b7c97c50dd
	scriptJoinSeed = 0x3f84d5b5b5470917
)

// KeyKind is the common property of the words that share a key.
type KeyKind uint8

const (
	// KeyOfWhole is the kind of keys of words that are equal, mean the same or are initials.
	KeyOfWhole KeyKind = iota
	// KeyOfConsonants is the kind of keys of words with the same consonants.
	KeyOfConsonants
	// KeyOfEdits is the kind of keys of words a few edits apart.
	KeyOfEdits
	// KeyKinds is the number of kinds.
	KeyKinds = iota
)

// QueryKeys are the keys of a query's word. They find all corresponding words of an index, and others.
type QueryKeys struct {
	// Keys are in the order of their kinds.
	Keys []uint64
	// ends[kind] is the end of the keys of a kind.
	ends [KeyKinds]int
}

// Kind returns the kind of key i.
func (k *QueryKeys) Kind(i int) KeyKind {
	switch {
	case i < k.ends[KeyOfWhole]:
		return KeyOfWhole
	case i < k.ends[KeyOfConsonants]:
		return KeyOfConsonants
	}
	return KeyOfEdits
}

// Set sets keys that find all words with a Similarity or JoinSimilarity above 0. Words that begin with a given letter
// are not found by that letter.
func (k *QueryKeys) Set(w *Word) {
	skeletons := w.scriptSkeletons()
	keys := append(k.Keys[:0], mix(textSeed^w.Hash))
	if w.first != 0 {
		keys = append(keys, w.initialKey())
	}
	keys = w.appendConceptKeys(keys)
	k.ends[KeyOfWhole] = len(keys)
	keys = w.appendSkeletonKeys(keys)
	keys = w.appendScriptKeys(keys, &skeletons, true, scriptSeed)
	keys = w.appendJoinKeys(keys, &skeletons, true)
	k.ends[KeyOfConsonants] = len(keys)
	k.Keys = w.appendExchangeKey(w.appendEditKeys(keys))
	k.ends[KeyOfEdits] = len(k.Keys)
}

// SetJoin sets keys that find all words with a JoinSimilarity above 0.
func (k *QueryKeys) SetJoin(w *Word) {
	k.Keys = append(k.Keys[:0], mix(textSeed^w.Hash))
	k.ends[KeyOfWhole] = len(k.Keys)
	if w.hasJoinKeys() {
		skeletons := w.scriptSkeletons()
		k.Keys = w.appendJoinKeys(k.Keys, &skeletons, true)
	}
	k.ends[KeyOfConsonants], k.ends[KeyOfEdits] = len(k.Keys), len(k.Keys)
}

// AppendKeys appends the keys of a name's word in an index.
func (w *Word) AppendKeys(keys []uint64) []uint64 {
	skeletons := w.scriptSkeletons()
	if w.IsInitial() {
		keys = append(keys, w.initialKey())
	}
	keys = append(w.appendScriptKeys(keys, &skeletons, false, scriptSeed), mix(textSeed^w.Hash))
	return w.appendEditKeys(w.appendConceptKeys(w.appendSkeletonKeys(keys)))
}

// AppendJoinKeys appends the keys of a word in an index for JoinSimilarity.
func (w *Word) AppendJoinKeys(keys []uint64) []uint64 {
	keys = append(keys, mix(textSeed^w.Hash))
	if !w.hasJoinKeys() {
		return keys
	}
	skeletons := w.scriptSkeletons()
	return w.appendJoinKeys(keys, &skeletons, false)
}

// hasJoinKeys reports whether the word can correspond to other words by JoinSimilarity.
func (w *Word) hasJoinKeys() bool {
	return w.consonants[0] >= minJoinConsonants && w.flags&isForeign == 0
}

// appendJoinKeys appends the keys of the shape and the script skeletons of a word or a join.
func (w *Word) appendJoinKeys(keys []uint64, skeletons *scriptHashes, isQuery bool) []uint64 {
	if !w.hasJoinKeys() {
		return keys
	}
	return w.appendScriptKeys(append(keys, mix(shapeSeed^w.shape())), skeletons, isQuery, scriptJoinSeed)
}

// appendScriptKeys appends the keys between words of scripts without vowels and words of other scripts; words of the
// same kind do not share them.
func (w *Word) appendScriptKeys(keys []uint64, skeletons *scriptHashes, isQuery bool, seed uint64) []uint64 {
	if w.flags&isForeign != 0 || w.IsInitial() {
		return keys
	}
	if isQuery != (w.flags&isAbjad != 0) {
		seed = ^seed
	}
	for _, h := range skeletons {
		if h != 0 {
			keys = append(keys, mix(seed^h))
		}
	}
	return keys
}

// appendSkeletonKeys appends the keys of the word's consonants, if there are enough.
func (w *Word) appendSkeletonKeys(keys []uint64) []uint64 {
	least := leastConsonants(w, w)
	if w.consonants[0] >= least {
		keys = append(keys, mix(skeletonSeed^w.skeleton(0)))
	}
	if w.consonants[1] >= least && w.skeleton(1) != w.skeleton(0) {
		keys = append(keys, mix(skeletonSeed^w.skeleton(1)))
	}
	return keys
}

// appendConceptKeys appends the keys of the word's meanings.
func (w *Word) appendConceptKeys(keys []uint64) []uint64 {
	for _, c := range w.concepts {
		if c != 0 {
			keys = append(keys, mix(conceptSeed^uint64(c)))
		}
	}
	return keys
}

// initialKey returns a key of words of one letter alone, so that other words find their initials.
func (w *Word) initialKey() uint64 { return mix(initialSeed ^ uint64(w.first)) }

// appendEditKeys appends a key of the sounds, and of the rest after the deletion of up to MaxEdits sounds. The first
// sound counts by its class alone.
func (w *Word) appendEditKeys(keys []uint64) []uint64 {
	n := min(int(w.n), maxKeyedSounds)
	if n < 2 || w.flags&isForeign != 0 {
		return keys
	}
	sounds := w.sounds[:n]
	var packed uint64
	for i := n - 1; i >= 1; i-- {
		packed = packed<<8 | uint64(sounds[i])
	}
	packed <<= 8
	seed := uint64(editSeed) ^ uint64(initialClass[sounds[0]])
	keys = append(keys, mix(seed^packed))
	edits := MaxEdits(int(w.n))
	if edits == 0 {
		return keys
	}
	for i := 1; i < n; i++ {
		// Deletions of equal neighbours have the same result.
		if i > 1 && sounds[i] == sounds[i-1] {
			continue
		}
		one := deleteByte(packed, i)
		keys = append(keys, mix(seed^one))
		if edits < 2 {
			continue
		}
		for j := i; j < n-1; j++ {
			keys = append(keys, mix(seed^deleteByte(one, j)))
		}
	}
	return keys
}

// appendExchangeKey appends the key of the word with its first two sounds exchanged, so that a query finds such words.
func (w *Word) appendExchangeKey(keys []uint64) []uint64 {
	if w.flags&isForeign != 0 || w.n < minExchanged || w.sounds[0] == w.sounds[1] {
		return keys
	}
	packed := uint64(w.sounds[0])
	for i := min(int(w.n), maxKeyedSounds) - 1; i >= 2; i-- {
		packed |= uint64(w.sounds[i]) << (8 * (i - 1))
	}
	return append(keys, mix(editSeed^uint64(initialClass[w.sounds[1]])^packed<<8))
}

// deleteByte removes byte i of a packed string.
func deleteByte(packed uint64, i int) uint64 {
	low := packed & (1<<(8*i) - 1)
	return low | packed>>8&^(1<<(8*i)-1)
}

// mix spreads the bits of a value.
func mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	h ^= h >> 31
	return h | 1
}
