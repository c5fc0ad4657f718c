package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/screening/watchlist"
)

// randomName returns a name whose words are similar, equal, joined, initials or in other scripts more often than in
// real names, some with too many words for a post.
func randomName(random *rand.Rand) string {
	stems := []string{
		"velkanov", "velkanow", "welkanov", "anatoly", "anatolij", "boris", "borys", "abd", "rahman", "abdulrahman",
		"bin", "al",
		"harbor", "line", "harborline", "steel", "mary", "ann", "maryann", "j", "a", "b",
		"Велканов", "عبدالرحمن", "رحمن", "王",
		"bank", "банк", "ltd", "company", "de", "dr", "il", "kim",
	}
	words := make([]string, 1+random.IntN(4))
	if random.IntN(5) == 0 {
		words = make([]string, 5+random.IntN(9))
	}
	for i := range words {
		word := []rune(stems[random.IntN(len(stems))])
		if at := random.IntN(len(word)); random.IntN(6) == 0 {
			word[at] = rune('a' + random.IntN(26))
		}
		words[i] = string(word)
	}
	return strings.Join(words, " ")
}

// The bounds leave out no name that reaches a threshold, for any words.
func TestIndexFindsWhatComparingFindsInRandomNames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	list := &watchlist.List{}
	schemas := []watchlist.Schema{watchlist.Person, watchlist.Organisation, watchlist.Unknown}
	for i := range 250 {
		e := watchlist.Entry{ID: fmt.Sprint(i), Schema: schemas[random.IntN(3)]}
		e.Names = []watchlist.Name{{Text: randomName(random), Kind: watchlist.NameKind(random.IntN(2))}}
		list.Entries = append(list.Entries, e)
	}
	x := Build(Source{Name: "random", List: list})
	s, all := NewSearcher(x), newBruteForce(x)
	for range 120 {
		q := Query{Name: randomName(random), Schema: schemas[random.IntN(3)]}
		for _, threshold := range []int{1, 5000, 7000, Threshold * 100, 9000, scale} {
			got, want := s.find(q, threshold), all.find(q, threshold)
			if !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("find(%q as %q, %d) = %v, want %v", q.Name, q.Schema, threshold, got, want)
			}
		}
	}
}

// A post of a name has the prints of all words that can match beside its own word, or a mark that it has not.
func TestPosts(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 12 {
		words = append(words, fmt.Sprintf("name%c%c", 'b'+i, 'd'+i))
		text := strings.Join(words, " ")
		x := Build(Source{Name: "one", List: &watchlist.List{Entries: []watchlist.Entry{
			{ID: "1", Schema: watchlist.Person, Names: []watchlist.Name{{Text: text}}},
		}}})
		n := i + 1
		difftest.Equal(t, fmt.Sprintf("posts of %d words", n), 2*n-1, len(x.posts))
		for place := range n {
			p := x.newPost(0, place)
			wantWords, wantJoins := n-1, n-1
			for _, touching := range []int{place - 1, place} {
				if touching >= 0 && touching < n-1 {
					wantJoins--
				}
			}
			wantPrints, wantWhole := wantWords+wantJoins, true
			var wantLast uint16 = noPrint
			switch {
			case wantPrints <= maxPrints:
			case wantWords < maxPrints:
				wantPrints, wantWhole, wantLast = wantWords, false, manyJoins
			default:
				wantPrints, wantWhole, wantLast = 0, false, manyWords
			}
			prints := slices.IndexFunc(p.prints[:], func(print uint16) bool { return print >= noPrint })
			last := uint16(noPrint)
			if prints < 0 {
				prints = maxPrints
			} else {
				last = p.prints[prints]
			}
			if prints != wantPrints || last != wantLast || p.isWhole() != wantWhole {
				t.Errorf("word %d of %d has the prints %v (whole: %v), want %d of words and joins (whole: %v) "+
					"and then %d",
					place, n, p.prints, p.isWhole(), wantPrints, wantWhole, wantLast)
			}
		}
	}
}

// A new word beside a word of few names is compared with the words of these names alone, with the same result.
func TestNamesAreOpenedBeforeAllWordsAreResolved(t *testing.T) {
	t.Parallel()
	entry := func(id, name string) watchlist.Entry {
		return watchlist.Entry{ID: id, Schema: watchlist.Person, Names: []watchlist.Name{{Text: name}}}
	}
	x := Build(Source{Name: "few", List: &watchlist.List{Entries: []watchlist.Entry{
		entry("1", "Velkanov Anatoly"), entry("2", "Petrova Anatolya"), entry("3", "Kovalenko Anatole"),
		entry("4", "Anna Toly Velkanov"),
	}}})
	s, all := NewSearcher(x), newBruteForce(x)
	s.find(Query{Name: "Velkanov", Schema: watchlist.Person}, Threshold*100)
	for _, name := range []string{"Anatoli Velkanov", "Annatoly Velkanov"} {
		q := Query{Name: name, Schema: watchlist.Person}
		got, want := slices.Clone(s.find(q, Threshold*100)), all.find(q, Threshold*100)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("find(%q) = %v, want %v, and a hit", name, got, want)
		}
		if w := s.cache.word(s.words[0]); !w.isSifted || w.isResolved {
			t.Errorf("the first word of %q is sifted: %v, resolved: %v; want it only sifted",
				name, w.isSifted, w.isResolved)
		}
	}
}
