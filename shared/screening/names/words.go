package names

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed data/forms.txt
var formsData string

//go:embed data/words.txt
var wordsData string

//go:embed data/translations.txt
var translationsData string

//go:embed data/nicknames.txt
var nicknamesData string

//go:embed data/given.txt
var givenData string

//go:embed data/slavic.txt
var slavicData string

//go:embed data/people.txt
var peopleData string

// class is the function of a word by itself, from the tables of this package. A word can have several classes: "de" is
// a particle in the name of a person and a stop word in the name of an organisation.
type class uint16

const (
	// classTitle words are titles of persons: "Dr", "Sheikh".
	classTitle class = 1 << iota
	// classParticle words join the parts of a person's name: "bin", "de", "al".
	classParticle
	// classStop words join the parts of an organisation's name: "of", "the".
	classStop
	// classCommon words are very frequent names.
	classCommon
	// classGeneric words mean any organisation: "company", "group".
	classGeneric
	// classTrade words are trades of organisations: "bank", "shipping".
	classTrade
	// classPlace words are places.
	classPlace
	// classForm words are organisation forms by themselves: "GmbH", "LLC".
	classForm
	// classDescent words join a name with a parent's name: "bin".
	classDescent
	// classNumber words are numbers.
	classNumber
	// classFormStart words begin an organisation form of several words: "Open Joint Stock Company".
	classFormStart
)

// meaning is the entry of a word in the tables.
type meaning struct {
	class class
	// concepts are numbers of the word's meanings in any language: "bank" and "банк" share one. 0 is none.
	concepts [maxConcepts]uint16
}

// maxConcepts is the greatest number of concepts of one word.
const maxConcepts = 4

// tables are the tables of this package, with all words folded.
type tables struct {
	words map[string]meaning
	// stems are words without their endings, in Slavic languages.
	stems map[string]meaning
	// stemStarts has stemStart of all stems. Most words have none of these.
	stemStarts [1 << stemStartBits]bool
	// forms are the organisation forms of several words: the words joined by spaces.
	forms map[string]bool
	// wholeForms are forms only as the whole name, with the words joined by spaces.
	wholeForms map[string]bool
	// longestForm is the number of words of the longest of forms.
	longestForm int
}

var loadTables = sync.OnceValue(func() *tables {
	t := &tables{words: map[string]meaning{}, stems: map[string]meaning{}, forms: map[string]bool{},
		wholeForms: map[string]bool{}}
	t.addPeople()
	concept := uint16(0)
	group := ""
	for _, data := range []string{wordsData, translationsData} {
		eachLine(data, func(key string, aliases []string) {
			if key != group {
				group = key
				concept++
			}
			c := classTrade
			if strings.HasPrefix(key, "generic ") {
				c = classGeneric
			} else if strings.HasPrefix(key, "place ") {
				c = classPlace
			}
			t.addConcept(concept, c, aliases)
		})
	}
	for _, data := range []string{nicknamesData, slavicData, givenData} {
		eachLine(data, func(_ string, aliases []string) {
			concept++
			t.addConcept(concept, 0, aliases)
		})
	}
	t.addForms()
	for stem := range t.stems {
		if len(stem) >= minStem {
			t.stemStarts[stemStart(stem)] = true
		}
	}
	return t
})

// stemStart returns a number of the first minStem letters of a word. Different letters may share it.
func stemStart[T string | []byte](word T) uint16 {
	return (uint16(word[0])<<10 ^ uint16(word[1])<<5 ^ uint16(word[2])) % (1 << stemStartBits)
}

// addPeople adds the classes of words in names of persons.
func (t *tables) addPeople() {
	classes := map[string]class{
		"title": classTitle, "particle": classParticle, "stop": classStop, "common": classCommon,
		"descent": classDescent,
	}
	eachLine(peopleData, func(key string, words []string) {
		for _, word := range words {
			if folded := foldWords(word); len(folded) == 1 {
				t.add(folded[0], classes[key], 0)
			}
		}
	})
}

// addConcept adds words with the same meaning, except those that fold to several words or to one letter. A word that
// ends in - is a stem.
func (t *tables) addConcept(concept uint16, c class, aliases []string) {
	for _, alias := range aliases {
		folded := foldWords(alias)
		if len(folded) != 1 || len(folded[0]) < 2 && !isNumber(folded[0]) {
			continue
		}
		if strings.HasSuffix(alias, "-") {
			add(t.stems, folded[0], c, concept)
		} else {
			t.add(folded[0], c, concept)
		}
	}
}

// stemEndings are the endings that Slavic languages append to stems.
var stemEndings = map[string]bool{
	"": true, "a": true, "e": true, "i": true, "o": true, "u": true, "y": true, "aya": true, "oye": true, "oe": true,
	"ye": true, "ie": true,
	"yi": true, "yy": true, "iy": true, "ii": true, "oy": true, "oi": true, "ogo": true, "ykh": true, "ikh": true,
	"ov": true, "iv": true, "om": true,
	"ya": true, "iya": true, "iyi": true, "yu": true, "ey": true, "ei": true, "ia": true, "aia": true, "oho": true,
	"yj": true, "ij": true, "aja": true, "oje": true, "nya": true, "nyi": true, "stvo": true, "stva": true, "iye": true,
}

// Limits of the stems of words and of their endings.
const (
	minStem   = 3
	maxEnding = 4
	// stemStartBits is the number of bits of stemStart: five for each letter.
	stemStartBits = 15
)

// meaningOf returns the meaning of a folded word.
func (t *tables) meaningOf(word []byte) meaning {
	m, isKnown := t.words[string(word)]
	if len(word) < minStem {
		return m
	}
	if word[0] == abjadMark {
		if isKnown {
			return m
		}
		// Prepositions and the conjunction are written before Arabic words without a space.
		if len(word) > minStem+1 && (word[1] == 'l' || word[1] == 'w' || word[1] == 'b') {
			m = t.words[string(abjadMark)+string(word[2:])]
			m.class &= classGeneric | classTrade | classPlace
		}
		return m
	}
	if !t.stemStarts[stemStart(word)] {
		return m
	}
	for n := min(maxEnding, len(word)-minStem); n >= 0; n-- {
		at := len(word) - n
		if stem, isStem := t.stems[string(word[:at])]; isStem && stemEndings[string(word[at:])] {
			return m.with(stem)
		}
	}
	return m
}

// wholeForm is the key of a form that is one only as the whole name: "Charity Fund" alone is no charity's name.
const wholeForm = "ALONE"

func (t *tables) addForms() {
	eachLine(formsData, func(form string, aliases []string) {
		for _, alias := range aliases {
			folded := foldWords(alias)
			switch {
			case len(folded) == 0:
			case form == wholeForm:
				t.add(folded[0], classFormStart, 0)
				t.wholeForms[strings.Join(folded, " ")] = true
			case len(folded) == 1:
				if len(folded[0]) > 1 && !t.isTrade(folded[0]) && !isRoman(folded[0]) {
					t.add(folded[0], classForm, 0)
				}
			default:
				t.add(folded[0], classFormStart, 0)
				t.forms[strings.Join(folded, " ")] = true
				t.longestForm = max(t.longestForm, len(folded))
			}
		}
	})
}

// isTrade reports whether a word describes an organisation beside its form: "bank" is listed as a form, but a name
// without it is another one.
func (t *tables) isTrade(word string) bool { return t.words[word].class&classTrade != 0 }

// with returns a meaning together with another.
func (m meaning) with(o meaning) meaning {
	m.class |= o.class
	for _, c := range o.concepts {
		m.addConcept(c)
	}
	return m
}

// addConcept adds a concept unless there is no place for it; 0 is none.
func (m *meaning) addConcept(concept uint16) {
	for i := range m.concepts {
		if m.concepts[i] == concept {
			return
		}
		if m.concepts[i] == 0 {
			m.concepts[i] = concept
			return
		}
	}
}

func (t *tables) add(word string, c class, concept uint16) { add(t.words, word, c, concept) }

// add adds a class and, if it is not 0, a concept to the meaning of a word.
func add(words map[string]meaning, word string, c class, concept uint16) {
	m := words[word]
	m.class |= c
	m.addConcept(concept)
	words[word] = m
}

// eachLine calls f for each line "key: word|word" that is not a comment.
func eachLine(data string, f func(key string, words []string)) {
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, words, _ := strings.Cut(line, ": ")
		f(key, strings.Split(words, "|"))
	}
}
