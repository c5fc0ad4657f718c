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

// The romanization of letters of other scripts, each in its most frequent form in passports and lists; the comparison
// of words tolerates the differences of other systems. A letter with an empty romanization is dropped.

// cyrillicLetters covers the alphabets of Russian, Ukrainian, Belarusian, Bulgarian, Serbian, Macedonian and Kazakh.
const cyrillicLetters = `а a б b в v г g д d е e ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts
ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya ё e ґ g є ie і i ї i ў w ђ dj ј j љ lj њ nj ћ c џ dz ѓ g ќ k ѕ dz
ә a ғ g қ k ң n ө o ұ u ү u һ h ѣ e ѳ f ӯ u ҳ h ҷ j ӣ i җ j ѐ e ѝ i`

// greekLetters covers modern Greek. Letters with accents come last.
const greekLetters = `α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch
ψ ps ω o ά a έ e ή i ί i ό o ύ y ώ o ϊ i ϋ y ΐ i ΰ y`

// arabicLetters covers Arabic, Persian, Urdu, Pashto and Kurdish. Short vowels are not written in these scripts. A
// capital is a letter with several romanizations, or with one of two letters: see abjadSounds.
const arabicLetters = `ا a أ a إ a آ a ٱ a ء - ئ y ؤ w ب b ت t ث T ج j ح K خ X د d ذ D ر r ز z س s ش S ص s ض D ط t ظ D
ع A غ G ف f ق q ك k ک k ل l م m ن n ه h ہ h ھ h ة H ۃ H و w ي y ى Y ی y ې y ے y ۍ y پ p چ C ژ Z گ g ګ g ں n ٹ t ڈ d ڑ r
څ c ځ z ډ d ړ r ږ Z ښ S ڼ n ټ t ۆ w ێ y ە a ڤ v ڵ l ڕ r ۀ h ۋ v ۇ w ڭ ng ۈ w`

// hebrewLetters covers Hebrew, whose vowels are not written either.
const hebrewLetters = `א a ב b ג g ד d ה h ו w ז z ח K ט t י y כ k ך k ל l מ m ם m נ n ן n ס s ע A פ p ף f צ c ץ c ק q
ר r ש S ת t`

// georgianLetters and armenianLetters cover the alphabets of these languages.
const georgianLetters = `ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh რ r ს s ტ t უ u ფ p ქ k ღ gh
ყ q შ sh ჩ ch ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h`

const armenianLetters = `ա a բ b գ g դ d ե e զ z է e ը y թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m յ y ն n
շ sh ո o չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ւ w փ p ք k օ o ֆ f և ev`

// kanaLetters covers hiragana; katakana is the same with an offset. Small letters have the romanization of large ones.
const kanaLetters = `あ a い i う u え e お o か ka き ki く ku け ke こ ko が ga ぎ gi ぐ gu げ ge ご go さ sa し shi す su せ se そ so
ざ za じ ji ず zu ぜ ze ぞ zo た ta ち chi つ tsu て te と to だ da ぢ ji づ zu で de ど do な na に ni ぬ nu ね ne の no は ha ひ hi ふ fu
へ he ほ ho ば ba び bi ぶ bu べ be ぼ bo ぱ pa ぴ pi ぷ pu ぺ pe ぽ po ま ma み mi む mu め me も mo や ya ゆ yu よ yo ら ra り ri る ru
れ re ろ ro わ wa ゐ i ゑ e を o ん n ゃ ya ゅ yu ょ yo っ - ぁ a ぃ i ぅ u ぇ e ぉ o ゔ vu`

// indicLetters are the letters of the first block of Indic scripts, Devanagari, from U+0901 on. The blocks of Bengali,
// Gurmukhi, Gujarati, Oriya, Tamil, Telugu, Kannada and Malayalam have the same letters at the same places. The vowel a
// that follows a consonant without a vowel sign is written after it, except at the end of a word.
var indicLetters = [0x70]string{
	0x01: "n", 0x02: "n", 0x03: "h", 0x05: "a", 0x06: "a", 0x07: "i", 0x08: "i", 0x09: "u", 0x0a: "u", 0x0b: "ri",
	0x0c: "li",
	0x0d: "e", 0x0e: "e", 0x0f: "e", 0x10: "ai", 0x11: "o", 0x12: "o", 0x13: "o", 0x14: "au", 0x15: "k", 0x16: "kh",
	0x17: "g",
	0x18: "gh", 0x19: "n", 0x1a: "ch", 0x1b: "chh", 0x1c: "j", 0x1d: "jh", 0x1e: "n", 0x1f: "t", 0x20: "th", 0x21: "d",
	0x22: "dh",
	0x23: "n", 0x24: "t", 0x25: "th", 0x26: "d", 0x27: "dh", 0x28: "n", 0x29: "n", 0x2a: "p", 0x2b: "ph", 0x2c: "b",
	0x2d: "bh",
	0x2e: "m", 0x2f: "y", 0x30: "r", 0x31: "r", 0x32: "l", 0x33: "l", 0x34: "l", 0x35: "v", 0x36: "sh", 0x37: "sh",
	0x38: "s",
	0x39: "h", 0x3e: "a", 0x3f: "i", 0x40: "i", 0x41: "u", 0x42: "u", 0x43: "ri", 0x45: "e", 0x46: "e", 0x47: "e",
	0x48: "ai",
	0x49: "o", 0x4a: "o", 0x4b: "o", 0x4c: "au", 0x58: "q", 0x59: "kh", 0x5a: "gh", 0x5b: "z", 0x5c: "r", 0x5d: "rh",
	0x5e: "f",
	0x5f: "y", 0x66: "0", 0x67: "1", 0x68: "2", 0x69: "3", 0x6a: "4", 0x6b: "5", 0x6c: "6", 0x6d: "7", 0x6e: "8",
	0x6f: "9",
}

// Hangul syllables are composed of an initial, a vowel and a final, romanized here as in the north of Korea, without
// accents; the south writes most vowels with one letter more.
var (
	hangulInitials = [19]string{"k", "k", "n", "t", "t", "r", "m", "p", "p", "s", "s", "", "j", "j", "ch", "k", "t",
		"p", "h"}
	hangulVowels = [21]string{"a", "ae", "ya", "yae", "o", "e", "yo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo",
		"we", "wi", "yu", "u", "ui", "i"}
	hangulFinals = [28]string{"", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l", "p", "l", "m", "p",
		"p", "t", "t", "ng", "t", "t", "k", "t", "p", "t"}
)

// loneVowels are syllables of Hangul with one vowel only, by their number. They are written with two letters, lest they
// count as initials.
var loneVowels = map[int]string{'아' - 0xac00: "ah", '어' - 0xac00: "eo", '오' - 0xac00: "oh", '우' - 0xac00: "wu",
	'으' - 0xac00: "eu", '이' - 0xac00: "yi", '에' - 0xac00: "eh"}

// lookalikes are letters of Cyrillic and Greek that look like another Latin letter than their romanization. A word in
// Latin letters with some of them is read as Latin.
const lookalikes = `с c р p х x у y в b н h ѕ s ј j һ h г r к k т t м m ο o ρ p ν v υ u χ x η n τ t ε e ι i κ k α a`
