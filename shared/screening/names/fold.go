package names

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed data/latin.txt
var latinData string

//go:embed data/arabic-forms.txt
var arabicFormsData string

// folding is the folded form of a rune: up to four letters of ASCII, packed from the low byte on, or one of the values
// below.
type folding uint32

const (
	// unknown runes are folded by their category: see foldByCategory.
	unknown folding = 0
	// separator runes end a word.
	separator folding = 1
	// dropped runes are ignored: marks, joiners, apostrophes.
	dropped folding = 2
	// kept runes are letters of a script that is not romanized. They are compared unchanged.
	kept folding = 3
	// hangul runes are syllables composed of letters.
	hangul folding = 4
)

// isLetters reports whether a rune folds to letters or digits of ASCII.
func (f folding) isLetters() bool { return f > 0xff || f >= '0' }

// maxFoldedRune bounds the runes that the table covers; all others are folded by their category.
const maxFoldedRune = 0x1d800

// foldings are pages of 256 runes each, nil for a page without known runes.
type foldings struct {
	pages [maxFoldedRune >> 8]*[256]folding
	// lookalikes are foldings of letters in words that are mostly Latin.
	lookalikes map[rune]folding
}

var loadFoldings = sync.OnceValue(func() *foldings {
	f := &foldings{lookalikes: map[rune]folding{}}
	for r := rune('0'); r <= '9'; r++ {
		f.set(r, string(r))
	}
	for r := rune('a'); r <= 'z'; r++ {
		f.set(r, string(r))
		f.set(r-'a'+'A', string(r))
	}
	for line := range strings.Lines(latinData) {
		if to, runes, found := strings.Cut(strings.TrimSpace(line), ": "); found && line[0] != '#' {
			for _, r := range runes {
				f.set(r, to)
			}
		}
	}
	for _, letters := range []string{
		cyrillicLetters, greekLetters, arabicLetters, hebrewLetters, georgianLetters, armenianLetters, kanaLetters,
	} {
		eachPair(letters, func(r rune, to string) {
			f.set(r, to)
			if upper := unicode.ToUpper(r); upper != r {
				f.set(upper, to)
			}
		})
	}
	for r := rune(0x3041); r <= 0x3094; r++ {
		f.copy(r+0x60, r) // katakana
	}
	f.addArabicForms()
	f.addIndic()
	for r := rune(0xac00); r <= 0xd7a3; r++ {
		f.setValue(r, hangul)
	}
	for _, r := range "'’‘`´ʼʻʿʾʹʺ′＇ـ\u200c\u200d\u200e\u200f\u00ad\ufeff\"“”„«»" {
		f.setValue(r, dropped)
	}
	for _, r := range "\"“”„«»" {
		f.setValue(r, separator)
	}
	eachPair(lookalikes, func(r rune, to string) { f.lookalikes[r] = pack(to) })
	return f
})

// addArabicForms adds the presentation forms of Arabic letters, which old systems store.
func (f *foldings) addArabicForms() {
	for line := range strings.Lines(arabicFormsData) {
		letters, forms, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found || line[0] == '#' {
			continue
		}
		to := ""
		for _, r := range letters {
			if v := f.get(r); v.isLetters() {
				to += v.text()
			}
		}
		for _, r := range forms {
			f.set(r, to)
		}
	}
}

// addIndic adds the letters of the Indic scripts, whose blocks have the same structure.
func (f *foldings) addIndic() {
	for block := rune(0x0900); block <= 0x0d00; block += 0x80 {
		for i, to := range indicLetters {
			if to != "" {
				f.set(block+rune(i), to)
			}
		}
		f.setValue(block+0x3c, dropped)
		f.setValue(block+0x4d, dropped)
	}
}

func (f *foldings) set(r rune, to string) { f.setValue(r, pack(to)) }

func (f *foldings) setValue(r rune, to folding) {
	page := &f.pages[r>>8]
	if *page == nil {
		*page = new([256]folding)
	}
	(*page)[r&0xff] = to
}

func (f *foldings) copy(r, from rune) { f.setValue(r, f.get(from)) }

// get returns the folding of a rune.
func (f *foldings) get(r rune) folding {
	if r < maxFoldedRune {
		if page := f.pages[r>>8]; page != nil {
			if v := page[r&0xff]; v != unknown {
				return v
			}
		}
	}
	return foldByCategory(r)
}

// firstHan and lastHan are the ends of the block of Chinese characters.
const (
	firstHan = '\u4e00'
	lastHan  = '\u9fff'
)

// foldByCategory folds a rune that is in no table.
func foldByCategory(r rune) folding {
	switch {
	case r == utf8.RuneError:
		return separator
	case r >= firstHan && r <= lastHan:
		return kept // all are letters, without a search in the letters of all scripts
	case unicode.Is(unicode.Nd, r):
		return folding('0' + digitValue(r))
	case unicode.IsLetter(r):
		return kept
	case unicode.IsMark(r), unicode.Is(unicode.Cf, r):
		return dropped
	}
	return separator
}

// digitValue returns the value of a decimal digit. The digits of a script are ten consecutive runes.
func digitValue(r rune) int {
	n := 0
	for n < 9 && unicode.Is(unicode.Nd, r-1) {
		r--
		n++
	}
	return n
}

// pack packs up to four letters of ASCII into a folding; "" or "-" is dropped.
func pack(to string) folding {
	if to == "" || to == "-" {
		return dropped
	}
	var v folding
	for i := min(len(to), 4) - 1; i >= 0; i-- {
		v = v<<8 | folding(to[i])
	}
	return v
}

// text returns the letters of a folding.
func (f folding) text() string {
	var b [4]byte
	return string(f.appendTo(b[:0]))
}

func (f folding) appendTo(b []byte) []byte {
	for ; f != 0; f >>= 8 {
		b = append(b, byte(f))
	}
	return b
}

// eachPair calls f for each pair of a rune and its folded text, in a list separated by white space.
func eachPair(list string, f func(r rune, to string)) {
	fields := strings.Fields(list)
	for i := 0; i+1 < len(fields); i += 2 {
		r, _ := utf8.DecodeRuneInString(fields[i])
		f(r, fields[i+1])
	}
}
