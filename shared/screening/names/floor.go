package names

import "math/bits"

// Most compared words of different scripts are different. A floor shows that before they are aligned: it is a lower
// bound of the difference of two words, because each sound costs at least as much as its replacement by the most
// similar sound anywhere in the other word, or as its omission. Words of one script are similar too often for floors to
// be worth their time.

// soundSet is a set of sounds. Some of them share a bit, so that a set may seem to have more sounds.
type soundSet uint64

// size returns the number of sounds, where sounds that share a bit count as one.
func (s soundSet) size() int { return bits.OnesCount64(uint64(s)) }

func soundSetOf(sounds []byte) soundSet {
	var set soundSet
	for _, c := range sounds {
		set |= 1 << (c % 64)
	}
	return set
}

// soundFloor is the least cost of a sound by the sounds of the other word: nothing, near or far if it has a sound of
// the respective set, otherwise alone.
type soundFloor struct {
	same, similar, related soundSet
	near, far, alone       uint8
}

// Least costs of sounds that are no longer the same, similar or related.
const (
	costSimilar   = costLong
	costRelated   = 45
	costUnrelated = costSound
)

// floorTable has the floors of all sounds.
type floorTable [128]soundFloor

// floor returns the least cost of sounds if the other word has a set of sounds.
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

// newFloorTable returns the floors of sounds from the least costs of their replacement and omission.
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
