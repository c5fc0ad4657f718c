package names

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sluice/shared/kit/difftest"
)

// TestSievesPassSimilarWords compares sieves with the similarities of words of random letters and variants with a few
// other sounds.
func TestSievesPassSimilarWords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	alphabets := []string{"aeiouywhbdfgklmnprstvzxjcq0", "~ayAwYHhbTDSXZCcjqKGdrzstfklmn"}
	randomWord := func() Word {
		alphabet := alphabets[random.IntN(2)]
		folded := make([]byte, 2+random.IntN(9))
		for i := range folded {
			folded[i] = alphabet[1+random.IntN(len(alphabet)-1)]
		}
		if alphabet[0] == abjadMark {
			folded[0] = abjadMark
		}
		return NewWord(folded)
	}
	change := func(w Word) Word {
		for range random.IntN(3) {
			w.sounds[random.IntN(max(int(w.n), 1))] = "aeiouwJhtdszSgkXqAYH"[random.IntN(20)]
		}
		w.Hash++
		if random.IntN(3) == 0 {
			w.flags ^= isAbjad
		}
		w.skeletons, w.consonants = [2]uint64{}, [2]uint8{}
		w.setSkeletons()
		return w
	}
	passed := 0
	for range 60_000 {
		a := randomWord()
		b := change(a)
		var sieve Sieve
		sieve.Set(&a)
		switch s, kind := Similarity(&a, &b); {
		case kind == Exact || kind == Meaning || kind == Initial:
		case kind != Different && !sieve.PassesWord(b.Sketch()):
			t.Fatalf("%v and %v are similar by %d (%v), but the sieve does not let the word pass", a, b, s, kind)
		case kind == Edited && !a.sharesSkeleton(&b, leastConsonants(&a, &b)) && !sieve.PassesEdited(b.Sketch()):
			t.Fatalf("%v and %v are edits, similar by %d, but the sieve does not let the word pass", a, b, s)
		case kind != Different:
			passed++
		}
		if s, kind := JoinSimilarity(&a, &b); kind != Different && !sieve.PassesJoin(b.Sketch()) {
			t.Fatalf("%v and the join %v are similar by %d, but the sieve does not let it pass", a, b, s)
		}
	}
	if passed < 2000 {
		t.Errorf("only %d pairs were similar; the test needs more", passed)
	}
}

// passesByStep is kindSieve.passes step by step.
func passesByStep(k *kindSieve, query, other soundSet, greatest int) bool {
	fromOther, fromQuery := 0, 0
	before := 0
	for step, cost := range sieveSteps {
		for i := range 64 {
			bit := soundSet(1) << i
			if other&bit != 0 && k.known[step]&bit == 0 {
				fromOther += cost - before
			}
			if query&^other&bit != 0 && k.relation.needed[i][step]&other == 0 {
				fromQuery += cost - before
			}
		}
		before = cost
	}
	return max(fromOther, fromQuery) <= greatest
}

func TestSievesAddUpAllSteps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	randomSet := func() soundSet {
		set := soundSet(0)
		for range 1 + random.IntN(8) {
			set |= 1 << random.IntN(64)
		}
		return set & soundSet(sketchSounds)
	}
	passed := 0
	const rounds = 30_000
	for range rounds {
		query, some, few := randomSet(), randomSet(), randomSet()
		other := query&some | few&randomSet()
		var k kindSieve
		k.set([]*relation{&sameRelation, &soundRelation, &letterRelation}[random.IntN(3)], query)
		greatest := random.IntN(400)
		want := passesByStep(&k, query, other, greatest)
		difftest.Equal(t, fmt.Sprintf("passes(%x, %x, %d)", query, other, greatest), want,
			k.passes(query, other, greatest))
		if want {
			passed++
		}
	}
	if passed < rounds/10 || passed > rounds*9/10 {
		t.Errorf("%d of %d pairs passed; the test needs more", passed, rounds)
	}
}
