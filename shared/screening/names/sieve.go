package names

import "math/bits"

// Sketch is what suffices to tell most words apart: the set of a word's sounds, their number, and whether it is from a
// script without vowels. An index has the sketches of its words beside each other, so that a word itself is looked at
// only if it may sound like one of a query.
type Sketch uint64

const (
	sketchAbjad Sketch = 1 << 0
	// sketchBare words begin with an article that may not count.
	sketchBare Sketch = 1 << 27
	// SketchFree is the first of four bits that are left to the users of sketches.
	SketchFree = 28
	// sketchLength is where the number of sounds begins.
	sketchLength = 59
	// sketchSounds are the bits of sounds, which are letters and digits.
	sketchSounds Sketch = 0x7ff_fffe<<32 | 0x7ff_fffe
)

// Sketch returns the sketch of the word.
func (w *Word) Sketch() Sketch {
	s := Sketch(soundSetOf(w.sounds[:w.n]))&sketchSounds | Sketch(w.n)<<sketchLength
	if w.flags&isAbjad != 0 {
		s |= sketchAbjad
	}
	if w.bareSounds() != nil {
		s |= sketchBare
	}
	return s
}

func (s Sketch) sounds() soundSet { return soundSet(s & sketchSounds) }
func (s Sketch) length() int      { return int(s >> sketchLength) }

// Sieve tells which words do not sound like one of a query, by their sketches. The difference of two words has a floor:
// each sound costs at least what the most similar sound of the other word costs in its place, wherever that is, or what
// it costs to leave the sound out.
type Sieve struct {
	query Sketch
	// same is for words of the query's kind of script, other for those of the other kind.
	same, other kindSieve
}

// kindSieve is the sieve of words of one kind of script.
type kindSieve struct {
	relation *relation
	// known are, by step, the sounds of other words that cost less beside those of the query.
	known stepSets
	// words and joins are the greatest costs by the number of sounds.
	words, joins *greatestCosts
}

// Set makes the sieve that of a word.
func (s *Sieve) Set(w *Word) {
	s.query = w.Sketch()
	n := s.query.length()
	s.same.words, s.same.joins = &sameCosts[n], &sameJoinCosts[n]
	s.same.set(&sameRelation, s.query.sounds())
	if s.query&sketchAbjad != 0 {
		s.other.words, s.other.joins = &letterCosts[n], &letterJoinCosts[n]
		s.other.set(&letterRelation, s.query.sounds())
	} else {
		s.other.words, s.other.joins = &soundCosts[n], &soundJoinCosts[n]
		s.other.set(&soundRelation, s.query.sounds())
	}
}

func (k *kindSieve) set(r *relation, sounds soundSet) {
	k.relation, k.known = r, r.omitted
	for ; sounds != 0; sounds &= sounds - 1 {
		alike := &r.alike[bits.TrailingZeros64(uint64(sounds))]
		for step := range alike {
			k.known[step] |= alike[step]
		}
	}
}

// kindOf returns the sieve of words of a sketch, nil if nothing is known of them.
func (s *Sieve) kindOf(o Sketch) *kindSieve {
	if (s.query^o)&sketchAbjad == 0 {
		return &s.same
	}
	if (s.query|o)&sketchBare != 0 {
		return nil
	}
	return &s.other
}

// PassesWord reports whether a word of a sketch may sound like that of the query.
func (s *Sieve) PassesWord(o Sketch) bool {
	k := s.kindOf(o)
	return k == nil || k.passes(s.query.sounds(), o.sounds(), int(k.words[o.length()]))
}

// PassesJoin reports whether a word of a sketch may sound like that of the query if either is joined.
func (s *Sieve) PassesJoin(o Sketch) bool {
	k := s.kindOf(o)
	return k == nil || k.passes(s.query.sounds(), o.sounds(), int(k.joins[o.length()]))
}

// PassesEdited is PassesWord for a word in the same kind of script that does not share the consonants of the query.
func (s *Sieve) PassesEdited(o Sketch) bool {
	edits := MaxEdits(min(s.query.length(), o.length())) + 1 // the first sounds may differ as well
	q, l := s.query.sounds(), o.sounds()
	return (q&^l).size() <= edits && (l&^q).size() <= edits &&
		s.same.passes(q, l, int(s.same.words[o.length()]))
}

// passes reports whether words of two sets of sounds may differ by no more than a greatest cost. It goes through the
// steps without branches, which the processor could not foresee: a set of one step has the sounds of those before it.
func (k *kindSieve) passes(query, other soundSet, greatest int) bool {
	floor := firstStep*(other&^k.known[0]).size() + (secondStep-firstStep)*(other&^k.known[1]).size() +
		(thirdStep-secondStep)*(other&^k.known[2]).size() + (fourthStep-thirdStep)*(other&^k.known[3]).size()
	if floor > greatest {
		return false
	}
	floor = 0
	for rest := query &^ other; rest != 0; rest &= rest - 1 {
		needed := &k.relation.needed[bits.TrailingZeros64(uint64(rest))]
		cost := 0
		if other&needed[0] == 0 {
			cost = firstStep
		}
		if other&needed[1] == 0 {
			cost = secondStep
		}
		if other&needed[2] == 0 {
			cost = thirdStep
		}
		if other&needed[3] == 0 {
			cost = fourthStep
		}
		floor += cost
	}
	return floor <= greatest
}

// greatestCosts are, by the number of sounds of another word, the greatest costs with which words correspond.
type greatestCosts [maxSounds + 1]int16

// Greatest costs by the number of sounds of the query: of words of one kind of script, and of letters of scripts
// without vowels and sounds.
var (
	sameCosts       = newGreatestCosts(1000-minSimilarity, sameCost)
	sameJoinCosts   = newGreatestCosts(1000-minJoinSimilarity, sameCost)
	letterCosts     = newGreatestCosts(1000-minScriptSimilarity, letterCost)
	letterJoinCosts = newGreatestCosts(1000-minScriptJoinSimilarity, letterCost)
	soundCosts      = newGreatestCosts(1000-minScriptSimilarity, spokenCost)
	soundJoinCosts  = newGreatestCosts(1000-minScriptJoinSimilarity, spokenCost)
)

func newGreatestCosts(limit int, greatest func(limit, n, other int) int) (t [maxSounds + 1]greatestCosts) {
	for n := range t {
		for other := range t[n] {
			t[n][other] = -1
			if n > 0 && other > 0 {
				t[n][other] = int16(greatest(limit, n, other))
			}
		}
	}
	return t
}

func sameCost(limit, n, other int) int {
	extra := extraCost{shorter: min(n, other), longer: max(n, other)}
	return extra.greatestCost(limit)
}

func letterCost(limit, letters, sounds int) int {
	if 1000-writtenSimilarity(letters) > limit {
		return -1
	}
	return greatestScriptCost(limit, max(letters, sounds))
}

func spokenCost(limit, sounds, letters int) int { return letterCost(limit, letters, sounds) }

// The costs that a sieve tells apart.
const (
	firstStep  = 20
	secondStep = 30
	thirdStep  = 45
	fourthStep = 100
	numSteps   = 4
)

var sieveSteps = [numSteps]int{firstStep, secondStep, thirdStep, fourthStep}

// stepSets are the sounds that cost less than each of sieveSteps.
type stepSets [numSteps]soundSet

// relation says what the sounds of a query and those of other words, which may be of another kind of script, cost each
// other. Sounds that share a bit of a soundSet cost what the cheapest of them does.
type relation struct {
	// alike are the others that cost less than each step in the place of a sound.
	alike [64]stepSets
	// needed are the others of which one must be there for a sound to cost less than each step.
	needed [64]stepSets
	// omitted are the others that cost less than each step if they are left out.
	omitted stepSets
}

func newRelation(replace func(c, other byte) int, leaveOut, leaveOutOther func(c byte) int) (r relation) {
	for c := range byte(128) {
		i := c % 64
		for other := range byte(128) {
			replacing := replace(c, other)
			for step, cost := range sieveSteps {
				if replacing < cost {
					r.alike[i][step] |= 1 << (other % 64)
				}
			}
		}
		for step, cost := range sieveSteps {
			if leaveOutOther(c) < cost {
				r.omitted[step] |= 1 << i
			}
			r.needed[i][step] |= r.alike[i][step]
			if leaveOut(c) < cost {
				r.needed[i][step] = ^soundSet(0)
			}
		}
	}
	return r
}

var (
	sameRelation = newRelation(
		func(c, other byte) int { return int(replaceCosts[c][other]) }, leastGapCost, leastGapCost)
	soundRelation = newRelation(
		func(sound, letter byte) int { return leastScriptCost(letter, sound) }, leastUnwrittenCost, leastWrittenCost)
	letterRelation = newRelation(leastScriptCost, leastWrittenCost, leastUnwrittenCost)
)

// leastGapCost returns the least of gapCosts.
func leastGapCost(c byte) int {
	switch {
	case c == 'i' || c == 'u' || c == 'w':
		return costDiphthong
	case c == soundJ:
		return costDiphthong + 10
	case isVowel(c) || c == 'h':
		return costVowel
	}
	return costSound
}

// leastWrittenCost returns the least of writtenCost.
func leastWrittenCost(c byte) int {
	switch c {
	case 'a', soundAyn, soundFinalY, soundFinalT, 'h', 'i':
		return costUnwritten
	}
	return costSound
}

// leastUnwrittenCost returns the least of unwrittenCost.
func leastUnwrittenCost(c byte) int {
	switch {
	case c == 'a' || c == 'e':
		return costUnwritten
	case c == 'h':
		return costVowel
	case c != soundJ && (isVowel(c) || c == 'w'):
		return costLong
	}
	return costSound
}
