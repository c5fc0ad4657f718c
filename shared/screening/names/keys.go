package names

// maxKeyedSounds is the number of sounds from which the keys of edits are made. The keys of the beginnings of words that
// are within MaxEdits of each other meet as well.
const maxKeyedSounds = 8

// Seeds of the kinds of keys.
const (
	editSeed    = 0x13198a2e03707344
	conceptSeed = 0xa4093822299f31d0
	initialSeed = 0x082efa98ec4e6c89
)

// AppendKeys appends keys of the word. Words for which Similarity is not 0 have a key in common; the reverse need not
// hold. A key may occur twice.
func (w *Word) AppendKeys(keys []uint64) []uint64 {
	keys = append(keys, w.Hash)
	for _, s := range w.skeletons {
		if s != 0 {
			keys = append(keys, s)
		}
	}
	for _, c := range w.concepts {
		if c != 0 {
			keys = append(keys, mix(conceptSeed^uint64(c)))
		}
	}
	if w.flags&isForeign != 0 || w.n == 0 {
		return keys
	}
	return w.appendEditKeys(keys)
}

// InitialKey returns the key that only words of one letter have, so that other words find their initials. It is 0 for
// words that have none.
func (w *Word) InitialKey() uint64 {
	if w.first == 0 {
		return 0
	}
	return mix(initialSeed ^ uint64(w.first))
}

// appendEditKeys appends a key of the sounds and of what is left of them when up to MaxEdits sounds are deleted.
func (w *Word) appendEditKeys(keys []uint64) []uint64 {
	edits := MaxEdits(int(w.n))
	if edits == 0 {
		return keys
	}
	n := min(int(w.n), maxKeyedSounds)
	sounds := w.sounds[:n]
	var packed uint64
	for i := n - 1; i >= 0; i-- {
		packed = packed<<8 | uint64(sounds[i])
	}
	keys = append(keys, mix(editSeed^packed))
	for i := range n {
		// A deletion among equal neighbours leaves the same for each of them.
		if i > 0 && sounds[i] == sounds[i-1] {
			continue
		}
		one := deleteByte(packed, i)
		keys = append(keys, mix(editSeed^one))
		if edits < 2 {
			continue
		}
		for j := i; j < n-1; j++ {
			keys = append(keys, mix(editSeed^deleteByte(one, j)))
		}
	}
	return keys
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
