package validation

import (
	"io"
	"math/bits"

	"sluice/shared/duplicate"
	"sluice/shared/transaction"
)

// Directory is entities that are at hand. Each is one word of memory. It is filled first, and read by File then.
type Directory struct {
	key     duplicate.Key
	entries []directoryEntry // in the order of Add, until the slots are made
	slots   []uint64         // the upper half of an ID's digest with the state in its lowest bits, found by the lower half; 0: empty
}

type directoryEntry struct {
	digest duplicate.Digest
	state  EntityState
}

const stateBits = 3

// NewDirectory makes an empty directory; the secret keeps those who choose IDs from making two look the same.
func NewDirectory(secret [16]byte) *Directory { return &Directory{key: duplicate.NewKey(secret)} }

// Add adds an entity that is not Missing. Of an entity that is added twice, the last state counts.
func (d *Directory) Add(id []byte, state EntityState) {
	d.entries = append(d.entries, directoryEntry{d.key.Digest(id), state})
}

// makeSlots ends the adding.
func (d *Directory) makeSlots() {
	if d.slots != nil {
		return
	}
	d.slots = make([]uint64, 1<<bits.Len(uint(2*len(d.entries)))) // at most half full
	for _, e := range d.entries {
		*d.slot(e.digest) = e.digest.Hi&^stateBits | uint64(e.state)
	}
	d.entries = nil
}

func (d *Directory) state(digest duplicate.Digest) EntityState {
	return EntityState(*d.slot(digest) & stateBits)
}

// slot finds the entity's slot, or the empty one that would be its own.
func (d *Directory) slot(digest duplicate.Digest) *uint64 {
	mask := uint64(len(d.slots) - 1)
	for i := digest.Lo & mask; ; i = (i + 1) & mask {
		if slot := d.slots[i]; slot == 0 || slot&^stateBits == digest.Hi&^stateBits {
			return &d.slots[i]
		}
	}
}

// judge finds the uses of entities in one chunk that a directory forbids, instead of an index of all uses for Reconcile.
type judge struct {
	directory *Directory // nil: none is forbidden
	pending   []pendingUse
	forbidden []use // entity stands for its state
	sections  sectionWriter
}

// pendingUse waits to be looked up, as pendingID does.
type pendingUse struct {
	digest duplicate.Digest
	use
}

func (j *judge) add(id []byte, line, offset int64, role transaction.Role) {
	if j.directory == nil {
		return
	}
	u := use{line: uint32(line), offset: uint32(offset), role: role}
	if j.pending = append(j.pending, pendingUse{j.directory.key.Digest(id), u}); len(j.pending) == maxPending {
		j.lookUp()
	}
}

func (j *judge) lookUp() {
	for i := range j.pending {
		if state := j.directory.state(j.pending[i].digest); state != Onboarded {
			u := j.pending[i].use
			u.entity = uint32(state)
			j.forbidden = append(j.forbidden, u)
		}
	}
	j.pending = j.pending[:0]
}

// writeTo writes the marks of the forbidden uses in a chunk, one of count, and forgets them.
func (j *judge) writeTo(w io.Writer, chunk, count int) error {
	j.lookUp()
	states := group(int(Onboarded), j.forbidden, func(u use) uint32 { return u.entity })
	_, err := j.sections.write(w, marksMagic, count, func(i int, b []byte) []byte {
		if i != chunk || len(j.forbidden) == 0 {
			return b
		}
		b = append(b, 0, byte(Onboarded)) // no duplicates; all uses of the same state as if they were of one entity
		for state := range Onboarded {
			uses := states.of(int(state))
			b = appendList(append(b, byte(state)), len(uses), appendUses(nil, uses, j.forbidden))
		}
		return b
	})
	j.forbidden = j.forbidden[:0]
	return err
}
