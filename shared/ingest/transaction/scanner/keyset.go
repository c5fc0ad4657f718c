package scanner

import (
	"bytes"
	"hash/maphash"
)

// keySet finds duplicates among the keys of a line that the schema does not list. An object of the schema has few such
// keys, and all of them are in one hash table for all objects of a line, which costs nothing to clear. In other objects
// every key is such a key: the first few are compared with each other, and only the keys after them are in the table.
// The hash has a random seed, so that no file can be made to slow it down.
type keySet struct {
	// linear holds the first keys of all objects that are being read, the innermost object's last.
	linear [][]byte

	// slots is the hash table. Its size is a power of two. A slot with another generation than the set is empty.
	slots      []keySlot
	used       int
	generation uint32
	seed       maphash.Seed

	// objects counts the objects of the line that have a number.
	objects uint32
}

type keySlot struct {
	generation uint32
	object     uint32
	hash       uint64
	key        []byte
}

// maxLinearKeys is how many keys of an object are compared with each other.
const maxLinearKeys = 8

func newKeySet() keySet {
	return keySet{seed: maphash.MakeSeed(), slots: make([]keySlot, 64), generation: 1}
}

// clear removes all keys.
func (k *keySet) clear() {
	k.linear, k.used, k.objects = k.linear[:0], 0, 0
	if k.generation++; k.generation == 0 {
		clear(k.slots)
		k.generation = 1
	}
}

// newObject returns a number for one object of the line, from 1.
func (k *keySet) newObject() uint32 {
	k.objects++
	return k.objects
}

// addLinear adds a key to an object whose first keys are linear[firstKey:], and reports whether it is new. At the end
// of the object the caller cuts linear back to firstKey. The set keeps the key itself, not a copy.
func (k *keySet) addLinear(firstKey int, object uint32, key []byte) bool {
	keys := k.linear[firstKey:]
	for _, other := range keys {
		if string(other) == string(key) {
			return false
		}
	}
	if len(keys) < maxLinearKeys {
		k.linear = append(k.linear, key)
		return true
	}
	return k.add(object, key)
}

// add adds a key of an object to the hash table, and reports whether it is new. The set keeps the key itself, not a
// copy.
func (k *keySet) add(object uint32, key []byte) bool {
	if 2*k.used >= len(k.slots) {
		k.grow()
	}
	hash := maphash.Bytes(k.seed, key) + uint64(object)*0x9e3779b97f4a7c15
	i := k.find(object, hash, key)
	if k.slots[i].generation == k.generation {
		return false
	}
	k.slots[i] = keySlot{generation: k.generation, object: object, hash: hash, key: key}
	k.used++
	return true
}

// find returns the index of the key's slot, or of the empty slot where it belongs.
func (k *keySet) find(object uint32, hash uint64, key []byte) int {
	mask := len(k.slots) - 1
	i := int(hash) & mask
	for {
		slot := &k.slots[i]
		if slot.generation != k.generation || slot.hash == hash && slot.object == object && bytes.Equal(slot.key, key) {
			return i
		}
		i = (i + 1) & mask
	}
}

func (k *keySet) grow() {
	old := k.slots
	k.slots = make([]keySlot, 2*len(old))
	for _, slot := range old {
		if slot.generation == k.generation {
			k.slots[k.find(slot.object, slot.hash, slot.key)] = slot
		}
	}
}
