package validation

import (
	"hash/maphash"
	"io"

	"sluice/shared/transaction"
)

// Directory is entities that are at hand, each in two to four words of memory. It is filled first, and read by File then.
//
// It lives in one process, so its hash need not be the same elsewhere, only secret: whoever chooses IDs cannot make two look
// the same. By chance one of 15 million different IDs that are missing passes for one of 100,000 that are there in one file of
// three million.
type Directory struct {
	seed  maphash.Seed
	count int      // slots that are taken, at most half of them
	slots []uint64 // an ID's hash with its state in the lowest bits, found by the bits above those; 0: empty
}

const (
	stateWidth = 2
	stateBits  = 1<<stateWidth - 1
	minSlots   = 16
)

// NewDirectory makes an empty directory.
func NewDirectory() *Directory {
	return &Directory{seed: maphash.MakeSeed(), slots: make([]uint64, minSlots)}
}

// Add adds an entity that is not Missing. Of an entity that is added twice, the last state counts.
func (d *Directory) Add(id string, state EntityState) {
	if 2*d.count >= len(d.slots) {
		d.grow()
	}
	hash := maphash.String(d.seed, id)
	slot := d.slot(hash)
	if *slot == 0 {
		d.count++
	}
	*slot = hash&^stateBits | uint64(state)
}

func (d *Directory) grow() {
	old := d.slots
	d.slots = make([]uint64, 2*len(old))
	for _, entity := range old {
		if entity != 0 {
			*d.slot(entity) = entity
		}
	}
}

func (d *Directory) hash(id []byte) uint64 { return maphash.Bytes(d.seed, id) }

func (d *Directory) state(hash uint64) EntityState { return EntityState(*d.slot(hash) & stateBits) }

// firstSlot is what is in the slot where an entity is looked for first.
func (d *Directory) firstSlot(hash uint64) uint64 {
	return d.slots[d.place(hash)]
}

// place is where a hash is looked for first.
func (d *Directory) place(hash uint64) uint64 { return hash >> stateWidth & uint64(len(d.slots)-1) }

// slot finds the entity's slot, or the empty one that would be its own.
func (d *Directory) slot(hash uint64) *uint64 {
	mask := uint64(len(d.slots) - 1)
	for i := d.place(hash); ; i = (i + 1) & mask {
		if slot := d.slots[i]; slot == 0 || slot&^stateBits == hash&^stateBits {
			return &d.slots[i]
		}
	}
}

const maxPending = 8 << 10

// judge finds the uses of entities in one chunk that a directory forbids, instead of an index of all uses for Reconcile.
type judge struct {
	directory *Directory // nil: none is forbidden
	pending   []pendingUse
	forbidden []use // entity stands for its state
	sections  sectionWriter
}

// pendingUse waits to be looked up. Many at a time find the directory in the processor's cache; each by itself, in between
// lines, would not.
type pendingUse struct {
	hash uint64
	use
}

func (j *judge) add(id []byte, line, offset int64, role transaction.Role) {
	if j.directory == nil {
		return
	}
	u := use{line: uint32(line), offset: uint32(offset), role: role}
	if j.pending = append(j.pending, pendingUse{j.directory.hash(id), u}); len(j.pending) == maxPending {
		j.lookUp()
	}
}

func (j *judge) lookUp() {
	var first [64]uint64
	for rest := j.pending; len(rest) > 0; {
		some := rest[:min(len(rest), len(first))]
		rest = rest[len(some):]
		// The slots are not in the cache: when none is looked at before all are asked for, they are waited for together.
		for i := range some {
			first[i] = j.directory.firstSlot(some[i].hash)
		}
		for i := range some {
			if first[i] == some[i].hash&^stateBits|uint64(Onboarded) {
				continue
			}
			if state := j.directory.state(some[i].hash); state != Onboarded {
				u := some[i].use
				u.entity = uint32(state)
				j.forbidden = append(j.forbidden, u)
			}
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
