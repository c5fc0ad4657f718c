package names

import "math/bits"

// Sketch is a summary of a word that distinguishes most words: the set of its sounds, their number, and the kind of its
// script. An index has the sketches of its words beside each other, so that it reads a word itself only if it may sound
// like a word of a query.
type Sketch uint64

const (
	sketchAbjad Sketch = 1 << 0
	// sketchBare words begin with an article that may be ignored.
	sketchBare Sketch = 1 << 27
	// SketchFree is the first of four bits for the users of sketches.
	SketchFree = 28
	// sketchLength is the first bit of the number of sounds.
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

// Sieve excludes words that do not sound like a word of a query, by their sketches. The difference of two words has a
// floor: each sound costs at least as much as its replacement by the most similar sound anywhere in the other word, or
// as its omission.
type Sieve struct {
	query Sketch
	// same is for words of the query's kind of script, other for words of the other kind.
	same, other kindSieve
}

// kindSieve is the sieve of words of one kind of script.
type kindSieve struct {
	relation *relation
	// known are, by step, the sounds of other words that cost less than the step beside the query's sounds.
	known stepSets
	// words and joins are the greatest costs by the number of sounds.
	words, joins *greatestCosts
}

// Set sets the sieve for a word.
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

// kindOf returns the sieve for words with a sketch, nil if there is none for them.
func (s *Sieve) kindOf(o Sketch) *kindSieve {
	if (s.query^o)&sketchAbjad == 0 {
		return &s.same
	}
	if (s.query|o)&sketchBare != 0 {
		return nil
	}
	return &s.other
}

// PassesWord reports whether a word with a sketch may sound like the query's word.
func (s *Sieve) PassesWord(o Sketch) bool {
	k := s.kindOf(o)
	return k == nil || k.passes(s.query.sounds(), o.sounds(), int(k.words[o.length()]))
}

// PassesJoin reports whether a word with a sketch may sound like the query's word if either is joined.
func (s *Sieve) PassesJoin(o Sketch) bool {
	k := s.kindOf(o)
	return k == nil || k.passes(s.query.sounds(), o.sounds(), int(k.joins[o.length()]))
}

// PassesEdited is PassesWord for a word in the same kind of script with other consonants than the query's word.
func (s *Sieve) PassesEdited(o Sketch) bool {
	edits := MaxEdits(min(s.query.length(), o.length())) + 1 // the first sounds may differ as well
	q, l := s.query.sounds(), o.sounds()
	return (q&^l).size() <= edits && (l&^q).size() <= edits &&
		s.same.passes(q, l, int(s.same.words[o.length()]))
}

// passes reports whether words with two sets of sounds may differ by no more than a greatest cost. It has no branches,
// which the processor could not predict: the set of a step includes the sounds of earlier steps.
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

// greatestCosts are the greatest costs of corresponding words, by the number of sounds of the other word.
type greatestCosts [maxSounds + 1]int16

// Greatest costs by the number of sounds of the query: for words of one kind of script, and for letters of scripts
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

// The costs that a sieve distinguishes.
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

// relation has the costs between the sounds of a query and of other words, which may be of another kind of script.
// Sounds that share a bit of a soundSet have the cost of the cheapest one.
type relation struct {
	// alike are, by step, the other sounds that cost less in place of a sound.
	alike [64]stepSets
	// needed are, by step, the other sounds; without any of them, a sound does not cost less.
	needed [64]stepSets
	// omitted are, by step, the other sounds whose omission costs less.
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
