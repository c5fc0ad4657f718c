package match

import (
	"math/bits"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

func onesCount(x uint64) int     { return bits.OnesCount64(x) }
func trailingZeros(x uint64) int { return bits.TrailingZeros64(x) }

// lastBit returns the number of the highest bit, -1 if there is none.
func lastBit(x uint64) int { return bits.Len64(x) - 1 }

// Name is an analysed name.
type Name struct {
	// Text is the original name.
	Text string
	// Truncated reports that the name was too long to be read to its end.
	Truncated bool
	words     []names.Word
	texts     []string
	// sources are the words in their form in Text.
	sources []string
	// forms has a bit for each word of an organisation form.
	forms uint64
}

// Analyzer analyses names. It is not safe for concurrent use.
type Analyzer struct{ splitter *names.Splitter }

// NewAnalyzer returns an analyzer.
func NewAnalyzer() *Analyzer { return &Analyzer{names.NewSplitter()} }

// Analyze analyses a name.
func (a *Analyzer) Analyze(text string) *Name {
	a.splitter.Split(text)
	n := &Name{Text: text, Truncated: a.splitter.Truncated}
	for i := range a.splitter.Len() {
		folded := a.splitter.Word(i)
		n.words = append(n.words, names.NewWord(folded))
		n.texts = append(n.texts, string(folded))
		start, end := a.splitter.Source(i)
		n.sources = append(n.sources, text[start:end])
	}
	n.forms = names.Forms(n.words, func(i int) string { return n.texts[i] })
	return n
}

// CanMatch reports whether the name has a distinctive word. An organisation form, a title, a particle, a stop word or
// an initial alone match nothing. A name that may be a person's or an organisation's needs a distinctive word as
// either: "Ltd" does not become a person's name for lack of a schema.
func (n *Name) CanMatch(schema watchlist.Schema) bool {
	for _, mode := range modesOf(schema) {
		if f := n.comparableForm(mode); !f.isDistinctive(mode) {
			return false
		}
	}
	return true
}

// form is the comparable part of a name in one mode.
type form struct {
	words   []names.Word
	texts   []string
	sources []string
	// joins[i] is words i and i+1 written as one.
	joins []names.Word
}

// comparableForm returns the comparable part of the name in a mode: an organisation without its form, a person
// unchanged.
func (n *Name) comparableForm(mode names.Mode) form {
	f := form{words: n.words, texts: n.texts, sources: n.sources}
	if mode == names.Organisation && n.forms != 0 {
		f = form{}
		for i := range n.words {
			if n.forms>>i&1 == 0 {
				f.words, f.texts = append(f.words, n.words[i]), append(f.texts, n.texts[i])
				f.sources = append(f.sources, n.sources[i])
			}
		}
	}
	for i := 0; i+1 < len(f.words); i++ {
		f.joins = append(f.joins, names.Join(&f.words[i], &f.words[i+1]))
	}
	return f
}

// isDistinctive reports whether the form contains a distinctive word.
func (f *form) isDistinctive(mode names.Mode) bool {
	for i := range f.words {
		if f.words[i].IsDistinctive(mode) {
			return true
		}
	}
	return false
}

// comparer compares two names word by word, without an index.
type comparer struct {
	scorer
	query, list side
}

// compare returns the score of two names, 0 to scale, and leaves the matched pairs in met.
func (c *comparer) compare(q, l *form, mode names.Mode) int {
	c.query.set(q.words, mode)
	for i := range q.words {
		if slices.ContainsFunc(q.words[:i], func(w names.Word) bool { return w.IsSame(&q.words[i]) }) {
			c.query.repeat(i)
		}
	}
	c.list.set(l.words, mode)
	c.pairs = c.pairs[:0]
	for i := range q.words {
		for j := range l.words {
			if s, kind := names.Similarity(&q.words[i], &l.words[j]); s > 0 {
				c.addPair(i, 1, j, 1, s, kind)
			}
		}
		for j := range l.joins {
			if s, kind := names.JoinSimilarity(&q.words[i], &l.joins[j]); s > 0 {
				c.addPair(i, 1, j, 2, s, kind)
			}
		}
	}
	for i := range q.joins {
		for j := range l.words {
			if s, kind := names.JoinSimilarity(&q.joins[i], &l.words[j]); s > 0 {
				c.addPair(i, 2, j, 1, s, kind)
			}
		}
		for j := range l.joins {
			if q.words[i].IsSame(&l.words[j]) {
				continue // the words match by themselves
			}
			if s, kind := names.JoinSimilarity(&q.joins[i], &l.joins[j]); s > 0 {
				c.addPair(i, 2, j, 2, s, kind)
			}
		}
	}
	c.weigh(&c.query, &c.list, mode)
	return c.score(&c.query, &c.list, mode)
}

func (c *comparer) addPair(q, nq, l, nl, similarity int, kind names.Kind) {
	c.pairs = append(c.pairs,
		pair{q: uint8(q), nq: uint8(nq), l: uint8(l), nl: uint8(nl), similarity: int32(similarity), kind: kind})
}
