package evaluate

import (
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fewTexts is the largest number of texts that are compared one after another rather than by their hashes.
const fewTexts = 8

// textSet is a set of texts. Texts that differ only in upper and lower case are equal, and numbers are compared by
// their value: 1.0 equals 1.
type textSet struct {
	texts []string
	// numbers are the texts that are numbers. A number equals no other text.
	numbers []number
	// byHash and byNumber hold the same texts and numbers if there are more than fewTexts; otherwise they are nil.
	byHash   map[uint64][]string
	byNumber map[number]bool
}

func newTextSet(texts []string) *textSet {
	s := &textSet{}
	for _, t := range texts {
		if n, ok := plainNumber(t); ok {
			s.numbers = append(s.numbers, n)
		} else {
			s.texts = append(s.texts, t)
		}
	}
	if len(s.texts) > fewTexts {
		s.byHash = make(map[uint64][]string, len(s.texts))
		for _, t := range s.texts {
			h := foldedHash(t)
			s.byHash[h] = append(s.byHash[h], t)
		}
	}
	if len(s.numbers) > fewTexts {
		s.byNumber = make(map[number]bool, len(s.numbers))
		for _, n := range s.numbers {
			s.byNumber[n] = true
		}
	}
	return s
}

// has reports whether a text equals one of the set.
func (s *textSet) has(t string) bool {
	if len(s.numbers) > 0 {
		if n, ok := plainNumber(t); ok {
			return s.hasNumber(n)
		}
	}
	list := s.texts
	if s.byHash != nil {
		list = s.byHash[foldedHash(t)]
	}
	for _, other := range list {
		if strings.EqualFold(other, t) {
			return true
		}
	}
	return false
}

func (s *textSet) hasNumber(n number) bool {
	if s.byNumber != nil {
		return s.byNumber[n]
	}
	for _, other := range s.numbers {
		if other == n {
			return true
		}
	}
	return false
}

// plainNumber returns the number that a text is, and whether it is one. A text with a plus or with leading zeros is not
// a number here: 007 and +49 are codes, and equal only themselves.
func plainNumber(t string) (number, bool) {
	digits := strings.TrimPrefix(t, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return number{}, false
	}
	if digits[0] == '0' && len(digits) > 1 && digits[1] != '.' {
		return number{}, false
	}
	return parseNumber(t)
}

// fold returns a canonical form of a text: texts that differ only in upper and lower case have the same.
func fold(t string) string {
	for i := range len(t) {
		if t[i] >= utf8.RuneSelf || 'a' <= t[i] && t[i] <= 'z' {
			return strings.Map(foldRune, t)
		}
	}
	return t
}

// foldRune returns the smallest code point among those that differ from a letter only in case.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}

var hashSeed = maphash.MakeSeed()

// foldedHash returns the hash of fold(t).
func foldedHash(t string) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	for _, r := range t {
		if r = foldRune(r); r < utf8.RuneSelf {
			_ = h.WriteByte(byte(r)) // never fails
			continue
		}
		var buffer [utf8.UTFMax]byte
		_, _ = h.Write(buffer[:utf8.EncodeRune(buffer[:], r)]) // never fails
	}
	return h.Sum64()
}

// containsAny reports whether a folded text contains one of the folded parts.
func containsAny(t string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}
