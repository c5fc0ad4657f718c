package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/shared/kit/difftest"
)

// Any text folds to bounded words that can be compared with each other, and similar words find each other in an index.
func FuzzSplit(f *testing.F) {
	for _, name := range []string{
		"Abd al-Raḥmān bin Yūsuf", "عبدالرحمن بن يوسف", "Сяргей Уладзіміравіч", "김정은", "毛泽东", "Аndrеi",
		"O'Neil-McDonald",
		"a\u200db\u202ec", "\xff\xfe", "J.R.R. Tolkien", "रजनीकांत", "ﷺ", "Ig0r Sech1n", strings.Repeat("x", 5000),
		"בן־גוריון",
	} {
		f.Add(name, "Sergei Lavrov")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		s := NewSplitter()
		var words []Word
		for _, name := range []string{a, b} {
			s.Split(name)
			if s.Len() > MaxWords {
				t.Fatalf("%q has %d words", name, s.Len())
			}
			for i := range s.Len() {
				folded := s.Word(i)
				if len(folded) == 0 || len(folded) > maxWordBytes {
					t.Fatalf("word %d of %q has %d bytes", i, name, len(folded))
				}
				if start, end := s.Source(i); start < 0 || start >= end || end > len(name) {
					t.Fatalf("word %d of %q comes from bytes %d to %d", i, name, start, end)
				}
				words = append(words, NewWord(folded))
			}
		}
		for i := range words {
			checkWord(t, &words[i], words)
		}
	})
}

// checkWord checks a word against others.
func checkWord(t *testing.T, w *Word, others []Word) {
	t.Helper()
	if s, kind := Similarity(w, w); s != Equal || kind != Exact {
		t.Fatalf("a word is similar to itself by %d (%v)", s, kind)
	}
	for j := range others {
		o := &others[j]
		similarity, kind := Similarity(w, o)
		back, _ := Similarity(o, w)
		difftest.Equal(t, fmt.Sprintf("similarities of %v and %v", w, o), back, similarity)
		if similarity > 0 && !(kind == Initial && w.IsInitial()) && !finds(w, o) {
			t.Fatalf("%v and %v are similar (%v), and the keys or the sieve of one do not find the other", w, o, kind)
		}
		join := Join(w, o)
		for k := range others {
			if s, _ := JoinSimilarity(&join, &others[k]); s > 0 && !joinFinds(&join, &others[k]) {
				t.Fatalf("%v is similar to the join %v, whose keys or sieve do not find it", others[k], join)
			}
		}
	}
}

// finds reports whether a word of a query finds a word of an index by its keys, and its sieve lets that word pass.
func finds(w, o *Word) bool {
	var keys QueryKeys
	keys.Set(w)
	var sieve Sieve
	sieve.Set(w)
	switch kind, isFound := firstShared(&keys, o.AppendKeys(nil)); {
	case !isFound:
		return false
	case kind == KeyOfWhole:
		return true
	case kind == KeyOfConsonants:
		return sieve.PassesWord(o.Sketch())
	}
	return sieve.PassesEdited(o.Sketch())
}

// joinFinds is finds for a joined word.
func joinFinds(w, o *Word) bool {
	var keys QueryKeys
	keys.SetJoin(w)
	var sieve Sieve
	sieve.Set(w)
	kind, isFound := firstShared(&keys, o.AppendJoinKeys(nil))
	return isFound && (kind == KeyOfWhole || sieve.PassesJoin(o.Sketch()))
}

// firstShared returns the kind of the first key of a query that an index has.
func firstShared(query *QueryKeys, keys []uint64) (kind KeyKind, isFound bool) {
	i := slices.IndexFunc(query.Keys, func(key uint64) bool { return slices.Contains(keys, key) })
	return query.Kind(i), i >= 0
}

// Words with random edits share a key as long as they are similar.
func TestSimilarWordsShareKeys(t *testing.T) {
	letters := "abcdefghijklmnopqrstuvwxyz"
	seed := uint64(1)
	random := func(n int) int {
		seed = mix(seed)
		return int(seed>>33) % n
	}
	similar := 0
	for range 20000 {
		word := make([]byte, 3+random(10))
		for i := range word {
			word[i] = letters[random(len(letters))]
		}
		other := slices.Clone(word)
		for range 1 + random(2) {
			i := random(len(other))
			switch random(4) {
			case 0:
				other[i] = letters[random(len(letters))]
			case 1:
				other = slices.Delete(other, i, min(i+1, len(other)-1))
			case 2:
				other = slices.Insert(other, i, letters[random(len(letters))])
			default:
				if i > 0 {
					other[i], other[i-1] = other[i-1], other[i]
				}
			}
		}
		a, b := NewWord(word), NewWord(other)
		if s, _ := Similarity(&a, &b); s > 0 && !a.IsInitial() {
			similar++
			if !finds(&a, &b) {
				t.Errorf("%s and %s are similar by %d, and the keys or the sieve of one do not find the other", word,
					other, s)
			}
		}
	}
	if similar < 2000 {
		t.Errorf("only %d pairs were similar; the test needs more", similar)
	}
}

// A name of 10 MB takes no longer than a name at the limit.
func TestLongNameIsBounded(t *testing.T) {
	for _, piece := range []string{"x", "ab ", "عبد ", "김", "\u0301", "\xff", "A.", "' "} {
		name := strings.Repeat(piece, 10<<20/len(piece))
		s := NewSplitter()
		const mark, attempts = time.Second, 5 // another attempt if the machine is busy
		took := mark + 1
		for attempt := 0; took > mark && attempt < attempts; attempt++ {
			start := time.Now()
			s.Split(name)
			took = time.Since(start)
		}
		if took > mark {
			t.Errorf("a name of 10 MB of %q took %v, want at most %v", piece, took, mark)
		}
		if !s.Truncated {
			t.Errorf("a name of 10 MB of %q was not truncated", piece)
		}
		for i := range s.Len() {
			if w := s.Word(i); len(w) > maxWordBytes || !utf8.Valid(w) && piece != "\xff" {
				t.Errorf("a word of %q is %q", piece, w)
			}
		}
	}
}
