package names

import "math/bits"

// Most words of different scripts that are compared turn out to be different. A floor says so before they are aligned:
// it is a cost that the difference of two words has at least, because each sound costs at least what the most similar
// sound of the other word costs in its place, wherever that is, or what it costs to leave the sound out. Words of one
// script are alike too often for a floor of theirs to be worth its time.

// soundSet is a set of sounds. Some of them share a bit, so that a set may seem to have more than it has.
type soundSet uint64

// size returns the number of sounds, those that share a bit being one.
func (s soundSet) size() int { return bits.OnesCount64(uint64(s)) }

func soundSetOf(sounds []byte) soundSet {
	var set soundSet
	for _, c := range sounds {
		set |= 1 << (c % 64)
	}
	return set
}

// soundFloor is what a sound costs at least, by the sounds that the other word has: nothing, near or far if it has one
// of these sets, otherwise alone.
type soundFloor struct {
	same, similar, related soundSet
	near, far, alone       uint8
}

// Costs from which on sounds are no longer the same, similar or related.
const (
	costSimilar   = costLong
	costRelated   = 45
	costUnrelated = costSound
)

// floorTable has the floors of all sounds.
type floorTable [128]soundFloor

// floor returns what sounds cost at least if the other word has a set of sounds.
func (t *floorTable) floor(sounds []byte, others soundSet) int {
	sum := 0
	for _, c := range sounds {
		f := &t[c&0x7f]
		switch {
		case others&f.same != 0:
		case others&f.similar != 0:
			sum += int(f.near)
		case others&f.related != 0:
			sum += int(f.far)
		default:
			sum += int(f.alone)
		}
	}
	return sum
}

// newFloorTable returns the floors of sounds by the least costs of others in their place and of leaving them out.
func newFloorTable(replace func(c, other byte) int, leaveOut func(c byte) int) *floorTable {
	t := &floorTable{}
	for c := range t {
		f, alone := &t[c], leaveOut(byte(c))
		f.near, f.far = uint8(min(costSimilar, alone)), uint8(min(costRelated, alone))
		f.alone = uint8(min(costUnrelated, alone))
		for other := range byte(len(t)) {
			bit := soundSet(1) << (other % 64)
			switch cost := replace(byte(c), other); {
			case cost < costSimilar:
				f.same |= bit
			case cost < costRelated:
				f.similar |= bit
			case cost < costUnrelated:
				f.related |= bit
			}
		}
	}
	return t
}

// letterFloors are the floors of scriptDifference for letters of scripts without vowels, spokenFloors those for sounds.
var (
	letterFloors = newFloorTable(leastScriptCost, leastWrittenCost)
	spokenFloors = newFloorTable(
		func(sound, letter byte) int { return leastScriptCost(letter, sound) }, leastUnwrittenCost)
)

// leastScriptCost returns the least of scriptCost at any place.
func leastScriptCost(letter, sound byte) int { return int(leastScriptCosts[letter][sound]) }

// leastScriptCosts are the results of leastScriptCost. Each is needed for several tables.
var leastScriptCosts = func() (t [128][128]uint8) {
	for letter := range byte(128) {
		letters := []byte{letter, letter, letter}
		for sound := range byte(128) {
			if letter == sound {
				continue
			}
			cost := int(scriptCosts[letter][sound])
			for i := range letters {
				cost = min(cost, scriptCost(letters, i, sound))
			}
			t[letter][sound] = uint8(cost)
		}
	}
	return t
}()
