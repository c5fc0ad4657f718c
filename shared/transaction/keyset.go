package transaction

import (
	"bytes"
	"hash/maphash"
)

// keySet knows the keys of a line's objects that the schema does not name, for the refusal of duplicates. Where all keys are
// such keys, the first of them are compared with each other. All others go to one table for all objects of a line, which
// costs nothing to clear; its hash is seeded, so that no file can be written to make it slow.
type keySet struct {
	few     [][]byte // the first keys of the objects that are open
	seed    maphash.Seed
	slots   []keySlot // a power of two; empty where line is not the set's
	used    int
	line    uint32
	objects uint32
}

type keySlot struct {
	line   uint32
	object uint32
	hash   uint64
	key    []byte
}

// maxFew is how many keys of an object are compared with each other.
const maxFew = 8

func newKeySet() keySet {
	return keySet{seed: maphash.MakeSeed(), slots: make([]keySlot, 64), line: 1}
}

// clear forgets everything.
func (k *keySet) clear() {
	k.few, k.used, k.objects = k.few[:0], 0, 0
	if k.line++; k.line == 0 {
		clear(k.slots)
		k.line = 1
	}
}

// newObject returns a number for one object of the line.
func (k *keySet) newObject() uint32 {
	k.objects++
	return k.objects
}

// addFew is add for an object whose first keys are in few from a place on; they must be taken out at its end.
func (k *keySet) addFew(from int, object uint32, key []byte) bool {
	own := k.few[from:]
	for _, other := range own {
		if string(other) == string(key) {
			return false
		}
	}
	if len(own) < maxFew {
		k.few = append(k.few, key)
		return true
	}
	return k.add(object, key)
}

// add reports whether the key is new to the object. It keeps the key, not a copy.
func (k *keySet) add(object uint32, key []byte) bool {
	if 2*k.used >= len(k.slots) {
		k.grow()
	}
	hash := maphash.Bytes(k.seed, key) + uint64(object)*0x9e3779b97f4a7c15
	at := k.find(object, hash, key)
	if k.slots[at].line == k.line {
		return false
	}
	k.slots[at] = keySlot{line: k.line, object: object, hash: hash, key: key}
	k.used++
	return true
}

// find returns the slot of the key, or the empty slot where it belongs.
func (k *keySet) find(object uint32, hash uint64, key []byte) int {
	mask := len(k.slots) - 1
	at := int(hash) & mask
	for {
		slot := &k.slots[at]
		if slot.line != k.line || slot.hash == hash && slot.object == object && bytes.Equal(slot.key, key) {
			return at
		}
		at = (at + 1) & mask
	}
}

func (k *keySet) grow() {
	old := k.slots
	k.slots = make([]keySlot, 2*len(old))
	for _, slot := range old {
		if slot.line == k.line {
			k.slots[k.find(slot.object, slot.hash, slot.key)] = slot
		}
	}
}
